//! `demure mechanism laplace`, `gaussian`: noise on one number.

use super::output::Common;
use crate::Failure;
use crate::input::{choice, number};
use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Rho};
use demure_plan::number::{Calibration, Number};
use std::io::Write;

/// Laplace noise: pure ε, on a real number or an integer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism laplace --value 10 --sensitivity 1 --epsilon 1
  demure mechanism laplace --value 10 --integer --sensitivity 1 --epsilon 1
  demure mechanism laplace --sensitivity 1 --epsilon 1 --explain")]
pub(super) struct Laplace {
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

impl Laplace {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let epsilon = Epsilon::new(self.epsilon)?;
        let mechanism = Number::laplace(epsilon, self.sensitivity, self.integer)?;
        noised("laplace", &mechanism, self.value, &self.common, out)
    }
}

/// Explains or draws.
fn noised(
    name: &str,
    mechanism: &Number,
    value: Option<f64>,
    common: &Common,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let report = mechanism.explain(common.neighbours())?;
    let paid = common.pay(name, mechanism.guarantee())?;
    common.output.finish(paid, report, |rng| Ok(mechanism.release(value.unwrap_or(0.0), rng)?), out)
}

/// Gaussian noise: (ε,δ) or ρ, on a real number or an integer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism gaussian --value 10 --sensitivity 1 --epsilon 1 --delta 1e-5
  demure mechanism gaussian --epsilon 1 --delta 1e-5 --sensitivity 1 --explain --json
  demure mechanism gaussian --value 10 --sensitivity 1 --rho 0.5")]
pub(super) struct Gaussian {
    /// The protected value
    #[arg(long, value_parser = number, allow_hyphen_values = true, required_unless_present = "explain")]
    value: Option<f64>,

    /// How much one unit can change the value (ℓ₂)
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    sensitivity: f64,

    /// The privacy loss
    #[arg(
        long,
        value_parser = number,
        allow_hyphen_values = true,
        requires = "delta",
        required_unless_present = "rho"
    )]
    epsilon: Option<f64>,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true, requires = "epsilon")]
    delta: Option<f64>,

    /// Calibrate to ρ-zCDP instead
    #[arg(
        long,
        value_parser = number,
        allow_hyphen_values = true,
        conflicts_with_all = ["epsilon", "delta", "calibration"]
    )]
    rho: Option<f64>,

    /// How σ is found from ε and δ
    #[arg(long, value_parser = choice(Calibration::ALL), default_value = "analytic")]
    calibration: Calibration,

    /// Integer noise for an integer-valued query (discrete Gaussian)
    #[arg(long, conflicts_with = "calibration")]
    integer: bool,

    #[command(flatten)]
    common: Common,
}

impl Gaussian {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let budget = match (self.epsilon, self.delta, self.rho) {
            (_, _, Some(rho)) => Guarantee::Concentrated(Rho::new(rho)?),
            (Some(epsilon), Some(delta), _) => {
                Guarantee::Approximate(Epsilon::new(epsilon)?, Delta::positive(delta)?)
            }
            _ => return Err(Failure::usage("give --epsilon and --delta, or --rho")),
        };
        let mechanism = Number::gaussian(budget, self.sensitivity, self.calibration, self.integer)?;
        noised("gaussian", &mechanism, self.value, &self.common, out)
    }
}
