//! `demure.intervals`: the ends of each noised column's 95 % interval, beside it.
//!
//! An interval follows its column through projections, filters, sorts, limits, aliases and UNION ALL. What is computed
//! from released numbers has the interval that follows from theirs ([`Term`]). If there are several, each is
//! taken at a higher confidence, so that all of them hold at once with 95 %: [`LEVELS`].
//!
//! An interval holds for a row that is there whatever the noise is. Where a filter or a limit chooses rows by noised
//! numbers, those with much noise in the wanted direction are chosen more often, and fewer of their intervals hold: that is
//! said beside the answer ([`CHOSEN`]).

use super::term::{Nothing, Term, end};
use crate::aggregate::{AMONG, Released};
use crate::answer::deferred::DeferredTable;
use crate::rows::{RELEASED, RESERVED};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Case, Expr, LogicalPlan, LogicalPlanBuilder, Union, cast, lit};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Intervals are known at confidence 1 − 0.05/k for these k: if there are at most k of them, all hold at once with 95 %.
const LEVELS: [u32; 3] = [1, AMONG[0], AMONG[1]];

/// A number of a released table: the columns that hold the ends of its interval, at each of [`LEVELS`].
#[derive(Clone)]
struct Leaf {
    ends: [(Column, Column); 3],
    /// Whether it is no noised number, but a key.
    exact: bool,
    nothing: Nothing,
}

/// What is said beside an answer whose rows were chosen by their noised numbers.
pub(crate) const CHOSEN: &str = "the rows shown were chosen by their noised numbers (HAVING, WHERE, or ORDER BY with LIMIT): of \
    such rows, fewer than 95 % of the intervals hold";

/// A plan with the ends of all leaves as additional columns.
struct Wide {
    plan: LogicalPlan,
    /// What each column of the original plan is in terms of the leaves, if that is known.
    terms: Vec<Option<Term>>,
    leaves: Vec<Leaf>,
    /// Which columns of the original plan depend on noised numbers.
    noised: Vec<bool>,
    /// Whether the order of the rows does.
    ordered: bool,
    /// Whether which rows there are does.
    chosen: bool,
}

/// Adds `…_low` and `…_high` after every column whose interval is known, under names that no column has; and says
/// whether the rows that have them were chosen by noised numbers.
pub(crate) fn with_intervals(plan: LogicalPlan) -> Result<(LogicalPlan, bool)> {
    let columns: Vec<Column> = plan.schema().columns();
    let Some(wide) = extend(&plan)? else { return Ok((plan, false)) };
    let mut taken: HashSet<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut free = |name: String| {
        let mut names = std::iter::once(name.clone()).chain((2..).map(|i| format!("{name}_{i}")));
        let name = names.find(|name| !taken.contains(name)).unwrap_or(name);
        taken.insert(name.clone());
        name
    };
    let (mut shown, count) = (Vec::new(), columns.len());
    for (column, term) in columns.into_iter().zip(&wide.terms) {
        let name = column.name.clone();
        shown.push(Expr::Column(column));
        let ends = term.as_ref().and_then(|term| wide.ends(term, 1));
        if let Some((low, high)) = ends {
            shown.push(low.alias(free(format!("{name}_low"))));
            shown.push(high.alias(free(format!("{name}_high"))));
        }
    }
    let chosen = wide.chosen && shown.len() > count;
    Ok((LogicalPlanBuilder::from(wide.plan).project(shown)?.build()?, chosen))
}

/// Whether the added column `name` is this end, `low` or `high`, of the interval of `column`.
pub(crate) fn is_end(name: &str, column: &str, end: &str) -> bool {
    let rest = name.strip_prefix(column).and_then(|rest| rest.strip_prefix('_'));
    rest.and_then(|rest| rest.strip_prefix(end)).is_some_and(|number| {
        let number = number.strip_prefix('_').or(number.is_empty().then_some("2"));
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

impl Wide {
    fn noised(&self, term: &Term) -> BTreeSet<usize> {
        let noised = |leaf: &usize| self.leaves.get(*leaf).is_some_and(|leaf| !leaf.exact);
        term.leaves().into_iter().filter(noised).collect()
    }

    /// The ends of a term's interval at confidence 1 − 0.05/`among`; `None` if nothing in it is noised, or if it has so
    /// many noised numbers that their intervals are not known to hold at once.
    fn ends(&self, term: &Term, among: u32) -> Option<(Expr, Expr)> {
        let noised = u32::try_from(self.noised(term).len()).ok().filter(|n| *n > 0)?;
        let wanted = among.checked_mul(noised)?;
        let level = LEVELS.iter().position(|level| *level >= wanted)?;
        Some(self.ends_at(term, level))
    }

    fn ends_at(&self, term: &Term, level: usize) -> (Expr, Expr) {
        let of = |leaf: &usize| {
            let (low, high) = self.leaves[*leaf].ends[level].clone();
            [Expr::Column(low), Expr::Column(high)]
        };
        if let Term::Leaf(leaf) = term {
            return of(leaf).into();
        }
        let leaves: Vec<Expr> = term.leaves().iter().flat_map(of).collect();
        if leaves.is_empty() {
            let (low, high) = term.interval(&|_| None).unzip();
            return (lit(ScalarValue::Float64(low)), lit(ScalarValue::Float64(high)));
        }
        let end = |high: bool| end(term.clone(), high).call(leaves.clone());
        (end(false), end(true))
    }

    /// What each leaf is of no rows.
    fn of_nothing(&self) -> Vec<Nothing> {
        self.leaves.iter().map(|leaf| leaf.nothing).collect()
    }

    /// Whether an expression over the original plan depends on noised numbers.
    fn reads_noise(&self, expr: &Expr, schema: &DFSchema) -> Result<bool> {
        let noised = |column: &&Column| {
            let place = schema.maybe_index_of_column(column);
            place.is_none_or(|i| self.noised.get(i).is_none_or(|noised| *noised))
        };
        Ok(expr.column_refs().iter().any(noised) || has_released_subquery(expr)?)
    }

    /// The columns that hold the ends of all leaves.
    fn columns(&self) -> Vec<Expr> {
        let mut found: Vec<Expr> = Vec::new();
        for (low, high) in self.leaves.iter().flat_map(|leaf| &leaf.ends) {
            for column in [low, high] {
                let column = Expr::Column(column.clone());
                if !found.contains(&column) {
                    found.push(column);
                }
            }
        }
        found
    }
}

fn extend(plan: &LogicalPlan) -> Result<Option<Wide>> {
    Ok(match plan {
        LogicalPlan::Projection(projection) => {
            if let Some(found) = at_release(projection)? {
                return Ok(Some(found));
            }
            let Some(wide) = extend(&projection.input)? else { return Ok(None) };
            let schema = projection.input.schema();
            let nothing = wide.of_nothing();
            let term = |expr| Term::of(expr, schema, &wide.terms, &nothing);
            let terms = projection.expr.iter().map(term).collect();
            let noised = projection.expr.iter().map(|expr| wide.reads_noise(expr, schema));
            let noised = noised.collect::<Result<_>>()?;
            let exprs: Vec<Expr> = projection.expr.iter().cloned().chain(wide.columns()).collect();
            let plan = LogicalPlanBuilder::from(wide.plan).project(exprs)?.build()?;
            Some(Wide { plan, terms, noised, ..wide })
        }
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => {
            let inputs = plan.inputs();
            let [input] = inputs[..] else { return Ok(None) };
            let Some(mut wide) = extend(input)? else { return Ok(None) };
            let reads = |expr: &Expr| wide.reads_noise(expr, input.schema());
            let reads = plan.expressions().iter().map(reads).collect::<Result<Vec<bool>>>()?;
            let reads = reads.contains(&true);
            match plan {
                LogicalPlan::Filter(_) => wide.chosen |= reads,
                LogicalPlan::Sort(sort) => {
                    wide.ordered = reads;
                    wide.chosen |= reads && sort.fetch.is_some();
                }
                _ => wide.chosen |= wide.ordered || reads,
            }
            let plan = plan.with_new_exprs(plan.expressions(), vec![wide.plan])?;
            Some(Wide { plan, ..wide })
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let Some(wide) = extend(&alias.input)? else { return Ok(None) };
            let plan = LogicalPlanBuilder::from(wide.plan).alias(alias.alias.clone())?.build()?;
            let renamed = |column: &Column| Column::new(Some(alias.alias.clone()), &column.name);
            let leaves = wide.leaves.iter().map(|leaf| Leaf {
                ends: leaf.ends.clone().map(|(low, high)| (renamed(&low), renamed(&high))),
                exact: leaf.exact,
                nothing: leaf.nothing,
            });
            Some(Wide { leaves: leaves.collect(), plan, ..wide })
        }
        LogicalPlan::Union(union) => all_of(union)?,
        _ => None,
    })
}

/// The projection that names a release's columns. The ends originate here.
fn at_release(projection: &datafusion::logical_expr::Projection) -> Result<Option<Wide>> {
    let LogicalPlan::TableScan(scan) = projection.input.as_ref() else { return Ok(None) };
    let name = scan.table_name.table();
    if !name.starts_with(RELEASED) {
        return Ok(None);
    }
    let keys: usize = name.rsplit('_').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut exprs = projection.expr.clone();
    let (mut terms, mut leaves) = (Vec::new(), Vec::new());
    for i in 0..projection.expr.len() {
        if !projection.schema.field(i).data_type().is_numeric() {
            terms.push(None);
            continue;
        }
        let column = |c: String| Expr::Column(Column::new(Some(name), c));
        let value = cast(column(DeferredTable::column(i)), DataType::Float64);
        let mut at = |level: u32| {
            let (low, high) = (named("low", level, i), named("high", level, i));
            let error = match level {
                _ if i < keys => lit(0.0),
                1 => column(DeferredTable::error(i)),
                level => column(Released::error_among(i, level)),
            };
            let ends = [value.clone() - error.clone(), value.clone() + error.clone()];
            for ((end, own), name) in ends.into_iter().zip(Released::ends(i)).zip([&low, &high]) {
                let end = match i < keys {
                    true => end,
                    false => own_or(column(own), &error, end),
                };
                exprs.push(end.alias(name));
            }
            (Column::new_unqualified(low), Column::new_unqualified(high))
        };
        terms.push(Some(Term::Leaf(leaves.len())));
        let nothing = of_nothing(projection.schema.field(i).name());
        leaves.push(Leaf { ends: LEVELS.map(&mut at), exact: i < keys, nothing });
    }
    let plan =
        LogicalPlanBuilder::from(projection.input.as_ref().clone()).project(exprs)?.build()?;
    let noised = (0..projection.expr.len()).map(|i| i >= keys).collect();
    Ok(Some(Wide { plan, terms, leaves, noised, ordered: false, chosen: false }))
}

/// What an aggregate is of no rows, by the name that the planner gives it.
fn of_nothing(name: &str) -> Nothing {
    match name.split('(').next() {
        Some("count") => Nothing::Counted,
        Some("sum") => Nothing::Zero,
        _ => Nothing::Anything,
    }
}

/// Whether a subquery in the expression reads a release.
fn has_released_subquery(expr: &Expr) -> Result<bool> {
    expr.exists(|part| {
        let plan = match part {
            Expr::ScalarSubquery(of) => &of.subquery,
            Expr::Exists(of) => &of.subquery.subquery,
            Expr::InSubquery(of) => &of.subquery.subquery,
            Expr::SetComparison(of) => &of.subquery.subquery,
            _ => return Ok(false),
        };
        let mut found = false;
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                found |= scan.table_name.table().starts_with(RELEASED);
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    })
}

/// The end of an interval: its own, if it has one and the half-width is known; otherwise the symmetric one.
fn own_or(own: Expr, error: &Expr, symmetric: Expr) -> Expr {
    let known = own.clone().is_not_null().and(error.clone().is_not_null());
    let when_then = vec![(Box::new(known), Box::new(own))];
    Expr::Case(Case { expr: None, when_then_expr: when_then, else_expr: Some(Box::new(symmetric)) })
}

fn named(end: &str, level: u32, i: usize) -> String {
    format!("{RESERVED}{end}_{level}_{i}")
}

/// UNION ALL: each column becomes a leaf, with the ends that it has in each branch.
fn all_of(union: &Union) -> Result<Option<Wide>> {
    let mut branches = Vec::with_capacity(union.inputs.len());
    for input in &union.inputs {
        let Some(wide) = extend(input)? else { return Ok(None) };
        branches.push((input.schema().columns(), wide));
    }
    let (mut terms, mut leaves) = (Vec::new(), Vec::new());
    let mut added: Vec<Vec<Expr>> = vec![Vec::new(); branches.len()];
    for i in 0..union.schema.fields().len() {
        let of: Option<Vec<&Term>> =
            branches.iter().map(|(_, wide)| wide.terms.get(i)?.as_ref()).collect();
        let Some(of) = of else {
            terms.push(None);
            continue;
        };
        let exact = of.iter().zip(&branches).all(|(term, (_, wide))| wide.noised(term).is_empty());
        let mut at = |level: u32| {
            let (low, high) = (named("low", level, i), named("high", level, i));
            for ((term, (_, wide)), added) in of.iter().zip(&branches).zip(&mut added) {
                let ends = match wide.noised(term).is_empty() {
                    true => Some(wide.ends_at(term, 0)),
                    false => wide.ends(term, level),
                };
                let none = || lit(ScalarValue::Float64(None));
                let (from, to) = ends.unwrap_or_else(|| (none(), none()));
                added.push(from.alias(&low));
                added.push(to.alias(&high));
            }
            (Column::new_unqualified(low), Column::new_unqualified(high))
        };
        terms.push(Some(Term::Leaf(leaves.len())));
        let kinds = of.iter().zip(&branches);
        let mut kinds = kinds.map(|(term, (_, wide))| term.of_nothing(&wide.of_nothing()));
        let first = kinds.next().unwrap_or(Nothing::Anything);
        let same = kinds.all(|kind| kind == first);
        let nothing = if same { first } else { Nothing::Anything };
        leaves.push(Leaf { ends: LEVELS.map(&mut at), exact, nothing });
    }
    let count = union.schema.fields().len();
    let any = |of: &dyn Fn(&Wide) -> bool| branches.iter().any(|(_, wide)| of(wide));
    let noised = |i: usize| any(&|wide| wide.noised.get(i).is_none_or(|noised| *noised));
    let noised: Vec<bool> = (0..count).map(noised).collect();
    // Between branches there is no order.
    let (ordered, chosen) = (any(&|wide| wide.ordered), any(&|wide| wide.chosen));
    let mut inputs = Vec::with_capacity(branches.len());
    for ((columns, wide), added) in branches.into_iter().zip(added) {
        let exprs: Vec<Expr> = columns.into_iter().map(Expr::Column).chain(added).collect();
        inputs.push(Arc::new(LogicalPlanBuilder::from(wide.plan).project(exprs)?.build()?));
    }
    let plan = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
    // Under the names that the plan above expects.
    let ours = plan.schema().columns();
    let mut exprs = Vec::with_capacity(ours.len());
    for (i, column) in ours.into_iter().enumerate() {
        exprs.push(match i < union.schema.fields().len() {
            true => {
                let (qualifier, field) = union.schema.qualified_field(i);
                Expr::Column(column).alias_qualified(qualifier.cloned(), field.name())
            }
            false => {
                let name = column.name.clone();
                Expr::Column(column).alias(name)
            }
        });
    }
    let plan = LogicalPlanBuilder::from(plan).project(exprs)?.build()?;
    Ok(Some(Wide { plan, terms, leaves, noised, ordered, chosen }))
}
