//! `demure mechanism mean`: the mean of bounded numbers.

use super::moment::Moment;
use crate::Failure;
use demure_core::mechanism::{BoundedMean, Calibration};
use std::io::Write;

const PUBLIC: &str = "bounded mean, number of rows public";

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
    let noise = mechanism.calibration();
    args.of.finish(
        |n| match (args.of.public(), n) {
            (true, Some(n)) => (PUBLIC, over(noise, n as f64), ""),
            (true, None) => (PUBLIC, noise, " / n"),
            (false, _) => (
                "bounded mean, as the share of two noised sums",
                noise,
                " (of the sums of distances from both bounds)",
            ),
        },
        mechanism.guarantee(),
        |rows, beta| mechanism.error(rows, beta),
        |all, rng| mechanism.release(all, rng),
        out,
    )
}

/// The noise on a sum, as that on a mean of n.
fn over(noise: Calibration, n: f64) -> Calibration {
    Calibration { sensitivity: noise.sensitivity / n, scale: noise.scale / n, ..noise }
}
