//! `demure mechanism …`: one release, or its explanation. One file a mechanism;
//! what they share is in `output.rs`.

mod bounded;
mod compare;
mod count;
mod exponential;
mod gaussian;
mod histogram;
mod laplace;
mod loss;
mod mean;
mod median;
mod mode;
mod moment;
mod output;
mod quantile;
mod response;
mod smooth;
mod sparse;
mod stable;
mod sum;
mod threshold;
mod top_k;
mod tree;
mod trimmed_mean;
mod variance;

pub(crate) use loss::{Loss, pure};
pub(crate) use output::{budget, one_line};
pub(crate) use response::Chance;

use crate::Failure;
use clap::Subcommand;
use std::io::Write;

/// Release something through a mechanism.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    Laplace(laplace::Args),
    Gaussian(gaussian::Args),
    Exponential(exponential::Args),
    Response(response::Args),
    Histogram(histogram::Args),
    Threshold(threshold::Args),
    Count(count::Args),
    Sum(sum::Args),
    Mean(mean::Args),
    Variance(variance::Args),
    Quantile(quantile::Args),
    #[command(visible_alias = "range")]
    Tree(tree::Args),
    Sparse(sparse::Args),
    Median(median::Args),
    TrimmedMean(trimmed_mean::Args),
    Mode(mode::Args),
    TopK(top_k::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.which {
        Which::Laplace(args) => laplace::run(args, out),
        Which::Gaussian(args) => gaussian::run(args, out),
        Which::Exponential(args) => exponential::run(args, out),
        Which::Response(args) => response::run(args, out),
        Which::Histogram(args) => histogram::run(args, out),
        Which::Threshold(args) => threshold::run(args, out),
        Which::Count(args) => count::run(args, out),
        Which::Sum(args) => sum::run(args, out),
        Which::Mean(args) => mean::run(args, out),
        Which::Variance(args) => variance::run(args, out),
        Which::Quantile(args) => quantile::run(args, out),
        Which::Tree(args) => tree::run(args, out),
        Which::Sparse(args) => sparse::run(args, out),
        Which::Median(args) => median::run(args, out),
        Which::TrimmedMean(args) => trimmed_mean::run(args, out),
        Which::Mode(args) => mode::run(args, out),
        Which::TopK(args) => top_k::run(args, out),
    }
}
