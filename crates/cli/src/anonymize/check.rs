//! `demure anonymize check …`: whether a published table keeps a promise.

use super::columns::{Columns, positions, read, read_file};
use super::hierarchies::Hierarchies;
use super::options::{Promise, Source};
use super::proof::Said;
use super::{config, models, render};
use crate::Failure;
use clap::Parser;
use demure_anonymize::check::{Claim, check};
use demure_anonymize::hierarchy::Hierarchy;
use demure_anonymize::population::Matching;
use demure_anonymize::publish::verdict::{Verdict, warnings};
use demure_anonymize::table::Table;
use demure_report::{Report, grouped};
use std::io::Write;
use std::path::PathBuf;

/// Keys of a job file that are about making a release.
const MAKING: [&str; 10] = [
    "input", "output", "report", "suppress", "metric", "method", "time", "threads", "explain",
    "keep",
];

/// Whether a published table keeps a promise; needs nothing but the table.
///
/// Rows with equal quasi-identifiers are a class; rows with `*` in all of them count as
/// suppressed, and in the table's distribution. Exit code 0: it holds; 1: it does not.
#[derive(clap::Args)]
#[command(args_override_self = true)]
#[command(after_help = "\
Examples:
  demure anonymize check people.csv --qi city --k 1
  demure anonymize check people.csv --qi city --sensitive state --k 1 --t 1 --json")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    promise: Promise,

    /// The table it was made from: distances are then from this one's distribution
    #[arg(long, value_name = "FILE", help_heading = "The table")]
    original: Option<PathBuf>,

    /// The --json of the release: for --n, the sets M that it names are verified, and no others
    /// are looked for. Classes of coarser releases take --original and --hierarchy too
    #[arg(long, value_name = "FILE", help_heading = "The promise")]
    witness: Option<PathBuf>,

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

pub(super) fn run(mut args: Args, out: &mut impl Write) -> Result<(), Failure> {
    if let Some(path) = &args.source.config {
        let words =
            config::merge(path, args.source.file.is_some(), 3, &|key| MAKING.contains(&key))?;
        args = Again::try_parse_from(words).map_err(|error| config::mistake(&error))?.args;
    }
    let table = read(&args.source, None)?;
    positions(&args.source, &table)?;
    let original = match &args.original {
        Some(path) => Some(read_file(path, &args.source, None)?),
        None => None,
    };
    // Labels of a release are in no hierarchy: only a sensitive column's is of use here.
    let named = |words: &Option<crate::input::Words>| -> Vec<String> {
        words.as_ref().map_or(Vec::new(), |words| words.0.clone())
    };
    let (quasi, sensitive) = (named(&args.source.qi), named(&args.source.sensitive));
    let typed = args.source.hierarchy.clone();
    let people = match &args.source.population {
        Some(path) => Some(read_file(path, &args.source, None)?),
        None => None,
    };
    let hierarchies = match &people {
        Some(people) => of_people(people, &typed, &quasi)?,
        None => Vec::new(),
    };
    args.source.hierarchy.retain(|typed| {
        typed.split_once('=').is_none_or(|(name, _)| sensitive.iter().any(|s| s == name))
    });
    let columns = Columns::new(&args.source, original.as_ref().unwrap_or(&table), None)?;
    let promised = models::promised(&args.promise, &args.source, &columns)?;
    let quasi: Vec<&str> = quasi.iter().map(String::as_str).collect();
    let names: Vec<&str> = sensitive.iter().map(String::as_str).collect();
    let claim = Claim {
        published: &table,
        original: original.as_ref(),
        quasi: &quasi,
        sensitive: &names,
        population: people.as_ref().map(|table| Matching { table, hierarchies: &hierarchies }),
    };
    let mut found = check(&claim, &promised.models)?;
    if let Some(path) = &args.witness {
        Said::read(path)?.decide(&promised, &claim, &typed, &mut found)?;
    }
    let asked = promised.models.iter().map(AsRef::as_ref).zip(&promised.notes).enumerate();
    let verdicts: Vec<Verdict> =
        asked.filter_map(|(at, model)| Verdict::checked(model, at, &found, &sensitive)).collect();
    let (holds, classes, suppressed) = (found.holds(), found.classes.len(), found.suppressed);
    let report = Report::default()
        .described("holds", holds, if holds { "yes" } else { "NO" })
        .field("rows", table.rows)
        .described("suppressed", suppressed, grouped(suppressed as f64))
        .described("classes", classes, grouped(classes as f64));
    render::models(report, &verdicts).print(args.json, out)?;
    for warning in warnings(&verdicts) {
        eprintln!("warning: {warning}");
    }
    match holds {
        true => Ok(()),
        false => Err(Failure::Unsatisfied("the table does not keep the promise".to_owned())),
    }
}

/// The hierarchies of the population's quasi-identifiers, where they were given.
fn of_people(
    people: &Table,
    typed: &[String],
    quasi: &[String],
) -> Result<Vec<Option<Hierarchy>>, Failure> {
    let about = |text: &&String| {
        text.split_once('=').is_none_or(|(name, _)| quasi.iter().any(|q| q == name))
    };
    let typed: Vec<String> = typed.iter().filter(about).cloned().collect();
    let given = Hierarchies::new(&typed, people)?;
    quasi.iter().map(|name| given.given(&people.columns[people.position(name)?])).collect()
}
