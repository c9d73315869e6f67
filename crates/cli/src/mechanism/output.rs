//! What every mechanism's command has: its common options, its budget, its draws.

use crate::Failure;
use crate::counted::{Account, Paid};
use crate::input::{Relation, number, positive};
use demure_core::mechanism::{Budget, Change, Guarantee};
use demure_core::random::SystemRandom;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};
use demure_plan::explain::{one_line, promised};
use demure_report::progress::Progress;
use demure_report::{Report, line, plain};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::Write;

/// Options of a mechanism that promises something under either relation.
#[derive(clap::Args)]
pub(super) struct Common {
    /// Which datasets count as neighbours: what the sensitivity is for
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    #[command(flatten)]
    pub(super) output: Output,
}

impl Common {
    pub(super) fn neighbours(&self) -> Neighbours {
        self.neighbours.into()
    }

    pub(super) fn explain(&self) -> bool {
        self.output.explain
    }

    /// Debits what the draws cost, before anything is read for them.
    pub(super) fn pay(&self, what: &str, guarantee: Guarantee) -> Result<Paid, Failure> {
        self.output.pay(what, guarantee, self.neighbours())
    }

    /// Says what is promised after what the mechanism is, then how wrong it may be; explains all
    /// that, or draws.
    pub(super) fn release<T: Into<Value>>(
        &self,
        paid: Paid,
        mechanism: Report,
        guarantee: Guarantee,
        error: Report,
        draw: impl FnMut(&mut SystemRandom) -> Result<T, Failure>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let report = promised(mechanism, guarantee, self.neighbours()).append(error);
        self.output.finish(paid, report, draw, out)
    }
}

/// Options that every mechanism has.
#[derive(clap::Args)]
pub(super) struct Output {
    /// Draw this many times (each draw costs the full guarantee again)
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive, allow_hyphen_values = true)]
    repeat: u32,

    /// Say what would be done, its guarantee and its error; draw nothing
    #[arg(long)]
    pub(super) explain: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    account: Account,
}

/// The most draws that one debit pays for: they are stored before any is shown.
const MOST_DEBITED: u32 = 100_000;

impl Output {
    /// Debits what the draws cost, before anything is read for them. An explanation costs nothing.
    pub(super) fn pay(
        &self,
        what: &str,
        guarantee: Guarantee,
        neighbours: Neighbours,
    ) -> Result<Paid, Failure> {
        if self.account.is_named() && self.repeat > MOST_DEBITED {
            return Err(Failure::usage(format!(
                "--repeat must be at most {MOST_DEBITED} with --policy: the ledger stores every draw"
            )));
        }
        self.account.pay(&format!("mechanism {what}"), (guarantee, self.repeat), neighbours)
    }

    /// Explains, or draws as often as asked: values to stdout, their cost to stderr.
    pub(super) fn finish<T: Into<Value>>(
        &self,
        paid: Paid,
        explanation: Report,
        mut draw: impl FnMut(&mut SystemRandom) -> Result<T, Failure>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        if self.explain {
            return Ok(explanation.print(self.json, out)?);
        }
        let mut rng = SystemRandom::new()?;
        let mut drawn = VecDeque::new();
        let progress = Progress::new(u64::from(self.repeat));
        // What is debited is stored before any of it is shown.
        for done in 0..if paid.is_counted() { self.repeat } else { 0 } {
            progress.at(u64::from(done));
            drawn.push_back(draw(&mut rng)?.into());
        }
        let explanation = paid.noted(explanation);
        let account = paid.settled(&drawn.iter().cloned().collect())?;
        let mut next = || -> Result<Value, Failure> {
            drawn.pop_front().map_or_else(|| Ok(draw(&mut rng)?.into()), Ok)
        };
        // The first draw comes before the first byte: a bad value leaves stdout empty.
        let first = next()?;
        let write = |out: &mut dyn Write, text: &str| {
            out.write_all(text.as_bytes()).map_err(Failure::writing)
        };
        let many = self.repeat > 1;
        let show = |value: &Value| match (self.json, many) {
            (true, _) => value.to_string(),
            (false, true) => line(value) + "\n",
            (false, false) => match plain(value) {
                nothing if nothing.is_empty() => nothing,
                text => text + "\n",
            },
        };
        if self.json {
            write(out, if many { "{\"value\":[" } else { "{\"value\":" })?;
        }
        write(out, &show(&first))?;
        for done in 1..self.repeat {
            progress.at(u64::from(done));
            let value = next()?;
            write(out, if self.json { "," } else { "" })?;
            write(out, &show(&value))?;
        }
        drop(progress);
        if self.json {
            let close = if many { format!("],\"repeat\":{}", self.repeat) } else { String::new() };
            return write(out, &format!("{close},{}}}\n", explanation.members()));
        }
        // Values first, also where both streams end up in one place.
        out.flush().map_err(Failure::writing)?;
        if !many && plain(&first).is_empty() {
            note!("nothing came back");
        }
        note!("{}; {account}", one_line(&explanation, self.repeat));
        Ok(())
    }
}

/// How scores or queries may change: monotone where the user says so, and where it can be.
pub(super) fn monotone(said: bool, neighbours: Neighbours) -> Result<Change, Failure> {
    match (said, neighbours) {
        (false, _) => Ok(Change::General),
        (true, Neighbours::AddRemove) => Ok(Change::Monotone),
        (true, Neighbours::Replace) => Err(Failure::usage(
            "--monotone needs --neighbours add-remove: replacing one unit may raise one score \
             and lower another",
        )),
    }
}

/// One of ε and ρ, whichever was given.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Spend {
    /// The privacy loss: pure ε, geometric noise
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The privacy loss as ρ-zCDP: Gaussian noise
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    rho: Option<f64>,
}

impl Spend {
    pub(super) fn budget(&self) -> Result<Budget, Failure> {
        match (self.epsilon, self.rho) {
            (Some(epsilon), _) => Ok(Epsilon::new(epsilon)?.into()),
            (None, Some(rho)) => Ok(Rho::new(rho)?.into()),
            (None, None) => Err(Failure::usage("give --epsilon or --rho")),
        }
    }
}

/// A privacy loss in one of three currencies.
#[derive(clap::Args)]
pub(crate) struct Loss {
    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true, required_unless_present = "rho")]
    epsilon: Option<f64>,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true, requires = "epsilon")]
    delta: Option<f64>,

    /// The privacy loss as ρ-zCDP
    #[arg(long, value_parser = number, allow_hyphen_values = true, conflicts_with_all = ["epsilon", "delta"])]
    rho: Option<f64>,
}

impl Loss {
    /// The most that may be promised.
    pub(crate) fn guarantee(&self) -> Result<Guarantee, Failure> {
        match (self.epsilon, self.delta, self.rho) {
            (Some(epsilon), None, _) => Ok(Guarantee::Pure(Epsilon::new(epsilon)?)),
            (Some(epsilon), Some(delta), _) => {
                Ok(Guarantee::Approximate(Epsilon::new(epsilon)?, Delta::positive(delta)?))
            }
            (None, _, Some(rho)) => Ok(Guarantee::Concentrated(Rho::new(rho)?)),
            (None, _, None) => Err(Failure::usage("give --epsilon or --rho")),
        }
    }
}
