//! Who is attacked: `patients.id=7`, and the world without them.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// All rows of a table with a value in a column, as it was typed.
#[derive(Clone)]
pub struct Target {
    table: String,
    column: String,
    value: String,
}

impl FromStr for Target {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let wrong = "must be TABLE.COLUMN=VALUE, e.g. patients.id=7";
        let (place, value) = text.split_once('=').ok_or(wrong)?;
        let (table, column) = place.trim().split_once('.').ok_or(wrong)?;
        match [table, column, value].iter().any(|part| part.is_empty()) {
            true => Err(wrong),
            false => Ok(Self { table: table.into(), column: column.into(), value: value.into() }),
        }
    }
}

// The value may be protected.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({}.{})", self.table, self.column)
    }
}

/// The same, found among the tables: as SQL writes it.
pub(super) struct ResolvedTarget {
    table: String,
    column: String,
    /// A literal.
    value: String,
    whole: bool,
}

impl Target {
    /// Finds the table and the column.
    pub(super) fn found(
        &self,
        tables: &[(String, Vec<(String, String)>)],
    ) -> Result<ResolvedTarget> {
        let wrong = |why| Error::Target { why };
        let table = tables.iter().find(|(name, _)| *name == self.table);
        let (table, columns) = table.ok_or(wrong("there is no such table"))?;
        let column = columns.iter().find(|(name, _)| *name == self.column);
        let (column, kind) =
            column.ok_or(wrong("there is no such column that may be asked about"))?;
        let whole = kind.starts_with("Int") || kind.starts_with("UInt");
        let text = kind.starts_with("Utf8") || kind.starts_with("LargeUtf8");
        let value = match (whole, self.value.parse::<i64>()) {
            (true, Ok(number)) => number.to_string(),
            (true, Err(_)) => return Err(wrong("the column holds whole numbers")),
            (false, _) if text => quoted(&self.value),
            (false, _) => {
                return Err(wrong(
                    "the column must hold whole numbers or texts\nhint: use the person's id",
                ));
            }
        };
        Ok(ResolvedTarget { table: table.clone(), column: format!("\"{column}\""), value, whole })
    }
}

impl ResolvedTarget {
    /// The query on the table without a person who is not there (`number`), which makes it another
    /// query and nothing else; and, if `gone`, without the target.
    pub(super) fn shadow(&self, query: &str, gone: bool, number: u64) -> String {
        let nobody = match self.whole {
            true => format!("-{}", 1_000_000_000_000 + number),
            false => quoted(&format!("nobody {number} \u{1}")),
        };
        let mut condition = format!("{} <> {nobody}", self.column);
        if gone {
            condition += &format!(" AND {} <> {}", self.column, self.value);
        }
        shadowed(query, &self.table, &condition)
    }
}

/// The query on those rows of a table that satisfy a condition: a table expression of the table's
/// own name stands before it.
pub(super) fn shadowed(query: &str, table: &str, condition: &str) -> String {
    let body = format!("{table} AS (SELECT * FROM {table} WHERE {condition})");
    let query = query.trim();
    // The query may begin with WITH itself.
    match query.split_at_checked(5) {
        Some((with, rest)) if with.trim_end().eq_ignore_ascii_case("with") => {
            format!("WITH {body}, {rest}")
        }
        _ => format!("WITH {body} {query}"),
    }
}

/// The first of the tables that a query names.
pub(super) fn named<'a>(query: &str, mut tables: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<&str> = query.split(|c| !part(c)).collect();
    tables.find(|table| words.iter().any(|word| word.eq_ignore_ascii_case(table)))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests;
