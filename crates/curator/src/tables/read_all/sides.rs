//! Chooses which side of a join is held in memory, and which is looked up in it.

use datafusion::common::tree_node::Transformed;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use std::sync::Arc;

/// Whether a plan reads no protected row: all its leaves are public rows that were read before, or are empty.
pub(super) fn is_public(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let mut public = true;
    let looked = plan.apply(|node| {
        if node.children().is_empty() {
            let held = |source: &DataSourceExec| source.data_source().is::<MemorySourceConfig>();
            public &= node.downcast_ref::<DataSourceExec>().is_some_and(held)
                || node.is::<EmptyExec>()
                || node.is::<PlaceholderRowExec>();
        }
        Ok(TreeNodeRecursion::Continue)
    });
    looked.is_ok() && public
}

/// The number of tables that a plan reads.
fn tables(plan: &Arc<dyn ExecutionPlan>) -> usize {
    match plan.children()[..] {
        [] => 1,
        ref inputs => inputs.iter().map(|input| tables(input)).sum(),
    }
}

/// Builds from the public side if there is one, and otherwise from the side whose unmatched rows are not needed. If
/// both are alike, it builds from the side that reads fewer tables: the output of joins may have a thousand times as
/// many rows, and its hash table is built without a pause. It runs before rows are distributed, so that each side gets
/// the distribution it needs.
#[derive(Debug)]
pub(crate) struct Sides;

impl PhysicalOptimizerRule for Sides {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let sided = plan.transform_up(|node| {
            let swapped = if let Some(join) = node.downcast_ref::<HashJoinExec>() {
                swapped_hash_join(join)?
            } else if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
                (!is_public(join.left())).then(|| join.swap_inputs()).transpose()?
            } else if let Some(join) = node.downcast_ref::<CrossJoinExec>() {
                (!is_public(join.left())).then(|| join.swap_inputs()).transpose()?
            } else {
                None
            };
            Ok(match swapped {
                Some(join) => Transformed::yes(join),
                None => Transformed::no(node),
            })
        })?;
        Ok(sided.data)
    }

    fn name(&self) -> &str {
        "sides"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn swapped_hash_join(join: &HashJoinExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if is_public(join.left()) {
        return Ok(None);
    }
    let swap = match join.join_type() {
        JoinType::Inner => is_public(join.right()) || tables(join.right()) < tables(join.left()),
        JoinType::LeftSemi | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => {
            is_public(join.right())
        }
        JoinType::Left | JoinType::LeftAnti => true,
        other => return plan_err!("a join of protected rows of the kind {other} is not available"),
    };
    match swap {
        true => join.swap_inputs(*join.partition_mode()).map(Some),
        false => Ok(None),
    }
}

#[cfg(test)]
mod tests;
