//! A column of numbers: from a file, or typed.

use super::number;
use crate::Failure;
use demure_files::delimiter;
use std::path::PathBuf;
use std::str::FromStr;

/// A file and the column of it to read.
#[derive(clap::Args)]
pub(crate) struct Column {
    /// A CSV file with a header, plain or gzip, or a Parquet file; `-` for standard input
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
    pub(super) fn read(&self, take: impl FnMut(Option<&str>)) -> Result<bool, Failure> {
        let (Some(file), Some(column)) = (&self.file, &self.column) else { return Ok(false) };
        demure_files::read_column(file, column, self.delimiter, take)?;
        Ok(true)
    }
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

    /// Whether numbers are given where they are needed. No file is opened.
    pub(crate) fn check(&self, explain: bool) -> Result<(), Failure> {
        match explain || self.column.file.is_some() || self.values.is_some() {
            true => Ok(()),
            false => {
                Err(Failure::usage("no data: give a file and --column NAME, or --values 1,2,3"))
            }
        }
    }

    /// The numbers, unless nothing is to be drawn from them.
    pub(crate) fn read(&self, explain: bool) -> Result<Vec<f64>, Failure> {
        self.check(explain)?;
        Ok(self.given()?.unwrap_or_default())
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
