//! `demure plan mean`.

use super::solve::{Given, Statistic};
use crate::Failure;
use crate::input::Bounds;
use demure_core::mechanism::{BoundedMean, Rows};
use demure_core::unit::Neighbours;
use demure_report::short;
use std::io::Write;

/// A mean of bounded numbers
///
/// Its error is in their units, or with % a share of the distance between the bounds.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan mean --bounds 0,100 --n 1000 --epsilon 1
  demure plan mean --bounds 0,100 --n 1000 --error 0.5
  demure plan mean --bounds 0,100 --error 1% --epsilon 0.1 --neighbours replace")]
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
        subject: format!("the mean of values between {} and {}", short(low), short(high)),
        method: match neighbours {
            Neighbours::AddRemove => "discrete Laplace noise on two sums, their share released",
            Neighbours::Replace => "discrete Laplace noise on the sum, divided by a public n",
        }
        .into(),
        error: &|epsilon, n, beta| {
            BoundedMean::new(epsilon, bounds, neighbours, Rows::Exactly(1))?.error(n, beta)
        },
        counts_people: true,
        full: &|_| high - low,
        full_name: "the distance between the bounds",
    };
    args.given.run(&statistic, out)
}
