//! `demure anonymize …`: a table made coarse until it keeps a promise; checking one; its risk.
//!
//! | file | what |
//! |---|---|
//! | `options.rs` | what users type |
//! | `config.rs` | the same from a TOML file |
//! | `columns.rs` | the table, and the part its columns play |
//! | `hierarchies.rs`, `order.rs` | how columns become coarser, how their values are ordered |
//! | `models.rs` | what is promised |
//! | `find.rs` | the search, by any method |
//! | `render.rs`, `explain.rs`, `html/` | what was found, as text, JSON and a page |
//! | `output.rs` | the published table as a file |
//! | `watch.rs` | progress of a long search, and Ctrl-C |
//! | `check.rs`, `proof.rs`, `risk.rs` | the subcommands |
//!
//! No differential privacy is claimed anywhere here, and the help says so.

mod check;
pub(crate) mod columns;
mod config;
mod explain;
mod find;
pub(crate) mod hierarchies;
mod html;
mod models;
mod options;
mod order;
mod output;
mod proof;
mod render;
mod risk;
mod watch;

use crate::Failure;
use clap::{Parser, Subcommand};
use demure_anonymize::publish::output::write;
use demure_anonymize::publish::verdict;
use demure_files as files;
use options::{Promise, Search, Source};
use std::io::Write;
use std::path::PathBuf;

/// Publish rows: make a table coarse until it keeps a promise (no differential privacy).
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, args_override_self = true)]
#[command(after_help = "\
This is not differential privacy: nothing is promised about several releases together, or against
an observer who knows more than the quasi-identifiers. docs/anonymize.md says what each model means.

Examples:
  demure anonymize people.csv --qi age,state --k 2 --suppress 1
  demure anonymize people.csv --qi age,state --sensitive city --k 1 --t 0.9 --explain
  demure anonymize people.csv --qi age,state --hierarchy state=mask --k 2 --suppress 50% --json
  demure anonymize people.csv --qi age,state --method mondrian --k 2 --output release.parquet
  demure anonymize check people.csv --qi city --k 1
  demure anonymize risk people.csv --qi age,state")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Which>,

    #[command(flatten)]
    job: Job,
}

#[derive(Subcommand)]
enum Which {
    Check(check::Args),
    Risk(risk::Args),
}

/// A release to be made.
#[derive(clap::Args)]
struct Job {
    #[command(flatten)]
    source: Source,

    #[command(flatten)]
    promise: Promise,

    #[command(flatten)]
    search: Search,

    /// Columns to publish as they are, besides; others that are neither quasi-identifiers nor
    /// sensitive are left out
    #[arg(long, value_name = "COLUMNS", help_heading = "The table")]
    keep: Option<crate::input::Words>,

    /// Write the release here, as Parquet if it is called so; without it, as CSV to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a report here, as a page that needs nothing else
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Say what would be done and promised, and do nothing
    #[arg(long)]
    explain: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The same options, read again with those of a job file before them.
#[derive(Parser)]
#[command(no_binary_name = true, args_override_self = true)]
struct Again {
    #[command(flatten)]
    job: Job,
}

pub(crate) fn run(args: Args, out: &mut impl Write) -> Result<(), Failure> {
    match args.command {
        Some(Which::Check(args)) => check::run(args, out),
        Some(Which::Risk(args)) => risk::run(args, out),
        None => make(&merged(args.job)?, out),
    }
}

/// What the job file says, overruled by what was typed.
fn merged(job: Job) -> Result<Job, Failure> {
    let Some(path) = &job.source.config else { return Ok(job) };
    // What `check` asks for besides is of no use here.
    let skipped = |key: &str| ["original", "witness"].contains(&key);
    let words = config::merge(path, job.source.file.is_some(), 2, &skipped)?;
    Ok(Again::try_parse_from(words).map_err(|error| config::mistake(&error))?.job)
}

fn make(job: &Job, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = columns::read(&job.source, job.keep.as_ref())?;
    let population = columns::population(&job.source, &mut table)?;
    let columns = columns::Columns::new(&job.source, &table, population)?;
    let promised = models::promised(&job.promise, &job.source, &columns)?;
    if job.explain {
        return explain::run(job, &columns, &promised, out);
    }
    let shown = columns.shown(job.keep.as_ref())?;
    let attributes = columns.attributes(job.search.method)?;
    let asked = promised.notes;
    let (found, models) = find::release(&job.search, &columns, &attributes, promised.models)?;
    let release = match found {
        find::Found::Release(release) => *release,
        find::Found::Nothing(nearest) => return render::nothing(&nearest, job.json, out),
    };
    let verdicts = verdict::all(&models, &asked, &release)?;
    // The search promised them; a release that breaks one must not leave this process.
    if let Some(broken) = verdicts.iter().find(|verdict| !verdict.holds) {
        return Err(Failure::Unsatisfied(format!(
            "the release found does not satisfy {}: nothing was written; please report this",
            broken.name
        )));
    }
    if let Some(path) = &job.output {
        output::write_file(&release, &shown, job.source.delimiter, path)?;
    }
    if let Some(path) = &job.report {
        let before = release.before();
        let old = verdict::on(&models, &asked, &before, &release);
        files::write(path, |file| html::write(&release, &before, &old, &verdicts, file))?;
    }
    for warning in verdict::warnings(&verdicts) {
        eprintln!("warning: {warning}");
    }
    let left = table.columns.len() - shown.len();
    if left > 0 {
        let columns = if left == 1 { "column that is" } else { "columns that are" };
        eprintln!("left out: {left} {columns} neither in --qi nor in --sensitive nor in --keep");
    }
    let report = render::report(&release, &verdicts);
    if job.json || job.output.is_some() {
        return Ok(report.print(job.json, out)?);
    }
    write(&release, &shown, job.source.delimiter, out).map_err(Failure::writing)?;
    Ok(report.print(false, &mut std::io::stderr())?)
}
