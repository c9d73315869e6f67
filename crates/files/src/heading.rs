//! Reads the names in a CSV file's first line, and nothing after it.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The longest heading, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads the first line, which ends where no quote is open. Nothing after it is read, except for what is in the same
/// buffer.
pub fn heading(path: &Path) -> Result<Vec<String>> {
    let failed = Error::reading(path);
    let mut reader = BufReader::new(File::open(path).map_err(failed)?.take(LONGEST));
    let mut text = Vec::new();
    loop {
        let read = reader.read_until(b'\n', &mut text).map_err(failed)?;
        let quotes = text.iter().filter(|byte| **byte == b'"').count();
        if read == 0 || quotes % 2 == 0 {
            break;
        }
    }
    let wrong = || Error::NoHeading { path: path.display().to_string() };
    let mut heading = csv::ReaderBuilder::new().from_reader(text.as_slice());
    let names = heading.headers().map_err(|_| wrong())?;
    let names: Vec<String> =
        names.iter().map(|name| name.trim_start_matches('\u{FEFF}').to_owned()).collect();
    if names.iter().all(String::is_empty) {
        return Err(wrong());
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
