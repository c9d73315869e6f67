//! `demure graph stars`: how many k-stars a graph has.

use super::count::{Count, Options};
use crate::Failure;
use crate::input::positive;
use demure_graph::Stars;
use std::io::Write;

/// The number of k-stars: a vertex and k of its neighbours.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure graph stars edges.txt --vertices 5000 --epsilon 1
  demure graph stars edges.txt --vertices 5000 --k 3 --epsilon 1 --json
  demure graph stars --k 3 --vertices 5242 --rho 0.5 --method smooth --explain

2-stars are paths of two edges. 1-stars are twice the edges, for which `demure mechanism laplace` is enough.")]
pub(crate) struct Args {
    /// How many neighbours a star has: 2 or more
    #[arg(long, value_name = "K", value_parser = positive, default_value = "2", allow_hyphen_values = true)]
    k: u32,
    #[command(flatten)]
    options: Options,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.k < 2 {
        return Err(Failure::usage(
            "--k must be at least 2\n\
             hint: 1-stars are twice the edges: demure mechanism laplace --integer releases that",
        ));
    }
    let count = Count { statistic: format!("{}-stars", args.k), global: "2·C(n−2, k−1)" };
    let (empty, of) = (|n| Stars::without_edges(n, args.k), |graph: &_| Stars::of(graph, args.k));
    super::count::run(&args.options, &count, empty, of, out)
}
