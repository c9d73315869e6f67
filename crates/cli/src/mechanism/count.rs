//! `demure mechanism count`: how many rows there are.

use super::output::{Common, Spend, error_95, five_percent, noised, promised};
use crate::Failure;
use crate::input::{Bounds, Data, positive};
use demure_core::mechanism::{Count, Rows};
use demure_core::random::SystemRandom;
use demure_core::utility::Accuracy;
use demure_report::integer;
use std::io::Write;

/// How many rows there are, or how many are within bounds.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism count --values 31,45,28 --epsilon 1
  demure mechanism count people.csv --column age --bounds 65,120 --epsilon 0.5
  demure mechanism count --epsilon 1 --explain")]
pub(crate) struct Args {
    #[command(flatten)]
    data: Data,

    /// Count only rows with a number within these bounds
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Option<Bounds>,

    #[command(flatten)]
    spend: Spend,

    /// The most rows of one unit
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.common.neighbours();
    let mechanism = Count::new(args.spend.budget()?, neighbours, Rows::AtMost(args.max_rows))?;
    let report = noised("count", mechanism.calibration(), "");
    let report = promised(report, mechanism.guarantee(), neighbours);
    let report = error_95(report, mechanism.error(five_percent()?)?);
    let values = args.data.read(args.common.explain())?;
    let counts = |x: &&f64| args.bounds.is_none_or(|b| b.low <= **x && **x <= b.high);
    let rows = values.iter().filter(counts).count() as u64;
    let draw = |rng: &mut SystemRandom| Ok(integer(mechanism.release(rows, rng)?.into_value()));
    args.common.output.finish(&report, draw, out)
}
