//! Reads one column, cell by cell.

use crate::blank::BlankCells;
use crate::error::{Error, Result};
use crate::parquet::{Cells, Texts};
use crate::source::Source;
use std::path::Path;

/// Passes every cell of a column to `take`, or `None` for a cell that is not UTF-8. In CSV, the column's name is in
/// the first line.
pub fn read_column(
    path: &Path,
    column: &str,
    delimiter: u8,
    take: impl FnMut(Option<&str>),
) -> Result<()> {
    match Source::open(path)? {
        Source::Text(input) => of_csv(input, path, column, delimiter, take),
        Source::Parquet(file) => {
            let texts = Texts::only(file, path, column)?;
            texts.read(&mut Taken { take, coded: Vec::new() })
        }
    }
}

fn of_csv(
    input: impl std::io::Read,
    path: &Path,
    column: &str,
    delimiter: u8,
    mut take: impl FnMut(Option<&str>),
) -> Result<()> {
    let hidden = |error| Error::of_csv(error, path);
    let input = BlankCells::new(input, delimiter);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(input);
    let headers = reader.byte_headers().map_err(hidden)?;
    let bare = |name: &[u8]| name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name).to_vec();
    let index = headers.iter().position(|name| bare(name) == column.as_bytes());
    let index = index.ok_or_else(|| Error::NoColumn {
        path: path.display().to_string(),
        column: column.to_owned(),
        hint: match headers.len() {
            1 => "it has one column: if something other than a comma separates its cells, say --delimiter",
            _ => "the first line of the file must hold the columns' names",
        },
    })?;
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(hidden)? {
        take(record.get(index).and_then(|cell| std::str::from_utf8(cell).ok()));
    }
    Ok(())
}

/// Passes cells on as they come.
struct Taken<F> {
    take: F,
    /// The texts that have codes.
    coded: Vec<String>,
}

impl<F: FnMut(Option<&str>)> Cells for Taken<F> {
    fn code(&mut self, _: usize, text: &str) -> u32 {
        self.coded.push(text.to_owned());
        self.coded.len() as u32 - 1
    }

    fn push(&mut self, _: usize, code: u32) {
        (self.take)(self.coded.get(code as usize).map(String::as_str));
    }

    fn next_batch(&mut self) {
        self.coded.clear();
    }
}

#[cfg(test)]
mod tests;
