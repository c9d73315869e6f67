//! A column of numbers: from a CSV file, or typed.

use super::blank::BlankCells;
use super::number;
use crate::Failure;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A file and the column of it to read.
#[derive(clap::Args)]
pub(crate) struct Column {
    /// A CSV file with a header, or `-` for standard input
    #[arg(value_name = "FILE", requires = "column")]
    pub(crate) file: Option<PathBuf>,

    /// The file's column to read
    #[arg(long, value_name = "NAME", requires = "file")]
    column: Option<String>,

    /// What separates the file's columns (`tab` for a tabulator)
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter, requires = "file")]
    delimiter: u8,
}

impl Column {
    /// Hands every cell to `take`, or `None` for one that is not text; false if no file was given.
    ///
    /// Says where a file is wrong, never what is in it.
    pub(super) fn read(&self, mut take: impl FnMut(Option<&str>)) -> Result<bool, Failure> {
        let (Some(file), Some(column)) = (&self.file, &self.column) else { return Ok(false) };
        let hidden = |error| hide(error, file);
        let source = open(file).map_err(|error| hide(error.into(), file))?;
        let source = BlankCells::new(source, self.delimiter);
        let mut reader = csv::ReaderBuilder::new().delimiter(self.delimiter).from_reader(source);
        let headers = reader.byte_headers().map_err(hidden)?;
        let bare = |name: &[u8]| name.strip_prefix(b"\xef\xbb\xbf").unwrap_or(name).to_vec();
        let index = headers.iter().position(|name| bare(name) == column.as_bytes());
        let index = index.ok_or_else(|| missing(file, column, headers.len()))?;
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(hidden)? {
            take(record.get(index).and_then(|cell| std::str::from_utf8(cell).ok()));
        }
        Ok(true)
    }
}

fn open(file: &Path) -> io::Result<Box<dyn Read>> {
    if file.as_os_str() == "-" {
        Ok(Box::new(io::stdin()))
    } else {
        Ok(Box::new(File::open(file)?))
    }
}

/// One ASCII character, or `tab`.
pub(crate) fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err("must be one ASCII character, or `tab`"),
    }
}

/// csv's own errors may quote a record.
fn hide(error: csv::Error, file: &Path) -> Failure {
    let line = error.position().map(csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(source) => {
            Failure::File { what: format!("reading {}", file.display()), source }
        }
        _ => {
            let place = line.map_or(String::new(), |line| format!(" at line {line}"));
            Failure::usage(format!(
                "{} is not well-formed CSV{place}: every row must have as many cells as the header",
                file.display()
            ))
        }
    }
}

fn missing(file: &Path, column: &str, columns: usize) -> Failure {
    let hint = if columns == 1 {
        "it has one column: if something other than a comma separates its cells, say --delimiter"
    } else {
        "the first line of the file must hold the columns' names"
    };
    Failure::usage(format!("{} has no column `{column}`\nhint: {hint}", file.display()))
}

/// Where a column of numbers comes from.
#[derive(clap::Args)]
pub(crate) struct Data {
    #[command(flatten)]
    column: Column,

    /// The values themselves, instead of a file
    #[arg(long, value_name = "X,X,…", conflicts_with = "file", allow_hyphen_values = true)]
    values: Option<Values>,
}

impl Data {
    /// The numbers, if any were given. A cell that is empty or not a number
    /// becomes NaN, which the mechanisms treat by their stated rule.
    pub(crate) fn given(&self) -> Result<Option<Vec<f64>>, Failure> {
        let mut read = Vec::new();
        let cell = |cell: Option<&str>| cell.and_then(|text| text.trim().parse().ok());
        if self.column.read(|text| read.push(cell(text).unwrap_or(f64::NAN)))? {
            return Ok(Some(read));
        }
        Ok(self.values.as_ref().map(|values| values.0.clone()))
    }

    /// The numbers, unless nothing is to be drawn from them.
    pub(crate) fn read(&self, explain: bool) -> Result<Vec<f64>, Failure> {
        match self.given()? {
            Some(values) => Ok(values),
            None if explain => Ok(Vec::new()),
            None => {
                Err(Failure::usage("no data: give a CSV file and --column NAME, or --values 1,2,3"))
            }
        }
    }
}

#[derive(Clone)]
struct Values(Vec<f64>);

impl FromStr for Values {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let items = text.split(',').filter(|_| !text.trim().is_empty());
        let values: Result<Vec<f64>, String> = (1..)
            .zip(items)
            .map(|(i, item)| {
                number(item).map_err(|_| {
                    format!("must be numbers separated by commas, e.g. 1,2,3; item {i} is not one")
                })
            })
            .collect();
        match values? {
            values if values.is_empty() => Err("must hold at least one number, e.g. 1,2,3".into()),
            values => Ok(Self(values)),
        }
    }
}
