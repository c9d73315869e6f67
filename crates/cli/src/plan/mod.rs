//! `demure plan …`: how many people, how much ε, how large an error. Any two give
//! the third. One file a statistic; `solve.rs` finds what is missing.

mod count;
mod histogram;
mod mean;
mod response;
mod solve;
mod sum;

use crate::Failure;
use clap::Subcommand;
use std::io::Write;

/// How many people, how much ε, how large an error: any two give the third.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    Count(count::Args),
    Histogram(histogram::Args),
    Sum(sum::Args),
    Mean(mean::Args),
    Response(response::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.which {
        Which::Count(args) => count::run(args, out),
        Which::Histogram(args) => histogram::run(args, out),
        Which::Sum(args) => sum::run(args, out),
        Which::Mean(args) => mean::run(args, out),
        Which::Response(args) => response::run(args, out),
    }
}
