//! `demure collect estimate`: reports to frequencies, with intervals.

use super::Common;
use super::render::tables;
use crate::Failure;
use crate::input::{Confidence, Words};
use clap::ValueEnum;
use demure_collect::cross::Cell;
use demure_collect::estimate::{Estimates, Options, from_file, from_lines};
use demure_core::local::Target;
use demure_files as files;
use demure_report::estimates::{EstimateTable, estimates_svg};
use demure_report::progress::Spinner;
use demure_report::{counted, short};
use std::io::Write;
use std::path::PathBuf;

/// Estimate from reports: frequencies, means, distributions, frequent texts
///
/// Estimates are unbiased, so a small one may be negative; the intervals are within what is possible, and
/// hold for all values together. What is malformed, of another survey or repeated is
/// counted and not used. The reports are JSON, one a line, or the store of `demure collect serve`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect estimate exam.toml reports.jsonl
  demure collect estimate exam.toml reports.jsonl --json
  demure collect estimate exam.toml reports.jsonl --consistent --plot estimates.svg")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// The reports; - for standard input
    #[arg(value_name = "REPORTS")]
    reports: PathBuf,
    #[command(flatten)]
    intervals: IntervalOptions,
    /// Add estimates that are not negative and sum to one
    #[arg(long)]
    consistent: bool,
    /// Also a table of two attributes
    #[arg(long, value_name = "A,B")]
    cross: Option<Words>,
    /// Show all values, however many
    #[arg(long)]
    all: bool,
    /// Draw the estimates and their intervals into FILE (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// How sure, and of whom.
#[derive(clap::Args)]
pub(super) struct IntervalOptions {
    /// How sure the intervals are to hold the truth
    #[arg(long, default_value = "0.95", allow_hyphen_values = true)]
    pub(super) confidence: Confidence,
    /// Whose frequencies
    #[arg(long, value_enum, default_value = "population")]
    target: TargetChoice,
    /// Each interval for itself, not all of an attribute together
    #[arg(long)]
    each: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum TargetChoice {
    /// Of a population that the answers are a random sample of
    Population,
    /// Of those who answered
    Respondents,
}

impl IntervalOptions {
    pub(super) fn options(&self) -> Result<Options, Failure> {
        Ok(Options {
            beta: self.confidence.beta()?,
            target: match self.target {
                TargetChoice::Population => Target::Population,
                TargetChoice::Respondents => Target::Respondents,
            },
            simultaneous: !self.each,
            consistent: false,
        })
    }
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = args.common.read()?;
    let options = Options { consistent: args.consistent, ..args.intervals.options()? };
    let pair = match args.cross.as_ref().map(|words| words.0.as_slice()) {
        None => None,
        Some([first, second]) => Some((first.as_str(), second.as_str())),
        Some(_) => return Err(Failure::usage("cross must be two attributes, e.g. a,b")),
    };
    let turning = Spinner::new("counting and estimating");
    let (found, cells) = match args.reports.as_os_str() == "-" {
        true => from_lines(&survey, std::io::stdin().lock(), &options, pair)?,
        false => from_file(&survey, &args.reports, &options, pair)?,
    };
    drop(turning);
    let tables = tables(&survey, &found);
    if let Some(path) = &args.plot {
        files::write_text(path, &estimates_svg(&found.question, &tables))?;
    }
    if args.common.json {
        let mut object = found.to_json();
        if let (Some(cells), Some(object)) = (&cells, object.as_object_mut()) {
            object.insert("cross".into(), cells.iter().map(Cell::to_json).collect());
        }
        return writeln!(out, "{object}").map_err(Failure::writing);
    }
    let text = text(&found, &tables, &args.intervals.confidence.percent(), args.all);
    write!(out, "{text}").map_err(Failure::writing)?;
    match cells {
        Some(cells) => write!(out, "\n{}", crossed(&cells)).map_err(Failure::writing),
        None => Ok(()),
    }
}

fn text(found: &Estimates, tables: &[EstimateTable], confidence: &str, all: bool) -> String {
    let mut text = format!(
        "{}\n{}, ε {} each",
        found.question,
        counted(found.people, "report"),
        short(found.epsilon)
    );
    if found.rejected.total() > 0 {
        text += &format!("; not counted: {}", found.rejected);
    }
    text.push('\n');
    for table in tables {
        text.push('\n');
        if tables.len() > 1 {
            text += &format!("{}\n", table.name);
        }
        text += &format!("{}{}\n", table.text(confidence, all), table.note);
    }
    text
}

fn crossed(cells: &[Cell]) -> String {
    let name = |c: &Cell| format!("{} · {}", c.first, c.second);
    let width = cells.iter().map(|c| name(c).chars().count()).max().unwrap_or(0);
    let line = |c: &Cell| {
        format!("{:width$}  {:>8.4}  {:.4} – {:.4}\n", name(c), c.estimate, c.lower, c.upper)
    };
    cells.iter().map(line).collect()
}
