//! The names and types of columns, and no value.

use super::{Choices, ProposeError};
use crate::identity::files::{Format, files, format};
use crate::policy::{ColumnKind, SchemaColumn};
use crate::statement::names::unquoted;
use datafusion::arrow::datatypes::DataType;
use demure_files::heading::heading;
use demure_files::parquet;
use std::path::Path;

/// What the last word of a name says about a CSV column.
const WHOLE: &[&str] =
    &["age", "year", "month", "weekday", "hour", "minute", "count", "quantity", "qty"];
const REAL: &[&str] = &[
    "percent",
    "percentage",
    "latitude",
    "longitude",
    "cost",
    "price",
    "amount",
    "income",
    "revenue",
    "salary",
    "total",
    "weight",
    "height",
    "rate",
    "score",
    "discount",
];
const DAYS: &[&str] = &["date", "day", "birthday"];

/// The columns of a table.
#[derive(Debug)]
pub(super) struct TableSchema {
    pub(super) columns: Vec<SchemaColumn>,
    /// What separates the cells of a CSV file; `None` for Parquet.
    pub(super) csv: Option<u8>,
}

/// What columns probably hold, by their names.
pub(super) struct Kinds(Vec<(String, ColumnKind)>);

impl Kinds {
    pub(super) fn of_names(columns: &[SchemaColumn]) -> Self {
        Self(columns.iter().map(|(name, ..)| (name.clone(), kind(name))).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, ColumnKind)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), *kind))
    }

    pub(super) fn get(&self, name: &str) -> Option<ColumnKind> {
        self.iter().find(|(other, _)| *other == name).map(|(_, kind)| kind)
    }
}

/// The columns of a CSV or Parquet file, or of the first file of a folder or pattern.
pub(super) fn read(path: &Path, choices: &Choices) -> Result<TableSchema, ProposeError> {
    let first = match path.is_dir() || path.to_string_lossy().contains('*') {
        true => {
            let all =
                files(path).map_err(ProposeError::io(format!("reading {}", path.display())))?;
            all.into_iter().next().ok_or_else(|| {
                ProposeError::Options(format!(
                    "{} has no .csv, .tsv or .parquet file",
                    path.display()
                ))
            })?
        }
        false => path.to_owned(),
    };
    match format(&first) {
        Some(Format::Csv | Format::CsvGzip) => of_csv(&first, choices),
        Some(Format::Parquet) => of_parquet(&first, choices),
        None => Err(ProposeError::Options(
            "the table must be a .csv or a .parquet file, or a folder of them\n\
             hint: .tsv, .csv.gz and .tsv.gz are read, too; rename the file if it is one of them"
                .into(),
        )),
    }
}

fn of_csv(path: &Path, choices: &Choices) -> Result<TableSchema, ProposeError> {
    let heading = heading(path, choices.delimiter)?;
    let names = &heading.names;
    if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        return Err(ProposeError::Options(format!(
            "two columns of {} have the name `{}`\nhint: rename one of them in the first line",
            path.display(),
            twice.1
        )));
    }
    let columns = names.iter().map(|name| (name.clone(), kind(name), true)).collect::<Vec<_>>();
    let columns = {
        let spelled = choices.spelled(&columns)?;
        let told = |(name, guess, nullable): SchemaColumn| {
            let kind = match () {
                () if spelled.numeric.contains(&name) => ColumnKind::Real,
                () if spelled.dates.contains(&name) => ColumnKind::Date,
                () => guess,
            };
            (name, kind, nullable)
        };
        columns.into_iter().map(told).collect()
    };
    Ok(TableSchema { columns, csv: Some(heading.delimiter) })
}

fn of_parquet(path: &Path, choices: &Choices) -> Result<TableSchema, ProposeError> {
    let told = !choices.numeric.is_empty() || !choices.dates.is_empty();
    if told || choices.delimiter.is_some() || choices.decimal_comma.is_some() {
        return Err(ProposeError::Options(
            "only a CSV file needs to be told which columns are numeric or dates, and how it is written: a Parquet \
             file says it itself"
                .into(),
        ));
    }
    let fields = parquet::fields(path)?.into_iter();
    let columns = fields.map(|(name, kind, nullable)| (name, of_type(&kind), nullable)).collect();
    Ok(TableSchema { columns, csv: None })
}

/// A column as the table spells it, found whatever its case, and with `_` for spaces.
pub(super) fn known(
    columns: &[SchemaColumn],
    name: &str,
    option: &'static str,
) -> Result<String, ProposeError> {
    let only = |same: &dyn Fn(&str) -> bool| {
        let mut found = columns.iter().map(|(column, ..)| column).filter(|column| same(column));
        found.next().filter(|_| found.next().is_none()).cloned()
    };
    let lower = name.to_lowercase();
    only(&|column| column == name)
        .or_else(|| only(&|column| column.to_lowercase() == lower))
        .or_else(|| only(&|column| unquoted(column) == lower))
        .ok_or_else(|| {
            let names: Vec<&str> = columns.iter().map(|(name, _, _)| name.as_str()).collect();
            ProposeError::UnknownColumn { option, columns: names.join(", ") }
        })
}

/// What a CSV column probably holds, by its name.
fn kind(name: &str) -> ColumnKind {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.clone().next().unwrap_or_default();
    let last = words.next_back().unwrap_or_default();
    match last {
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
mod tests;
