//! What Tab offers: keywords, tables, columns, settings, commands.

use demure_curator::{Curator, SETTINGS};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// What SQL has, separated by commas.
const KEYWORDS: &str = "SELECT,FROM,WHERE,GROUP BY,ORDER BY,HAVING,LIMIT,JOIN,LEFT JOIN,ON,USING,AS,\
    AND,OR,NOT,IN,BETWEEN,LIKE,IS NULL,IS NOT NULL,CASE,WHEN,THEN,ELSE,END,WITH,UNION ALL,DISTINCT,\
    DESC,ASC,DATE,COUNT(,SUM(,AVG(,MEDIAN(,MODE(,MIN(,MAX(,STDDEV(,VAR(,CLAMP(,\
    APPROX_PERCENTILE_CONT(,EXPLAIN PRIVACY,SET,SHOW,RESET";
const COMMANDS: &[&str] = &["\\d", "\\budget", "\\explain", "\\set", "\\?", "\\q"];

/// All the words there are.
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn of(curator: &Curator) -> Self {
        let mut words: Vec<String> =
            KEYWORDS.split(',').chain(COMMANDS.iter().copied()).map(str::to_owned).collect();
        words.extend(SETTINGS.iter().map(|(name, _)| (*name).to_owned()));
        for (table, columns) in curator.tables() {
            words.push(table);
            words.extend(columns.into_iter().map(|(name, _)| name));
        }
        words.sort();
        words.dedup();
        Self(words)
    }

    /// Where the word before the cursor begins, and the words that begin like it.
    fn offered(&self, before: &str) -> (usize, Vec<String>) {
        let apart = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '\\' | '?'));
        let start = before
            .rfind(apart)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let mut word = &before[start..];
        let mut start = start;
        // `v.co` is a column of something called v; `demure.ep` is one word.
        if let Some(dot) = word.rfind('.').filter(|_| !word.to_lowercase().starts_with("demure")) {
            start += dot + 1;
            word = &word[dot + 1..];
        }
        let begun = word.to_lowercase();
        let fits = |candidate: &&String| candidate.to_lowercase().starts_with(&begun);
        let offered = match begun.is_empty() {
            true => Vec::new(),
            false => self.0.iter().filter(fits).cloned().collect(),
        };
        (start, offered)
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
        Ok(self.offered(line.get(..at).unwrap_or(line)))
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
