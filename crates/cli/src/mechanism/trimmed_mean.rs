//! `demure mechanism trimmed-mean`: the mean without the ends, with noise that fits the data.

use super::smooth::Smooth;
use crate::Failure;
use crate::input::number;
use demure_core::sensitivity::{TrimmedMean, Values};
use demure_core::unit::Neighbours;
use std::io::Write;

/// The mean without the least and the greatest values, with noise that fits the data.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism trimmed-mean --values 31,45,28,60,52 --trim 0.2 --bounds 0,100 --epsilon 1
  demure mechanism trimmed-mean people.csv --column age --bounds 0,120 --rho 0.5 --noise lln
  demure mechanism trimmed-mean --bounds 0,100 --epsilon 1 --compare --n 101

Values outside the bounds count at the bound; a cell that is no number counts as 0, within the bounds. The number of rows
is public. --compare spends nothing because it looks at no data: its errors are those on a made-up public sample.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: Smooth,

    /// Which share of the values is left out at either end
    #[arg(long, value_name = "SHARE", value_parser = number, default_value = "0.1", allow_hyphen_values = true)]
    trim: f64,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if !(0.0..0.5).contains(&args.trim) {
        return Err(Failure::usage("--trim must be at least 0 and below 0.5, e.g. 0.1"));
    }
    if args.of.neighbours() == Neighbours::AddRemove {
        return Err(Failure::usage(
            "a trimmed mean is offered under --neighbours replace only\n\
             hint: `demure mechanism median --size N` knows add-remove, and so does `demure mechanism mean`",
        ));
    }
    let trim = args.trim;
    let mut values: Option<Values> = None;
    let of = move |values| trimmed(values, trim);
    if args.of.wants_comparison() {
        return args.of.compare("trimmed mean", &mut values, of, false, out);
    }
    args.of.run("trimmed mean", None, &mut values, of, out)
}

fn trimmed(values: &Values, trim: f64) -> demure_core::Result<TrimmedMean<'_>> {
    TrimmedMean::new(values, (trim * values.len() as f64).floor() as usize)
}
