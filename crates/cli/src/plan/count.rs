//! `demure plan count`.

use super::solve::{Given, Statistic};
use crate::Failure;
use crate::input::positive;
use demure_core::mechanism::{Count, Rows};
use demure_core::utility::Accuracy;
use std::io::Write;

/// A count
///
/// Its error is in people, or with % a share of n.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan count --epsilon 1
  demure plan count --error 10
  demure plan count --error 1% --epsilon 0.1
  demure plan count --error 1% --n 1000 --confidence 0.99")]
pub(crate) struct Args {
    /// The most rows of one unit
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    given: Given,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.given.neighbours();
    let statistic = Statistic {
        subject: "a count".into(),
        method: format!("discrete Laplace noise, sensitivity {}", args.max_rows),
        error: &|epsilon, _, beta| {
            Count::new(epsilon, neighbours, Rows::AtMost(args.max_rows))?.error(beta)
        },
        counts_people: false,
        full: &|n| n as f64,
        full_name: "n",
    };
    args.given.run(&statistic, out)
}
