//! `demure anonymize …`: a table made coarse until it keeps a promise; checking one; its risk.
//!
//! | file | what |
//! |---|---|
//! | `options.rs` | what users type |
//! | `config.rs` | the same from a TOML file |
//! | `watch.rs` | progress of a long search, and Ctrl-C |
//! | `check.rs`, `risk.rs` | the subcommands |
//!
//! Tables, promises and searches are `demure_anonymize::job`'s, what is said of them `show`'s. No differential privacy is claimed
//! anywhere here, and the help says so.

mod check;
mod config;
mod options;
mod risk;
#[cfg(test)]
mod tests;
mod watch;

use crate::Failure;
use clap::Subcommand;
use demure_anonymize::job::{Columns, Job as Around, SearchResult};
use demure_anonymize::publish::Release;
use demure_anonymize::publish::output::{columns, write};
use demure_anonymize::publish::verdict::{Verdict, warnings};
use demure_anonymize::show::{self, Beside, SAMPLES};
use demure_files as files;
use demure_report::progress::is_quiet;
use options::{Promise, Search, Source, names, samples};
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;
use watch::Watcher;

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

    /// Let the report show sample rows as they were, too, not only as they are published. Do not
    /// give such a report away
    #[arg(long, requires = "report")]
    report_originals: bool,

    /// Show so many rows before and after. They are rows of the original table: without this
    /// option a terminal shows 3, and a file, a pipe and --json show none
    #[arg(long, value_name = "ROWS", value_parser = samples)]
    samples: Option<usize>,

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

/// Refuses to write over what is read.
fn spare_inputs(job: &Job) -> Result<(), Failure> {
    let Source { file, population, config, .. } = &job.source;
    let real = |path: &Option<PathBuf>| path.as_ref()?.canonicalize().ok();
    let read = [
        ("the table", real(file)),
        ("the population", real(population)),
        ("the job file", real(config)),
    ];
    for (option, path) in [("--output", real(&job.output)), ("--report", real(&job.report))] {
        let same = |(_, input): &&(&str, Option<PathBuf>)| path.is_some() && *input == path;
        if let Some((what, _)) = read.iter().find(same) {
            return Err(Failure::usage(format!(
                "{option} is {what} itself, which would be lost\nhint: give it another name"
            )));
        }
    }
    match job.output.is_some() && job.output == job.report {
        true => Err(Failure::usage(
            "--output and --report are the same file\nhint: give one another name",
        )),
        false => Ok(()),
    }
}

fn make(job: &Job, out: &mut impl Write) -> Result<(), Failure> {
    spare_inputs(job)?;
    let (source, search, keep) = (job.source.described(), job.search.described(), names(&job.keep));
    let mut table = source.read(job.source.table()?, &keep)?;
    let population = source.read_population(&mut table)?;
    let columns = Columns::new(&source, &table, population)?;
    let promised = job.promise.described().models(&source, &columns)?;
    let limit = job.search.limit(table.rows);
    if job.explain {
        let report = show::explained(&search, limit, &columns, &promised);
        return Ok(report.print(job.json, out)?);
    }
    let shown = columns.shown(&keep)?;
    let attributes = columns.attributes(search.method)?;
    let (watcher, began) = (Watcher::new(), Instant::now());
    let made = match watcher.release(&search, &columns, &attributes, promised)? {
        SearchResult::Release(made) => made,
        SearchResult::Nothing(nearest) => {
            if job.json {
                writeln!(out, "{}", show::nothing_json(&nearest)).map_err(Failure::writing)?;
            }
            return Err(Failure::Unsatisfied(show::nothing_text(&nearest)));
        }
        SearchResult::Broken(model) => {
            return Err(Failure::Unsatisfied(format!(
                "the release found does not satisfy {model}: nothing was written; please report this"
            )));
        }
    };
    let time = job.search.time_for_alternatives(began.elapsed());
    let release = &made.release;
    // Before alternatives: whoever ends those has the release.
    match &job.output {
        Some(path) => write_file(release, &shown, job.source.delimiter, path)?,
        None if job.json => {}
        None => {
            write(release, &shown, job.source.delimiter, out).map_err(Failure::writing)?;
            out.flush().map_err(Failure::writing)?;
        }
    }
    let (promise, source, search) = (&job.promise.described(), &source, &search);
    let around = Around { source, promise, search, columns: &columns, attributes: &attributes };
    let others = match time.is_zero() {
        true => Vec::new(),
        false => watcher.alternatives(around, time)?,
    };
    let beside = Beside::new(release, &shown, limit, promise.k.or(promise.k_map), others);
    if let Some(path) = &job.report {
        let page = show::page(&made, limit, &beside, job.report_originals)?;
        files::write(path, |file| file.write_all(page.as_bytes()).map_err(Failure::writing))?;
    }
    warn(&made.verdicts);
    if let Some(columns) = show::left_out(&table.columns, &shown) {
        note!("left out: {columns}");
    }
    let report = show::report(release, limit, &made.verdicts);
    match job.json {
        true => Ok(report.append(beside.fields(job.samples)).print(true, out)?),
        false if job.output.is_some() => {
            let rows = job.samples.unwrap_or(if stdout().is_terminal() { SAMPLES } else { 0 });
            report.print(false, out)?;
            Ok(beside.print(rows, out)?)
        }
        false if is_quiet() => Ok(()),
        false => {
            let rows = job.samples.unwrap_or(if stderr().is_terminal() { SAMPLES } else { 0 });
            report.print(false, &mut stderr())?;
            Ok(beside.print(rows, &mut stderr())?)
        }
    }
}

/// Prints the warnings that a publisher must know.
fn warn(verdicts: &[Verdict]) {
    for warning in warnings(verdicts) {
        eprintln!("warning: {warning}");
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
