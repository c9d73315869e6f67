//! A table of texts, column by column, each distinct text stored once.

mod dictionary;
mod read;

use crate::error::{Error, Result};
use std::collections::HashSet;
use std::io::Read;

/// What a table is called in errors, where its file is not known.
pub(crate) const TABLE: &str = "the table";
/// More names of a header than this are not listed.
const LISTED: usize = 20;

/// One column: row r holds `values[codes[r]]`.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The header's name.
    pub name: String,
    /// The distinct texts, in order of first appearance.
    pub values: Vec<String>,
    /// One code a row.
    pub codes: Vec<u32>,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// All of the same length.
    pub columns: Vec<Column>,
    /// How many rows.
    pub rows: usize,
}

/// A table put together column by column, text by text, for formats that this crate does not read.
#[derive(Default)]
pub struct Builder {
    columns: Vec<(String, dictionary::Dictionary, Vec<u32>)>,
}

impl Builder {
    /// A table of these columns, without rows.
    pub fn new(names: impl IntoIterator<Item = String>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().collect();
        distinct(&names)?;
        let column = |name| (name, dictionary::Dictionary::default(), Vec::new());
        Ok(Self { columns: names.into_iter().map(column).collect() })
    }

    /// The code of a text in a column, a new one if it was not met before; 0 where there is no
    /// such column.
    pub fn code(&mut self, column: usize, text: &str) -> u32 {
        self.columns.get_mut(column).map_or(0, |(_, known, _)| known.code(text, (0, 0)))
    }

    /// Adds a cell to a column: a code that [`code`](Self::code) gave.
    pub fn push(&mut self, column: usize, code: u32) {
        if let Some((_, _, codes)) = self.columns.get_mut(column) {
            codes.push(code);
        }
    }

    /// The table, if all columns are equally long and every code is known.
    pub fn finish(self) -> Result<Table> {
        let rows = self.columns.first().map_or(0, |(_, _, codes)| codes.len());
        let mut columns = Vec::with_capacity(self.columns.len());
        for (name, known, codes) in self.columns {
            let texts = known.values.len();
            if codes.len() != rows || codes.iter().any(|&code| code as usize >= texts) {
                return Err(Error::OutOfRange {
                    parameter: "the columns",
                    allowed: "all of the same length, with codes of their own",
                });
            }
            columns.push(Column { name, values: known.values, codes });
        }
        Ok(Table { columns, rows })
    }
}

impl Table {
    /// Reads CSV with a header. The input streams through in blocks that all
    /// processors encode; only codes and distinct texts are kept.
    pub fn from_csv(input: impl Read, delimiter: u8) -> Result<Self> {
        read::table(input, delimiter)
    }

    /// The position of a column.
    pub fn position(&self, name: &str) -> Result<usize> {
        let found = self.columns.iter().position(|c| c.name == name);
        found.ok_or_else(|| Error::NoColumn { name: name.to_owned(), header: self.header(name) })
    }

    /// What the header has, for somebody who looked for `name`. A first line that may be a row,
    /// because the file has no header, is not shown.
    fn header(&self, name: &str) -> String {
        let names = || self.columns.iter().map(|column| column.name.as_str());
        let finite = |text: &str| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
        // A header that was taken for one column, too.
        let number = |text: &str| text.split([';', '\t', '|', ':', ',']).any(finite);
        if names().any(number) {
            return "the first line has numbers, so it may be a row\n\
                    hint: a table needs a header: a first line with a name for each column"
                .to_owned();
        }
        let listed = names().take(LISTED).map(|n| if n.is_empty() { "(no name)" } else { n });
        let listed = listed.collect::<Vec<_>>().join(", ");
        let more = match self.columns.len().checked_sub(LISTED).filter(|more| *more > 0) {
            Some(more) => format!(" and {more} more"),
            None => String::new(),
        };
        let plain = |text: &str| text.trim().to_lowercase();
        let hint = match names().find(|other| plain(other) == plain(name)) {
            Some(near) => format!("\nhint: did you mean `{near}`?"),
            None => String::new(),
        };
        let shown = |c: char| if c.is_control() && c != '\n' { '\u{FFFD}' } else { c };
        format!("the header has: {listed}{more}{hint}").chars().map(shown).collect()
    }
}

/// The names of a table's columns, each of which must be another.
fn distinct(names: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(names.len());
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        None => Ok(()),
        Some(twice) => Err(Error::Malformed {
            what: TABLE.to_owned(),
            line: 1,
            why: match twice.is_empty() {
                true => "two columns of the header have no name; name them, or leave them out",
                false => "two columns of the header have the same name",
            },
        }),
    }
}

#[cfg(test)]
mod tests;
