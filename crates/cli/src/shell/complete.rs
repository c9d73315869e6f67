//! What Tab offers: commands, and for statements what the curator suggests.

use demure_curator::{Curator, SETTINGS, Suggestions};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

const COMMANDS: [&str; 10] =
    ["\\?", "\\budget", "\\d", "\\e", "\\explain", "\\o", "\\q", "\\set", "\\timing", "\\watch"];

/// What may be written, and the lines of the statement before the one that is typed.
pub(super) struct Words {
    suggestions: Suggestions,
    pub(super) pending: String,
}

impl Words {
    pub(super) fn of(curator: &Curator) -> Self {
        Self { suggestions: curator.suggestions(), pending: String::new() }
    }

    /// How many bytes before the cursor are replaced, and by what.
    fn offered(&self, before: &str, after: &str) -> (usize, Vec<String>) {
        let command = before.trim_start();
        if !self.pending.trim().is_empty() || !command.starts_with('\\') {
            return self.suggestions.at(&format!("{}{before}", self.pending), after);
        }
        let begin = |word: &str, all: &mut dyn Iterator<Item = String>| {
            let fits = |one: &String| one.to_lowercase().starts_with(&word.to_lowercase());
            (word.len(), all.filter(fits).collect())
        };
        match command.split_once(char::is_whitespace) {
            None => begin(command, &mut COMMANDS.iter().map(|&name| name.to_owned())),
            Some(("\\d", table)) => begin(table.trim_start(), &mut self.suggestions.tables()),
            Some(("\\set", name)) => {
                let short = SETTINGS.iter().map(|(name, _)| name.trim_start_matches("demure."));
                begin(name.trim_start(), &mut short.map(str::to_owned))
            }
            Some(("\\explain", sql)) => self.suggestions.at(sql, after),
            Some(_) => (0, Vec::new()),
        }
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let (before, after) = line.split_at_checked(at).unwrap_or((line, ""));
        let (replaced, offered) = self.offered(before, after);
        Ok((before.len().saturating_sub(replaced), offered))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

#[cfg(test)]
mod tests;
