//! `demure anonymize …`: a table made coarse until it keeps a promise; checking one; its risk.
//!
//! | file | what |
//! |---|---|
//! | `options.rs` | what users type |
//! | `config.rs` | the same from a TOML file |
//! | `watch.rs` | progress of a long search, and Ctrl-C |
//! | `check.rs`, `risk.rs` | the subcommands |
//! | `render.rs`, `explain.rs`, `html/` | what was found, as text, JSON and a page |
//!
//! Tables, promises and searches are `demure_anonymize::job`'s. No differential privacy is claimed
//! anywhere here, and the help says so.

mod check;
mod config;
mod explain;
mod html;
mod options;
mod render;
mod risk;
#[cfg(test)]
mod tests;
mod watch;

use crate::Failure;
use clap::Subcommand;
use demure_anonymize::job::{Columns, SearchResult};
use demure_anonymize::publish::Release;
use demure_anonymize::publish::output::{columns, write};
use demure_files as files;
use demure_report::progress::is_quiet;
use options::{Promise, Search, Source, names};
use std::io::Write;
use std::path::{Path, PathBuf};

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
    command: Option<Command>,

    #[command(flatten)]
    job: Job,
}

#[derive(Subcommand)]
enum Command {
    Check(Box<check::Args>),
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

pub(crate) fn run(args: Args, out: &mut impl Write) -> Result<(), Failure> {
    // What `check` asks for besides is of no use here.
    let skipped = |key: &str| ["original", "witness"].contains(&key);
    match args.command {
        Some(Command::Check(args)) => check::run(*args, out),
        Some(Command::Risk(args)) => risk::run(args, out),
        None => make(&config::merged(args.job, |job| &job.source, 2, skipped)?, out),
    }
}

fn make(job: &Job, out: &mut impl Write) -> Result<(), Failure> {
    let (source, search, keep) = (job.source.described(), job.search.described(), names(&job.keep));
    let mut table = source.read(job.source.table()?, &keep)?;
    let population = source.read_population(&mut table)?;
    let columns = Columns::new(&source, &table, population)?;
    let promised = job.promise.described().models(&source, &columns)?;
    if job.explain {
        return Ok(explain::report(&search, &columns, &promised).print(job.json, out)?);
    }
    let shown = columns.shown(&keep)?;
    let attributes = columns.attributes(search.method)?;
    let made = match watch::release(&search, &columns, &attributes, promised)? {
        SearchResult::Release(made) => made,
        SearchResult::Nothing(nearest) => return render::nothing(&nearest, job.json, out),
        SearchResult::Broken(model) => {
            return Err(Failure::Unsatisfied(format!(
                "the release found does not satisfy {model}: nothing was written; please report this"
            )));
        }
    };
    let release = &made.release;
    if let Some(path) = &job.output {
        write_file(release, &shown, job.source.delimiter, path)?;
    }
    if let Some(path) = &job.report {
        let page = html::page(&made)?;
        files::write(path, |file| file.write_all(page.as_bytes()).map_err(Failure::writing))?;
    }
    render::warn(&made.verdicts);
    let left = table.columns.len() - shown.len();
    if left > 0 {
        let columns = if left == 1 { "column that is" } else { "columns that are" };
        note!("left out: {left} {columns} neither in --qi nor in --sensitive nor in --keep");
    }
    let report = render::report(release, &made.verdicts);
    if job.json || job.output.is_some() {
        return Ok(report.print(job.json, out)?);
    }
    write(release, &shown, job.source.delimiter, out).map_err(Failure::writing)?;
    match is_quiet() {
        true => Ok(()),
        false => Ok(report.print(false, &mut std::io::stderr())?),
    }
}

/// The published table as a file: Parquet if it is called so, else CSV.
fn write_file(
    release: &Release<'_>,
    shown: &[usize],
    delimiter: u8,
    path: &Path,
) -> Result<(), Failure> {
    files::write(path, |file| match files::source::is_parquet(path) {
        true => {
            let columns = columns(release, shown);
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            let cell = |at: usize, row: usize| columns.get(at)?.1.text(row, release);
            let rows = release.recoding.class_of.len();
            Ok(files::parquet::write_texts(&names, rows, cell, path, file)?)
        }
        false => write(release, shown, delimiter, file).map_err(Failure::writing),
    })
}
