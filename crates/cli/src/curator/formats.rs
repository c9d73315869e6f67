//! An answer in the formats programs read: as it is, with `…_low` and `…_high` as columns.

use super::render;
use crate::Failure;
use clap::ValueEnum;
use datafusion::arrow::error::ArrowError;
use demure_curator::Answer;
use demure_files::batches;
use demure_server::json;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

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
        Format::Json => return json(answer, out),
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

/// One object: the rows, the cost, what is left.
fn json(answer: &Answer, out: &mut impl Write) -> Result<(), Failure> {
    let rows = batches::to_json(&answer.batches).map_err(failed)?;
    let rows: Value = serde_json::from_str(&rows)
        .map_err(|error| failed(ArrowError::JsonError(error.to_string())))?;
    let mut object = serde_json::Map::from_iter([("rows".to_owned(), rows)]);
    object.extend(json::answer(answer, &answer.balance.left, "bought_before"));
    writeln!(out, "{}", Value::Object(object)).map_err(Failure::writing)
}

#[cfg(test)]
mod tests;
