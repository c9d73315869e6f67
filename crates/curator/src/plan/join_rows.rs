//! Bounds how many of a person's rows go into joins and expensive expressions, and how many come out.
//!
//! # Guarantee
//! For one person's rows, in everything that a private aggregate computes:
//! 1. At each step, all joins together make at most [`MOST_JOINED_ROWS`] rows of the person (or as many as public
//!    tables alone make of one row).
//! 2. On rows under a limit, all expressions together (join conditions, filters, computed columns, group keys,
//!    arguments), the columns that joins repeat, the groups that are looked up and the pairs that semi-joins compare
//!    take at most [`MOST_WORK`] units: a few milliseconds, since a unit is about a nanosecond ([`crate::rows::cost`]).
//! 3. On rows without a limit, expressions take at most [`FREE_UNITS`] units, [`FREE_PASSES`] passes over the row's
//!    texts and [`FREE_FAILURES`] failing functions, for each time that a protected table is read. No window is
//!    computed on them: the engine copies the rows of a window that it holds with every batch, so that many rows of one
//!    person would take time in proportion to their square.
//!
//! The number of rows kept of a person depends on the query, the policy and public tables alone. A query for which no
//! number is small enough is refused.
//!
//! # Proof
//! Let C be the number of rows that each [`CapRows`] keeps of a person. [`Work`] walks the plan as the engine's
//! optimizer leaves it, so filters are where they are computed, and an expression that is expanded twice counts twice.
//! A table yields all rows of a person, or one if the unit is a row. A `CapRows` yields C. A union yields the sum of
//! its branches, so u limited branches yield u·C. A join of two inputs with a and b rows of a person yields at most
//! a·b (or a, if an outer join finds none). A join with a public table yields at most F times as many, where F is the
//! largest number of public rows that match one row. A join with a side that has one row per person yields as many as
//! there were. A semi-join makes no rows, but compares each row on the left with all rows on the right that have its
//! key; it gets each public row once. So the number of rows at each step is a polynomial in C, and k limited inputs in
//! u branches yield u·Cᵏ·F. C is the largest number for which no step has more than [`MOST_JOINED_ROWS`] rows and the
//! sum of rows times cost is at most [`MOST_WORK`]; if 1 is too many for the second, the query is refused.
//!
//! Inputs of joins that may have several rows of a person are always limited, to one where the policy declares one. Tables are limited if there is a window
//! on unlimited rows, or the work on them exceeds 3: then each is read through a `CapRows`, and every condition that costs something stays
//! above it ([`hold`]). The optimizer moves nothing but conditions through a `CapRows`, and the optimized plan is
//! checked again: if the work below still exceeds 3, all conditions are held, and if that does not help, the query is
//! refused. ∎
//!
//! # What this module does not do
//! If nothing is multiplied and everything is cheap in the sense of 3, nothing is bounded: a person's rows are read
//! and passed over a few times, which takes about as long again as reading them from a file.

use super::hold::hold;
use super::rows::planned;
use super::work::{Limits, Work};
use crate::aggregate::PrivateAggregate;
use crate::answer::deferred::DeferredTable;
use crate::bound::{CapRows, Most, with_rows, without_leaves};
use crate::error::Result;
use crate::policy::Policy;
use crate::refusal::{Refusal, Rule};
use crate::rows::cost::Cost;
use crate::rows::{Owner, Rows};
use datafusion::common::Column;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{JoinType, LogicalPlan};
use std::sync::Arc;

/// The most rows that a step of a query's joins makes of one person's: a few milliseconds of work and a megabyte.
pub(super) const MOST_JOINED_ROWS: u64 = 1 << 16;

/// The most units that expressions take on limited rows of one person: 64 for each of [`MOST_JOINED_ROWS`], some
/// five milliseconds as measured.
const MOST_WORK: u64 = MOST_JOINED_ROWS * 64;

/// Units for values of a fixed width, on each unlimited row and for each table that is read.
const FREE_UNITS: u64 = 256;

/// Passes over texts on such a row: a few functions, or one small pattern.
const FREE_PASSES: u64 = 32;

/// Functions that may fail on such a row: they then take several times as long as reading it.
const FREE_FAILURES: u64 = 4;

/// A plan with fewer units is not checked again after it is optimized: expanded into each other, they make at most 64.
const TRIFLE: u64 = 8;

/// The most rows that joins with public tables may make of one.
const MOST_FANOUT: usize = 10_000;

/// A join of protected rows with public ones.
pub(crate) struct PublicJoin {
    /// The public rows.
    pub(crate) table: Arc<DeferredTable>,
    /// The columns that a protected row determines.
    pub(crate) determined: Vec<usize>,
    /// Whether it may make several rows of one. A semi-join only compares.
    pub(crate) multiplies: bool,
    /// Whether at most one row may match, as a subquery that stands for a value requires.
    pub(crate) single: bool,
}

/// A join with public rows, and the most of them that match one protected row.
pub(crate) struct JoinFanout {
    table: Arc<DeferredTable>,
    most: usize,
}

impl JoinFanout {
    pub(super) fn table(&self) -> &DeferredTable {
        &self.table
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }
}

/// The rows of a table, with a limit where they are read.
pub(super) fn where_read(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } => {
            let plan = CapRows::plan(rows.plan, column, Most::Leaf);
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// A plan that yields one row per person.
pub(super) fn only_row(plan: LogicalPlan, unit: &str) -> LogicalPlan {
    CapRows::plan(plan, &Column::new_unqualified(unit), Most::Once)
}

/// The rows as input of a join that may multiply them.
pub(super) fn before_join(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } if !is_capped(&rows.plan) => {
            let plan = CapRows::plan(rows.plan, column, Most::Shared);
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// The rows as input of a join with people. Where the policy declares one row of each person, one goes into the join: it
/// then multiplies nothing, and the other tables keep more rows.
pub(super) fn before_people(rows: Rows, as_declared: bool) -> Rows {
    let one = !rows.limits.learnt && (rows.limits.groups, rows.limits.rows) == (1, 1);
    match one && as_declared && is_one_table(&rows.plan) {
        true => one_each(rows),
        false => before_join(rows),
    }
}

/// Whether a plan has at most as many rows as one table.
fn is_one_table(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(_) => true,
        LogicalPlan::Join(join) => {
            matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
                && is_one_table(&join.left)
        }
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Window(_)
        | LogicalPlan::Extension(_) => {
            plan.inputs().into_iter().all(is_one_table) && !plan.inputs().is_empty()
        }
        _ => false,
    }
}

/// As many rows as in a join of two tables: 256² = [`MOST_JOINED_ROWS`].
const COMPARED: u32 = 256;

/// The right side of a semi-join, with which rows on the left are compared.
pub(super) fn to_compare(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } => {
            let plan = CapRows::plan(rows.plan, column, Most::Rows(COMPARED));
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// One row per person, for joins where only the person matters.
pub(super) fn one_each(rows: Rows) -> Rows {
    match &rows.owner {
        Owner::Person { column, once: false } => {
            let plan = CapRows::plan(rows.plan, column, Most::OneEach);
            Rows { plan, ..rows }
        }
        _ => rows,
    }
}

/// Whether every input that may have several rows of a person is under a [`CapRows`].
fn is_capped(plan: &LogicalPlan) -> bool {
    match plan {
        _ if CapRows::of(plan).is_some_and(|cap| cap.most() != Most::Leaf) => true,
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::LeftSemi | JoinType::LeftAnti => is_capped(&join.left),
            // A side that is not capped has one row per person, or is public.
            _ => is_capped(&join.left) || is_capped(&join.right),
        },
        LogicalPlan::Union(union) => union.inputs.iter().all(|input| is_capped(input)),
        _ => plan.inputs().first().is_some_and(|input| is_capped(input)),
    }
}

/// The largest number from 1 to [`MOST_JOINED_ROWS`] that fits, if smaller ones fit as well; `None` if 1 does not.
fn largest(fits: impl Fn(u64) -> bool) -> Option<u32> {
    let (mut low, mut high) = (0, MOST_JOINED_ROWS + 1);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if fits(middle) { low = middle } else { high = middle }
    }
    u32::try_from(low).ok().filter(|low| *low > 0)
}

/// Whether the work on unlimited rows is in proportion to reading them.
fn is_free(work: &Work<'_>) -> bool {
    let (cost, scans) = (work.unlimited(), work.scans.max(1));
    !work.open_windows
        && cost.plain <= FREE_UNITS * scans
        && cost.passes <= FREE_PASSES * scans
        && cost.failures <= FREE_FAILURES * scans
}

/// Decides how many rows of a person each input of the aggregate's joins keeps, and each of its tables.
pub(crate) fn share_rows(
    aggregate: PrivateAggregate,
    fanouts: &[JoinFanout],
    policy: &Policy,
    state: &SessionState,
) -> Result<PrivateAggregate> {
    let input = share_input(&aggregate.input, fanouts, policy, state)?;
    Ok(PrivateAggregate { input, ..aggregate })
}

/// The same for the rows alone.
pub(crate) fn share_input(
    input: &LogicalPlan,
    fanouts: &[JoinFanout],
    policy: &Policy,
    state: &SessionState,
) -> Result<LogicalPlan> {
    let (joins, leaves, input) = shares(input, fanouts, policy, state)?;
    with_rows(input, joins, leaves).map_err(planned)
}

/// The limits of joins and of tables, and the plan that they apply to.
fn shares(
    input: &LogicalPlan,
    fanouts: &[JoinFanout],
    policy: &Policy,
    state: &SessionState,
) -> Result<(Option<u32>, Option<u32>, LogicalPlan)> {
    let optimized = |plan: LogicalPlan| state.optimize(&plan).map_err(planned);
    let open = without_leaves(input.clone()).map_err(planned)?;
    let written = Work::of(&open, fanouts, policy, Limits::Joins);
    let few = |c: u64| c == 1 || written.most_rows(c) <= MOST_JOINED_ROWS;
    let each = written.each_once();
    if each.passes == 0 && each.failures == 0 && each.plain <= TRIFLE {
        let joins = written.multiplies.then(|| largest(few)).flatten();
        return Ok((joins, None, open));
    }
    let plan = optimized(open.clone())?;
    let work = Work::of(&plan, fanouts, policy, Limits::Joins);
    if is_free(&work) {
        let fits = |c: u64| few(c) && work.units(c) <= MOST_WORK;
        let joins = Some(largest(fits).ok_or_else(too_dear)?);
        // If nothing is multiplied, no limit is needed unless a row is expensive.
        let free = || is_free(&Work::of(&plan, fanouts, policy, Limits::Neither));
        let needed = written.multiplies || !free();
        return Ok((joins.filter(|_| needed), None, open));
    }
    // First holds the expensive conditions above the tables' limits; if that is not enough, holds all.
    for least in [TRIFLE, 0] {
        let dear = |cost: Cost| cost.passes > 0 || cost.failures > 0 || cost.plain > least;
        let held = hold(input.clone(), dear)?;
        let plan = optimized(held.clone())?;
        let work = Work::of(&plan, fanouts, policy, Limits::All);
        if is_free(&work) {
            let few = |c: u64| c == 1 || work.most_rows(c) <= MOST_JOINED_ROWS;
            let fits = |c: u64| few(c) && work.units(c) <= MOST_WORK;
            let rows = Some(largest(fits).ok_or_else(too_dear)?);
            return Ok((rows.filter(|_| written.multiplies), rows, held));
        }
    }
    Err(too_dear().into())
}

fn too_dear() -> Refusal {
    Refusal::new(
        Rule::Function,
        "expressions that cost so much on one person's rows that the time would tell of her",
        "use fewer functions of long texts, shorter texts (LEFT(x, 20)), smaller patterns, or a join with \
         fewer public rows",
    )
}

/// Refuses joins with public tables that make very many rows of one: the running time would reveal which rows they are
/// made of. It looks at public rows only.
pub(crate) fn join_fanout(joins: Vec<PublicJoin>) -> Result<Vec<JoinFanout>> {
    let mut rows = 1usize;
    let mut known = Vec::with_capacity(joins.len());
    for PublicJoin { table, determined, multiplies, single } in joins {
        let most = table.most_alike(&determined).map_err(planned)?;
        if single && most > 1 {
            let what = "a subquery that has several rows where one value is expected";
            let remedy = "aggregate in it (MAX, MIN, COUNT), or compare with IN";
            return Err(Refusal::new(Rule::Subquery, what, remedy).into());
        }
        if multiplies {
            rows = rows.saturating_mul(most.max(1));
        }
        known.push(JoinFanout { table, most });
    }
    if rows <= MOST_FANOUT {
        return Ok(known);
    }
    let what = format!("joins with public tables that may make {rows} rows of one");
    let remedy = "join on more columns, or on a key; at most 10,000 rows may come of one";
    Err(Refusal::new(Rule::Join, what, remedy).into())
}

#[cfg(test)]
mod tests;
