//! Arrow batches as CSV, JSON, Arrow IPC and Parquet.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::FileWriter;
use datafusion::arrow::json::{WriterBuilder, writer::JsonArray};
use datafusion::parquet::arrow::ArrowWriter;
use std::io::Write;
use std::sync::Arc;

/// Writes comma-separated values with a heading, which batches without rows have too.
pub fn write_csv(
    schema: &Schema,
    batches: &[RecordBatch],
    out: &mut impl Write,
) -> Result<(), ArrowError> {
    let names: Vec<String> = schema.fields().iter().map(|f| quoted(f.name())).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut writer = csv::WriterBuilder::new().with_header(false).build(out);
    batches.iter().try_for_each(|batch| writer.write(batch))
}

/// A name as a CSV heading.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

/// The rows as a JSON array of objects.
pub fn to_json(batches: &[RecordBatch]) -> Result<String, ArrowError> {
    let mut bytes = Vec::new();
    let builder = WriterBuilder::new().with_explicit_nulls(true);
    let mut writer = builder.build::<_, JsonArray>(&mut bytes);
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()?;
    drop(writer);
    let text = String::from_utf8(bytes).map_err(|e| ArrowError::JsonError(e.to_string()))?;
    Ok(if text.is_empty() { "[]".to_owned() } else { text })
}

/// The batches under one schema in which every column may be NULL: plans differ in that.
fn uniform(
    schema: &Schema,
    batches: &[RecordBatch],
) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let fields = schema.fields().iter();
    let nullable = fields.map(|f| Field::new(f.name(), f.data_type().clone(), true));
    let schema = Arc::new(Schema::new(nullable.collect::<Vec<_>>()));
    let batches = batches.iter();
    let batches = batches.map(|b| RecordBatch::try_new(Arc::clone(&schema), b.columns().to_vec()));
    Ok((Arc::clone(&schema), batches.collect::<Result<_, _>>()?))
}

/// Writes an Arrow IPC file (Feather).
pub fn write_arrow(
    schema: &Schema,
    batches: &[RecordBatch],
    out: &mut impl Write,
) -> Result<(), ArrowError> {
    let (schema, batches) = uniform(schema, batches)?;
    let mut writer = FileWriter::try_new(out, &schema)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()
}

/// Writes a Parquet file.
pub fn write_parquet(
    schema: &Schema,
    batches: &[RecordBatch],
    out: &mut impl Write,
) -> Result<(), ArrowError> {
    let (schema, batches) = uniform(schema, batches)?;
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, None)?;
    for batch in &batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(out.write_all(&bytes)?)
}

#[cfg(test)]
mod tests;
