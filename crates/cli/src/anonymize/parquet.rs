//! Parquet: read as the texts a CSV file would have, written as texts.
//!
//! Numbers, dates and times are printed in the one way Arrow prints them; NULL is the empty text,
//! which is a missing value in CSV too. A release is written with columns of strings: what is
//! generalized has labels, and what is not keeps its text.

use super::output::{Cells, columns};
use super::release::Release;
use crate::Failure;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use demure_anonymize::table::{Builder, Table};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// What a Parquet file begins with.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// Rows that are read or written at a time.
const ROWS: usize = 1 << 16;

/// Whether a file's name asks for Parquet.
pub(super) fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Whether a file ends as Parquet does: a CSV file may begin so. The place in it stays.
pub(super) fn ends(file: &mut File) -> bool {
    let mut last = [0; MAGIC.len()];
    let mut look = || -> std::io::Result<()> {
        let place = file.stream_position()?;
        file.seek(SeekFrom::End(-(MAGIC.len() as i64)))?;
        let read = file.read_exact(&mut last);
        file.seek(SeekFrom::Start(place))?;
        read
    };
    look().is_ok() && last == MAGIC
}

/// Reads the columns that can be texts. Of the others, none may be among those `named`.
pub(super) fn read(file: File, path: &Path, named: &[String]) -> Result<Table, Failure> {
    let bad = || {
        Failure::usage(format!(
            "{} is not a Parquet file that can be read: its end is missing, or it is damaged",
            path.display()
        ))
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|_| bad())?;
    let mut kept = Vec::new();
    for (at, field) in builder.schema().fields().iter().enumerate() {
        if printable(field.data_type()) {
            kept.push((at, field.name().clone()));
        } else if named.contains(field.name()) {
            return Err(Failure::usage(format!(
                "column `{}` of {} is binary or nested, and has no texts to be made coarse; leave \
                 it out, or store it as strings",
                field.name(),
                path.display()
            )));
        }
    }
    let roots = kept.iter().map(|(at, _)| *at);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let mut table = Builder::new(kept.into_iter().map(|(_, name)| name))?;
    let batches = builder.with_projection(mask).with_batch_size(ROWS).build();
    for batch in batches.map_err(|_| bad())? {
        let batch = batch.map_err(|_| bad())?;
        for (at, column) in batch.columns().iter().enumerate() {
            append(&mut table, at, column).ok_or_else(bad)?;
        }
    }
    Ok(table.finish()?)
}

/// Whether values of this type have one text each.
fn printable(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => printable(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        kind => kind.is_primitive() || matches!(kind, DataType::Boolean),
    }
}

/// Adds a batch's cells; `None` where Arrow cannot print one.
fn append(table: &mut Builder, at: usize, column: &ArrayRef) -> Option<()> {
    if let DataType::Dictionary(_, _) = column.data_type() {
        // Each distinct value is printed once.
        let dictionary = column.as_any_dictionary();
        let codes = texts(table, at, dictionary.values())?;
        let null = table.code(at, "");
        for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
            let code = if column.is_null(row) { null } else { *codes.get(key)? };
            table.push(at, code);
        }
        return Some(());
    }
    for code in texts(table, at, column)? {
        table.push(at, code);
    }
    Some(())
}

/// The codes of an array's texts.
fn texts(table: &mut Builder, at: usize, array: &ArrayRef) -> Option<Vec<u32>> {
    let strings = match array.data_type() {
        DataType::Utf8View | DataType::LargeUtf8 => cast(array, &DataType::Utf8).ok()?,
        _ => Arc::clone(array),
    };
    if let Some(strings) = strings.as_string_opt::<i32>() {
        return Some(strings.iter().map(|text| table.code(at, text.unwrap_or(""))).collect());
    }
    let options = FormatOptions::default().with_null("").with_display_error(false);
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options).ok()?;
    let mut text = String::new();
    let mut codes = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        text.clear();
        write!(text, "{}", formatter.value(row)).ok()?;
        codes.push(table.code(at, &text));
    }
    Some(codes)
}

/// Writes a release; a missing value is NULL.
pub(super) fn write(
    release: &Release<'_>,
    shown: &[usize],
    out: &mut (impl Write + Send),
) -> Result<(), Failure> {
    let failed = |error: datafusion::parquet::errors::ParquetError| {
        Failure::writing(std::io::Error::other(error.to_string()))
    };
    let columns = columns(release, shown);
    let fields = columns.iter().map(|(name, _)| Field::new(*name, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), None).map_err(failed)?;
    let class_of = &release.recoding.class_of;
    for start in (0..class_of.len()).step_by(ROWS) {
        let rows = start..(start + ROWS).min(class_of.len());
        let arrays = columns.iter().map(|(_, cells)| -> ArrayRef {
            let text = |row: usize| match cells {
                Cells::Own(texts, codes) => {
                    codes.get(row).and_then(|code| texts.get(*code as usize)).map(String::as_str)
                }
                Cells::Class(labels) => {
                    let class = class_of.get(row).map_or(usize::MAX, |class| *class as usize);
                    labels.get(class.min(labels.len().saturating_sub(1))).map(String::as_str)
                }
            };
            let texts = rows.clone().map(|row| text(row).filter(|text| !text.is_empty()));
            Arc::new(StringArray::from_iter(texts))
        });
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays.collect());
        let batch = batch.map_err(|error| Failure::writing(std::io::Error::other(error)))?;
        writer.write(&batch).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}
