//! `demure mechanism quantile`: the median or any quantile of bounded numbers.

use super::output::{Common, five_percent, promised};
use crate::Failure;
use crate::input::{Bounds, Data, number};
use demure_core::mechanism::Quantile;
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, Grid};
use demure_core::utility::Accuracy;
use demure_report::{Report, short};
use std::io::Write;

/// The median or any quantile of bounded numbers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism quantile --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism quantile people.csv --column age --bounds 0,120 --integer \\
      --q 0.9 --epsilon 0.5

Values outside the bounds count at the bound. Cells that are no numbers are left out.")]
pub(crate) struct Args {
    #[command(flatten)]
    data: Data,

    /// Which quantile: 0.5 is the median
    #[arg(long, value_parser = number, allow_hyphen_values = true, default_value = "0.5")]
    q: f64,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    /// Release a whole number
    #[arg(long)]
    integer: bool,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let epsilon = Epsilon::new(args.epsilon)?;
    let neighbours = args.common.neighbours();
    if !(args.q > 0.0 && args.q < 1.0) {
        return Err(Failure::usage("q must be a number strictly between 0 and 1"));
    }
    let Bounds { low, high } = args.bounds;
    let mechanism = if args.integer {
        Quantile::with_grid(epsilon, neighbours, args.q, low..=high, Grid::ONE)?
    } else {
        Quantile::between(epsilon, neighbours, args.q, low..=high)?
    };
    let ranks = |x: f64| format!("{} ranks", short(x));
    let error = mechanism.error(five_percent()?)?;
    let report = Report::default()
        .field("mechanism", "exponential mechanism on the rank")
        .field("q", args.q)
        .described("sensitivity", mechanism.sensitivity(), ranks(mechanism.sensitivity()))
        .described("scale", mechanism.scale(), ranks(mechanism.scale()))
        .field("grid", mechanism.grid().spacing());
    let text = format!("at most {} ranks off with 95 % confidence (noise alone)", short(error));
    let report =
        promised(report, mechanism.guarantee(), neighbours).described("error_95", error, text);
    let values = args.data.read(args.common.explain())?;
    let draw = |rng: &mut SystemRandom| Ok(mechanism.release(&values, rng)?.into_value());
    args.common.output.finish(&report, draw, out)
}
