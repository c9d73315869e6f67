//! `demure graph degrees`: degrees in order, or how many vertices have each.

use super::Shown;
use super::render;
use super::source::{Source, refused};
use crate::Failure;
use crate::input::Relation;
use crate::mechanism::{Loss, pure};
use clap::ValueEnum;
use demure_core::mechanism::{Geometric, Guarantee};
use demure_core::random::SystemRandom;
use demure_core::unit::{Beta, L1, Sensitivity};
use demure_core::utility::Accuracy;
use demure_graph::{DegreeSequence, relation};
use demure_report::{Report, named, short};
use serde_json::Value;
use std::io::Write;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Form {
    /// How many vertices have each degree
    Histogram,
    /// The degrees of all vertices, rising
    Sequence,
}

/// The degrees of all vertices, made consistent after the noise.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure graph degrees edges.txt --vertices 50 --epsilon 1
  demure graph degrees edges.txt --vertices 50 --epsilon 1 --form sequence --json
  demure graph degrees --vertices 5242 --epsilon 0.5 --explain

The degrees are sorted, get noise of scale 2/ε each, and then become the closest rising sequence, which costs nothing
and removes most of the noise where many degrees are equal.")]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    loss: Loss,

    /// Which graphs count as neighbours: one edge more or less, or one for another
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    /// What comes back
    #[arg(long, value_enum, default_value = "histogram")]
    form: Form,

    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let budget = args.loss.guarantee()?;
    let epsilon = pure(relation::step(budget, args.neighbours.into()).map_err(refused)?)?;
    let mechanism = DegreeSequence::new(epsilon).map_err(refused)?;
    let known = |n: Option<u32>| -> Result<Report, Failure> {
        let noise = Geometric::new(epsilon, Sensitivity::<L1>::new(2.0)?)?;
        let scale = 2.0 / epsilon.get();
        let report = Report::default()
            .field("method", "constrained-inference")
            .described("sensitivity", 2.0, "2 (an edge changes two degrees by 1)")
            .described("scale", scale, short(scale));
        // Going to the closest rising sequence moves no two vectors apart at their worst place, and the truth is rising.
        let report = match n {
            Some(n) => {
                let all = noise.error(Beta::new(0.05 / f64::from(n.max(1)))?)?;
                let text = format!(
                    "± {} on all {n} degrees in order at once, with 95 % confidence (noise alone)",
                    short(all)
                );
                report.described("error_95", all, text)
            }
            None => report.described("error_95", Value::Null, "depends on n: say --vertices N"),
        };
        let spent = Guarantee::Pure(epsilon);
        let spent = relation::promised(spent, budget, args.neighbours.into()).map_err(refused)?;
        Ok(render::promise(report, spent, args.neighbours))
    };
    if args.shown.explain {
        return Ok(known(args.source.declared())?.print(args.shown.json, out)?);
    }
    let graph = args.source.read()?;
    let mut rng = SystemRandom::new()?;
    let value = match args.form {
        Form::Sequence => {
            Value::from(mechanism.release(&graph, &mut rng).map_err(refused)?.into_value())
        }
        Form::Histogram => {
            let counts = mechanism.release_histogram(&graph, &mut rng).map_err(refused)?;
            let filled = counts.into_value().into_iter().enumerate().filter(|(_, n)| *n > 0);
            named(filled.map(|(degree, n)| (degree.to_string(), n)))
        }
    };
    let report = args.source.noted(known(Some(graph.vertices()))?, &graph);
    args.shown.answer(&value, &report, out)
}
