//! The logical node, and the planner that turns it into an operator.

use super::cap::{CapRows, with_key};
use super::cap_operator::{Cap, Limit};
use super::intern::Interned;
use super::key::Key;
use super::operator::{Bound, MEMORY_LIMIT};
use super::spec::BoundSpec;
use crate::rows::operator::Exec;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DFSchema, DFSchemaRef, Result, plan_err};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The rows of `input`, with each person's contributions bounded.
#[derive(Clone)]
pub struct BoundContributions {
    input: Arc<LogicalPlan>,
    spec: BoundSpec,
    interned: Arc<Interned>,
    memory_limit: usize,
    schema: DFSchemaRef,
}

impl BoundContributions {
    /// A node with its own tables. The key must be fresh: one query, one key. It also decides which rows go into the
    /// joins below.
    pub fn new(input: Arc<LogicalPlan>, spec: BoundSpec, key: Key) -> Result<Self> {
        let input = Arc::new(with_key(Arc::unwrap_or_clone(input), &key)?);
        let interned = Arc::new(Interned::new(&spec, input.schema().as_arrow(), key)?);
        Self::of(input, spec, interned, MEMORY_LIMIT)
    }

    fn of(
        input: Arc<LogicalPlan>,
        spec: BoundSpec,
        interned: Arc<Interned>,
        memory_limit: usize,
    ) -> Result<Self> {
        spec.check(input.schema().as_arrow())?;
        let schema = Arc::new(DFSchema::try_from(spec.output())?);
        Ok(Self { input, spec, interned, memory_limit, schema })
    }

    /// The same node, holding at most about this many bytes of rows in memory.
    #[must_use]
    pub fn with_memory_limit(self, memory_limit: usize) -> Self {
        Self { memory_limit, ..self }
    }

    /// The tables that translate group numbers and codes of the output. Use them once the output has ended.
    #[must_use]
    pub fn interned(&self) -> &Arc<Interned> {
        &self.interned
    }

    /// The node as a plan.
    #[must_use]
    pub fn into_plan(self) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(self) })
    }
}

impl fmt::Debug for BoundContributions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        UserDefinedLogicalNodeCore::fmt_for_explain(self, f)
    }
}

/// Two nodes are equal if they belong to the same query: same tables, hence the same key.
impl PartialEq for BoundContributions {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.interned, &other.interned)
            && self.spec == other.spec
            && self.memory_limit == other.memory_limit
            && self.input == other.input
    }
}

impl Eq for BoundContributions {}

impl PartialOrd for BoundContributions {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for BoundContributions {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.spec, &self.input).hash(state);
    }
}

impl UserDefinedLogicalNodeCore for BoundContributions {
    fn name(&self) -> &'static str {
        "BoundContributions"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    /// The columns that are read, so that the optimizer can drop the others below.
    fn expressions(&self) -> Vec<Expr> {
        let input = self.input.schema();
        let column = |i: usize| Expr::Column(input.qualified_field(i).into());
        self.spec.columns().map(column).collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoundSpec { max_groups, max_rows, .. } = self.spec;
        write!(f, "BoundContributions: max_groups={max_groups}, max_rows={max_rows}")
    }

    fn with_exprs_and_inputs(&self, exprs: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let Ok([input]) = <[_; 1]>::try_from(inputs) else {
            return plan_err!("BoundContributions has one input");
        };
        let mut columns = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let Expr::Column(column) = expr else {
                return plan_err!("contributions are bounded by columns, not by expressions");
            };
            columns.push(input.schema().index_of_column(&column)?);
        }
        let Some(spec) = self.spec.renumbered(&columns) else {
            return plan_err!("BoundContributions lost a column");
        };
        Self::of(Arc::new(input), spec, Arc::clone(&self.interned), self.memory_limit)
    }

    fn necessary_children_exprs(&self, _: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut columns: Vec<usize> = self.spec.columns().collect();
        columns.sort_unstable();
        columns.dedup();
        Some(vec![columns])
    }
}

/// Plans [`BoundContributions`] as the native operator, and the bounds before joins.
#[derive(Debug)]
pub struct BoundPlanner;

#[async_trait]
impl ExtensionPlanner for BoundPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        physical: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let [input] = physical else {
            return plan_err!("contributions are bounded in one input");
        };
        if let Some(cap) = node.as_any().downcast_ref::<CapRows>() {
            let (Some(rows), Some(key)) = (cap.rows(), cap.key()) else {
                return plan_err!("rows before a join are bounded by a number and under a key");
            };
            let limit = Limit { most: rows, by_size: cap.by_size() };
            let exec = Cap::new(Arc::clone(input), cap.unit()?, limit, key.clone())?;
            return Ok(Some(Arc::new(Exec(exec))));
        }
        let Some(node) = node.as_any().downcast_ref::<BoundContributions>() else {
            return Ok(None);
        };
        let exec = Bound::new(
            Arc::clone(input),
            node.spec.clone(),
            Arc::clone(&node.interned),
            node.memory_limit,
        )?;
        Ok(Some(Arc::new(Exec(exec))))
    }
}
