//! `demure plan sum`.

use super::solve::{Given, Statistic};
use crate::Failure;
use crate::input::Bounds;
use demure_core::mechanism::{BoundedSum, Rows};
use demure_core::utility::Accuracy;
use demure_report::short;
use std::io::Write;

/// A sum of bounded numbers
///
/// Its error is in their units, or with % a share of the largest sum that n people can have.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan sum --bounds 0,100 --epsilon 1
  demure plan sum --bounds 0,100 --error 1% --epsilon 0.5
  demure plan sum --bounds 0,100 --error 500 --neighbours replace")]
pub(crate) struct Args {
    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    #[command(flatten)]
    given: Given,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.given.neighbours();
    let bounds = args.bounds.on_grid(false)?;
    let Bounds { low, high } = args.bounds;
    let statistic = Statistic {
        subject: format!("a sum of values between {} and {}", short(low), short(high)),
        method: "discrete Laplace noise on the sum of clamped values".into(),
        error: &|epsilon, _, beta| {
            BoundedSum::new(epsilon, bounds, neighbours, Rows::Exactly(1))?.error(beta)
        },
        counts_people: false,
        full: &|n| n as f64 * low.abs().max(high.abs()),
        full_name: "the largest possible sum",
    };
    args.given.run(&statistic, out)
}
