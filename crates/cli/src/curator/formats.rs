//! An answer in the formats programs read: as it is, with `…_low` and `…_high` as columns.

use super::render;
use crate::Failure;
use clap::ValueEnum;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::arrow::error::ArrowError;
use demure_curator::Answer;
use demure_files::batches;
use demure_server::json;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// One object: the rows, the cost, what is left
    Json,
    /// An Arrow IPC file (Feather)
    #[value(aliases = ["feather", "ipc"])]
    Arrow,
    /// A Parquet file
    Parquet,
}

impl Format {
    /// What the name of a file suggests.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let format = Self::from_str(path.extension()?.to_str()?, true).ok();
        format.filter(|format| *format != Self::Table)
    }

    /// Whether a terminal could not show it.
    pub(crate) fn binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }
}

/// Writes an answer.
pub(crate) fn write(
    answer: &Answer,
    format: Format,
    intervals: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let (schema, rows) = (&answer.schema, answer.batches.as_slice());
    let written = match format {
        Format::Table => return Ok(render::table(answer, intervals)?.print("", out)?),
        Format::Json => {
            return writeln!(out, "{}", object(answer)?).map_err(Failure::writing);
        }
        Format::Csv => batches::write_csv(schema, rows, out),
        Format::Arrow => batches::write_arrow(schema, rows, out),
        Format::Parquet => batches::write_parquet(schema, rows, out),
    };
    written.map_err(failed)
}

fn failed(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, source) => Failure::writing(source),
        // What is written has been released: the text may quote it.
        error => Failure::usage(format!("this format cannot hold the answer: {error}")),
    }
}

/// The batch with a name of its own for every column: an object would keep one of two members of the same name. The
/// second `count` becomes `count_2`.
fn distinct(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let mut names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    for i in 1..names.len() {
        let mut n = 2;
        let (name, mut free) = (names[i].clone(), names[i].clone());
        // Neither a name that is there already nor one that a later column has.
        while names[..i].contains(&free) || (n > 2 && names[i + 1..].contains(&free)) {
            free = format!("{name}_{n}");
            n += 1;
        }
        names[i] = free;
    }
    let fields = schema.fields().iter().zip(&names);
    let fields: Vec<Field> = fields.map(|(f, name)| f.as_ref().clone().with_name(name)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec())
}

/// One object: the rows, the cost, what is left.
pub(crate) fn object(answer: &Answer) -> Result<Value, Failure> {
    let named: Result<Vec<RecordBatch>, ArrowError> = answer.batches.iter().map(distinct).collect();
    let rows = named.and_then(|batches| batches::to_json(&batches)).map_err(failed)?;
    let rows: Value = serde_json::from_str(&rows)
        .map_err(|error| failed(ArrowError::JsonError(error.to_string())))?;
    let mut object = serde_json::Map::from_iter([("rows".to_owned(), rows)]);
    object.extend(json::answer(answer, &answer.balance.left, "bought_before"));
    Ok(Value::Object(object))
}

#[cfg(test)]
mod tests;
