//! `demure graph triangles`: how many triangles a graph has.

use super::count::{Count, Options};
use crate::Failure;
use demure_graph::Triangles;
use std::io::Write;

/// The number of triangles.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure graph triangles edges.txt --vertices 5000 --epsilon 1
  demure graph triangles edges.txt --vertices 5000 --epsilon 1 --delta 1e-6 \\
      --method private-bound --json
  demure graph triangles --vertices 5242 --epsilon 1 --explain

Who is in the graph is public, who knows whom is protected, edge by edge. Directions, duplicates and
self-loops are dropped; lines that start with # or % are comments.")]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let count = Count { statistic: "triangles".to_owned(), global: "n − 2" };
    let empty = |n| Ok(Triangles::without_edges(n));
    super::count::run(&args.options, &count, empty, Triangles::of, out)
}
