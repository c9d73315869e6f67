//! Engines, which compute the exact aggregates.

use super::exact::{Exact, accumulate};
use super::key::Key;
use super::memory::{half, with_pool};
use super::node::{BoundContributions, BoundPlanner};
use super::operator::MEMORY_LIMIT;
use super::spec::BoundSpec;
use crate::error::{Error, Result};
use crate::rows::risky;
use crate::tables::read_all::{read_all, thorough};
use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use demure_ledger::Reading;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// Bounds each person's contributions and aggregates the rows that stay.
///
/// Every query has a fresh key, which decides which contributions stay.
#[async_trait]
pub trait Engine: Send + Sync + fmt::Debug {
    /// Plans the exact, bounded aggregates of the rows of `input`. It reads no row, so whether it fails does not
    /// depend on the data.
    async fn prepare(&self, input: LogicalPlan, spec: &BoundSpec, key: Key) -> Result<Task>;
}

/// A plan that is ready to run. Protected rows are read when it runs, and not before.
pub struct Task(BoxFuture<'static, EngineResult<Exact>>);

impl Task {
    /// A task that runs this future.
    pub fn new(run: impl Future<Output = EngineResult<Exact>> + Send + 'static) -> Self {
        Self(run.boxed())
    }

    /// Reads the rows. The ledger's `Reading` proves that they are paid for.
    ///
    /// # Errors
    /// The engine's error may quote rows: it is for the steward alone.
    pub async fn run(self, _paid: &Reading) -> EngineResult<Exact> {
        self.0.await
    }

    /// Wraps the task in other work, for an engine that wraps another. Nothing is read before that work runs.
    #[must_use]
    pub fn within<F>(self, work: impl FnOnce(BoxFuture<'static, EngineResult<Exact>>) -> F) -> Self
    where
        F: Future<Output = EngineResult<Exact>> + Send + 'static,
    {
        Self::new(work(self.0))
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

/// The embedded engine, with the native operator.
#[derive(Clone)]
pub struct Native {
    state: SessionState,
    memory_limit: usize,
}

impl Native {
    /// Runs with the session's tables, threads and disk, and with half of the machine's memory.
    #[must_use]
    pub fn new(state: SessionState) -> Self {
        Self { state: thorough(state), memory_limit: MEMORY_LIMIT }.with_pool(half())
    }

    /// Holds at most about this many bytes of rows in memory during contribution bounding.
    #[must_use]
    pub fn with_memory_limit(self, memory_limit: usize) -> Self {
        Self { memory_limit, ..self }
    }

    /// Limits the memory of all its queries together; a query that needs more fails.
    #[must_use]
    pub fn with_pool(self, bytes: usize) -> Self {
        Self { state: with_pool(self.state, bytes), ..self }
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").field("memory_limit", &self.memory_limit).finish_non_exhaustive()
    }
}

#[async_trait]
impl Engine for Native {
    async fn prepare(&self, input: LogicalPlan, spec: &BoundSpec, key: Key) -> Result<Task> {
        let planned = |e: DataFusionError| Error::planning(&e);
        let node = BoundContributions::new(Arc::new(input), spec.clone(), key).map_err(planned)?;
        let node = node.with_memory_limit(self.memory_limit);
        let interned = Arc::clone(node.interned());
        let plan = self.state.optimize(&node.into_plan()).map_err(planned)?;
        risky::check(&plan)?;
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BoundPlanner)]);
        let plan = planner.create_physical_plan(&plan, &self.state).await;
        let plan = plan.and_then(read_all).map_err(planned)?;
        let (context, spec) = (self.state.task_ctx(), spec.clone());
        Ok(Task::new(
            async move { accumulate(execute_stream(plan, context)?, &interned, &spec).await },
        ))
    }
}

/// [`Engine::prepare`] and [`Task::run`] in one, for tests.
#[cfg(test)]
pub(super) async fn exact(
    engine: &dyn Engine,
    input: LogicalPlan,
    spec: &BoundSpec,
    key: Key,
) -> EngineResult<Exact> {
    let task = engine.prepare(input, spec, key).await;
    let task = task.map_err(|error| DataFusionError::Plan(error.to_string()))?;
    task.0.await
}
