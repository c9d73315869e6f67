//! Parquet columns, as the texts that a CSV file would have or as integers; texts as Parquet.
//!
//! Numbers, dates and times are printed as Arrow prints them. NULL is the empty text, which is a missing value in CSV
//! too.

use crate::error::{Error, Result};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::parquet::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use datafusion::parquet::arrow::{ArrowWriter, ProjectionMask};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of rows that are read or written at a time.
const ROWS: usize = 1 << 16;

/// Receives texts, column by column: each distinct text of a dictionary gets a code once.
pub trait Cells {
    /// The code of a text in a column.
    fn code(&mut self, column: usize, text: &str) -> u32;
    /// Adds a cell to a column, by a code of the same batch.
    fn push(&mut self, column: usize, code: u32);
    /// Codes given so far will not be pushed again.
    fn next_batch(&mut self) {}
}

/// The columns that can be read as texts.
pub struct Texts {
    names: Vec<String>,
    batches: ParquetRecordBatchReader,
    path: PathBuf,
}

impl Texts {
    /// Opens a file. All columns in `named` must be readable as texts.
    pub fn open(file: File, path: &Path, named: &[String]) -> Result<Self> {
        Self::some(file, path, |name| named.iter().any(|other| other == name), |_| true)
    }

    /// Opens a file for one column.
    pub(crate) fn only(file: File, path: &Path, column: &str) -> Result<Self> {
        let texts = Self::some(file, path, |name| name == column, |name| name == column)?;
        match texts.names.is_empty() {
            true => Err(Error::NoColumn {
                path: path.display().to_string(),
                column: column.to_owned(),
                hint: "the name must be written as in the file",
            }),
            false => Ok(texts),
        }
    }

    fn some(
        file: File,
        path: &Path,
        needed: impl Fn(&str) -> bool,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let damaged = || Error::damaged(path);
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|_| damaged())?;
        let mut kept = Vec::new();
        for (at, field) in builder.schema().fields().iter().enumerate() {
            let name = field.name();
            if printable(field.data_type()) && wanted(name) {
                kept.push((at, name.clone()));
            } else if needed(name) {
                let path = path.display().to_string();
                return Err(Error::NoTexts { path, column: name.clone() });
            }
        }
        let mask = ProjectionMask::roots(builder.parquet_schema(), kept.iter().map(|k| k.0));
        let batches = builder.with_projection(mask).with_batch_size(ROWS).build();
        let batches = batches.map_err(|_| damaged())?;
        let names = kept.into_iter().map(|(_, name)| name).collect();
        Ok(Self { names, batches, path: path.to_owned() })
    }

    /// The columns' names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Passes every cell on.
    pub fn read(self, into: &mut impl Cells) -> Result<()> {
        for batch in self.batches {
            let batch = batch.map_err(|_| Error::damaged(&self.path))?;
            for (at, column) in batch.columns().iter().enumerate() {
                append(into, at, column).ok_or_else(|| Error::damaged(&self.path))?;
            }
            into.next_batch();
        }
        Ok(())
    }
}

/// Whether every value of this type has one text form.
fn printable(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => printable(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        kind => kind.is_primitive() || matches!(kind, DataType::Boolean),
    }
}

/// Adds a batch's cells; `None` if Arrow cannot print one.
fn append(into: &mut impl Cells, at: usize, column: &ArrayRef) -> Option<()> {
    if let DataType::Dictionary(_, _) = column.data_type() {
        // Each distinct value is printed once.
        let dictionary = column.as_any_dictionary();
        let codes = texts(into, at, dictionary.values())?;
        let null = into.code(at, "");
        for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
            let code = if column.is_null(row) { null } else { *codes.get(key)? };
            into.push(at, code);
        }
        return Some(());
    }
    for code in texts(into, at, column)? {
        into.push(at, code);
    }
    Some(())
}

/// The codes of an array's texts.
fn texts(into: &mut impl Cells, at: usize, array: &ArrayRef) -> Option<Vec<u32>> {
    let strings = match array.data_type() {
        DataType::Utf8View | DataType::LargeUtf8 => cast(array, &DataType::Utf8).ok()?,
        _ => Arc::clone(array),
    };
    if let Some(strings) = strings.as_string_opt::<i32>() {
        return Some(strings.iter().map(|text| into.code(at, text.unwrap_or(""))).collect());
    }
    let options = FormatOptions::default().with_null("").with_display_error(false);
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options).ok()?;
    let mut text = String::new();
    let mut codes = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        text.clear();
        write!(text, "{}", formatter.value(row)).ok()?;
        codes.push(into.code(at, &text));
    }
    Some(codes)
}

/// Passes on the first `N` columns of every row, which must be non-negative integers.
pub fn whole_numbers<const N: usize, E: From<Error>>(
    file: File,
    path: &Path,
    mut take: impl FnMut([u64; N]) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let damaged = || Error::damaged(path);
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|_| damaged())?;
    let fields = builder.schema().fields();
    if fields.len() < N || !fields.iter().take(N).all(|field| field.data_type().is_integer()) {
        return Err(Error::NotWhole { path: path.display().to_string(), columns: N }.into());
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), 0..N);
    let mut row = 0;
    for batch in builder.with_projection(mask).build().map_err(|_| damaged())? {
        let batch = batch.map_err(|_| damaged())?;
        let columns = batch.columns().iter().map(|column| cast(column, &DataType::UInt64));
        let columns: Vec<ArrayRef> =
            columns.collect::<std::result::Result<_, _>>().map_err(|_| damaged())?;
        let columns: Vec<_> =
            columns.iter().map(|column| column.as_primitive::<UInt64Type>()).collect();
        for at in 0..batch.num_rows() {
            row += 1;
            let mut numbers = [0; N];
            for (number, column) in numbers.iter_mut().zip(&columns) {
                // Missing and negative values have become NULL.
                if column.is_null(at) {
                    return Err(Error::NoNumber { path: path.display().to_string(), row }.into());
                }
                *number = column.value(at);
            }
            take(numbers)?;
        }
    }
    Ok(())
}

/// The name, type and nullability of every column; no value is read.
pub fn fields(path: &Path) -> Result<Vec<(String, DataType, bool)>> {
    let file = File::open(path).map_err(Error::reading(path))?;
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|_| Error::damaged(path))?;
    let fields = builder.schema().fields().iter();
    Ok(fields.map(|f| (f.name().clone(), f.data_type().clone(), f.is_nullable())).collect())
}

/// Writes columns of texts; an empty text is NULL.
pub fn write_texts<'a>(
    names: &[&str],
    rows: usize,
    cell: impl Fn(usize, usize) -> Option<&'a str>,
    path: &Path,
    out: &mut (impl Write + Send),
) -> Result<()> {
    let failed = |source: std::io::Error| Error::writing(path)(source);
    let other = |error: &dyn std::fmt::Display| failed(std::io::Error::other(error.to_string()));
    let fields = names.iter().map(|name| Field::new(*name, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), None).map_err(|e| other(&e))?;
    for start in (0..rows).step_by(ROWS) {
        let some = start..(start + ROWS).min(rows);
        let column = |at: usize| -> ArrayRef {
            let texts = some.clone().map(|row| cell(at, row).filter(|text| !text.is_empty()));
            Arc::new(StringArray::from_iter(texts))
        };
        let arrays = (0..names.len()).map(column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|e| other(&e))?;
        writer.write(&batch).map_err(|e| other(&e))?;
    }
    writer.close().map_err(|e| other(&e))?;
    Ok(())
}

#[cfg(test)]
mod tests;
