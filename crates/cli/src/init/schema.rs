//! The names and types of columns, and no value.

use super::known;
use crate::Failure;
use datafusion::arrow::datatypes::DataType;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use demure_curator::policy::ColumnKind;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The name of a column, what it holds, and whether it can be NULL.
pub(super) type Field = (String, ColumnKind, bool);

/// The longest heading that is read.
const LONGEST: u64 = 1 << 20;

/// What the last word of a name says about a CSV column, for suggestions in comments.
const WHOLE: &[&str] = &["age", "year", "month", "weekday", "hour", "minute", "count", "number"];
const REAL: &[&str] = &[
    "percent",
    "percentage",
    "latitude",
    "longitude",
    "cost",
    "price",
    "amount",
    "income",
    "salary",
    "weight",
    "height",
    "rate",
    "score",
];
const DAYS: &[&str] = &["date", "day", "birthday"];

pub(super) fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// The columns of a CSV or Parquet file.
pub(super) fn read(path: &Path, numeric: &[String]) -> Result<Vec<Field>, Failure> {
    let what = || "the table cannot be read".to_owned();
    let file = File::open(path).map_err(|source| Failure::File { what: what(), source })?;
    if is_csv(path) {
        let names = heading(file)?;
        let columns: Vec<Field> =
            names.iter().map(|name| (name.clone(), kind(name, numeric), true)).collect();
        for name in numeric {
            known(&columns, name, "--numeric")?;
        }
        return Ok(columns);
    }
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
        return Err(Failure::usage("the table must be a .csv or a .parquet file"));
    }
    if !numeric.is_empty() {
        return Err(Failure::usage("--numeric is for CSV files: a Parquet file says it itself"));
    }
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default());
    let metadata = metadata.map_err(|_| Failure::usage("the file is no Parquet file"))?;
    let fields = metadata.schema().fields().iter();
    Ok(fields.map(|f| (f.name().clone(), of_type(f.data_type()), f.is_nullable())).collect())
}

/// The names in the first line, which ends where no quote is open. Nothing behind it is read
/// but what comes with it in one buffer.
fn heading(file: File) -> Result<Vec<String>, Failure> {
    let failed = |source| Failure::File { what: "reading the heading".into(), source };
    let mut reader = BufReader::new(file.take(LONGEST));
    let mut text = Vec::new();
    loop {
        let read = reader.read_until(b'\n', &mut text).map_err(failed)?;
        let quotes = text.iter().filter(|byte| **byte == b'"').count();
        if read == 0 || quotes % 2 == 0 {
            break;
        }
    }
    let wrong = || Failure::usage("the file has no heading in UTF-8 in its first line");
    let mut heading = csv::ReaderBuilder::new().from_reader(text.as_slice());
    let names = heading.headers().map_err(|_| wrong())?;
    let names: Vec<String> =
        names.iter().map(|name| name.trim_start_matches('\u{FEFF}').to_owned()).collect();
    if names.iter().all(String::is_empty) {
        return Err(wrong());
    }
    Ok(names)
}

/// What a CSV column probably holds, by its name.
fn kind(name: &str, numeric: &[String]) -> ColumnKind {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.clone().next().unwrap_or_default();
    let last = words.next_back().unwrap_or_default();
    match last {
        _ if numeric.iter().any(|column| column == name) => ColumnKind::Real,
        last if WHOLE.contains(&last) => ColumnKind::Integer,
        last if REAL.contains(&last) => ColumnKind::Real,
        last if DAYS.contains(&last) => ColumnKind::Date,
        _ if first == "is" || first == "has" => ColumnKind::Boolean,
        _ => ColumnKind::Text,
    }
}

fn of_type(data_type: &DataType) -> ColumnKind {
    match data_type {
        DataType::Boolean => ColumnKind::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnKind::Text,
        DataType::Date32 | DataType::Date64 => ColumnKind::Date,
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => ColumnKind::Time,
        DataType::Dictionary(_, values) => of_type(values),
        data_type if data_type.is_integer() => ColumnKind::Integer,
        data_type if data_type.is_numeric() => ColumnKind::Real,
        _ => ColumnKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_suggest_kinds() {
        let numeric = ["x".to_owned()];
        for (name, expected) in [
            ("x", ColumnKind::Real),
            ("Birth Year", ColumnKind::Integer),
            ("total_cost", ColumnKind::Real),
            ("visit-day", ColumnKind::Date),
            ("is_smoker", ColumnKind::Boolean),
            ("disease", ColumnKind::Text),
            ("", ColumnKind::Text),
        ] {
            assert_eq!(kind(name, &numeric), expected, "{name}");
        }
    }
}
