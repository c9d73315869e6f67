//! `demure anonymize risk …`: how easily rows of a table are found.

use super::columns::{positions, read};
use super::options::Source;
use super::release::group;
use crate::Failure;
use crate::report::{Report, grouped, short};
use demure_anonymize::risk::{Chance, Risk, Threshold, of_sizes};
use demure_anonymize::table::Column;
use serde_json::{Value, json};
use std::io::Write;

/// A row that is found with a higher probability than one in so many counts as at risk.
const ONE_IN: u64 = 5;

/// How easily rows are found by whoever knows their quasi-identifiers.
///
/// A prosecutor knows that a person is in the table and looks for their row; a marketer looks for
/// as many as possible; a journalist would not know who is in the table, and without a table of
/// the population that is no better.
#[derive(clap::Args)]
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

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.source.config.is_some() {
        return Err(Failure::usage("risk takes no job file: give FILE and --qi"));
    }
    let table = read(&args.source)?;
    let (quasi, _) = positions(&args.source, &table)?;
    let columns: Vec<&Column> = quasi.iter().filter_map(|at| table.columns.get(*at)).collect();
    let (_, sizes) = group(&columns);
    let risk = of(&sizes, 0)?;
    let percent = |share: f64| format!("{} %", short(100.0 * share));
    let unique = format!("{} rows ({})", grouped(risk.unique as f64), percent(risk.unique_share));
    Report::default()
        .field("rows", table.rows)
        .described("classes", sizes.len(), grouped(sizes.len() as f64))
        .described("unique", risk.unique, unique)
        .described("prosecutor", chance(&risk.prosecutor), line(&risk.prosecutor))
        .described(
            "marketer",
            risk.marketer,
            format!("finds {} of all rows", percent(risk.marketer)),
        )
        .print(args.json, out)
}

/// The risks of classes of these sizes.
pub(super) fn of(sizes: &[u64], suppressed: u64) -> Result<Risk, Failure> {
    Ok(of_sizes(sizes, suppressed, None, Threshold::new(1, ONE_IN)?)?)
}

fn chance(chance: &Chance) -> Value {
    json!({
        "highest": chance.highest(),
        "average": chance.average,
        "at_risk": chance.rows_at_risk,
        "threshold": 1.0 / ONE_IN as f64,
    })
}

/// `at most 1 in 3, 33.3 % on average; 9 rows above 20 %`.
pub(super) fn line(chance: &Chance) -> String {
    format!(
        "at most 1 in {}, {} % on average; {} rows above {} %",
        grouped(chance.highest_one_in as f64),
        short(100.0 * chance.average),
        grouped(chance.rows_at_risk as f64),
        short(100.0 / ONE_IN as f64)
    )
}
