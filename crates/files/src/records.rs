//! Whole rows of small CSV files.

use crate::error::{Error, Result};
use std::path::Path;

/// The names of the columns, and the rows.
type Records = (Vec<String>, Vec<Vec<String>>);

/// Reads the header and the first `most` rows.
pub fn read_records(path: &Path, most: usize) -> Result<Records> {
    let wrong = |error| Error::of_csv(error, path);
    let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
    let header = texts(reader.headers().map_err(wrong)?);
    let rows = reader.records().take(most).map(|row| row.map(|row| texts(&row)));
    Ok((header, rows.collect::<std::result::Result<_, _>>().map_err(wrong)?))
}

/// Writes a header and rows.
pub fn write_records(path: &Path, header: &[String], rows: &[Vec<String>]) -> Result<()> {
    let failed = |error: csv::Error| Error::writing(path)(error.into());
    let mut writer = csv::Writer::from_path(path).map_err(failed)?;
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(row).map_err(failed)?;
    }
    writer.flush().map_err(Error::writing(path))
}

#[cfg(test)]
mod tests;
