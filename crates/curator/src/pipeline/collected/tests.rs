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
