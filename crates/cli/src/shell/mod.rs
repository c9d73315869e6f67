//! `demure shell …`: a conversation with a curator, typed or from a script.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the loop: statements to the curator, commands to us |
//! | `lines.rs` | where lines come from: an editor with a history, or stdin |
//! | `describe.rs` | `\d` |
//! | `complete.rs` | what Tab offers |

mod complete;
mod describe;
mod lines;

use crate::Failure;
use crate::curator::options::SessionOptions;
use crate::curator::{Conversation, render, words};
use demure_curator::{Outcome, SETTINGS, left_in_words, split_statement};
use demure_report::printable;
use lines::{Line, Lines};
use std::io::Write;

/// Ask many questions, one after the other, under one policy
///
/// Statements end with `;` and may take several lines. `\?` lists the commands. Where stdin is
/// not a terminal, it is read as a script: the exit code is 1 if a statement was refused and 2 if
/// one failed. Questions are kept in the history of the user's state folder, if there is such a
/// folder; answers never are.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure shell clinic/clinic.toml
  demure shell clinic/clinic.toml --epsilon 0.1 --as ann

The clinic is made by: demure demo --keep clinic")]
pub(crate) struct Args {
    #[command(flatten)]
    session: SessionOptions,
}

const HELP: &str = "\
SELECT …;              ask; the answer is paid for from the budget
EXPLAIN PRIVACY …;     what a question would cost
SET demure.… = …;      change a setting; SHOW demure.…; shows it
\\d                     the tables
\\d TABLE               its columns, and what is known of them
\\budget                what is spent and left
\\explain SELECT …      what a question would cost
\\set [NAME VALUE]      show or change settings
\\?                     this
\\q                     end (or Ctrl-D)";

/// The worst that happened: the exit code of a script.
#[derive(Default)]
struct Worst(u8);

impl Worst {
    fn note(&mut self, code: u8) {
        self.0 = self.0.max(code);
    }
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut conversation = args.session.open()?;
    conversation.session.settings_mut().intervals = true;
    let mut lines = Lines::new(complete::Words::of(conversation.curator()))?;
    if lines.typed() {
        let balance =
            conversation.curator().ledger().balance().map_err(demure_curator::Error::from)?;
        eprintln!("left {}; \\? for help, \\q to end", left_in_words(&balance));
    }
    let mut worst = Worst::default();
    let mut pending = String::new();
    loop {
        match lines.next(pending.trim().is_empty())? {
            Line::Text(line)
                if pending.trim().is_empty() && line.trim_start().starts_with('\\') =>
            {
                lines.remember(line.trim());
                pending.clear();
                if !command(line.trim(), &mut conversation, out, &mut worst)? {
                    break;
                }
            }
            Line::Text(line) => {
                pending.push_str(&line);
                pending.push('\n');
                while let Some((statement, rest)) = split_statement(&pending) {
                    if left_over(statement) {
                        lines.remember(&format!("{};", statement.trim()));
                        answer(statement, &mut conversation, out, &mut worst)?;
                    }
                    pending = rest.to_owned();
                }
            }
            Line::Cleared => pending.clear(),
            Line::End => break,
        }
        out.flush().map_err(Failure::writing)?;
    }
    if left_over(&pending) {
        eprintln!("error: the last statement has no end\nhint: end it with ;");
        worst.note(2);
    }
    match (lines.typed(), worst.0) {
        (true, _) | (_, 0) => Ok(()),
        (false, code) => Err(Failure::Told(code)),
    }
}

/// Whether more than space and whole-line comments is left.
fn left_over(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
}

/// Runs a statement and shows what came of it. Only a stream that cannot be written to ends all.
fn answer(
    sql: &str,
    conversation: &mut Conversation,
    out: &mut impl Write,
    worst: &mut Worst,
) -> Result<(), Failure> {
    let outcome = conversation.run(sql);
    let intervals = conversation.session.settings_mut().intervals;
    match outcome {
        Ok(Outcome::Answer(answer)) => {
            render::table(&answer, intervals)?.print("", out)?;
            // Before what is said of it, where both go to one terminal.
            out.flush().map_err(Failure::writing)?;
            render::print(&answer);
        }
        Ok(Outcome::Explanation(explanation)) => crate::explain::print(&explanation, false, out)?,
        Ok(Outcome::Setting(name, value)) => setting(&name, &value, out)?,
        Ok(_) => {}
        Err(error) => tell(&error, worst),
    }
    Ok(())
}

fn tell(error: &demure_curator::Error, worst: &mut Worst) {
    eprintln!("{}", words(error));
    worst.note(if error.refusal().is_some() { 1 } else { 2 });
}

fn setting(name: &str, value: &str, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{name} = {}", printable(value)).map_err(Failure::writing)
}

/// Obeys a line that begins with a backslash; false ends the shell.
fn command(
    line: &str,
    conversation: &mut Conversation,
    out: &mut impl Write,
    worst: &mut Worst,
) -> Result<bool, Failure> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim().trim_end_matches(';').trim();
    match name.trim_end_matches(';') {
        "\\q" | "\\quit" => return Ok(false),
        "\\?" | "\\h" | "\\help" => writeln!(out, "{HELP}").map_err(Failure::writing)?,
        "\\d" if rest.is_empty() => describe::tables(conversation.curator()).print("", out)?,
        "\\d" => match describe::table(conversation.curator(), rest) {
            Some((table, words)) => {
                table.print("", out)?;
                writeln!(out, "{words}").map_err(Failure::writing)?;
            }
            None => {
                eprintln!("error: there is no such table\nhint: \\d lists them");
                worst.note(2);
            }
        },
        "\\budget" => match conversation.curator().ledger().balance() {
            Ok(balance) => {
                let lines = conversation.curator().policy().budget_in_words(&balance);
                writeln!(out, "{lines}").map_err(Failure::writing)?;
            }
            Err(error) => tell(&error.into(), worst),
        },
        "\\explain" => match conversation.explain(rest) {
            Ok(explanation) => crate::explain::print(&explanation, false, out)?,
            Err(error) => tell(&error, worst),
        },
        "\\set" if rest.is_empty() => {
            for (name, takes) in SETTINGS {
                let value = conversation.session.settings_mut().get(name).unwrap_or_default();
                writeln!(out, "{name:26}{value:10}{takes}").map_err(Failure::writing)?;
            }
        }
        "\\set" => {
            let (name, value) = rest.split_once([' ', '=']).unwrap_or((rest, ""));
            let name = match name.starts_with("demure.") {
                true => name.to_owned(),
                false => format!("demure.{name}"),
            };
            let value = value.trim().trim_start_matches('=').trim();
            let settings = conversation.session.settings_mut();
            match settings.set(&name, value) {
                Ok(()) => setting(&name, &settings.get(&name).unwrap_or_default(), out)?,
                Err(refusal) => tell(&refusal.into(), worst),
            }
        }
        _ => {
            eprintln!("error: there is no such command\nhint: \\? lists them");
            worst.note(2);
        }
    }
    Ok(true)
}
