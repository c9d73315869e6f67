//! Batches of bounded rows.

use super::choose::Kept;
use super::spill::{HEAD, Row};
use super::table::NONE;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, UInt32Array,
};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use std::sync::Arc;

/// Collects bounded rows column by column.
pub(super) struct Output {
    schema: SchemaRef,
    groups: Vec<u32>,
    firsts: Vec<bool>,
    arguments: Vec<Vec<u32>>,
}

impl Output {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        let arguments = vec![Vec::new(); schema.fields().len().saturating_sub(2)];
        Self { schema: Arc::clone(schema), groups: Vec::new(), firsts: Vec::new(), arguments }
    }

    pub(super) fn rows(&self) -> usize {
        self.groups.len()
    }

    /// Adds the rows that stay, from a partition.
    pub(super) fn extend<const W: usize>(&mut self, rows: &[Row<W>], kept: &Kept) {
        let stay = || kept.iter().map(|(at, _)| &rows[at]);
        self.groups.extend(stay().map(|row| row[HEAD - 1]));
        self.firsts.extend(kept.iter().map(|(_, first)| first));
        for (word, column) in (HEAD..W).zip(&mut self.arguments) {
            column.extend(stay().map(|row| row[word]));
        }
    }

    /// Takes the collected rows as a batch.
    pub(super) fn take(&mut self) -> Result<RecordBatch> {
        let firsts = std::mem::take(&mut self.firsts);
        let firsts = BooleanBuffer::collect_bool(firsts.len(), |i| firsts[i]);
        let firsts = BooleanArray::new(firsts, None);
        let arguments = self.arguments.iter_mut().map(std::mem::take).collect();
        batch(&self.schema, std::mem::take(&mut self.groups), firsts, arguments)
    }
}

/// A batch of rows, each of them the first and only row of its person.
pub(super) fn batch_of_firsts(
    schema: &SchemaRef,
    groups: &[u32],
    arguments: &[Vec<u32>],
) -> Result<RecordBatch> {
    let firsts = BooleanArray::new(BooleanBuffer::new_set(groups.len()), None);
    batch(schema, groups.to_vec(), firsts, arguments.to_vec())
}

fn batch(
    schema: &SchemaRef,
    groups: Vec<u32>,
    firsts: BooleanArray,
    arguments: Vec<Vec<u32>>,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(groups.len()));
    let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(groups)), Arc::new(firsts)];
    columns.extend(arguments.into_iter().map(|numbers| {
        let nulls = numbers.contains(&NONE);
        let nulls = nulls.then(|| NullBuffer::from_iter(numbers.iter().map(|&n| n != NONE)));
        Arc::new(UInt32Array::new(numbers.into(), nulls)) as ArrayRef
    }));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
