//! `demure explain …`: the price and the expected error of a question, before it is asked.

use crate::Failure;
use crate::curator::options::SessionOptions;
use demure_curator::Explanation;
use demure_server::json;
use std::io::Write;

/// Say what a question would cost and how wrong its answer would be; nothing is spent
///
/// Nothing of it comes from the data: mechanism, sensitivity, scale and error follow from the
/// question and the policy alone.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure explain clinic/clinic.toml 'SELECT disease, AVG(cost) FROM visits GROUP BY disease'
  demure explain clinic/clinic.toml 'SELECT MEDIAN(age) FROM patients' --epsilon 0.1 --json
  demure explain clinic/clinic.toml 'SELECT COUNT(*) FROM patients' --error-at-most 50

The clinic is made by: demure demo --keep clinic")]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionOptions,

    /// The question, in SQL
    #[arg(value_name = "SQL")]
    sql: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let conversation = args.session.open()?;
    let explanation = conversation.explain(&args.sql)?;
    print(&explanation, args.json, out)
}

/// Writes an explanation as aligned lines or as one JSON object.
pub(crate) fn print(
    explanation: &Explanation,
    json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if json {
        return writeln!(out, "{}", json::explanation(explanation)).map_err(Failure::writing);
    }
    let lines = explanation.lines();
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    for (name, text) in lines {
        writeln!(out, "{name:width$}{text}").map_err(Failure::writing)?;
    }
    Ok(())
}
