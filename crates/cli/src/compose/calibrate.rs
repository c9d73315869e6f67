//! `demure compose calibrate`: the one unknown that meets a target.

use super::priced;
use crate::Failure;
use crate::input::{Relation, number};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_plan::batch::find_unknown;
use demure_report::Report;
use std::io::Write;

/// The least noise, the largest ε per query or the most queries for a target
#[derive(clap::Args)]
#[command(after_help = "\
One `?` stands for the number to be found.

Examples:
  demure compose calibrate --epsilon 1 --delta 1e-5 'gaussian(sigma=?)*10'
  demure compose calibrate --epsilon 1 --delta 1e-5 'poisson(q=0.01, gaussian(sigma=?))*1000'
  demure compose calibrate --epsilon 2 --delta 1e-6 'laplace(eps=?)*50' 'gaussian(sigma=20)'
  demure compose calibrate --epsilon 1 --delta 1e-6 'laplace(b=20)*?'")]
pub(crate) struct Args {
    /// What is planned; exactly one has a `?`
    #[arg(value_name = "EVENT", required = true)]
    events: Vec<String>,

    /// The ε that everything together may cost
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    delta: f64,

    /// Which datasets count as neighbours
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (epsilon, delta) = (Epsilon::new(args.epsilon)?, Delta::new(args.delta)?);
    let neighbours: Neighbours = args.neighbours.into();
    let found = find_unknown(&args.events, epsilon, delta, neighbours)?;
    let report =
        Report::default().field("value", found.value).field("event", found.event.to_string());
    Ok(priced(report, found.epsilon)
        .field("delta", delta.get())
        .field("neighbours", neighbours.to_string())
        .print(args.json, out)?)
}
