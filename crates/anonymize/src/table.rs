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
