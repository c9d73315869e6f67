//! `demure mechanism mean`: the mean of bounded numbers.

use super::bounded::Shown;
use super::moment::Moment;
use crate::Failure;
use demure_core::mechanism::BoundedMean;
use demure_core::unit::Neighbours;
use std::io::Write;

/// The mean of bounded numbers
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism mean --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism mean people.csv --column age --bounds 0,120 --epsilon 0.5
  demure mechanism mean --bounds 0,100 --epsilon 1 --n 1000 --explain

Values outside the bounds count as the bound. Cells that are no numbers are left out; under
`--neighbours replace`, where the number of rows is public, they count as 0, within the bounds.")]
pub(crate) struct Args {
    #[command(flatten)]
    of: Moment,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (bounds, neighbours, rows) = (args.of.bounds()?, args.of.neighbours(), args.of.rows());
    let mechanism = BoundedMean::new(args.of.budget()?, bounds, neighbours, rows)?;
    let width = bounds.upper() - bounds.lower();
    args.of.finish(
        |rows| shown(&args.of, width, rows),
        mechanism.guarantee(),
        |rows, beta| mechanism.error(rows, beta),
        |all, rng| mechanism.release(all, rng),
        out,
    )
}

/// The sensitivities that the core derives and proves, for showing.
fn shown(of: &Moment, width: f64, rows: Option<u64>) -> Shown {
    let change = of.most_rows() * width;
    match (of.public(), rows) {
        (true, Some(n)) => {
            let change = change / n as f64;
            Shown {
                mechanism: "bounded mean, number of rows public",
                l1: change,
                l2: change,
                of: "",
                share: 1.0,
            }
        }
        (true, None) => Shown {
            mechanism: "bounded mean, number of rows public",
            l1: change,
            l2: change,
            of: " / n",
            share: 1.0,
        },
        (false, _) => {
            let (one, two) = match of.neighbours() {
                Neighbours::AddRemove => (change, change),
                Neighbours::Replace => (2.0 * change, change * 2f64.sqrt()),
            };
            Shown {
                mechanism: "bounded mean, as the share of two noised sums",
                l1: one,
                l2: two,
                of: " (of the sums of distances from both bounds)",
                share: 1.0,
            }
        }
    }
}
