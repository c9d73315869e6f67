//! A table of texts, column by column, each distinct text stored once.

mod dictionary;
mod read;

use crate::error::{Error, Result};
use std::io::Read;

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
        let mut columns: Vec<(String, dictionary::Dictionary, Vec<u32>)> = Vec::new();
        for name in names {
            if columns.iter().any(|(other, _, _)| *other == name) {
                return Err(Error::Malformed {
                    what: "the table".to_owned(),
                    line: 1,
                    why: "two columns of the header have the same name",
                });
            }
            columns.push((name, dictionary::Dictionary::default(), Vec::new()));
        }
        Ok(Self { columns })
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
        let names = || self.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
        self.columns
            .iter()
            .position(|c| c.name == name)
            .ok_or_else(|| Error::NoColumn { name: name.to_owned(), header: names() })
    }
}

#[cfg(test)]
mod tests;
