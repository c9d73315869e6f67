//! `demure mechanism sum`: the sum of bounded numbers.

use super::bounded::{PerUnit, Shown, accumulate};
use super::output::{Common, Spend, error_95, five_percent};
use crate::Failure;
use crate::input::{Bounds, Data};
use demure_core::mechanism::{BoundedSum, Rows};
use demure_core::random::SystemRandom;
use demure_core::unit::Neighbours;
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
    let (low, high) = (bounds.lower(), bounds.upper());
    let change = match (neighbours, rows) {
        (Neighbours::AddRemove, _) => low.abs().max(high.abs()),
        (Neighbours::Replace, Rows::Exactly(_)) => high - low,
        (Neighbours::Replace, Rows::AtMost(_)) => high.max(0.0) - low.min(0.0),
    };
    let sensitivity = args.unit.most() * change;
    let shown =
        Shown { mechanism: "bounded sum", l1: sensitivity, l2: sensitivity, of: "", share: 1.0 };
    let report = shown
        .report(&args.spend, mechanism.guarantee(), neighbours)?
        .field("grid", bounds.grid().spacing());
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let public = args.unit.public(neighbours);
    let (all, _) = accumulate(&args.data, args.common.explain(), bounds, public)?;
    let draw = |rng: &mut SystemRandom| Ok(mechanism.release(&all, rng)?.into_value());
    args.common.output.finish(&report, draw, out)
}
