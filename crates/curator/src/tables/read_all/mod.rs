//! Makes every plan over protected rows read its sources to the end, whatever they contain.
//!
//! An engine saves work where it can: a hash join with an empty build side never looks at the other side, `a AND b`
//! skips b where a is false for a whole batch, a `CASE` computes a branch only for the rows that take it. Each of
//! these reveals, by the time a query takes, whether some row exists: a join with an expensive other side answers
//! "does X have K?" to anyone with a clock.
//!
//! # Guarantee
//! For a plan that passes [`read_all`]:
//! 1. every source is read to its end, and so is every input of every join;
//! 2. in every join that reads protected rows on both sides, the build side has a row in every partition,
//!    so every row of the other side is hashed and looked up;
//! 3. every expression is computed for every row of a batch that reaches its operator.
//!
//! # Proof
//! 1. [`check`] only admits operators that read their inputs to the end before they end: they are listed in
//!    [`TO_THE_END`], and none has a limit (`fetch`). Sources skip nothing: see `source`. A hash join skips its
//!    probe side only if its build side has no row that can match, which by 2 does not happen, or if the build side is
//!    public and empty, which is public. Nested-loop and cross joins are admitted only with a public build side.
//! 2. [`Sentinel`] adds one row to every partition of the build side that has a value in every join key and that
//!    nothing matches: see there. [`sides`] has chosen as the build side the one whose unmatched rows are not needed,
//!    so
//!    that this row never comes out of a join.
//! 3. [`eager`] replaces everything that computes some operands only for some rows of a batch. ∎
//!
//! # What this module does not do
//! The number of rows that pass a filter or a join still decides how many the next operator has to process, one by
//! one; a function that fails on a row computes the rows around it a second time (`total`); caches and the allocator
//! are not controlled. One person affects this by the number of their rows that pass, which `plan::join_rows`
//! bounds for joins. The server decides when an answer leaves.

mod eager;
mod pause;
mod sentinel;
mod sides;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, plan_err};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{CrossJoinExec, HashJoinExec, NestedLoopJoinExec};
use std::sync::Arc;

/// Operators that read every input to its end before they end.
const TO_THE_END: &[&str] = &[
    "AggregateExec",
    "BoundExec",
    "BoundedWindowAggExec",
    "CapExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "CrossJoinExec",
    "FilterExec",
    "HashJoinExec",
    "InterleaveExec",
    "NestedLoopJoinExec",
    "PauseExec",
    "ProjectionExec",
    "RepartitionExec",
    "SentinelExec",
    "SortExec",
    "SortPreservingMergeExec",
    "UnionExec",
    "WindowAggExec",
];

/// Rewrites a plan so that nothing in it can skip a row.
pub(crate) fn read_all(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = plan.transform_up(|node| {
        let node = eager::expressions(node)?;
        let is_join = node.is::<HashJoinExec>()
            || node.is::<NestedLoopJoinExec>()
            || node.is::<CrossJoinExec>();
        if !is_join {
            return Ok(Transformed::yes(node));
        }
        let node = match node.downcast_ref::<HashJoinExec>() {
            Some(join) if !sides::is_public(join.left()) => sentinel::never_empty(join)?,
            _ => node,
        };
        Ok(Transformed::yes(pause::within(node)?))
    })?;
    check(&plan.data)?;
    Ok(plan.data)
}

/// Refuses a plan with an operator that may end before its inputs do.
fn check(plan: &Arc<dyn ExecutionPlan>) -> Result<()> {
    plan.apply(|node| {
        let leaf = node.children().is_empty();
        let known = leaf || TO_THE_END.contains(&node.name());
        let build = match (node.downcast_ref::<NestedLoopJoinExec>(), node.downcast_ref()) {
            (Some(join), _) => Some(join.left()),
            (_, Some(join)) => Some(CrossJoinExec::left(join)),
            _ => None,
        };
        if !known || node.fetch().is_some() || build.is_some_and(|side| !sides::is_public(side)) {
            return plan_err!(
                "{} may leave rows of a protected table unread, which would show in the time it takes",
                node.name()
            );
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// A state whose plans [`read_all`] does not refuse, and that always works in the same way: an algorithm chosen by
/// looking at the rows would take a different time.
pub(crate) fn thorough(state: SessionState) -> SessionState {
    let mut rules = state.physical_optimizers().to_vec();
    // Sides are chosen right after the engine chooses them, before rows are distributed.
    let at = rules.iter().position(|rule| rule.name() == "join_selection").map_or(0, |at| at + 1);
    rules.insert(at, Arc::new(sides::Sides));
    let builder = SessionStateBuilder::new_from_existing(state);
    let mut state = builder.with_physical_optimizer_rules(rules).build();
    let execution = &mut state.config_mut().options_mut().execution;
    // No joins that depend on the range and density of keys, which one person's id can change.
    execution.perfect_hash_join_small_build_threshold = 0;
    execution.perfect_hash_join_min_key_density = f64::INFINITY;
    // Never abandons partial aggregates, even if they turn out not to help.
    execution.skip_partial_aggregation_probe_rows_threshold = usize::MAX;
    state
}
