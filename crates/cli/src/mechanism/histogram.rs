//! `demure mechanism histogram`: counts of keys that are public.

use super::output::{Common, Spend, error_95, five_percent, noised, promised};
use crate::Failure;
use crate::input::{Counts, Words, positive};
use demure_core::mechanism::{Contributions, Histogram, non_negative};
use demure_core::random::SystemRandom;
use demure_core::utility::Accuracy;
use demure_report::{integer, named, short};
use std::io::Write;

/// Counts of keys that are public: every key comes back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism histogram --counts a=10,b=3 --epsilon 1
  demure mechanism histogram people.csv --column state --keys CA,NY --epsilon 1
  demure mechanism histogram --counts a=10,b=3 --epsilon 1 --neighbours replace --explain

Keys that are themselves protected need `demure mechanism threshold`.")]
pub(crate) struct Args {
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
    pub(super) fn contributions(&self) -> Result<Contributions, Failure> {
        Ok(Contributions::new(self.max_groups, self.max_rows)?)
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.common.neighbours();
    let mechanism = Histogram::new(args.spend.budget()?, neighbours, args.most.contributions()?)?;
    let keys = keys(args)?;
    let report = noised("histogram of public keys", mechanism.calibration(), "");
    let report = promised(report, mechanism.guarantee(), neighbours);
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let report = match u32::try_from(keys.len()) {
        Ok(keys) if keys > 1 => {
            let all = mechanism.error_of_all(keys, five_percent()?)?;
            let text = format!("± {} on all {keys} counts at once", short(all));
            report.described("error_95_all", all, text)
        }
        _ => report,
    };
    let counts = args.counts.read(args.common.explain())?;
    let exact: Vec<u64> = keys.iter().map(|key| counts.get(key).copied().unwrap_or(0)).collect();
    let draw = |rng: &mut SystemRandom| {
        let release = mechanism.release(&exact, rng)?;
        let release = if args.non_negative { release.map(non_negative) } else { release };
        Ok(named(keys.iter().cloned().zip(release.into_value().into_iter().map(integer))))
    };
    args.common.output.finish(&report, draw, out)
}

/// The public keys in their order. A file's own keys are protected.
fn keys(args: &Args) -> Result<Vec<String>, Failure> {
    match (&args.keys, args.counts.typed()) {
        (Some(words), _) => Ok(words.0.clone()),
        (None, Some(pairs)) => Ok(pairs.iter().map(|(key, _)| key.clone()).collect()),
        (None, None) if args.common.explain() => Ok(Vec::new()),
        (None, None) => Err(Failure::usage(
            "keys must be given with a file: --keys a,b,c lists the public ones\n\
             hint: if the keys are protected too, use `demure mechanism threshold`",
        )),
    }
}
