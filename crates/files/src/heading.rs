//! Reads the names in a CSV file's first line, and nothing after it.

use crate::error::{Error, Result};
use crate::source::open_text;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The longest heading, in bytes.
const LONGEST: u64 = 1 << 20;

/// What may separate cells where nobody says it.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// The first line of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The names of the columns.
    pub names: Vec<String>,
    /// What separates them.
    pub delimiter: u8,
}

/// Reads the first line, which ends where no quote is open. Nothing after it is read, except for what is in the same
/// buffer. The delimiter is what separates most names, unless it is given.
pub fn heading(path: &Path, delimiter: Option<u8>) -> Result<Heading> {
    let failed = Error::reading(path);
    let mut reader = BufReader::new(open_text(path)?.take(LONGEST));
    let mut text = Vec::new();
    let mut quotes = 0;
    loop {
        let begun = text.len();
        let read = reader.read_until(b'\n', &mut text).map_err(failed)?;
        quotes += text[begun..].iter().filter(|byte| **byte == b'"').count();
        // Blank lines before the heading are skipped, as CSV readers do.
        let blank = text.iter().all(|byte| matches!(byte, b'\n' | b'\r'));
        if read == 0 || (quotes % 2 == 0 && !blank) {
            break;
        }
    }
    let open = quotes % 2 == 1;
    if text.len() as u64 == LONGEST && (open || !text.ends_with(b"\n")) {
        return Err(Error::LongHeading { path: path.display().to_string() });
    }
    // Without the quote that closes it, what follows would be rows.
    if open {
        return Err(Error::NoHeading { path: path.display().to_string() });
    }
    encoded(&text, path)?;
    let delimiter = match delimiter {
        Some(delimiter) => delimiter,
        None => {
            detected(&text).ok_or_else(|| Error::Delimiters { path: path.display().to_string() })?
        }
    };
    let wrong = || Error::NoHeading { path: path.display().to_string() };
    let mut heading = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_slice());
    let names = heading.headers().map_err(|_| wrong())?;
    let names: Vec<String> =
        names.iter().map(|name| name.trim_start_matches('\u{FEFF}').to_owned()).collect();
    if names.iter().all(String::is_empty) {
        return Err(wrong());
    }
    Ok(Heading { names, delimiter })
}

/// Refuses texts that are not UTF-8, and bytes that are no text.
fn encoded(text: &[u8], path: &Path) -> Result<()> {
    let path = || path.display().to_string();
    if text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]) {
        return Err(Error::Utf16 { path: path() });
    }
    if text.contains(&0) {
        return Err(Error::NoHeading { path: path() });
    }
    match std::str::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::NotUtf8 { path: path() }),
    }
}

/// The delimiter that occurs most often outside quotes; a comma if none does. `None` if two occur equally often.
fn detected(text: &[u8]) -> Option<u8> {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut within = false;
    for byte in text {
        within ^= *byte == b'"';
        if let Some(at) = DELIMITERS.iter().position(|known| known == byte).filter(|_| !within) {
            counts[at] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let mut found = DELIMITERS.iter().zip(counts).filter(|(_, count)| *count == most);
    let first = found.next().map_or(b',', |(delimiter, _)| *delimiter);
    (most == 0 || found.next().is_none()).then_some(first)
}

#[cfg(test)]
mod tests;
