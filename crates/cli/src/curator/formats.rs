//! An answer in the formats programs read: as it is, with `…_low` and `…_high` as columns.

use super::render;
use crate::Failure;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::FileWriter;
use datafusion::arrow::json::{WriterBuilder, writer::JsonArray};
use datafusion::parquet::arrow::ArrowWriter;
use demure_curator::Answer;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// How an answer is written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned text
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// One object: the rows, the cost, what is left
    Json,
    /// An Arrow IPC file (Feather)
    Arrow,
    /// A Parquet file
    Parquet,
}

impl Format {
    /// What the name of a file suggests.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "csv" => Self::Csv,
            "json" => Self::Json,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "parquet" => Self::Parquet,
            _ => return None,
        })
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
    match format {
        Format::Table => Ok(render::table(answer, intervals)?.print("", out)?),
        Format::Csv => as_csv(answer, out).map_err(failed),
        Format::Json => {
            let object = as_json(answer).map_err(failed)?;
            writeln!(out, "{}", Value::Object(object)).map_err(Failure::writing)
        }
        Format::Arrow => as_arrow(answer, out).map_err(failed),
        Format::Parquet => as_parquet(answer, out).map_err(failed),
    }
}

fn failed(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, source) => Failure::writing(source),
        // What is written has been released: the text may quote it.
        error => Failure::usage(format!("this format cannot hold the answer: {error}")),
    }
}

fn as_csv(answer: &Answer, out: &mut impl Write) -> Result<(), ArrowError> {
    // The heading by hand: an answer without rows has one too.
    let names: Vec<String> = answer.schema.fields().iter().map(|f| quoted(f.name())).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut writer = csv::WriterBuilder::new().with_header(false).build(out);
    answer.batches.iter().try_for_each(|batch| writer.write(batch))
}

/// A name as a CSV heading.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

fn as_json(answer: &Answer) -> Result<Map<String, Value>, ArrowError> {
    let mut bytes = Vec::new();
    let builder = WriterBuilder::new().with_explicit_nulls(true);
    let mut writer = builder.build::<_, JsonArray>(&mut bytes);
    for batch in &answer.batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    drop(writer);
    let rows = match bytes.is_empty() {
        true => Value::Array(Vec::new()),
        false => serde_json::from_slice(&bytes)
            .map_err(|error| ArrowError::JsonError(error.to_string()))?,
    };
    let mut object = Map::new();
    object.insert("rows".into(), rows);
    object.extend(render::fields(answer));
    Ok(object)
}

/// The batches under one schema in which every column may be NULL: plans differ in that.
fn uniform(answer: &Answer) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let fields = answer.schema.fields().iter();
    let nullable = fields.map(|f| Field::new(f.name(), f.data_type().clone(), true));
    let schema = Arc::new(Schema::new(nullable.collect::<Vec<_>>()));
    let batches = answer.batches.iter();
    let batches = batches.map(|b| RecordBatch::try_new(Arc::clone(&schema), b.columns().to_vec()));
    Ok((Arc::clone(&schema), batches.collect::<Result<_, _>>()?))
}

fn as_arrow(answer: &Answer, out: &mut impl Write) -> Result<(), ArrowError> {
    let (schema, batches) = uniform(answer)?;
    let mut writer = FileWriter::try_new(out, &schema)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()
}

fn as_parquet(answer: &Answer, out: &mut impl Write) -> Result<(), ArrowError> {
    let (schema, batches) = uniform(answer)?;
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, None)?;
    for batch in &batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(out.write_all(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_suggests_a_format() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.JSON", Some(Format::Json)),
            ("a.feather", Some(Format::Arrow)),
            ("a.parquet", Some(Format::Parquet)),
            ("a.txt", None),
            ("a", None),
        ] {
            assert!(Format::of(Path::new(name)) == format, "{name}");
        }
        assert_eq!(quoted("sum(a, \"b\")"), "\"sum(a, \"\"b\"\")\"");
    }
}
