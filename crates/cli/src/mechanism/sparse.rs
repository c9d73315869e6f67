//! `demure mechanism sparse`: which of many counts are above a threshold.

use super::output::{Common, five_percent, monotone, promised};
use crate::Failure;
use crate::input::{Data, number, positive};
use demure_core::mechanism::{AboveThreshold, Answer};
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, LInf, Sensitivity};
use demure_core::utility::Accuracy;
use demure_report::{Report, integer, short};
use serde_json::Value;
use std::io::Write;

/// Which of many whole numbers are above a threshold, paying only for "above"
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism sparse --values 3,12,90,7 --threshold 50 --epsilon 1
  demure mechanism sparse --threshold 50 --epsilon 1 --monotone --explain

Answers come in the order of the values: above, below, or halted once all the positives are used.")]
pub(crate) struct Args {
    #[command(flatten)]
    data: Data,

    /// The public threshold
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    threshold: f64,

    /// The privacy loss of all answers together
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// Stop after this many times "above"
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true, default_value = "1")]
    positives: u32,

    /// How much one unit can change any one value
    #[arg(long, value_parser = number, allow_hyphen_values = true, default_value = "1")]
    sensitivity: f64,

    /// One unit moves all values in the same direction, as counts do under add-remove:
    /// less noise
    #[arg(long)]
    monotone: bool,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let epsilon = Epsilon::new(args.epsilon)?;
    let sensitivity = Sensitivity::<LInf>::new(args.sensitivity)?;
    let neighbours = args.common.neighbours();
    let change = monotone(args.monotone, neighbours)?;
    let mechanism = AboveThreshold::new(epsilon, sensitivity, args.positives, change)?;
    let threshold = whole(args.threshold, "threshold")?;
    let (once, each) = mechanism.scales();
    let error = mechanism.error(five_percent()?)?;
    let report = Report::default()
        .field("mechanism", "sparse vector (above threshold)")
        .field("positives", args.positives)
        .field("sensitivity", sensitivity.get())
        .described("scale", each, format!("{} for each value", short(each)))
        .described("threshold_scale", once, format!("{} for the threshold", short(once)));
    let report = promised(report, mechanism.guarantee(), neighbours).described(
        "error_95",
        error,
        format!(
            "a value {} or more from the threshold is answered rightly with 95 % confidence",
            short(error)
        ),
    );
    let values = args.data.read(args.common.explain())?;
    let values: Result<Vec<i128>, Failure> = values.iter().map(|&x| whole(x, "values")).collect();
    let values = values?;
    let draw = |rng: &mut SystemRandom| {
        let mut asking = mechanism.start(threshold, rng)?;
        let answers: Result<Vec<Value>, Failure> =
            values.iter().map(|&value| Ok(word(asking.ask(value, rng)?.into_value()))).collect();
        Ok(Value::Array(answers?))
    };
    args.common.output.finish(&report, draw, out)
}

fn word(answer: Answer) -> Value {
    match answer {
        Answer::Above(Some(number)) => integer(number),
        Answer::Above(None) => "above".into(),
        Answer::Below => "below".into(),
        Answer::Halted => "halted".into(),
    }
}

fn whole(x: f64, name: &str) -> Result<i128, Failure> {
    if x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0 {
        return Ok(x as i128);
    }
    Err(Failure::usage(format!("{name} must be whole numbers of at most 2^53 in size")))
}
