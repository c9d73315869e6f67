//! The memory limit for all queries of an engine together.
//!
//! Operators count what they hold against one pool: rows before a join, the sides of joins, rows before they are
//! chosen from. If the pool is full, rows move to a temporary file where possible. The side of a join cannot, so the
//! query ends with an incident. There is one pool for all queries because a process that is killed for taking too much
//! memory ends everyone's queries.
//!
//! Whether a join fits depends on the number of rows of the tables, to which one person adds at most a limited share
//! (`plan::join_rows`).

use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use std::path::Path;
use std::sync::Arc;

/// The machine's memory where it cannot be determined.
const UNKNOWN: u64 = 8 << 30;
/// The smallest limit for all queries together.
const LEAST: u64 = 1 << 30;

/// Half of the machine's memory, or of the process's limit.
pub(super) fn half() -> usize {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        number(line.trim_end_matches("kB")).map(|kilobytes| kilobytes << 10)
    });
    let allowed = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let allowed = allowed.into_iter().filter_map(|path| read(path).and_then(|text| number(&text)));
    let bytes = allowed.chain(total).min().unwrap_or(UNKNOWN);
    usize::try_from((bytes / 2).max(LEAST)).unwrap_or(usize::MAX)
}

/// The same state, with a limit in bytes for all its queries together.
pub(super) fn with_pool(state: SessionState, bytes: usize) -> SessionState {
    let pool: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(bytes));
    let environment = RuntimeEnv { memory_pool: pool, ..state.runtime_env().as_ref().clone() };
    let builder = SessionStateBuilder::new_from_existing(state);
    builder.with_runtime_env(Arc::new(environment)).build()
}
