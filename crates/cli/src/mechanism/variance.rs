//! `demure mechanism variance`: the variance of bounded numbers.

use super::bounded::Shown;
use super::moment::Moment;
use crate::Failure;
use demure_core::mechanism::BoundedVariance;
use demure_core::unit::Neighbours;
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
    let width = bounds.upper() - bounds.lower();
    args.of.finish(
        |_| shown(&args.of, width),
        mechanism.guarantee(),
        |rows, beta| mechanism.error(rows, beta),
        |all, rng| mechanism.release(all, rng),
        out,
    )
}

/// The sensitivities that the core derives and proves, for showing.
fn shown(of: &Moment, width: f64) -> Shown {
    let change = of.most_rows() * width * width;
    if of.public() {
        // The other half is for the sum.
        return Shown {
            mechanism: "bounded variance, number of rows public",
            l1: change,
            l2: change,
            of: " (of the sum of squares, with half of the budget)",
            share: 0.5,
        };
    }
    let (one, two) = match of.neighbours() {
        Neighbours::AddRemove => (change, change),
        Neighbours::Replace => (2.0 * change, change * 2f64.sqrt()),
    };
    Shown {
        mechanism: "bounded variance, from shares of three noised sums",
        l1: one,
        l2: two,
        of: " (of the sums of products of distances from the bounds)",
        share: 1.0,
    }
}
