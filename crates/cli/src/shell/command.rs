//! Commands of `demure shell`: lines that begin with a backslash, and `help`, `quit`, `exit`.

use super::{Shell, describe};
use crate::Failure;
use crate::curator::formats::Format;
use demure_report::Table;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;

const HELP: &str = "\
SELECT …;              ask; the answer is paid for from the budget
EXPLAIN PRIVACY …;     what a question would cost
SET demure.… = …;      change a setting; SHOW demure.…; shows it
\\d                     the tables
\\d TABLE               its columns, and what is known of them
\\budget                what is spent and left
\\explain [SELECT …]    what a question would cost: this one, or the one that is being written
\\set [NAME [VALUE]]    show or change settings
\\e                     write the statement in an editor ($EDITOR); it is asked when you press Enter
\\o FILE                write the next answer into FILE: .csv, .json, .arrow, .parquet, .txt
\\timing [on|off]       say how long each statement took
\\?, help               this
\\q, quit, exit         end (or Ctrl-D)";

/// The command that a line without a backslash is.
pub(super) fn word(line: &str) -> Option<&'static str> {
    let word = line.trim().trim_end_matches(';').trim_end();
    match word.to_ascii_lowercase().as_str() {
        "help" => Some("\\?"),
        "quit" | "exit" => Some("\\q"),
        _ => None,
    }
}

impl Shell {
    /// Obeys a command; false ends the shell.
    pub(super) fn command(&mut self, line: &str, out: &mut impl Write) -> Result<bool, Failure> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim().trim_end_matches(';').trim();
        match name.trim_end_matches(';') {
            "\\q" | "\\quit" | "\\exit" => return Ok(false),
            "\\?" | "\\h" | "\\help" => {
                writeln!(out, "{HELP}").map_err(Failure::writing)?;
                if !self.pending.trim().is_empty() {
                    note!("note: the statement goes on; Ctrl-C drops it");
                }
            }
            "\\d" if rest.is_empty() => {
                let tables = describe::tables(self.conversation.curator());
                self.table("tables", &tables, out)?;
            }
            "\\d" => match describe::table(self.conversation.curator(), rest) {
                Some((table, words)) => {
                    self.table(rest, &table, out)?;
                    if !self.json {
                        writeln!(out, "{words}").map_err(Failure::writing)?;
                    }
                }
                None => self.fail("there is no such table\nhint: \\d lists them"),
            },
            "\\budget" => match self.conversation.curator().ledger().balance() {
                Ok(balance) => {
                    let policy = self.conversation.curator().policy();
                    if self.json {
                        let left = demure_curator::left_in_words(&balance);
                        return self.setting("left", &left, out).map(|()| true);
                    }
                    let lines = policy.budget_in_words(&balance);
                    writeln!(out, "{lines}").map_err(Failure::writing)?;
                }
                Err(error) => self.tell(&error.into()),
            },
            "\\explain" => {
                let sql = if rest.is_empty() { self.pending.as_str() } else { rest };
                match self.conversation.explain(sql) {
                    Ok(explanation) => crate::explain::print(&explanation, self.json, out)?,
                    Err(error) => self.tell(&error),
                }
            }
            "\\set" => self.set(rest, out)?,
            "\\timing" => self.time(rest),
            "\\o" => self.redirect(rest),
            "\\e" | "\\edit" => {
                let begun = self.pending.trim().to_owned();
                let text = if begun.is_empty() { self.last.clone() } else { begun };
                match self.lines.edit(&text) {
                    Ok(()) => self.pending.clear(),
                    Err(why) => self.fail(&why),
                }
            }
            "\\watch" => {
                eprintln!(
                    "refused: \\watch asks again and again; while the tables stay as they are, every answer would \
                     be the same, and after a change each answer would cost the price of the question\n\
                     hint: ask again with ;"
                );
                self.worst = self.worst.max(1);
            }
            _ => self.fail("there is no such command\nhint: \\? lists them"),
        }
        Ok(true)
    }

    /// Prints a table of texts: as it is, or as an object with its rows.
    fn table(&self, name: &str, table: &Table, out: &mut impl Write) -> Result<(), Failure> {
        if !self.json {
            return Ok(table.print("", out)?);
        }
        let rows = table.columns.first().map_or(0, |column| column.cells.len());
        let row = |i: usize| -> Map<String, Value> {
            let cells =
                table.columns.iter().map(|c| (c.name.clone(), c.cells[i].text.clone().into()));
            cells.collect()
        };
        let rows: Vec<_> = (0..rows).map(row).collect();
        writeln!(out, "{}", json!({ name: rows })).map_err(Failure::writing)
    }

    /// Shows all settings, shows one, or changes one.
    fn set(&mut self, rest: &str, out: &mut impl Write) -> Result<(), Failure> {
        if rest.is_empty() {
            for (name, value, takes) in self.conversation.session.settings_in_words() {
                if self.json {
                    self.setting(name, &value, out)?;
                    continue;
                }
                writeln!(out, "{name:28}{value:24}{takes}").map_err(Failure::writing)?;
            }
            return Ok(());
        }
        let (name, value) = rest.split_once([' ', '=']).unwrap_or((rest, ""));
        let value = value.trim().trim_start_matches('=').trim();
        let name = match name.starts_with("demure.") {
            true => name.to_owned(),
            false => format!("demure.{name}"),
        };
        if value.is_empty() {
            let all = self.conversation.session.settings_in_words();
            let known = all.into_iter().find(|(known, ..)| name.eq_ignore_ascii_case(known));
            if let Some((name, value, _)) = known {
                return self.setting(name, &value, out);
            }
        }
        let settings = self.conversation.session.settings_mut();
        match settings.set(&name, value) {
            Ok(()) => {
                let value = settings.get(&name).unwrap_or_default();
                self.setting(&name, &value, out)
            }
            Err(refusal) => {
                self.tell(&refusal.into());
                Ok(())
            }
        }
    }

    fn time(&mut self, rest: &str) {
        match rest {
            "" => self.timing = !self.timing,
            "on" => self.timing = true,
            "off" => self.timing = false,
            _ => return self.fail("\\timing takes `on` or `off`"),
        }
        match self.timing {
            true => eprintln!(
                "timing is on\nnote: how long an answer takes depends on people's rows: keep the times to yourself"
            ),
            false => eprintln!("timing is off"),
        }
    }

    /// Where the next answer goes.
    fn redirect(&mut self, rest: &str) {
        if rest.is_empty() {
            self.output = None;
            return;
        }
        let path = PathBuf::from(rest.trim_matches('\''));
        let plain = path.extension().is_some_and(|end| end == "txt");
        match Format::of(&path).or(plain.then_some(Format::Table)) {
            Some(format) => self.output = Some((path, format)),
            None => self.fail(
                "the name of the file does not say its format\n\
                 hint: end it with .csv, .json, .arrow, .parquet or .txt",
            ),
        }
    }
}
