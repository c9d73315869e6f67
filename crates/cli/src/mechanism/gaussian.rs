//! `demure mechanism gaussian`.

use super::laplace::exact_integer;
use super::output::{Common, error_95, five_percent, promised};
use crate::Failure;
use crate::input::number;
use clap::ValueEnum;
use demure_core::mechanism::{DiscreteGaussian, Gaussian};
use demure_core::random::SystemRandom;
use demure_core::unit::{Delta, Epsilon, L2, Rho, Sensitivity};
use demure_core::utility::Accuracy;
use demure_report::{Report, integer};
use std::io::Write;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Calibration {
    /// The least noise that gives (ε,δ), certified
    Analytic,
    /// The textbook's σ = Δ·√(2 ln(2/δ))/ε, where it is valid
    Classic,
}

/// Gaussian noise: (ε,δ) or ρ, on a real number or an integer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism gaussian --value 10 --sensitivity 1 --epsilon 1 --delta 1e-5
  demure mechanism gaussian --epsilon 1 --delta 1e-5 --sensitivity 1 --explain --json
  demure mechanism gaussian --value 10 --sensitivity 1 --rho 0.5")]
pub(crate) struct Args {
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
    #[arg(long, value_enum, default_value = "analytic")]
    calibration: Calibration,

    /// Integer noise for an integer-valued query (discrete Gaussian)
    #[arg(long, conflicts_with = "calibration")]
    integer: bool,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let sensitivity = Sensitivity::<L2>::new(args.sensitivity)?;
    let common = &args.common;
    let explain = |name: &str, sigma: f64, grid: f64| {
        Report::default()
            .field("mechanism", name)
            .field("sensitivity", sensitivity.get())
            .field("sigma", sigma)
            .field("grid", grid)
    };
    if args.integer {
        let mechanism = discrete(args, sensitivity)?;
        let report = explain("discrete Gaussian", mechanism.sigma(), 1.0);
        let report = promised(report, mechanism.guarantee(), common.neighbours());
        let report = error_95(report, mechanism.error(five_percent()?)?);
        let value = exact_integer(args.value.unwrap_or(0.0))?;
        let draw =
            |rng: &mut SystemRandom| Ok(integer(mechanism.release(value, rng)?.into_value()));
        return common.output.finish(&report, draw, out);
    }
    let mechanism = continuous(args, sensitivity)?;
    let report = explain("Gaussian", mechanism.sigma(), mechanism.grid().spacing());
    let report = promised(report, mechanism.guarantee(), common.neighbours());
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let value = args.value.unwrap_or(0.0);
    let draw = |rng: &mut SystemRandom| Ok(mechanism.release(value, rng)?.into_value());
    common.output.finish(&report, draw, out)
}

fn continuous(args: &Args, sensitivity: Sensitivity<L2>) -> Result<Gaussian, Failure> {
    if let Some(rho) = args.rho {
        return Ok(Gaussian::concentrated(Rho::new(rho)?, sensitivity)?);
    }
    let (epsilon, delta) = approximate(args)?;
    Ok(match args.calibration {
        Calibration::Analytic => Gaussian::new(epsilon, delta, sensitivity)?,
        Calibration::Classic => Gaussian::classic(epsilon, delta, sensitivity)?,
    })
}

fn discrete(args: &Args, sensitivity: Sensitivity<L2>) -> Result<DiscreteGaussian, Failure> {
    if let Some(rho) = args.rho {
        return Ok(DiscreteGaussian::concentrated(Rho::new(rho)?, sensitivity)?);
    }
    let (epsilon, delta) = approximate(args)?;
    let d = sensitivity.get();
    if d.fract() != 0.0 || d > 1e9 {
        return Err(Failure::usage("sensitivity must be a whole number up to 10^9 with --integer"));
    }
    Ok(DiscreteGaussian::new(epsilon, delta, d as u32)?)
}

fn approximate(args: &Args) -> Result<(Epsilon, Delta), Failure> {
    match (args.epsilon, args.delta) {
        (Some(epsilon), Some(delta)) => Ok((Epsilon::new(epsilon)?, Delta::positive(delta)?)),
        _ => Err(Failure::usage("give --epsilon and --delta, or --rho")),
    }
}
