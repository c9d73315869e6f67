//! What comes back: a table, what it cost, what is left.

use crate::price::ColumnQuote;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use demure_ledger::{Balance, Price};

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
    /// What it cost, in the budget's currency; nothing if it was bought before.
    pub price: Price,
    /// What is spent and left.
    pub balance: Balance,
    /// Whether all of it was bought before.
    pub repeated: bool,
    /// The noised columns that went into it, with their expected errors.
    pub columns: Vec<ColumnQuote>,
    /// Advice.
    pub notes: Vec<String>,
}

impl Answer {
    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// A released table as bytes, for the ledger.
pub(crate) fn to_bytes(batch: &RecordBatch) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).ok()?;
    writer.write(batch).ok()?;
    writer.finish().ok()?;
    drop(writer);
    Some(bytes)
}

/// The released table that [`to_bytes`] wrote.
pub(crate) fn from_bytes(bytes: &[u8]) -> Option<RecordBatch> {
    StreamReader::try_new(bytes, None).ok()?.next()?.ok()
}
