//! What comes back: a table, what it cost, what is left.

use crate::aggregate::ColumnQuote;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use demure_ledger::{Balance, Price};
use std::sync::Arc;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
    /// What it cost whoever asked, in the budget's currency: nothing for what she was shown
    /// before, and the same for everything else, whether or not somebody else had bought it.
    pub price: Price,
    /// What is spent and left.
    pub balance: Balance,
    /// Whether whoever asked was shown all of it before; where the policy shares answers,
    /// whether all of it was bought before.
    pub repeated: bool,
    /// The noised columns that went into it, with their expected errors.
    pub columns: Vec<ColumnQuote>,
    /// Advice.
    pub notes: Vec<String>,
}

impl Answer {
    /// The same, asked again.
    pub(crate) fn again(&self, balance: Balance) -> Self {
        let price = Price { main: 0.0, delta: 0.0 };
        Self { price, balance, repeated: true, notes: Vec::new(), ..self.clone() }
    }

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
    // A stream begins with a mark and the length of its schema; the reader believes any length.
    let (mark, length) = (bytes.get(..4)?, bytes.get(4..8)?.try_into().ok()?);
    if mark != [0xff; 4] || usize::try_from(u32::from_le_bytes(length)).ok()? > bytes.len() {
        return None;
    }
    StreamReader::try_new(bytes, None).ok()?.next()?.ok()
}

/// What a query takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The types of its parameters, `$1` first.
    pub parameters: Vec<DataType>,
    /// Its columns; none for what gives no rows.
    pub schema: SchemaRef,
}

impl Default for Description {
    fn default() -> Self {
        Self { parameters: Vec::new(), schema: Arc::new(Schema::empty()) }
    }
}

impl Description {
    /// One column of text.
    pub(crate) fn of_text(name: &str) -> Self {
        let schema = Schema::new(vec![Field::new(name, DataType::Utf8, false)]);
        Self { parameters: Vec::new(), schema: Arc::new(schema) }
    }
}
