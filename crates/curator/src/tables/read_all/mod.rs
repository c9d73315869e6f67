//! Every plan over protected rows reads its sources to the end, whatever is in them.
//!
//! An engine saves work where it can: a hash join whose build side turns out empty never looks at
//! the other side, `a AND b` skips b where a is false for a whole batch, a `CASE` computes a branch for
//! those rows alone that take it. Each tells, by the time a query takes, whether some row is
//! there: a join with an expensive other side answers "does X have K?" to whoever has a clock.
//!
//! # Guarantee
//! Of a plan that passes [`read_all`]:
//! 1. every source is read to its end, and so is every input of every join;
//! 2. of every join that reads protected rows on both sides, the build side has a row in every partition,
//!    so that every row of the other side is hashed and looked up;
//! 3. every expression is computed for every row of a batch that reaches its operator.
//!
//! # Proof
//! 1. [`check`] admits operators of a list that take their inputs to the end before their own end: each is
//!    named in [`TO_THE_END`], and none has a limit (`fetch`). Of a source nothing is skipped: see
//!    `source`. A hash join skips its probe side only where its build side has no row that can match, which
//!    by 2 does not happen, or where it is public and empty, which is public. A nested loop and a
//!    cross join are admitted with a public build side alone.
//! 2. [`Sentinel`] adds one row to the build side, in every partition, that has a value in every
//!    join key and that nothing matches: see there. [`sides`] has made the build side the one
//!    whose rows without a match are not wanted, so that the row never comes out of a join.
//! 3. [`eager`] replaces what computes a part of its operands for some rows of a batch alone. ∎
//!
//! # What this module does not do
//! How many rows pass a filter or a join still decides how many the next operator has to
//! do with, one by one; a function that fails on a row computes the rows around it a second time
//! (`total`); caches and the allocator do as they like. One person has a part in that by the number of
//! her rows that pass, which `analyse::join_rows` bounds for joins. When an answer leaves is the
//! server's business.

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

/// Operators that read every input to its end before their own.
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

/// The plan with nothing left that could skip a row.
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

/// A state that plans so that [`read_all`] has nothing to refuse, and that does the same work in one way
/// alone: another way, chosen by looking at the rows, takes another time.
pub(crate) fn thorough(state: SessionState) -> SessionState {
    let mut rules = state.physical_optimizers().to_vec();
    // Sides are chosen where the engine chooses them, before rows are distributed.
    let at = rules.iter().position(|rule| rule.name() == "join_selection").map_or(0, |at| at + 1);
    rules.insert(at, Arc::new(sides::Sides));
    let builder = SessionStateBuilder::new_from_existing(state);
    let mut state = builder.with_physical_optimizer_rules(rules).build();
    let execution = &mut state.config_mut().options_mut().execution;
    // No join by the keys' range and density, which one person's id can change.
    execution.perfect_hash_join_small_build_threshold = 0;
    execution.perfect_hash_join_min_key_density = f64::INFINITY;
    // No giving up of partial aggregates where they turn out not to help.
    execution.skip_partial_aggregation_probe_rows_threshold = usize::MAX;
    state
}
