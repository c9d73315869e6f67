//! `demure mechanism histogram`, `threshold`, `mode`, `top-k`: counts of keys, and the keys themselves.

use super::output::{Common, Spend};
use crate::Failure;
use crate::input::{Counts, Words, choice, number, positive};
use demure_core::mechanism::{self as core, Contributions, non_negative};
use demure_core::sensitivity::Stable;
use demure_core::unit::{Delta, Epsilon};
use demure_core::utility::Accuracy;
use demure_plan::explain::{error_95, five_percent, noised};
use demure_plan::keys::{Keys, Method};
use demure_plan::votes::{TallyQuestion, explain, leading};
use demure_report::{integer, named, short};
use serde_json::Value;
use std::cell::Cell;
use std::io::Write;

/// Counts of keys that are public: every key comes back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism histogram --counts a=10,b=3 --epsilon 1
  demure mechanism histogram people.csv --column state --keys CA,NY --epsilon 1
  demure mechanism histogram --counts a=10,b=3 --epsilon 1 --neighbours replace --explain

Keys that are themselves protected need `demure mechanism threshold`.")]
pub(super) struct Histogram {
    #[command(flatten)]
    counts: Counts,

    /// The public keys; the names in --counts unless given
    #[arg(long, value_name = "A,B,…")]
    keys: Option<Words>,

    #[command(flatten)]
    spend: Spend,

    #[command(flatten)]
    most: Most,

    /// Show negative counts as 0 (free, but it biases small counts up)
    #[arg(long)]
    non_negative: bool,

    #[command(flatten)]
    common: Common,
}

/// How much of a histogram one unit can be.
#[derive(clap::Args)]
pub(super) struct Most {
    /// The most keys that one unit has rows for
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_groups: u32,

    /// The most rows that one unit has for one key
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,
}

impl Most {
    fn contributions(&self) -> Result<Contributions, Failure> {
        Ok(Contributions::new(self.max_groups, self.max_rows)?)
    }
}

impl Histogram {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (budget, most) = (self.spend.budget()?, self.most.contributions()?);
        let mechanism = core::Histogram::new(budget, self.common.neighbours(), most)?;
        let keys = self.keys()?;
        let mut error = error_95(&mechanism)?;
        if let Some(keys) = u32::try_from(keys.len()).ok().filter(|keys| *keys > 1) {
            let all = mechanism.error_of_all(keys, five_percent()?)?;
            let text = format!("± {} on all {keys} counts at once", short(all));
            error = error.described("error_95_all", all, text);
        }
        self.counts.check(self.common.explain())?;
        let paid = self.common.pay("histogram", mechanism.guarantee())?;
        let counts = self.counts.read(self.common.explain())?;
        let exact: Vec<u64> =
            keys.iter().map(|key| counts.get(key).copied().unwrap_or(0)).collect();
        self.common.release(
            paid,
            noised("histogram of public keys", mechanism.calibration(), ""),
            mechanism.guarantee(),
            error,
            |rng| {
                let release = mechanism.release(&exact, rng)?;
                let release = if self.non_negative { release.map(non_negative) } else { release };
                Ok(named(keys.iter().cloned().zip(release.into_value().into_iter().map(integer))))
            },
            out,
        )
    }

    /// The public keys in their order. A file's own keys are protected.
    fn keys(&self) -> Result<Vec<String>, Failure> {
        match (&self.keys, self.counts.typed()) {
            (Some(words), _) => Ok(words.0.clone()),
            (None, Some(pairs)) => Ok(pairs.iter().map(|(key, _)| key.clone()).collect()),
            (None, None) if self.common.explain() => Ok(Vec::new()),
            (None, None) => Err(Failure::usage(
                "keys must be given with a file: --keys a,b,c lists the public ones\n\
                 hint: if the keys are protected too, use `demure mechanism threshold`",
            )),
        }
    }
}

/// Counts of keys that are not public: rare keys do not come back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism threshold --counts flu=120,rare=1 --epsilon 1 --delta 1e-6
  demure mechanism threshold people.csv --column city --epsilon 1 --delta 1e-8 --json
  demure mechanism threshold --epsilon 0.5 --delta 0.02 --explain \\
      --method truncated-geometric")]
pub(super) struct Threshold {
    #[command(flatten)]
    counts: Counts,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// The probability that ε may be exceeded: what a lone key may show
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    delta: f64,

    /// What comes back, and with which noise
    #[arg(long, value_parser = choice(Method::ALL), default_value = "laplace")]
    method: Method,

    #[command(flatten)]
    most: Most,

    #[command(flatten)]
    common: Common,
}

impl Threshold {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::positive(self.delta)?);
        let (neighbours, most) = (self.common.neighbours(), self.most.contributions()?);
        let keys = Keys::new(self.method, epsilon, delta, neighbours, most)?;
        self.counts.check(self.common.explain())?;
        let paid = self.common.pay("threshold", keys.guarantee())?;
        let counts = self.counts.read(self.common.explain())?;
        self.common.output.finish(paid, keys.explain()?, |rng| Ok(keys.release(&counts, rng)?), out)
    }
}

/// The most frequent key itself, if it is far from changing; else no answer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism mode --counts Flu=280,Measles=120,HIV=5 --epsilon 1 --delta 1e-6
  demure mechanism mode --counts a=300,b=90 --keys a,b,c --epsilon 1 --delta 1e-6 --json
  demure mechanism mode people.csv --column state --epsilon 0.5 --delta 1e-6 --explain

Every unit has one row. No answer (⊥) is an answer: exit code 1, and it costs as much as any other. Among equals the first
in --keys wins, or the first by name. Keys need not be public unless --keys is given.")]
pub(super) struct Mode {
    #[command(flatten)]
    votes: Votes,
}

impl Mode {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        self.votes.run("the mode", TallyQuestion::Mode, out)
    }
}

/// The k most frequent keys themselves, if they are far from changing; else no answer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism top-k --k 2 --counts Flu=280,Measles=120,HIV=5 --epsilon 1 --delta 1e-6
  demure mechanism top-k --k 2 --ordered --counts Flu=280,Measles=120,HIV=5 --epsilon 1 \\
      --delta 1e-6 --json
  demure mechanism top-k --k 3 people.csv --column state --epsilon 0.5 --delta 1e-6 --explain

Every unit has one row. No answer (⊥) is an answer: exit code 1, and it costs as much as any other. Among equals the first
in --keys wins, or the first by name. Keys need not be public unless --keys is given.")]
pub(super) struct TopK {
    /// How many keys
    #[arg(long, value_name = "K", value_parser = positive, allow_hyphen_values = true)]
    k: u32,

    /// Best first, which must not change either; otherwise a set, by name or as in --keys
    #[arg(long)]
    ordered: bool,

    #[command(flatten)]
    votes: Votes,
}

impl TopK {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let k = self.k as usize;
        let ask = if self.ordered { TallyQuestion::Ranking(k) } else { TallyQuestion::Top(k) };
        self.votes.run("the most frequent keys", ask, out)
    }
}

/// Options of a stable answer about keys.
#[derive(clap::Args)]
pub(super) struct Votes {
    #[command(flatten)]
    counts: Counts,

    /// All keys there can be, if they are public: a tie goes to the earlier one
    #[arg(long, value_name = "A,B,…")]
    keys: Option<Words>,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    delta: f64,

    #[command(flatten)]
    common: Common,
}

impl Votes {
    fn run(&self, name: &str, ask: TallyQuestion, out: &mut impl Write) -> Result<(), Failure> {
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::positive(self.delta)?);
        let neighbours = self.common.neighbours();
        let mechanism = Stable::new(epsilon, delta)?;
        let report = explain(name, &mechanism, epsilon, neighbours);
        self.counts.check(self.common.explain())?;
        let paid = self.common.pay(name, mechanism.guarantee())?;
        let counts = self.counts.read(self.common.explain())?;
        let keys = self.keys.as_ref().map(|words| words.0.as_slice());
        let (answer, distance) = leading(ask, counts, keys, neighbours)?;
        let answer = answer.and_then(|mut keys| match ask {
            TallyQuestion::Mode => keys.pop().map(Value::from),
            _ => Some(Value::from(keys)),
        });
        let missing = Cell::new(false);
        let none = if self.common.output.json { Value::Null } else { Value::from("⊥") };
        self.common.output.finish(
            paid,
            report,
            |rng| {
                let drawn = mechanism.release(answer.clone(), distance, rng)?.into_value();
                Ok(drawn.flatten().unwrap_or_else(|| {
                    missing.set(true);
                    none.clone()
                }))
            },
            out,
        )?;
        if missing.get() {
            out.flush().map_err(Failure::writing)?;
            return Err(Failure::Unsatisfied(
                "no answer (⊥): too few rows may be enough to change it; that is an answer too, and cost as much\n\
                 hint: a larger --epsilon or --delta asks for a smaller lead; --explain says how large"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}
