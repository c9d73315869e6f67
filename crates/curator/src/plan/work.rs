//! Counts how many rows of one person each step of a plan processes, and what that costs.
//!
//! Row counts are polynomials in C, the number of rows of a person that a [`CapRows`] with an undecided limit keeps: a
//! union adds the counts of its branches, a join multiplies those of its sides.

use super::join_rows::{JoinFanout, MOST_JOINED_ROWS};
use crate::answer::deferred::DeferredTable;
use crate::bound::{CapRows, Most, SHORT};
use crate::policy::{Policy, UnitPolicy};
use crate::rows::RESERVED;
use crate::rows::cost::{Computed, Cost, cost};
use crate::rows::expression::text;
use crate::rows::in_order::keeps_values;
use crate::rows::total::LONGEST;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Aggregate, Expr, Join, JoinType, LogicalPlan, TableScan, Window};
use std::collections::HashSet;

/// A bound on the rows of one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// No bound: all the rows that the person has.
    All,
    /// At most `terms[0] + terms[1]·C + terms[2]·C² + …`
    Most(Vec<u64>),
}

impl Count {
    /// A bound that does not depend on C.
    fn number(n: u64) -> Self {
        Self::Most(vec![n])
    }

    /// At most C.
    fn shared() -> Self {
        Self::Most(vec![0, 1])
    }

    /// The bound for a given C; `None` if there is none.
    pub(super) fn at(&self, c: u64) -> Option<u64> {
        let Self::Most(terms) = self else { return None };
        let horner = |sum: u64, term: &u64| sum.saturating_mul(c).saturating_add(*term);
        Some(terms.iter().rev().fold(0, horner))
    }

    fn plus(self, other: &Self) -> Self {
        let (Self::Most(mut ours), Self::Most(theirs)) = (self, other) else { return Self::All };
        ours.resize(ours.len().max(theirs.len()), 0);
        for (our, their) in ours.iter_mut().zip(theirs) {
            *our = our.saturating_add(*their);
        }
        Self::Most(ours)
    }

    fn times(&self, other: &Self) -> Self {
        let (Self::Most(ours), Self::Most(theirs)) = (self, other) else { return Self::All };
        let mut product = vec![0u64; (ours.len() + theirs.len()).saturating_sub(1).max(1)];
        for (i, our) in ours.iter().enumerate() {
            for (j, their) in theirs.iter().enumerate() {
                product[i + j] = product[i + j].saturating_add(our.saturating_mul(*their));
            }
        }
        Self::Most(product)
    }

    fn is_one(&self) -> bool {
        matches!(self, Self::Most(terms) if terms[..] == [1])
    }
}

/// The output of a step.
struct Output {
    protected: bool,
    /// The rows of one person; for a public table, the rows that match one protected row.
    rows: Count,
    /// The longest text of each column, in bytes; 0 for a column that holds no text. Under a limit, for each row that counts
    /// once ([`SHORT`]).
    longest: Vec<u64>,
}

/// Which limits on rows apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limits {
    /// Neither those before joins nor those where tables are read.
    Neither,
    /// Those before joins.
    Joins,
    /// Those before joins, and those where tables are read.
    All,
}

/// The work that a plan does for one person.
pub(super) struct Work<'a> {
    fanouts: &'a [JoinFanout],
    policy: &'a Policy,
    limits: Limits,
    /// Expressions, with the number of rows that they are computed on.
    jobs: Vec<(Count, Cost)>,
    /// The rows that come out of each step.
    rows: Vec<Count>,
    /// Whether a join may make several rows of one.
    pub(super) multiplies: bool,
    /// Whether a window is computed over rows without a limit.
    pub(super) open_windows: bool,
    /// How often protected tables are read.
    pub(super) scans: u64,
    /// Whether the next aggregate makes one row per person.
    one_group: bool,
    /// The used columns of the next join, if known: it produces no others.
    used: Option<HashSet<usize>>,
}

impl<'a> Work<'a> {
    /// Analyses a plan in which these limits apply.
    pub(super) fn of(
        plan: &LogicalPlan,
        fanouts: &'a [JoinFanout],
        policy: &'a Policy,
        limits: Limits,
    ) -> Self {
        let (jobs, rows) = (Vec::new(), Vec::new());
        let (multiplies, open_windows, scans) = (false, false, 0);
        let (one_group, used) = (false, None);
        let mut work = Self {
            fanouts,
            policy,
            limits,
            jobs,
            rows,
            multiplies,
            open_windows,
            scans,
            one_group,
            used,
        };
        let output = work.visit(plan);
        if output.protected {
            // Every output value is mapped to a number: person, group, arguments.
            work.jobs.push((output.rows, each_value(&output.longest, LOOKED_UP, HASHED)));
        }
        work
    }

    /// The most rows of a person that any step makes, where they are limited.
    pub(super) fn most_rows(&self, c: u64) -> u64 {
        self.rows.iter().filter_map(|rows| rows.at(c)).max().unwrap_or(0)
    }

    /// The total units of expressions on limited rows of a person.
    pub(super) fn units(&self, c: u64) -> u64 {
        let each = self
            .jobs
            .iter()
            .filter_map(|(rows, cost)| rows.at(c).map(|rows| rows.saturating_mul(cost.units())));
        each.fold(0, u64::saturating_add)
    }

    /// The cost per row of expressions on rows without a limit.
    pub(super) fn unlimited(&self) -> Cost {
        let each = self.jobs.iter().filter(|(rows, _)| *rows == Count::All);
        each.fold(Cost::default(), |sum, (_, cost)| sum.and(*cost))
    }

    /// The cost of all expressions on one row.
    pub(super) fn each_once(&self) -> Cost {
        self.jobs.iter().fold(Cost::default(), |sum, (_, cost)| sum.and(*cost))
    }

    fn visit(&mut self, plan: &LogicalPlan) -> Output {
        if plan.inputs().len() != 1 || matches!(plan, LogicalPlan::Window(_)) {
            self.one_group = false;
        }
        let output = match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Union(union) => {
                let mut branches = union.inputs.iter().map(|input| self.visit(input));
                let first = branches.next();
                let all = first.map(|first| branches.fold(first, either));
                all.unwrap_or_else(|| nothing(plan))
            }
            _ => match plan.inputs()[..] {
                [] => nothing(plan),
                [input, ..] => {
                    self.one_group |= CapRows::of(plan).is_some_and(|cap| cap.most() == Most::Once);
                    let aggregates = matches!(plan, LogicalPlan::Aggregate(_));
                    let one_group = aggregates && std::mem::take(&mut self.one_group);
                    if let (LogicalPlan::Projection(_), LogicalPlan::Join(join)) = (plan, input) {
                        self.used = Some(used(plan, join));
                    }
                    let below = self.visit(input);
                    self.over(plan, input, below, one_group)
                }
            },
        };
        if output.protected {
            self.rows.push(output.rows.clone());
        }
        output
    }

    /// A step over one input. `one_group`: an aggregate with one group per person.
    fn over(
        &mut self,
        plan: &LogicalPlan,
        input: &LogicalPlan,
        below: Output,
        one_group: bool,
    ) -> Output {
        if let Some(cap) = CapRows::of(plan) {
            // Rows with longer texts count as several.
            let short = |bytes: u64| bytes.min(SHORT as u64);
            // Of one row nothing is known.
            let any = |bytes: u64| if bytes > 0 { LONGEST as u64 } else { 0 };
            let (rows, longest): (Count, &dyn Fn(u64) -> u64) = match cap.most() {
                Most::Leaf if self.limits != Limits::All => return below,
                Most::Shared if self.limits == Limits::Neither => return below,
                Most::Leaf | Most::Shared => (Count::shared(), &short),
                Most::Rows(rows) => (Count::number(u64::from(rows)), &short),
                Most::OneEach | Most::Once => (Count::number(1), &any),
            };
            let longest = below.longest.iter().map(|bytes| longest(*bytes)).collect();
            return Output { rows, longest, ..below };
        }
        let length = |column: &Column| {
            let place = input.schema().maybe_index_of_column(column);
            place.and_then(|i| below.longest.get(i).copied()).unwrap_or(LONGEST as u64)
        };
        let expressions = plan.expressions();
        let computed: Vec<_> = expressions.iter().map(|expr| cost(expr, &length)).collect();
        if below.protected {
            let mut all = computed.iter().fold(Cost::default(), |sum, one| sum.and(one.cost));
            if let LogicalPlan::Aggregate(aggregate) = plan {
                all = all.and(grouping(aggregate, &computed, one_group));
            }
            if let LogicalPlan::Window(window) = plan {
                self.open_windows |= below.rows == Count::All;
                all = all.and(windows(window, &length));
            }
            if matches!(input, LogicalPlan::TableScan(_)) {
                let read = expressions.iter().map(|expr| conversions(expr, &length));
                all = all.less(read.fold(Cost::default(), Cost::and));
            }
            self.jobs.push((below.rows.clone(), all));
        }
        let longest = match plan {
            LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) => {
                computed.iter().map(|one| one.longest).collect()
            }
            LogicalPlan::Window(window) => {
                let made = window.window_expr.iter().map(|expr| made_text(expr, &length));
                below.longest.iter().copied().chain(made).collect()
            }
            _ => below.longest,
        };
        Output { longest, ..below }
    }

    fn scan(&mut self, scan: &TableScan) -> Output {
        if let Some((rows, longest)) = self.public(scan) {
            return Output { protected: false, rows: Count::number(rows), longest };
        }
        let table = self.policy.table(scan.table_name.table());
        let unit = table.and_then(|table| table.protection()).map(|protection| &protection.unit);
        let rows = match unit {
            Some(UnitPolicy::Row) => Count::number(1),
            _ => Count::All,
        };
        let fields = scan.projected_schema.fields().iter();
        let longest: Vec<u64> =
            fields.map(|f| if text(f.data_type()) { LONGEST as u64 } else { 0 }).collect();
        let filters =
            scan.filters.iter().map(|filter| cost(filter, &|_: &Column| LONGEST as u64).cost);
        let filters = filters.fold(Cost::default(), Cost::and);
        self.jobs.push((rows.clone(), filters));
        self.scans += 1;
        Output { protected: true, rows, longest }
    }

    /// For a public table: the number of rows that match one, and the longest text of each column that is read.
    fn public(&self, scan: &TableScan) -> Option<(u64, Vec<u64>)> {
        let provider = source_as_provider(&scan.source).ok()?;
        let table = provider.downcast_ref::<DeferredTable>()?;
        let fanouts = self.fanouts.iter().filter(|fanout| std::ptr::eq(fanout.table(), table));
        let rows = fanouts.map(JoinFanout::most).max().unwrap_or_else(|| table.rows());
        let all = table.longest();
        let longest = match &scan.projection {
            Some(columns) => columns.iter().filter_map(|&i| all.get(i).copied()).collect(),
            None => all,
        };
        Some((rows.max(1) as u64, longest))
    }

    fn join(&mut self, join: &Join) -> Output {
        let used = self.used.take();
        let (left, right) = (self.visit(&join.left), self.visit(&join.right));
        let semi = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti);
        let via = join.on.iter().any(|(_, theirs)| carries(theirs));
        let limits = self.limits;
        // Each side of a join of people that may have several rows of one is limited. The others have one row per
        // person.
        let limited = |side: &Output| match (&side.rows, via) {
            (Count::All, false)
                if left.protected && right.protected && limits != Limits::Neither =>
            {
                Count::number(1)
            }
            (rows, _) => rows.clone(),
        };
        let (ours, theirs) = match semi {
            true => (left.rows.clone(), limited(&right)),
            false => (limited(&left), limited(&right)),
        };
        if !semi && !ours.is_one() && !theirs.is_one() && !via {
            self.multiplies |= left.protected || right.protected;
        }
        let length = |column: &Column| {
            let of = |input: &LogicalPlan, output: &Output| {
                let place = input.schema().maybe_index_of_column(column)?;
                output.longest.get(place).copied()
            };
            of(&join.left, &left).or_else(|| of(&join.right, &right)).unwrap_or(LONGEST as u64)
        };
        let of = |exprs: &mut dyn Iterator<Item = &Expr>| {
            exprs.fold(Cost::default(), |sum, expr| sum.and(cost(expr, &length).cost))
        };
        if left.protected {
            self.jobs.push((left.rows.clone(), of(&mut join.on.iter().map(|(left, _)| left))));
        }
        if right.protected {
            self.jobs.push((right.rows.clone(), of(&mut join.on.iter().map(|(_, right)| right))));
        }
        // Every pair with equal keys, or every pair if there are no keys.
        let mut compared = of(&mut join.filter.iter());
        if semi && !theirs.is_one() {
            // It makes no rows, but goes through all that match.
            compared = compared.and(Cost { plain: PAIR, ..Cost::default() });
        }
        self.jobs.push(match (&ours, &theirs) {
            (Count::All, other) | (other, Count::All) => {
                (Count::All, compared.times(other.at(MOST_JOINED_ROWS).unwrap_or(1)))
            }
            (ours, theirs) => (ours.times(theirs), compared),
        });
        let protected = left.protected || right.protected;
        if semi {
            return Output { protected, ..left };
        }
        let rows = match (&ours, &theirs) {
            (Count::All, other) | (other, Count::All) if other.is_one() => Count::All,
            (ours, theirs) => ours.times(theirs),
        };
        let (mut left, mut right) = (left, right);
        if join.join_type == JoinType::Inner {
            equal_keys(join, &mut left, &mut right);
        }
        if protected {
            let compared = compared_columns(join);
            let is_used = |i: usize| {
                used.as_ref().is_none_or(|used| used.contains(&i) || compared.contains(&i))
            };
            let first = left.longest.len();
            let repeated = carried(&left, is_used).and(carried(&right, |i| is_used(first + i)));
            self.jobs.push((rows.clone(), repeated));
        }
        let longest = left.longest.into_iter().chain(right.longest).collect();
        Output { protected, rows, longest }
    }
}

/// Units for each pair that a semi-join compares: as many as a joined row may cost.
const PAIR: u64 = 64;
/// Units for a plain value that a join repeats.
const REPEATED: u64 = 2;
/// Bytes of a text that are copied in one unit, into new memory.
const COPIED: u64 = 8;
/// Bytes of a text that are hashed and compared in one unit.
const HASHED: u64 = 4;
/// Units for a plain value that is looked up: in a table of groups, or of counted values.
const LOOKED_UP: u64 = 4;

/// Units for a value of `COUNT(DISTINCT …)` if a person is one group.
const DISTINCT: u64 = 64;
/// Units for it if a person may have as many groups as rows.
const DISTINCT_IN_GROUPS: u64 = 1_000;

/// The cost of one pass over values of these lengths: `plain` units for each, and one for every `at_once` bytes.
fn each_value(longest: &[u64], plain: u64, at_once: u64) -> Cost {
    longest.iter().fold(Cost::default(), |sum, &bytes| {
        let (passes, bytes) = (u64::from(bytes > 0), bytes.div_ceil(at_once));
        sum.and(Cost { plain, passes, bytes, failures: 0 })
    })
}

/// The cost of finding a row's group, and of `DISTINCT` beyond its argument: a table of each group's values, built
/// anew for every group of a person.
fn grouping(aggregate: &Aggregate, computed: &[Computed], one_group: bool) -> Cost {
    let keys: Vec<u64> =
        computed.iter().take(aggregate.group_expr.len()).map(|key| key.longest).collect();
    let is_distinct = |expr: &&Expr| {
        let found = expr.exists(|part| {
            Ok(matches!(part, Expr::AggregateFunction(call)
                if call.params.distinct || keeps_values(call.func.name())))
        });
        found.unwrap_or(true)
    };
    let distinct = aggregate.aggr_expr.iter().filter(is_distinct).count() as u64;
    let each = if one_group { DISTINCT } else { DISTINCT_IN_GROUPS };
    let plain = distinct.saturating_mul(each);
    each_value(&keys, LOOKED_UP, HASHED).and(Cost { plain, ..Cost::default() })
}

/// Units for putting a row in its place, and for each key by which it is compared.
const SORTED: u64 = 96;
const COMPARED: u64 = 8;
/// Units for moving a frame by a row.
const FRAMED: u64 = 96;

/// The cost of sorting a row into its window, and of each function there.
fn windows(window: &Window, longest: &impl Fn(&Column) -> u64) -> Cost {
    let mut keys: Vec<u64> = Vec::new();
    let mut functions = 0u64;
    for expr in &window.window_expr {
        if let Expr::WindowFunction(function) = expr.clone().unalias() {
            let params = &function.params;
            let sorted = params.partition_by.iter().chain(params.order_by.iter().map(|s| &s.expr));
            let of: Vec<u64> = sorted.map(|key| cost(key, longest).longest).collect();
            keys = if of.len() > keys.len() { of } else { keys };
            functions += 1;
        }
    }
    let plain = SORTED.saturating_add(functions.saturating_mul(FRAMED));
    each_value(&keys, COMPARED, HASHED).and(Cost { plain, ..Cost::default() })
}

/// The longest text that a window function makes: one of its argument's.
fn made_text(expr: &Expr, longest: &impl Fn(&Column) -> u64) -> u64 {
    let Expr::WindowFunction(function) = expr.clone().unalias() else { return LONGEST as u64 };
    match function.fun.name() {
        "lag" | "lead" | "first_value" | "last_value" | "nth_value" | "min" | "max" => {
            function.params.args.iter().map(|arg| cost(arg, longest).longest).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The columns of a join that the step above it uses.
fn used(above: &LogicalPlan, join: &Join) -> HashSet<usize> {
    named(join, &above.expressions())
}

/// The columns that its conditions read once the keys are equal.
fn compared_columns(join: &Join) -> HashSet<usize> {
    named(join, join.filter.as_slice())
}

fn named(join: &Join, expressions: &[Expr]) -> HashSet<usize> {
    let columns = expressions.iter().flat_map(Expr::column_refs);
    columns.filter_map(|column| join.schema.maybe_index_of_column(column)).collect()
}

/// The cost of repeating a row of one side in a row of a join.
fn carried(side: &Output, is_used: impl Fn(usize) -> bool) -> Cost {
    let lengths = side.longest.iter().enumerate().filter(|(i, _)| is_used(*i));
    let lengths: Vec<u64> = lengths.map(|(_, bytes)| *bytes).collect();
    let cost = each_value(&lengths, REPEATED, COPIED);
    match side.protected {
        true => cost,
        // However short the person's own texts are.
        false => Cost { plain: cost.plain.saturating_add(cost.bytes), ..Cost::default() },
    }
}

/// The keys of joined rows are equal, so neither can be longer than the other.
fn equal_keys(join: &Join, left: &mut Output, right: &mut Output) {
    for (ours, theirs) in &join.on {
        let (Expr::Column(ours), Expr::Column(theirs)) = (ours, theirs) else { continue };
        let ours = join.left.schema().maybe_index_of_column(ours);
        let theirs = join.right.schema().maybe_index_of_column(theirs);
        if let (Some(ours), Some(theirs)) = (ours, theirs)
            && let (Some(ours), Some(theirs)) =
                (left.longest.get_mut(ours), right.longest.get_mut(theirs))
        {
            let both = (*ours).min(*theirs);
            (*ours, *theirs) = (both, both);
        }
    }
}

/// The cost of converting columns to their types as they are read, which is part of reading them.
fn conversions(expr: &Expr, longest: &impl Fn(&Column) -> u64) -> Cost {
    let is_column = |expr: &Expr| matches!(expr, Expr::Column(_));
    let mut read = Cost::default();
    // The closure never fails, so neither does the walk.
    let _ = expr.apply(|part| {
        let converts = match part {
            Expr::Cast(cast) => is_column(&cast.expr),
            Expr::TryCast(cast) => is_column(&cast.expr),
            Expr::ScalarFunction(call) => {
                call.name().starts_with("total_cast_") && call.args.iter().all(is_column)
            }
            _ => false,
        };
        if converts {
            read = read.and(cost(part, longest).cost);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    read
}

/// Whether a join key is that of a table which carries another table's unit.
pub(super) fn carries(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if column.name == format!("{RESERVED}key"))
}

/// A union of two branches.
fn either(above: Output, below: Output) -> Output {
    let longest = above.longest.iter().zip(&below.longest).map(|(a, b)| *a.max(b)).collect();
    let rows = above.rows.plus(&below.rows);
    Output { protected: above.protected || below.protected, rows, longest }
}

/// The output without any rows.
fn nothing(plan: &LogicalPlan) -> Output {
    let longest = vec![LONGEST as u64; plan.schema().fields().len()];
    Output { protected: false, rows: Count::number(1), longest }
}

#[cfg(test)]
mod tests;
