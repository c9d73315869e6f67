//! How many rows of a person go into joins, and how many come out.
//!
//! # Guarantee
//! All joins of a private aggregate together make at most [`MOST_JOINED_ROWS`] rows of one person (or as many as
//! public tables alone make of one row). The number of rows that each side keeps of a person follows
//! from the query and public tables alone.
//!
//! # Proof
//! Let k be the number of inputs that may have several rows of a person and F the product of the most
//! rows that each public table has for one row. Each such input is under a [`CapRows`] of C rows. A
//! join of two inputs with a and b rows of a person makes at most a·b of them (or a, where an outer join finds
//! none), one with a public table at most F times as many, and a side with one row of
//! everybody as many as there were. So at most Cᵏ·F rows come out, and C is the largest number
//! with Cᵏ·F ≤ [`MOST_JOINED_ROWS`], and at least 1. ∎
//!
//! Where k = 1 and F = 1 nothing is multiplied, and nothing is bounded.

use super::PrivateAggregate;
use super::rows::planned;
use crate::bound::{CapRows, Most, with_rows};
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use crate::released::LaterTable;
use crate::rows::{Owner, Rows};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{JoinType, LogicalPlan};
use std::sync::Arc;

/// The most rows that the joins of a query make of one person: some milliseconds of work and
/// a megabyte.
const MOST_JOINED_ROWS: u64 = 1 << 16;

/// The most rows that joins with public tables may make of one.
const MOST_SPREAD: usize = 10_000;

/// A join with public rows: at most so many of them fit one protected row.
pub(crate) struct Fan {
    table: Arc<LaterTable>,
    most: usize,
}

/// The rows as they go into a join that may multiply them.
pub(super) fn before_join(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } if !is_capped(&rows.plan) => {
            let plan = CapRows::plan(rows.plan, column, Most::Shared);
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// The rows that those on the left of a semi-join are compared with: as many as in a join of two tables.
pub(super) fn to_compare(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } => {
            let plan = CapRows::plan(rows.plan, column, Most::Rows(largest(2, 1)));
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// One row of each person, where nothing but the person matters.
pub(super) fn one_each(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } => {
            let plan = CapRows::plan(rows.plan, column, Most::OneEach);
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// Whether all that may have several rows of a person is under a [`CapRows`].
fn is_capped(plan: &LogicalPlan) -> bool {
    if CapRows::of(plan).is_some() {
        return true;
    }
    match plan {
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::LeftSemi | JoinType::LeftAnti => is_capped(&join.left),
            // A side that is not has one row of everybody, or is public.
            _ => is_capped(&join.left) || is_capped(&join.right),
        },
        LogicalPlan::Union(union) => union.inputs.iter().all(|input| is_capped(input)),
        _ => plan.inputs().first().is_some_and(|input| is_capped(input)),
    }
}

/// How many bounded inputs are multiplied with each other in what comes out of a plan; `most` becomes
/// the most anywhere in it.
fn factors(plan: &LogicalPlan, most: &mut u32) -> u32 {
    let inputs: Vec<u32> = plan.inputs().into_iter().map(|input| factors(input, most)).collect();
    let several = inputs.iter().copied().max().unwrap_or(0);
    let own = match plan {
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::LeftSemi | JoinType::LeftAnti => inputs.first().copied().unwrap_or(0),
            _ => inputs.iter().sum(),
        },
        _ if CapRows::of(plan).is_some_and(|cap| cap.most() == Most::Shared) => 1,
        _ => several,
    };
    *most = own.max(*most);
    own
}

/// The largest C with Cᵏ·F ≤ [`MOST_JOINED_ROWS`], and at least 1.
fn largest(k: u32, spread: u64) -> u32 {
    let fits = |c: u64| {
        let power = c.checked_pow(k).and_then(|power| power.checked_mul(spread));
        power.is_some_and(|rows| rows <= MOST_JOINED_ROWS)
    };
    let (mut low, mut high) = (1, MOST_JOINED_ROWS + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low as u32
}

/// Decides how many rows of a person each input of the aggregate's joins keeps.
pub(crate) fn share_rows(aggregate: PrivateAggregate, fans: &[Fan]) -> Result<PrivateAggregate> {
    let mut k = 0;
    factors(&aggregate.input, &mut k);
    let mut spread: u64 = 1;
    for fan in fans.iter().filter(|fan| reads(&aggregate.input, &fan.table)) {
        spread = spread.saturating_mul(fan.most.max(1) as u64);
    }
    let rows = (k > 1 || spread > 1).then(|| largest(k.max(1), spread));
    let input = with_rows(aggregate.input, rows).map_err(planned)?;
    Ok(PrivateAggregate { input, ..aggregate })
}

/// Whether a plan reads a public table that was read before.
fn reads(plan: &LogicalPlan, table: &Arc<LaterTable>) -> bool {
    let mut found = false;
    // The closure never fails, so neither does the walk.
    let _ = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
        {
            let same = |read: &LaterTable| std::ptr::eq(read, Arc::as_ptr(table));
            found |= provider.downcast_ref::<LaterTable>().is_some_and(same);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}

/// Refuses joins with public tables that make very many rows of one: which rows they are made of
/// would show in the time that it takes. Nothing but public rows is looked at.
pub(crate) fn spread(fans: Vec<(Arc<LaterTable>, Vec<usize>)>) -> Result<Vec<Fan>> {
    let mut rows = 1usize;
    let mut known = Vec::with_capacity(fans.len());
    for (table, columns) in fans {
        let most = table.most_alike(&columns).map_err(planned)?;
        rows = rows.saturating_mul(most.max(1));
        known.push(Fan { table, most });
    }
    if rows <= MOST_SPREAD {
        return Ok(known);
    }
    let what = format!("joins with public tables that may make {rows} rows of one");
    let remedy = "join on more columns, or on a key; at most 10,000 rows may come of one";
    Err(Refusal::new(Rule::Join, what, remedy).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_the_largest_that_fits() {
        for (k, spread, share) in
            [(1, 1, 65_536), (2, 1, 256), (3, 1, 40), (4, 1, 16), (1, 365, 179), (2, 16, 64)]
        {
            assert_eq!(largest(k, spread), share, "{k} {spread}");
            let made = |c: u64| c.pow(k) * spread;
            assert!(made(u64::from(share)) <= MOST_JOINED_ROWS);
            assert!(made(u64::from(share) + 1) > MOST_JOINED_ROWS);
        }
        assert_eq!(largest(4, 10_000), 1);
        assert_eq!(largest(3, u64::MAX), 1);
    }
}
