//! With hardly any memory, the result is the same and no file is left behind.

use super::definition::{Ids, batch, random_rows, schema, spec};
use super::tables::{Draws, kept, key, native, plan, runtime, sorted};
use crate::bound::engine::exact;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::Path;

fn context(directory: &Path) -> SessionContext {
    let mode = DiskManagerMode::Directories(vec![directory.to_owned()]);
    let disk = DiskManagerBuilder::default().with_mode(mode);
    let runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(disk).build_arc().unwrap();
    SessionContext::new_with_config_rt(SessionConfig::new().with_target_partitions(2), runtime)
}

/// The number of files under a directory.
fn files(directory: &Path) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        count += if path.is_dir() { files(&path) } else { 1 };
    }
    count
}

#[test]
fn spilled_rows_give_the_same_result_and_leave_no_file() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let context = context(directory.path());
        let mut draws = Draws(11);
        for (round, ids) in [(1, Ids::Int), (2, Ids::Text)] {
            let rows = random_rows(&mut draws, 3_000, 40);
            let batches = |part: &[super::definition::Row]| {
                part.chunks(100).map(|rows| batch(rows, ids)).collect::<Vec<_>>()
            };
            let partitions = vec![batches(&rows[..1_700]), batches(&rows[1_700..])];
            let mut results = Vec::new();
            // Everything in memory; a few batches; every batch on disk, in many passes.
            for limit in [1 << 30, 20_000, 1] {
                let input = plan(&context, schema(ids), partitions.clone()).await;
                let rows = kept(&context, input.clone(), &spec(2, 4), key(round), limit).await;
                let exact = native(&context, input, &spec(2, 4), key(round), limit).await;
                results.push((sorted(rows.into_iter().map(|(k, _, r)| (k, r))), exact));
                assert_eq!(files(directory.path()), 0);
                assert_eq!(context.runtime_env().disk_manager.used_disk_space(), 0);
            }
            assert!(results[0] == results[1] && results[0] == results[2]);
        }
    });
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_file() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let mode = DiskManagerMode::Directories(vec![directory.path().to_owned()]);
        let disk = DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(50);
        let runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(disk).build_arc().unwrap();
        let context = SessionContext::new_with_config_rt(SessionConfig::new(), runtime);
        let rows = random_rows(&mut Draws(1), 500, 9);
        let input = plan(&context, schema(Ids::Int), vec![vec![batch(&rows, Ids::Int)]]).await;
        let engine = crate::bound::Native::new(context.state()).with_memory_limit(1);
        assert!(exact(&engine, input, &spec(2, 2), key(1)).await.is_err());
        assert_eq!(files(directory.path()), 0);
    });
}
