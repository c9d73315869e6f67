//! `demure graph degrees`: degrees in order, or how many vertices have each.

use super::Common;
use super::source::refused;
use crate::Failure;
use crate::mechanism::pure;
use clap::ValueEnum;
use demure_core::random::SystemRandom;
use demure_core::unit::Beta;
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
    common: Common,
    /// What comes back
    #[arg(long, value_enum, default_value = "histogram")]
    form: Form,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let common = &args.common;
    let (budget, relation) = (common.loss.guarantee()?, common.neighbours.into());
    let epsilon = pure(relation::step(budget, relation).map_err(refused)?)?;
    let mechanism = DegreeSequence::new(epsilon).map_err(refused)?;
    let promised = relation::promised(mechanism.guarantee(), budget, relation).map_err(refused)?;
    let known = |n: Option<u32>| -> Result<Report, Failure> {
        let scale = 2.0 / epsilon.get();
        let report = Report::default()
            .field("method", "constrained-inference")
            .described("sensitivity", 2.0, "2 (an edge changes two degrees by 1)")
            .described("scale", scale, short(scale));
        let Some(n) = n else {
            let text = "depends on n: say --vertices N";
            return Ok(report.described("error_95", Value::Null, text));
        };
        let all = mechanism.error(n, Beta::new(0.05)?).map_err(refused)?;
        let text = format!(
            "± {} on all {n} degrees in order at once, with 95 % confidence (noise alone)",
            short(all)
        );
        Ok(report.described("error_95", all, text))
    };
    if common.explain {
        return common.explained(known(common.source.vertices)?, promised, out);
    }
    let paid = common.pay("degrees", promised)?;
    let graph = common.source.read()?;
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
    common.answer(paid, &value, known(Some(graph.vertices()))?, promised, &graph, out)
}
