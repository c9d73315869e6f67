//! Rows of public and released tables, held in memory within a limit.

use datafusion::arrow::array::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::StreamExt;

/// Rows in memory, counted against the pool of all statements while this is held.
pub(super) struct Held {
    pub(super) batches: Vec<RecordBatch>,
    pub(super) memory: MemoryReservation,
}

/// Collects the rows of a plan that touches no protected row. They may take at most `most` bytes, and together with
/// those of other statements no more than the pool has.
pub(super) async fn collected(frame: DataFrame, most: usize) -> Result<Held> {
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
    Ok(Held { batches, memory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};
    use std::sync::Arc;

    #[tokio::test]
    async fn rows_are_collected_up_to_a_limit() {
        let context = SessionContext::new();
        for (most, enough) in [(1 << 20, true), (79_000, false)] {
            let frame = context.sql("SELECT * FROM generate_series(1, 10000)").await.unwrap();
            let held = collected(frame, most).await;
            let rows = held.map(|held| held.batches.iter().map(RecordBatch::num_rows).sum());
            assert_eq!(rows.ok(), enough.then_some(10_000usize));
        }
    }

    #[tokio::test]
    async fn rows_of_all_statements_share_the_pool() {
        let runtime = RuntimeEnvBuilder::new().with_memory_limit(200_000, 1.0).build_arc().unwrap();
        let context = SessionContext::new_with_config_rt(SessionConfig::new(), runtime);
        let pool = Arc::clone(&context.runtime_env().memory_pool);
        let collect = || async {
            let frame = context.sql("SELECT * FROM generate_series(1, 10000)").await.unwrap();
            collected(frame, 1 << 20).await
        };
        let first = collect().await.unwrap();
        assert_eq!(pool.reserved(), 80_000);
        let second = collect().await.unwrap();
        assert!(collect().await.is_err(), "three do not fit");
        drop(first);
        let third = collect().await.unwrap();
        drop((second, third));
        assert_eq!(pool.reserved(), 0);
    }
}
