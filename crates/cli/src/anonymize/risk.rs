//! `demure anonymize risk …`: how easily rows of a table are found.

use super::config;
use super::options::Source;
use crate::Failure;
use demure_anonymize::job::{self, ONE_IN};
use demure_anonymize::risk::Chance;
use demure_anonymize::show::risk_in_words;
use demure_report::{Report, counted, grouped, percent};
use serde_json::{Value, json};
use std::io::Write;

/// How easily rows are found by whoever knows their quasi-identifiers.
///
/// A prosecutor knows that a person is in the table and looks for their row; a marketer looks for
/// as many as possible; a journalist does not know who is in the table, which helps only
/// where a --population is larger than the table.
#[derive(clap::Args)]
#[command(args_override_self = true)]
#[command(after_help = "\
Examples:
  demure anonymize risk people.csv --qi age,state
  demure anonymize risk people.csv --qi state --json")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Keys of a job file that matter here.
const KEYS: [&str; 5] = ["input", "qi", "sensitive", "delimiter", "population"];

pub(super) fn run(args: Args, out: &mut impl Write) -> Result<(), Failure> {
    let args = config::merged(args, |args| &args.source, 3, |key| !KEYS.contains(&key))?;
    let source = args.source.described();
    let found = job::risk(&source, args.source.table()?)?;
    let risk = found.risk;
    let unique = format!("{} ({})", counted(risk.unique, "row"), percent(risk.unique_share));
    let report = Report::default()
        .field("rows", found.rows)
        .described("classes", found.classes, grouped(found.classes as f64))
        .described("unique", risk.unique, unique)
        .described("prosecutor", chance(&risk.prosecutor), risk_in_words(&risk.prosecutor));
    let report = match source.population {
        Some(_) => report.described(
            "journalist",
            chance(&risk.journalist),
            risk_in_words(&risk.journalist),
        ),
        None => report,
    };
    let marketer = format!("finds {} of all rows", percent(risk.marketer));
    Ok(report.described("marketer", risk.marketer, marketer).print(args.json, out)?)
}

fn chance(chance: &Chance) -> Value {
    json!({
        "highest": chance.highest(),
        "average": chance.average,
        "at_risk": chance.rows_at_risk,
        "threshold": 1.0 / ONE_IN as f64,
    })
}
