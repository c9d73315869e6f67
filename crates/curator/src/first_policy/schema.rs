//! The names and types of columns, and no value.

use super::ProposeError;
use crate::policy::{ColumnKind, SchemaColumn};
use datafusion::arrow::datatypes::DataType;
use demure_files::heading::heading;
use demure_files::parquet;
use std::path::Path;

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
pub(super) fn read(path: &Path, numeric: &[String]) -> Result<Vec<SchemaColumn>, ProposeError> {
    if is_csv(path) {
        let names = heading(path)?;
        let columns: Vec<SchemaColumn> =
            names.iter().map(|name| (name.clone(), kind(name, numeric), true)).collect();
        for name in numeric {
            known(&columns, name, "numeric")?;
        }
        return Ok(columns);
    }
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
        return Err(ProposeError::Options("the table must be a .csv or a .parquet file".into()));
    }
    if !numeric.is_empty() {
        return Err(ProposeError::Options(
            "only a CSV file needs to be told which columns are numeric: a Parquet file says it itself".into(),
        ));
    }
    let fields = parquet::fields(path)?.into_iter();
    Ok(fields.map(|(name, kind, nullable)| (name, of_type(&kind), nullable)).collect())
}

/// Refuses a name that is not a column's.
pub(super) fn known(
    columns: &[SchemaColumn],
    name: &str,
    option: &'static str,
) -> Result<(), ProposeError> {
    if columns.iter().any(|(column, _, _)| column == name) {
        return Ok(());
    }
    let names: Vec<&str> = columns.iter().map(|(name, _, _)| name.as_str()).collect();
    Err(ProposeError::UnknownColumn { option, columns: names.join(", ") })
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
mod tests;
