//! Columns of CSV and Parquet files, and files that appear complete or not at all.
//!
//! | module | what it holds |
//! |---|---|
//! | [`source`] | a file or standard input: CSV, gzip or Parquet, recognised by its first bytes |
//! | [`column`](mod@column) | one column, cell by cell |
//! | [`heading`] | the names in a CSV file's first line, and nothing after it |
//! | [`parquet`] | Parquet columns as texts or as integers; texts as Parquet |
//! | [`batches`] | Arrow batches as CSV, JSON, Arrow IPC and Parquet |
//! | [`records`] | whole rows of small CSV files |
//! | [`write`](mod@write) | a file that is complete or does not exist |
//! | [`error`] | errors with positions in a file, never its contents |
//!
//! NULL and an empty cell are the same here: the empty text.
//!
//! # What this crate does not do
//! It interprets nothing: the caller decides whether a cell is a number. The curator takes names and types of columns from
//! it and no row: the engine reads protected tables, under the rules of `curator/src/tables/source.rs`.

#![forbid(unsafe_code)]

pub mod batches;
mod blank;
pub mod column;
pub mod error;
pub mod heading;
pub mod parquet;
pub mod records;
pub mod source;
pub mod write;

pub use column::read_column;
pub use error::{Error, Result};
pub use source::Source;
pub use write::{write, write_private, write_text};

/// Parses a delimiter as users write it: one ASCII character, or `tab`.
pub fn delimiter(text: &str) -> std::result::Result<u8, &'static str> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err("must be one ASCII character, or `tab`"),
    }
}

#[cfg(test)]
mod tests;
