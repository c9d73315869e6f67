//! `demure collect randomize`: the person's side.

use super::{counted, read};
use crate::Failure;
use demure_collect::client::{Client, Given, Memory, Randomized, randomize_csv};
use demure_collect::survey::{Domain, Survey};
use demure_core::random::SystemRandom;
use demure_files as files;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Turn answers (CSV, one person a line) into reports (JSON, one a line)
///
/// A first line with the attributes' names is a header (`answer`, where there is one attribute). Rows that
/// hold no answer of the survey are skipped and counted. The answers stay where they are; only
/// the reports may leave. What was done is told on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure collect randomize exam.toml --answers answers.csv --output reports.jsonl
  demure collect randomize exam.toml --answers answers.csv

With a shell: demure collect randomize exam.toml < answers.csv > reports.jsonl")]
pub(super) struct Args {
    /// The survey
    #[arg(value_name = "SURVEY")]
    survey: PathBuf,

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

    /// Say what was done as one JSON object, on standard error
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let survey = read(&args.survey)?;
    let answers: Box<dyn Read> = match &args.answers {
        Some(path) => {
            let failed = |source| Failure::File {
                what: format!("opening the answers {}", path.display()),
                source,
            };
            Box::new(BufReader::new(File::open(path).map_err(failed)?))
        }
        None => Box::new(std::io::stdin().lock()),
    };
    let done = match (&args.output, &args.memory) {
        (Some(path), None) => {
            let mut done = Randomized::default();
            files::write(path, |to| {
                done = all(&survey, answers, to)?;
                Ok::<_, Failure>(())
            })?;
            done
        }
        (None, None) => all(&survey, answers, out)?,
        (output, Some(memory)) => {
            let report = once(&survey, answers, memory)?;
            match output {
                Some(path) => files::write(path, |to| line(to, &report))?,
                None => line(out, &report)?,
            }
            Randomized { reports: 1, ..Randomized::default() }
        }
    };
    // A reader that went away is told of by the end of the reports, not by this.
    out.flush().map_err(Failure::writing)?;
    tell(&done, args.json);
    Ok(())
}

fn all(survey: &Survey, answers: impl Read, to: &mut impl Write) -> Result<Randomized, Failure> {
    Ok(randomize_csv(survey, answers, to, &mut SystemRandom::new()?)?)
}

fn line(to: &mut impl Write, report: &str) -> Result<(), Failure> {
    writeln!(to, "{report}").map_err(Failure::writing)
}

/// One person's report, with the noise she remembers. What is remembered is on disk before the report is
/// shown: else a crash between the two would cost ε again.
fn once(survey: &Survey, answers: impl Read, path: &Path) -> Result<String, Failure> {
    let failed = |source| Failure::File { what: format!("reading {}", path.display()), source };
    let mut memory = match std::fs::read_to_string(path) {
        Ok(text) => Memory::from_json(&text)?,
        Err(error) if error.kind() == ErrorKind::NotFound => Memory::default(),
        Err(error) => return Err(failed(error)),
    };
    let client = Client::new(survey);
    let report =
        client.randomize_again(&one(survey, answers)?, &mut memory, &mut SystemRandom::new()?)?;
    files::write(path, |to| {
        private(to.get_ref()).map_err(failed)?;
        to.write_all(memory.to_json().as_bytes()).map_err(Failure::writing)
    })?;
    Ok(report.to_json(survey))
}

/// Nobody else may read it.
fn private(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(())
    }
}

/// The one answer that there is, with or without a header.
fn one(survey: &Survey, answers: impl Read) -> Result<Vec<Given>, Failure> {
    let wrong = || {
        Failure::usage(
            "with --memory the answers must be one person's: one line, of the survey's values\n\
             hint: every person has a memory file of her own",
        )
    };
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(answers);
    let records: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|_| wrong())?;
    let names = || survey.attributes().iter().map(|a| a.name.as_str());
    let header = |r: &csv::StringRecord| names().all(|name| r.iter().any(|cell| cell == name));
    let (columns, answer): (Vec<Option<usize>>, _) = match records.as_slice() {
        [first, answer] if header(first) => {
            (names().map(|name| first.iter().position(|cell| cell == name)).collect(), answer)
        }
        [answer] => ((0..survey.attributes().len()).map(Some).collect(), answer),
        _ => return Err(wrong()),
    };
    let client = Client::new(survey);
    let cells = columns.into_iter().enumerate();
    let given = cells.map(|(attribute, column)| client.read(attribute, answer.get(column?)?));
    given.collect::<Option<Vec<Given>>>().ok_or_else(wrong)
}

fn tell(done: &Randomized, json: bool) {
    if json {
        eprintln!("{}", serde_json::json!(done));
        return;
    }
    eprintln!("{} made", counted(done.reports, "report"));
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

/// How a survey's answers look, for whoever has to write them.
pub(super) fn form(survey: &Survey) -> String {
    let one = |domain: &Domain| match domain {
        Domain::Categories(values) if values.len() <= 12 => values.join(" | "),
        Domain::Categories(values) => format!("one of {} values", values.len()),
        Domain::Number { low, high } => format!("a number from {low} to {high}"),
        Domain::Text { length, .. } => format!("a text of at most {length} bytes"),
    };
    survey.attributes().iter().map(|a| one(&a.domain)).collect::<Vec<_>>().join("; ")
}
