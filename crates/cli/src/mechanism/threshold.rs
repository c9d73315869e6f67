//! `demure mechanism threshold`: counts of keys that are not public.

use super::histogram::Most;
use super::output::{Common, calibrated, error_95, five_percent, promised};
use crate::Failure;
use crate::input::{Counts, number};
use clap::ValueEnum;
use demure_core::mechanism::{KeySelection, ThresholdHistogram};
use demure_core::random::SystemRandom;
use demure_core::unit::{Delta, Epsilon};
use demure_core::utility::Accuracy;
use demure_report::{Report, integer, named, short};
use serde_json::Value;
use std::io::Write;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Method {
    /// Counts with geometric noise, if large enough
    Laplace,
    /// Counts with Gaussian noise, if large enough
    Gaussian,
    /// Which keys exist and no counts, with the largest probability that privacy allows
    TruncatedGeometric,
}

/// Counts of keys that are not public: rare keys do not come back.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism threshold --counts flu=120,rare=1 --epsilon 1 --delta 1e-6
  demure mechanism threshold people.csv --column city --epsilon 1 --delta 1e-8 --json
  demure mechanism threshold --epsilon 0.5 --delta 0.02 --explain \\
      --method truncated-geometric")]
pub(crate) struct Args {
    #[command(flatten)]
    counts: Counts,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// The probability that ε may be exceeded: what a lone key may show
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    delta: f64,

    /// What comes back, and with which noise
    #[arg(long, value_enum, default_value = "laplace")]
    method: Method,

    #[command(flatten)]
    most: Most,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (epsilon, delta) = (Epsilon::new(args.epsilon)?, Delta::positive(args.delta)?);
    let neighbours = args.common.neighbours();
    let contributions = args.most.contributions()?;
    let mechanism = match args.method {
        Method::TruncatedGeometric => return keys_alone(args, epsilon, delta, out),
        Method::Laplace => ThresholdHistogram::laplace(epsilon, delta, neighbours, contributions)?,
        Method::Gaussian => {
            ThresholdHistogram::gaussian(epsilon, delta, neighbours, contributions)?
        }
    };
    let noise = mechanism.calibration();
    let name = format!("thresholded histogram, {} noise", noise.family);
    let report = calibrated(Report::default().field("mechanism", name), noise, "");
    let threshold = mechanism.threshold();
    let lone = threshold.chance(u64::from(contributions.per_group()))?;
    let report = report
        .described(
            "threshold",
            integer(threshold.value()),
            format!(
                "{} (a key comes back if its noised count is at least that)",
                threshold.value()
            ),
        )
        .described(
            "lone_key",
            lone,
            format!("comes back with probability {} (a key of one unit)", short(lone)),
        );
    let report = promised(report, mechanism.guarantee(), neighbours);
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let counts = args.counts.read(args.common.explain())?;
    let draw = |rng: &mut SystemRandom| {
        let table = mechanism.release(&counts, rng)?.into_value();
        Ok(named(table.into_iter().map(|(key, count)| (key, integer(count)))))
    };
    args.common.output.finish(&report, draw, out)
}

/// Which keys exist, without counts.
fn keys_alone(
    args: &Args,
    epsilon: Epsilon,
    delta: Delta,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let neighbours = args.common.neighbours();
    let contributions = args.most.contributions()?;
    if contributions.per_group() != 1 {
        return Err(Failure::usage(
            "max-rows must be 1 for truncated-geometric: its counts are of people, each once",
        ));
    }
    let mechanism = KeySelection::new(epsilon, delta, neighbours, contributions.groups())?;
    let (first, last) = mechanism.crossovers();
    let kept = kept_95(&mechanism, last);
    let report = Report::default()
        .field("mechanism", "truncated geometric selection of keys, without counts")
        .field("sensitivity", mechanism.sensitivity())
        .described("scale", mechanism.scale(), short(mechanism.scale()))
        .described("crossovers", vec![first, last], format!("{first} and {last} people"))
        .described("certain", last + 1, format!("from {} people on a key is kept", last + 1));
    let report = promised(report, mechanism.guarantee(), neighbours).described(
        "error_95",
        kept,
        format!("a key of at least {kept} people is kept with 95 % confidence"),
    );
    let counts = args.counts.read(args.common.explain())?;
    let draw =
        |rng: &mut SystemRandom| Ok(Value::from(mechanism.release(&counts, rng)?.into_value()));
    args.common.output.finish(&report, draw, out)
}

/// The least number of people whose key is kept with probability 0.95.
fn kept_95(mechanism: &KeySelection, certain: u64) -> u64 {
    let (mut low, mut high) = (0, certain.saturating_add(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if mechanism.probability(middle) >= 0.95 { high = middle } else { low = middle }
    }
    high
}
