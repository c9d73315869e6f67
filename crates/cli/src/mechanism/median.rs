//! `demure mechanism median`: the median, with noise that fits the data.

use super::smooth::Smooth;
use crate::Failure;
use crate::input::positive;
use demure_core::sensitivity::{OrderStatistic, Values};
use std::io::Write;

/// The median, with noise that fits the data.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism median --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism median people.csv --column age --bounds 0,120 --rho 0.5 --noise lln
  demure mechanism median people.csv --column age --bounds 0,120 --epsilon 1 --delta 1e-6 \\
      --neighbours add-remove --size 100
  demure mechanism median --bounds 0,100 --epsilon 1 --compare --n 101

Values outside the bounds count at the bound. Under `replace`, the default here, the number of rows is public and a cell
that is no number counts as 0, within the bounds; under add-remove it is left out. Of an even number of values the
median is the lower of the two in the middle. `demure mechanism quantile` has the exponential mechanism.
--compare spends nothing because it looks at no data: its errors are those on a made-up public sample.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: Smooth,

    /// For --neighbours add-remove: the rows are filled up to this public number, half at either
    /// bound; rows beyond it are left out
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    size: Option<u32>,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut values: Option<Values> = None;
    if args.of.wants_comparison() {
        return args.of.compare("median", &mut values, OrderStatistic::median, true, out);
    }
    args.of.run("median", args.size, &mut values, OrderStatistic::median, out)
}
