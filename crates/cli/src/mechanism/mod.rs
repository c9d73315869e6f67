//! `demure mechanism …`: one release, or its explanation.
//!
//! | file | what |
//! |---|---|
//! | `noise.rs` | `laplace`, `gaussian`: noise on one number |
//! | `numbers.rs` | `count`, `sum`, `mean`, `variance`, `quantile` of a column |
//! | `order.rs` | `median`, `trimmed-mean`: noise that fits the data |
//! | `keys.rs` | `histogram`, `threshold`, `mode`, `top-k`: counts of keys, and the keys themselves |
//! | `exponential.rs`, `response.rs`, `sparse.rs`, `tree.rs` | the others |
//! | `output.rs` | what they share: options, a budget, explaining or drawing |
//!
//! A command is its arguments, the mechanism they make, and what is said of it; the explanations
//! that several share are `demure_plan::explain`'s.

mod exponential;
mod keys;
mod noise;
mod numbers;
mod order;
mod output;
mod response;
mod sparse;
mod tree;

pub(crate) use demure_plan::budget::pure;
pub(crate) use demure_plan::explain::{one_line, spent as budget};
pub(crate) use output::Loss;
pub(crate) use response::Chance;

use crate::Failure;
use clap::Subcommand;
use std::io::Write;

/// Release something through a mechanism.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Laplace(noise::Laplace),
    Gaussian(noise::Gaussian),
    Exponential(exponential::Args),
    Response(response::Args),
    Histogram(keys::Histogram),
    Threshold(keys::Threshold),
    Count(numbers::Count),
    Sum(numbers::Sum),
    Mean(numbers::Mean),
    Variance(numbers::Variance),
    Quantile(numbers::Quantile),
    #[command(visible_alias = "range")]
    Tree(tree::Args),
    Sparse(sparse::Args),
    Median(order::Median),
    TrimmedMean(order::Trimmed),
    Mode(keys::Mode),
    TopK(keys::TopK),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::Laplace(args) => args.run(out),
        Command::Gaussian(args) => args.run(out),
        Command::Exponential(args) => args.run(out),
        Command::Response(args) => args.run(out),
        Command::Histogram(args) => args.run(out),
        Command::Threshold(args) => args.run(out),
        Command::Count(args) => args.run(out),
        Command::Sum(args) => args.run(out),
        Command::Mean(args) => args.run(out),
        Command::Variance(args) => args.run(out),
        Command::Quantile(args) => args.run(out),
        Command::Tree(args) => args.run(out),
        Command::Sparse(args) => args.run(out),
        Command::Median(args) => args.run(out),
        Command::TrimmedMean(args) => args.run(out),
        Command::Mode(args) => args.run(out),
        Command::TopK(args) => args.run(out),
    }
}
