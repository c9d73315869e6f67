//! `demure graph clustering`: how often two who know a third know each other.

use super::count::Options;
use super::source::refused;
use crate::Failure;
use demure_core::random::SystemRandom;
use demure_graph::ClusteringRequest;
use demure_plan::graph::{count_value, error_95, name};
use demure_report::Report;
use serde_json::Value;
use std::io::Write;

/// The clustering coefficient: 3·triangles/wedges.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure graph clustering edges.txt --vertices 50 --epsilon 1
  demure graph clustering edges.txt --vertices 50 --epsilon 1 --delta 1e-6 \\
      --method private-bound --json
  demure graph clustering --vertices 5242 --epsilon 1 --explain

Half of the budget is for triangles and half for wedges (2-stars); their ratio costs nothing more. Both counts
are released too.")]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let common = &args.options.common;
    let request = ClusteringRequest(args.options.request()?);
    let (method, budget) = (name(request.0.method), request.0.budget);
    if common.explain {
        let each = request.each().map_err(refused)?;
        let report = Report::default()
            .field("statistic", "3·triangles/wedges, from two releases")
            .field("method", method)
            .described(
                "sensitivity",
                Value::Null,
                "none of its own: `demure graph triangles` and `demure graph stars` at half the budget explain its parts",
            )
            .field("each", each.to_string())
            .described(
                "error_95",
                Value::Null,
                "known with the release where the errors of both counts are",
            );
        return common.explained(report, budget, out);
    }
    let paid = common.pay("clustering", budget)?;
    let graph = common.source.read()?;
    let found = request.release(&graph, &mut SystemRandom::new()?).map_err(refused)?;
    let methods = format!("{} and {}", name(found.methods.0), name(found.methods.1));
    let report = Report::default().described("method", method, methods);
    let report = error_95(report, found.error, found.share.is_some())
        .field("triangles", count_value(found.counts.0))
        .field("wedges", count_value(found.counts.1));
    let value = found.share.map_or(Value::Null, Value::from);
    common.answer(paid, &value, report, budget, &graph, out)
}
