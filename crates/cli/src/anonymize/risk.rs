//! `demure anonymize risk …`: how easily rows of a table are found.

use super::columns::{population, positions, read};
use super::config;
use super::options::Source;
use crate::Failure;
use clap::Parser;
use demure_anonymize::publish::{group, matching};
use demure_anonymize::risk::{Chance, Risk, Threshold, of_sizes};
use demure_anonymize::table::Column;
use demure_report::{Report, grouped, percent, short};
use serde_json::{Value, json};
use std::io::Write;

/// A row that is found with a higher probability than one in so many counts as at risk.
const ONE_IN: u64 = 5;

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

/// The same options, read again with those of a job file before them.
#[derive(Parser)]
#[command(no_binary_name = true, args_override_self = true)]
struct Again {
    #[command(flatten)]
    args: Args,
}

/// Keys of a job file that matter here.
const KEYS: [&str; 5] = ["input", "qi", "sensitive", "delimiter", "population"];

pub(super) fn run(mut args: Args, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(path) = &args.source.config {
        let table = args.source.file.is_some();
        let words = config::merge(path, table, 3, &|key| !KEYS.contains(&key))?;
        args = Again::try_parse_from(words).map_err(|error| config::mistake(&error))?.args;
    }
    let mut table = read(&args.source, None)?;
    let (quasi, _) = positions(&args.source, &table)?;
    let population = population(&args.source, &mut table)?;
    let columns: Vec<&Column> = quasi.iter().filter_map(|at| table.columns.get(*at)).collect();
    let (_, sizes) = group(&columns);
    let people = population.as_ref().map(|people| matching(&columns, people));
    let risk = of(&sizes, 0, people.as_deref())?;
    let unique = format!("{} rows ({})", grouped(risk.unique as f64), percent(risk.unique_share));
    let report = Report::default()
        .field("rows", table.rows)
        .described("classes", sizes.len(), grouped(sizes.len() as f64))
        .described("unique", risk.unique, unique)
        .described("prosecutor", chance(&risk.prosecutor), line(&risk.prosecutor));
    let report = match population {
        Some(_) => report.described("journalist", chance(&risk.journalist), line(&risk.journalist)),
        None => report,
    };
    Ok(report
        .described(
            "marketer",
            risk.marketer,
            format!("finds {} of all rows", percent(risk.marketer)),
        )
        .print(args.json, out)?)
}

/// The risks of classes of these sizes, that look like so many people of a population. A
/// population that lacks people of the table has at least those.
pub(super) fn of(sizes: &[u64], suppressed: u64, people: Option<&[u64]>) -> Result<Risk, Failure> {
    let people: Option<Vec<u64>> =
        people.map(|people| people.iter().zip(sizes).map(|(p, size)| *p.max(size)).collect());
    Ok(of_sizes(sizes, suppressed, people.as_deref(), Threshold::new(1, ONE_IN)?)?)
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
        "at most 1 in {}, {} on average; {} rows above {} %",
        grouped(chance.highest_one_in as f64),
        percent(chance.average),
        grouped(chance.rows_at_risk as f64),
        short(100.0 / ONE_IN as f64)
    )
}
