//! `demure mechanism laplace`.

use super::output::{Common, error_95, five_percent, promised};
use crate::Failure;
use crate::input::number;
use demure_core::mechanism::{Geometric, Laplace};
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, L1, Sensitivity};
use demure_core::utility::Accuracy;
use demure_report::{Report, integer};
use std::io::Write;

/// Laplace noise: pure ε, on a real number or an integer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism laplace --value 10 --sensitivity 1 --epsilon 1
  demure mechanism laplace --value 10 --integer --sensitivity 1 --epsilon 1
  demure mechanism laplace --sensitivity 1 --epsilon 1 --explain")]
pub(crate) struct Args {
    /// The protected value
    #[arg(long, value_parser = number, allow_hyphen_values = true, required_unless_present = "explain")]
    value: Option<f64>,

    /// How much one unit can change the value (ℓ₁)
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    sensitivity: f64,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// Integer noise for an integer-valued query (two-sided geometric)
    #[arg(long)]
    integer: bool,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let epsilon = Epsilon::new(args.epsilon)?;
    let sensitivity = Sensitivity::<L1>::new(args.sensitivity)?;
    let common = &args.common;
    let explain = |name: &str, scale: f64, grid: f64| {
        Report::default()
            .field("mechanism", name)
            .field("sensitivity", sensitivity.get())
            .field("scale", scale)
            .field("grid", grid)
    };
    if args.integer {
        let mechanism = Geometric::new(epsilon, sensitivity)?;
        let report = explain("discrete Laplace (two-sided geometric)", mechanism.scale(), 1.0);
        let report = promised(report, mechanism.guarantee(), common.neighbours());
        let report = error_95(report, mechanism.error(five_percent()?)?);
        let value = exact_integer(args.value.unwrap_or(0.0))?;
        let draw =
            |rng: &mut SystemRandom| Ok(integer(mechanism.release(value, rng)?.into_value()));
        return common.output.finish(&report, draw, out);
    }
    let mechanism = Laplace::new(epsilon, sensitivity)?;
    let report = explain("Laplace", mechanism.scale(), mechanism.grid().spacing());
    let report = promised(report, mechanism.guarantee(), common.neighbours());
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let value = args.value.unwrap_or(0.0);
    let draw = |rng: &mut SystemRandom| Ok(mechanism.release(value, rng)?.into_value());
    common.output.finish(&report, draw, out)
}

/// An integer that a float holds exactly.
pub(super) fn exact_integer(value: f64) -> Result<i128, Failure> {
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        Ok(value as i128)
    } else {
        Err(Failure::usage("value must be a whole number of at most 2^53 in size with --integer"))
    }
}
