//! `demure mechanism sparse`: which of many counts are above a threshold.

use super::output::{Common, monotone};
use crate::Failure;
use crate::input::{Data, number, positive};
use demure_core::mechanism::{AboveThreshold, Answer};
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, LInf, Sensitivity};
use demure_plan::explain;
use demure_plan::number::exact_integer;
use demure_report::integer;
use serde_json::Value;
use std::io::Write;

/// Which of many whole numbers are above a threshold, paying only for "above"
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism sparse --values 3,12,90,7 --threshold 50 --epsilon 1
  demure mechanism sparse --threshold 50 --epsilon 1 --monotone --explain

Answers come in the order of the values: above, below, or halted once all the positives are used. Values are rounded down to
whole numbers, and a cell that is no number counts as 0.")]
pub(super) struct Args {
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

impl Args {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let epsilon = Epsilon::new(self.epsilon)?;
        // Between whole numbers: rounding them down does not move them further apart.
        let whole_steps = self.sensitivity.ceil();
        let sensitivity = Sensitivity::<LInf>::new(whole_steps)?;
        let neighbours = self.common.neighbours();
        let change = monotone(self.monotone, neighbours)?;
        let mechanism = AboveThreshold::new(epsilon, sensitivity, self.positives, change)?;
        let threshold = whole(self.threshold, "threshold")?;
        let report = explain::sparse(&mechanism, self.positives, whole_steps, neighbours)?;
        self.data.check(self.common.explain())?;
        let paid = self.common.pay("sparse", mechanism.guarantee())?;
        let values = self.data.read(self.common.explain())?;
        let values: Vec<i128> = values.into_iter().map(rounded_down).collect();
        let draw = |rng: &mut SystemRandom| {
            let mut asking = mechanism.start(threshold, rng)?;
            let answers = values.iter().map(|&x| Ok(word(asking.ask(x, rng)?.into_value())));
            answers.collect::<Result<Vec<Value>, Failure>>()
        };
        self.common.output.finish(paid, report, draw, out)
    }
}

fn word(answer: Answer) -> Value {
    match answer {
        Answer::Above(Some(number)) => integer(number),
        Answer::Above(None) => "above".into(),
        Answer::Below => "below".into(),
        Answer::Halted => "halted".into(),
    }
}

/// A protected number as a whole one: total, so that no value is an error. One that is no number counts as 0.
fn rounded_down(x: f64) -> i128 {
    const MOST: f64 = 9_007_199_254_740_992.0; // 2^53
    if x.is_nan() { 0 } else { x.floor().clamp(-MOST, MOST) as i128 }
}

fn whole(x: f64, name: &str) -> Result<i128, Failure> {
    exact_integer(x).ok_or_else(|| {
        Failure::usage(format!("{name} must be whole numbers of at most 2^53 in size"))
    })
}
