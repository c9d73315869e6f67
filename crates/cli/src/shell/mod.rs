//! `demure shell …`: a conversation with a curator, typed or from a script.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the loop: statements to the curator, commands to `command.rs` |
//! | `command.rs` | what begins with a backslash |
//! | `lines.rs` | where lines come from: an editor with a history, or stdin |
//! | `describe.rs` | `\d` |
//! | `complete.rs` | what Tab offers |

mod command;
mod complete;
mod describe;
mod lines;

use crate::Failure;
use crate::curator::formats::{self, Format};
use crate::curator::options::SessionOptions;
use crate::curator::{Conversation, render, words};
use demure_curator::{Answer, Outcome, left_in_words, split_statement};
use demure_files as files;
use demure_report::{counted, printable};
use lines::{Line, Lines};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Ask many questions, one after the other, under one policy
///
/// Statements end with `;` and may take several lines. `help` lists the commands. Where stdin is
/// not a terminal, it is read as a script: the exit code is 1 if a statement was refused and 2 if
/// one failed. Questions are kept in the history, demure_history in the user's state folder;
/// answers never are.
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

/// A conversation under way.
struct Shell {
    conversation: Conversation,
    lines: Lines,
    /// The statement so far.
    pending: String,
    /// The last statement, for `\e`.
    last: String,
    timing: bool,
    /// Whether answers, prices and settings are JSON, an object each.
    json: bool,
    /// Where the next answer goes, instead of stdout.
    output: Option<(PathBuf, Format)>,
    /// The worst that happened: the exit code of a script.
    worst: u8,
}

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut conversation = args.session.open()?;
    conversation.session.settings_mut().intervals = true;
    let lines = Lines::new(complete::Words::of(conversation.curator()))?;
    if lines.typed() {
        let balance =
            conversation.curator().ledger().balance().map_err(demure_curator::Error::from)?;
        note!("left {}; help for help, quit to end", left_in_words(&balance));
    }
    let (pending, last) = (String::new(), String::new());
    let mut shell =
        Shell { conversation, lines, pending, last, timing: false, json, output: None, worst: 0 };
    loop {
        match shell.lines.next(&shell.pending)? {
            Line::Text(text) => {
                if !shell.read(&text, out)? {
                    break;
                }
            }
            Line::Cleared => shell.pending.clear(),
            Line::End => break,
        }
        out.flush().map_err(Failure::writing)?;
    }
    if left_over(&shell.pending) {
        shell.fail("the last statement has no end\nhint: end it with ;");
    }
    match (shell.lines.typed(), shell.worst) {
        (true, _) | (_, 0) => Ok(()),
        (false, code) => Err(Failure::Told(code)),
    }
}

/// Whether more than space and whole-line comments is left.
fn left_over(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
}

impl Shell {
    /// Reads a line, or several that were pasted; false ends the shell.
    fn read(&mut self, text: &str, out: &mut impl Write) -> Result<bool, Failure> {
        let alone = !text.contains('\n');
        for line in text.split('\n') {
            // Within a quoted text, a line is part of it whatever it holds.
            let quoted = split_statement(&format!("{};", self.pending)).is_none();
            let word = command::word(line);
            let bare = self.pending.trim().is_empty() || (alone && self.lines.typed());
            if !quoted && (line.trim_start().starts_with('\\') || word.is_some() && bare) {
                self.lines.remember(line);
                if !self.command(word.unwrap_or(line.trim()), out)? {
                    self.pending.clear();
                    return Ok(false);
                }
                continue;
            }
            self.pending.push_str(line);
            self.pending.push('\n');
            while let Some((statement, rest)) = split_statement(&self.pending) {
                let (statement, rest) = (statement.trim().to_owned(), rest.to_owned());
                self.pending = rest;
                if left_over(&statement) {
                    self.last = format!("{statement};");
                    self.lines.remember(&self.last);
                    self.ask(&statement, out)?;
                }
            }
        }
        Ok(true)
    }

    /// Runs a statement and shows what came of it. Only a stream that cannot be written to ends all.
    fn ask(&mut self, sql: &str, out: &mut impl Write) -> Result<(), Failure> {
        let begun = Instant::now();
        let outcome = self.conversation.run(sql);
        let took = begun.elapsed();
        match outcome {
            Ok(Outcome::Answer(answer)) => {
                let told = self.json && self.output.is_none();
                self.show(&answer, out)?;
                // Before what is said of it, where both go to one terminal.
                out.flush().map_err(Failure::writing)?;
                if !told {
                    render::print(&answer);
                }
            }
            Ok(Outcome::Explanation(explanation)) => {
                crate::explain::print(&explanation, self.json, out)?;
            }
            Ok(Outcome::Setting(name, value)) => self.setting(&name, &value, out)?,
            Ok(_) => {}
            Err(error) => self.tell(&error),
        }
        if self.timing {
            eprintln!("time {:.1} ms", took.as_secs_f64() * 1e3);
        }
        Ok(())
    }

    /// The rows of an answer, on stdout or into the file that `\o` named.
    fn show(&mut self, answer: &Answer, out: &mut impl Write) -> Result<(), Failure> {
        let intervals = self.conversation.session.settings_mut().intervals;
        let Some((path, format)) = self.output.take() else {
            let format = if self.json { Format::Json } else { Format::Table };
            return formats::write(answer, format, intervals, out);
        };
        match files::write(&path, |to| formats::write(answer, format, intervals, to)) {
            Ok(()) => {
                let rows = answer.batches.iter().map(|batch| batch.num_rows()).sum::<usize>();
                note!("{} in {}", counted(rows as u64, "row"), path.display());
            }
            // What was bought is free when it is asked again.
            Err(failure) => self.fail(&format!("{failure}\nhint: asking again is free")),
        }
        Ok(())
    }

    fn tell(&mut self, error: &demure_curator::Error) {
        eprintln!("{}", words(error));
        self.worst = self.worst.max(if error.refusal().is_some() { 1 } else { 2 });
    }

    fn setting(&self, name: &str, value: &str, out: &mut impl Write) -> Result<(), Failure> {
        match self.json {
            true => writeln!(out, "{}", json!({ name: value })),
            false => writeln!(out, "{name} = {}", printable(value)),
        }
        .map_err(Failure::writing)
    }

    /// Says what is wrong with a line.
    fn fail(&mut self, what: &str) {
        eprintln!("error: {what}");
        self.worst = self.worst.max(2);
    }
}
