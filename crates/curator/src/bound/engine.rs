//! Who computes the exact aggregates.

use super::exact::{Exact, accumulate};
use super::key::Key;
use super::node::{BoundContributions, BoundPlanner};
use super::operator::MEMORY_LIMIT;
use super::spec::BoundSpec;
use async_trait::async_trait;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::execute_stream;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use demure_core::random::SystemRandom;
use std::sync::Arc;

/// Something that reads protected rows, bounds each person's contributions and
/// adds up what stays. Every call draws a key of its own.
#[async_trait]
pub trait Engine: Send + Sync {
    /// The exact, bounded aggregates of the rows of `input`.
    async fn exact(&self, input: LogicalPlan, spec: &BoundSpec) -> Result<Exact, DataFusionError>;
}

/// The embedded engine, with the operator made for it.
#[derive(Clone, Debug)]
pub struct Native {
    state: SessionState,
    memory_limit: usize,
}

impl Native {
    /// Runs in the session's environment, with its tables, threads and disk.
    #[must_use]
    pub fn new(state: SessionState) -> Self {
        Self { state, memory_limit: MEMORY_LIMIT }
    }

    /// Holds at most about this many bytes of rows in memory.
    #[must_use]
    pub fn with_memory_limit(self, memory_limit: usize) -> Self {
        Self { memory_limit, ..self }
    }

    /// [`Engine::exact`] with a key of the caller's.
    pub(super) async fn exact_with(
        &self,
        input: LogicalPlan,
        spec: &BoundSpec,
        key: Key,
    ) -> Result<Exact> {
        let node = BoundContributions::new(Arc::new(input), spec.clone(), key)?;
        let node = node.with_memory_limit(self.memory_limit);
        let interned = Arc::clone(node.interned());
        let plan = self.state.optimize(&node.into_plan())?;
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(BoundPlanner)]);
        let plan = planner.create_physical_plan(&plan, &self.state).await?;
        accumulate(execute_stream(plan, self.state.task_ctx())?, &interned, spec).await
    }
}

/// A key from the operating system's randomness.
pub(super) fn fresh_key() -> Result<Key> {
    SystemRandom::new()
        .and_then(|mut rng| Key::draw(&mut rng))
        .map_err(|error| DataFusionError::External(Box::new(error)))
}

#[async_trait]
impl Engine for Native {
    async fn exact(&self, input: LogicalPlan, spec: &BoundSpec) -> Result<Exact, DataFusionError> {
        self.exact_with(input, spec, fresh_key()?).await
    }
}
