//! Rows of public and released tables, held in memory within a limit.

use datafusion::arrow::array::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::StreamExt;

/// Rows in memory, counted against the pool of all statements while this is held.
pub(super) struct CollectedRows {
    pub(super) batches: Vec<RecordBatch>,
    pub(super) memory: MemoryReservation,
}

/// Collects the rows of a plan that touches no protected row. They may take at most `most` bytes, and together with
/// those of other statements no more than the pool has.
pub(super) async fn collected(frame: DataFrame, most: usize) -> Result<CollectedRows> {
    let memory = MemoryConsumer::new("rows held").register(frame.task_ctx().memory_pool());
    let (mut batches, mut bytes) = (Vec::new(), 0usize);
    let mut rows = frame.execute_stream().await?;
    while let Some(batch) = rows.next().await.transpose()? {
        // Counts the visible part only: several batches may be slices of one.
        for column in batch.columns() {
            bytes = bytes.saturating_add(column.to_data().get_slice_memory_size()?);
        }
        if bytes > most || memory.try_resize(bytes).is_err() {
            let what = "too many public or released rows to hold; ask for less at a time";
            return Err(DataFusionError::ResourcesExhausted(what.to_owned()));
        }
        batches.push(batch);
    }
    Ok(CollectedRows { batches, memory })
}

#[cfg(test)]
mod tests;
