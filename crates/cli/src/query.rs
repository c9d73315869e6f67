//! `demure query …`: one question, answered once or refused.

use crate::Failure;
use crate::curator::formats::{Format, write};
use crate::curator::options::SessionOptions;
use crate::curator::{about_setting, render, words};
use demure_curator::Outcome;
use demure_files as files;
use demure_report::printable;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

/// Ask one question of protected tables, in SQL, and pay for the answer from the policy's budget
///
/// The noise is drawn once: who asks the same question again gets the same answer, free. The answer goes
/// to stdout or FILE; what it cost and how wrong it may be goes to stderr. The budget is kept in
/// a ledger beside the policy.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure query clinic/clinic.toml 'SELECT COUNT(*) FROM patients' --epsilon 0.1
  demure query clinic/clinic.toml 'SELECT smoker, AVG(age) AS age FROM patients GROUP BY smoker' \\
      --epsilon 0.2 --intervals
  demure query clinic/clinic.toml 'SELECT COUNT(*) FROM patients' --epsilon 0.1 --output n.csv

The clinic is made by: demure demo --keep clinic
Exit code: 0 answered, 1 refused and nothing spent, 2 a mistake or a failure.")]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionOptions,

    /// The question, in SQL
    #[arg(value_name = "SQL")]
    sql: String,

    /// Show the 95 % error of each noised value: as ±, or as columns …_low and …_high
    #[arg(long)]
    intervals: bool,

    /// How to write the answer; by default as FILE's name suggests, else as a table
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write the answer to FILE instead of stdout
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let suggested = args.output.as_deref().and_then(Format::of);
    if json && args.format.is_some_and(|format| format != Format::Json) {
        return Err(Failure::usage("--json and another --format exclude each other"));
    }
    let named = args.format.or(json.then_some(Format::Json));
    let format = named.or(suggested).unwrap_or(Format::Table);
    if format.binary() && args.output.is_none() && std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "a terminal cannot show this format\nhint: write it to a file with --output FILE",
        ));
    }
    let mut conversation = args.session.open()?;
    conversation.session.settings_mut().intervals = args.intervals;
    match conversation.run(&args.sql) {
        Ok(Outcome::Answer(answer)) => {
            match &args.output {
                Some(path) => files::write(path, |to| write(&answer, format, args.intervals, to))?,
                None => {
                    write(&answer, format, args.intervals, out)?;
                    // Before what is said of it, where both go to one terminal.
                    out.flush().map_err(Failure::writing)?;
                }
            }
            if format != Format::Json || args.output.is_some() {
                render::print(&answer);
            }
            Ok(())
        }
        Ok(Outcome::Explanation(explanation)) => crate::explain::print(&explanation, json, out),
        Ok(Outcome::Setting(name, value)) => {
            match json {
                true => writeln!(out, "{}", serde_json::json!({ name: value })),
                false => writeln!(out, "{name} = {}", printable(&value)),
            }
            .map_err(Failure::writing)?;
            note!("hint: a setting ends with the command; use its option, or `demure shell`");
            Ok(())
        }
        Ok(_) => Err(Failure::usage("this kind of statement is for `demure shell`")),
        Err(error) if about_setting(&error) => {
            let text = words(&error);
            Err(Failure::usage(text.trim_start_matches("refused: ")))
        }
        Err(error) => Err(error.into()),
    }
}
