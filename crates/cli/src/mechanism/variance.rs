//! `demure mechanism variance`: the variance of bounded numbers.

use super::moment::Moment;
use crate::Failure;
use demure_core::mechanism::BoundedVariance;
use std::io::Write;

/// The variance of bounded numbers
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism variance --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism variance people.csv --column age --bounds 0,120 --epsilon 0.5
  demure mechanism variance --bounds 0,100 --epsilon 1 --n 1000 --explain

Values outside the bounds count as the bound. Cells that are no numbers are left out; under
`--neighbours replace`, where the number of rows is public, they count as 0, within the bounds.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: Moment,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (bounds, neighbours, rows) = (args.of.bounds()?, args.of.neighbours(), args.of.rows());
    let mechanism = BoundedVariance::new(args.of.budget()?, bounds, neighbours, rows)?;
    let (name, of) = if args.of.public() {
        // The other half is for the sum.
        (
            "bounded variance, number of rows public",
            " (of the sum of squares, with half of the budget)",
        )
    } else {
        (
            "bounded variance, from shares of three noised sums",
            " (of the sums of products of distances from the bounds)",
        )
    };
    args.of.finish(
        |_| (name, mechanism.calibration(), of),
        mechanism.guarantee(),
        |rows, beta| mechanism.error(rows, beta),
        |all, rng| mechanism.release(all, rng),
        out,
    )
}
