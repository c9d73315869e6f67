//! `demure collect randomize`: the person's side.

use super::{Common, lines};
use crate::Failure;
use demure_collect::client::{Memory, Randomized, randomize_csv, randomize_one};
use demure_collect::survey::Survey;
use demure_core::random::SystemRandom;
use demure_files as files;
use demure_report::counted;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Turn answers (CSV, one person a line) into reports (JSON, one a line)
///
/// A first line with the attributes' names is a header (`answer`, where there is one attribute). Rows that
/// hold no answer of the survey are skipped and counted. The answers stay where they are; only
/// the reports may leave. A summary is on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect randomize exam.toml --answers answers.csv --output reports.jsonl
  demure collect randomize exam.toml --answers answers.csv

With a shell: demure collect randomize exam.toml < answers.csv > reports.jsonl")]
pub(super) struct Args {
    #[command(flatten)]
    common: Common,
    /// The answers; standard input if not given
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Where the reports go; standard output if not given
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One person's remembered noise, for surveys collected repeatedly (mechanism rappor): made at the
    /// first report, to be kept secret and for ever
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = args.common.read()?;
    let answers = lines(args.answers.as_deref().unwrap_or(Path::new("-")))?;
    let mut done = Randomized::default();
    let fill = |to: &mut dyn Write| -> Result<(), Failure> {
        done = match &args.memory {
            None => randomize_csv(&survey, answers, to, &mut SystemRandom::new()?)?,
            Some(memory) => {
                let report = remembered(&survey, answers, memory)?;
                writeln!(to, "{report}").map_err(Failure::writing)?;
                Randomized { reports: 1, ..Randomized::default() }
            }
        };
        Ok(())
    };
    match &args.output {
        Some(path) => files::write(path, |to| fill(to))?,
        None => fill(out)?,
    }
    // A reader that went away is noticed at the end of the reports, not at this.
    out.flush().map_err(Failure::writing)?;
    match args.common.json {
        true => eprintln!("{}", serde_json::json!(done)),
        false => tell(&done),
    }
    Ok(())
}

/// One person's report, with the noise she remembers. What is remembered is on disk before the report is
/// shown: else a crash between the two would cost ε again.
fn remembered(survey: &Survey, answers: impl Read, path: &Path) -> Result<String, Failure> {
    let mut memory = match std::fs::read_to_string(path) {
        Ok(text) => Memory::from_json(&text)?,
        Err(error) if error.kind() == ErrorKind::NotFound => Memory::default(),
        Err(source) => {
            return Err(Failure::File { what: format!("reading {}", path.display()), source });
        }
    };
    let report = randomize_one(survey, answers, &mut memory, &mut SystemRandom::new()?)?;
    files::write_private(path, &memory.to_json())?;
    Ok(report.to_json(survey))
}

fn tell(done: &Randomized) {
    note!("{} made", counted(done.reports, "report"));
    if done.skipped > 0 {
        let rows: Vec<String> = done.skipped_rows.iter().map(u64::to_string).collect();
        let more = if done.skipped > done.skipped_rows.len() as u64 { ", …" } else { "" };
        eprintln!(
            "warning: {} held no answer of the survey and {} no report (row {}{more})",
            counted(done.skipped, "row"),
            if done.skipped == 1 { "has" } else { "have" },
            rows.join(", ")
        );
    }
}
