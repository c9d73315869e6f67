//! `demure plan histogram`.

use super::solve::{Given, Statistic};
use crate::Failure;
use crate::input::positive;
use demure_core::mechanism::{Contributions, Histogram};
use demure_core::utility::Accuracy;
use std::io::Write;

/// The counts of a histogram, all at once
///
/// The error is that of the worst count ((α,β)-usefulness), in people, or with % a share of n.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure plan histogram --bins 50 --epsilon 1
  demure plan histogram --bins 50 --error 20
  demure plan histogram --bins 50 --error 0.1% --epsilon 0.5")]
pub(crate) struct Args {
    /// How many bins
    #[arg(long, value_name = "M", value_parser = positive, allow_hyphen_values = true)]
    bins: u32,

    /// The most bins that one unit has rows in
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_groups: u32,

    /// The most rows that one unit has in one bin
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    given: Given,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.given.neighbours();
    let contributions = Contributions::new(args.max_groups, args.max_rows)?;
    let statistic = Statistic {
        subject: match args.bins {
            1 => "a histogram's one count".to_owned(),
            bins => format!("every one of a histogram's {bins} counts"),
        },
        method: format!("discrete Laplace noise, union bound over {} bins", args.bins),
        error: &|epsilon, _, beta| {
            Histogram::new(epsilon, neighbours, contributions)?.error_of_all(args.bins, beta)
        },
        counts_people: false,
        full: &|n| n as f64,
        full_name: "n",
    };
    args.given.run(&statistic, out)
}
