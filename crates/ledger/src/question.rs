//! The question as its analyst wrote it, stored in the rows of its debits and receipts.
//!
//! It is written in front of the canonical text of the row, in the same column. So the layout of the store, the kinds
//! of rows and their hashes are those of earlier versions: rows without a question read as they always did, and a
//! program of an earlier version goes on with a journal that has questions.
//!
//! ```text
//! ␞question 1 whole 1 1⏎         complete or cut; how many values; how many settings
//! 46:SELECT COUNT(*) FROM patients WHERE age > $1⏎
//! 2:65⏎                           the value of $1
//! 14:demure.epsilon⏎ 3:0.5⏎       a setting and its value
//! count(*); at most 1 rows …      the canonical text, up to the end
//! ```
//!
//! The record separator (U+001E) is the first character: canonical texts begin with an aggregate's name. Every other
//! text is preceded by its length in bytes, so nothing that an analyst writes can end it.

use std::fmt::Write;

/// The longest statement that is stored whole.
const SQL: usize = 16 << 10;

/// The longest value that is stored whole.
const VALUE: usize = 256;

/// The most values and the most settings that are stored.
const MOST: usize = 64;

/// What every row with a question begins with.
const OPENING: &str = "\u{1e}question 1 ";

/// A question as its analyst wrote it.
///
/// All of it was written or set by the analyst, and nothing was read from data. What is too long is cut
/// ([`Question::complete`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The statement.
    pub sql: String,
    /// The values of `$1`, `$2`, …, as literals.
    pub values: Vec<String>,
    /// The settings that differed from their defaults, and their values.
    pub settings: Vec<(String, String)>,
    /// Whether nothing was cut.
    pub complete: bool,
}

impl Question {
    /// A question, cut to what a row has room for.
    #[must_use]
    pub fn new(sql: &str, values: Vec<String>, settings: Vec<(String, String)>) -> Self {
        let mut complete = values.len() <= MOST && settings.len() <= MOST;
        let mut cut = |text: &str, most: usize| {
            let end = text.floor_char_boundary(most);
            // PostgreSQL stores no NUL.
            complete &= end == text.len() && !text.contains('\0');
            text[..end].replace('\0', "\u{fffd}")
        };
        let sql = cut(sql, SQL);
        let values = values.iter().take(MOST).map(|value| cut(value, VALUE)).collect();
        let settings = settings.iter().take(MOST);
        let settings =
            settings.map(|(name, value)| (cut(name, VALUE), cut(value, VALUE))).collect();
        Self { sql, values, settings, complete }
    }

    /// The text of a row: the question, and then `canonical`.
    pub(crate) fn before(&self, canonical: &str) -> String {
        let whole = if self.complete { "whole" } else { "cut" };
        let (values, settings) = (self.values.len(), self.settings.len());
        let mut text = format!("{OPENING}{whole} {values} {settings}\n");
        let parts = self.settings.iter().flat_map(|(name, value)| [name, value]);
        for part in std::iter::once(&self.sql).chain(&self.values).chain(parts) {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{}:{part}", part.len());
        }
        text.push_str(canonical);
        text
    }
}

/// The question in the text of a row, if it has one, and the rest of the text.
pub(crate) fn parted(text: &str) -> (Option<Question>, &str) {
    let read = || {
        let (heading, mut rest) = text.strip_prefix(OPENING)?.split_once('\n')?;
        let mut heading = heading.split(' ');
        let complete = match heading.next()? {
            "whole" => true,
            "cut" => false,
            _ => return None,
        };
        let values: usize = heading.next()?.parse().ok()?;
        let settings: usize = heading.next()?.parse().ok()?;
        if heading.next().is_some() || values > MOST || settings > MOST {
            return None;
        }
        let mut part = || {
            let (length, after) = rest.split_once(':')?;
            let (part, after) = after.split_at_checked(length.parse().ok()?)?;
            rest = after.strip_prefix('\n')?;
            Some(part.to_owned())
        };
        let sql = part()?;
        let values = (0..values).map(|_| part()).collect::<Option<_>>()?;
        let settings = (0..settings).map(|_| Some((part()?, part()?))).collect::<Option<_>>()?;
        Some((Question { sql, values, settings, complete }, rest))
    };
    match read() {
        Some((question, rest)) => (Some(question), rest),
        None => (None, text),
    }
}

/// The text of a row without its canonical part.
pub(crate) fn alone(text: &str) -> &str {
    let (_, canonical) = parted(text);
    &text[..text.len() - canonical.len()]
}

#[cfg(test)]
mod tests;
