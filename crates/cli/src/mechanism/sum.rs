//! `demure mechanism sum`: the sum of bounded numbers.

use super::bounded::{PerUnit, accumulate};
use super::output::{Common, Spend, error_95, five_percent, noised, promised};
use crate::Failure;
use crate::input::{Bounds, Data};
use demure_core::mechanism::BoundedSum;
use demure_core::random::SystemRandom;
use demure_core::utility::Accuracy;
use std::io::Write;

/// The sum of bounded numbers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism sum --values 12,7,30 --bounds 0,50 --epsilon 1
  demure mechanism sum people.csv --column income --bounds 0,200000 --epsilon 1
  demure mechanism sum --bounds 0,50 --epsilon 1 --explain

Values outside the bounds count as the bound. Cells that are no numbers are left out; under
`--neighbours replace`, where the number of rows is public, they count as 0, within the bounds.")]
pub(crate) struct Args {
    #[command(flatten)]
    data: Data,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    /// The values are whole numbers, and so is the sum
    #[arg(long)]
    integer: bool,

    #[command(flatten)]
    spend: Spend,

    #[command(flatten)]
    unit: PerUnit,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.common.neighbours();
    let bounds = args.bounds.on_grid(args.integer)?;
    let rows = args.unit.rows();
    let mechanism = BoundedSum::new(args.spend.budget()?, bounds, neighbours, rows)?;
    let report = noised("bounded sum", mechanism.calibration(), "");
    let report =
        promised(report, mechanism.guarantee(), neighbours).field("grid", bounds.grid().spacing());
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let public = rows.public(neighbours);
    let (all, _) = accumulate(&args.data, args.common.explain(), bounds, public)?;
    let draw = |rng: &mut SystemRandom| Ok(mechanism.release(&all, rng)?.into_value());
    args.common.output.finish(&report, draw, out)
}
