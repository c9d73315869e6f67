//! Takes a subquery out of the row that it is computed for: what remains is a plan of its own, and conditions that tie
//! its rows to the outer one.
//!
//! `(SELECT … FROM b WHERE b.id = a.id AND b.x > 1)` becomes `SELECT b.id AS inner_1, … FROM b WHERE b.x > 1` and the
//! condition `inner_1 = a.id`. The plan knows nothing of outer rows, so the walk visits it like any other.

use super::rows::planned;
use super::semi::has_subquery;
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, NullEquality, ScalarValue};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, FetchType, Join, JoinType, LogicalPlan,
    LogicalPlanBuilder, Operator, SkipType, lit,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use std::sync::Arc;

/// What a subquery is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Whether it has a row.
    Exists,
    /// Whether a value is among its rows.
    Member,
    /// Its only value.
    Value,
}

/// A subquery as a plan of its own.
pub(super) struct Detached {
    pub(super) plan: LogicalPlan,
    /// The column of its first value, or of `true`.
    pub(super) value: Column,
    /// Conditions between its columns and those of the outer row.
    pub(super) conditions: Vec<Expr>,
    /// Its last aggregate has no GROUP BY, and nothing above it makes several rows of one: it has at most one row for each
    /// value of what the conditions compare.
    pub(super) aggregated: bool,
    /// Its value where the conditions choose no row, if that is not NULL: 0 for a count.
    pub(super) of_nothing: Option<Expr>,
}

pub(super) fn refuse(what: &str, remedy: &str) -> crate::error::Error {
    Refusal::new(Rule::Subquery, what, remedy).into()
}

fn correlated() -> crate::error::Error {
    refuse(
        "a subquery that uses the outer row elsewhere than in its WHERE",
        "compare with the outer row in the subquery's WHERE, joined by AND",
    )
}

/// Names of columns that no query can write.
pub(super) type Fresh<'a> = &'a mut dyn FnMut() -> String;

struct Pull<'a> {
    purpose: Purpose,
    fresh: Fresh<'a>,
    aggregated: bool,
}

/// Detaches a subquery.
pub(super) fn detach(plan: &LogicalPlan, purpose: Purpose, fresh: Fresh<'_>) -> Result<Detached> {
    let mut pull = Pull { purpose, fresh, aggregated: false };
    let width = plan.schema().fields().len();
    let (mut plan, mut conditions) = pull.from(plan)?;
    // A subquery that has a row, whatever the row.
    if purpose == Purpose::Exists
        && conditions.is_empty()
        && let LogicalPlan::Limit(limit) = &plan
        && is_one_at_least(&plan)
    {
        plan = limit.input.as_ref().clone();
    }
    let value = (pull.fresh)();
    let first = match purpose {
        Purpose::Exists => lit(true),
        _ if width != 1 => return Err(super::unexpected("a subquery without a single column")),
        _ => Expr::Column(Column::from(plan.schema().qualified_field(0))),
    };
    let of_nothing = match pull.aggregated && purpose == Purpose::Value && !conditions.is_empty() {
        true => of_nothing(&plan, &first)?,
        false => None,
    };
    let mut columns = vec![first.alias(&value)];
    pull.expose(&mut conditions, &mut columns)?;
    let plan = LogicalPlanBuilder::from(plan)
        .project(columns)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    let conditions = conditions.into_iter().map(outer_as_columns).collect::<Result<_>>()?;
    let value = Column::new_unqualified(value);
    Ok(Detached { plan, value, conditions, aggregated: pull.aggregated, of_nothing })
}

/// A LIMIT that leaves a row if there is one.
fn is_one_at_least(plan: &LogicalPlan) -> bool {
    let LogicalPlan::Limit(limit) = plan else { return false };
    let fetches = match limit.get_fetch_type() {
        Ok(FetchType::Literal(rows)) => rows.is_none_or(|rows| rows > 0),
        _ => false,
    };
    fetches && matches!(limit.get_skip_type(), Ok(SkipType::Literal(0)))
}

/// The value of an expression over an aggregate without GROUP BY where there are no rows to aggregate: counts are 0, all other
/// aggregates NULL. `None` if it is NULL.
fn of_nothing(plan: &LogicalPlan, expr: &Expr) -> Result<Option<Expr>> {
    let value = over_nothing(plan, expr.clone())?;
    Ok(Some(value).filter(|value| !matches!(value, Expr::Literal(value, _) if value.is_null())))
}

fn over_nothing(plan: &LogicalPlan, expr: Expr) -> Result<Expr> {
    let of = |column: &Column| -> Result<Expr> {
        let at = plan.schema().index_of_column(column).map_err(planned)?;
        match plan {
            LogicalPlan::Projection(projection) => match projection.expr.get(at) {
                Some(expr) => over_nothing(&projection.input, expr.clone().unalias()),
                None => Err(super::unexpected("a column without an expression")),
            },
            LogicalPlan::SubqueryAlias(alias) => {
                let inner = Column::from(alias.input.schema().qualified_field(at));
                over_nothing(&alias.input, Expr::Column(inner))
            }
            LogicalPlan::Aggregate(aggregate) => {
                let call = at.checked_sub(aggregate.group_expr.len());
                let call = call.and_then(|at| aggregate.aggr_expr.get(at));
                let kind = plan.schema().field(at).data_type();
                let value = match call.is_some_and(counts) {
                    true => ScalarValue::new_zero(kind),
                    false => ScalarValue::try_from(kind),
                };
                Ok(Expr::Literal(value.map_err(planned)?, None))
            }
            LogicalPlan::Sort(sort) => over_nothing(&sort.input, Expr::Column(column.clone())),
            // HAVING that nothing meets: there is no value where there are no rows, nor where it leaves none. Otherwise the
            // outer row does not know which of the two it is.
            LogicalPlan::Filter(filter)
                if !is_true(over_nothing(&filter.input, filter.predicate.clone())?)? =>
            {
                let kind = plan.schema().field(at).data_type();
                Ok(Expr::Literal(ScalarValue::try_from(kind).map_err(planned)?, None))
            }
            LogicalPlan::Filter(_) => Err(refuse(
                "HAVING that no rows at all would meet, in a subquery that uses the outer row",
                "compare the aggregate outside of it: (SELECT COUNT(*) FROM …) < 5",
            )),
            _ => Err(refuse(
                "a subquery that makes something of an aggregate that the outer row has none of",
                "write the aggregate alone in the subquery, and the rest around it",
            )),
        }
    };
    let mut failed = None;
    let replaced = expr.transform_up(|part| {
        let Expr::Column(column) = &part else { return Ok(Transformed::no(part)) };
        Ok(match of(column) {
            Ok(value) => Transformed::yes(value),
            Err(error) => {
                failed = Some(error);
                Transformed::no(part)
            }
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(replaced.map_err(planned)?.data),
    }
}

/// Whether a condition without columns is true.
fn is_true(condition: Expr) -> Result<bool> {
    let context = SimplifyContext::builder().with_schema(Arc::new(DFSchema::empty())).build();
    let simple = ExprSimplifier::new(context).simplify(condition).map_err(planned)?;
    Ok(matches!(simple, Expr::Literal(ScalarValue::Boolean(Some(true)), _)))
}

/// Whether an aggregate is 0 over no rows.
fn counts(call: &Expr) -> bool {
    matches!(call.clone().unalias(), Expr::AggregateFunction(f)
        if ["count", "regr_count", "approx_distinct"].contains(&f.func.name()))
}

fn outer_as_columns(condition: Expr) -> Result<Expr> {
    let plain = condition.transform(|expr| {
        Ok(match expr {
            Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
            other => Transformed::no(other),
        })
    });
    Ok(plain.map_err(planned)?.data)
}

/// The condition with other names for the columns of the subquery.
fn renamed(condition: Expr, from: &Column, to: &Column) -> Result<Expr> {
    let renamed = condition.transform(|expr| {
        Ok(match expr {
            Expr::Column(column) if column == *from => Transformed::yes(Expr::Column(to.clone())),
            other => Transformed::no(other),
        })
    });
    Ok(renamed.map_err(planned)?.data)
}

fn split(parts: impl IntoIterator<Item = Expr>) -> (Vec<Expr>, Vec<Expr>) {
    parts.into_iter().partition(Expr::contains_outer)
}

type Pulled = (LogicalPlan, Vec<Expr>);

impl Pull<'_> {
    fn from(&mut self, plan: &LogicalPlan) -> Result<Pulled> {
        if plan.all_out_ref_exprs().is_empty() {
            self.aggregated = matches!(inner_of(plan),
                LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty());
            return Ok((plan.clone(), Vec::new()));
        }
        match plan {
            LogicalPlan::Filter(filter) => {
                let (input, mut conditions) = self.from(&filter.input)?;
                let parts = split_conjunction_owned(filter.predicate.clone());
                let (outer, own) = split(parts.into_iter().flat_map(super::comma::factored));
                if outer.iter().any(has_subquery) {
                    return Err(correlated());
                }
                conditions.extend(outer);
                let rows = LogicalPlanBuilder::from(input);
                let rows = match conjunction(own) {
                    Some(own) => rows.filter(own),
                    None => Ok(rows),
                };
                Ok((rows.and_then(LogicalPlanBuilder::build).map_err(planned)?, conditions))
            }
            LogicalPlan::Projection(projection) => {
                let (input, mut conditions) = self.from(&projection.input)?;
                let (outer, mut columns) = split(projection.expr.iter().cloned());
                if !outer.is_empty() && self.purpose != Purpose::Exists {
                    return Err(correlated());
                }
                self.expose(&mut conditions, &mut columns)?;
                if columns.is_empty() {
                    columns.push(lit(true).alias((self.fresh)()));
                }
                let rows = LogicalPlanBuilder::from(input).project(columns);
                Ok((rows.and_then(LogicalPlanBuilder::build).map_err(planned)?, conditions))
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let (input, conditions) = self.from(&alias.input)?;
                let names = input.schema().columns();
                let moved = |condition: Expr| {
                    names.iter().try_fold(condition, |condition, column| {
                        let to = Column::new(Some(alias.alias.clone()), column.name.clone());
                        renamed(condition, column, &to)
                    })
                };
                let conditions = conditions.into_iter().map(moved).collect::<Result<_>>()?;
                let rows = LogicalPlanBuilder::from(input).alias(alias.alias.clone());
                Ok((rows.and_then(LogicalPlanBuilder::build).map_err(planned)?, conditions))
            }
            // Duplicates, and their order, do not matter.
            LogicalPlan::Distinct(Distinct::All(input)) if self.purpose != Purpose::Value => {
                self.from(input)
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.from(&sort.input),
            LogicalPlan::Limit(limit)
                if self.purpose == Purpose::Exists && is_one_at_least(plan) =>
            {
                self.from(&limit.input)
            }
            LogicalPlan::Limit(_) => Err(refuse(
                "LIMIT in a subquery that uses the outer row",
                "aggregate in it: (SELECT MAX(x) FROM … WHERE b.id = a.id)",
            )),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Subquery(subquery) => self.from(&subquery.subquery),
            _ => Err(correlated()),
        }
    }

    /// Adds the columns that the conditions name, under names of their own.
    fn expose(&mut self, conditions: &mut [Expr], columns: &mut Vec<Expr>) -> Result<()> {
        let mut named: Vec<Column> = Vec::new();
        for condition in conditions.iter() {
            let mut names: Vec<Column> = condition.column_refs().into_iter().cloned().collect();
            names.sort();
            names.retain(|column| !named.contains(column));
            named.extend(names);
        }
        for column in named {
            let name = (self.fresh)();
            let to = Column::new_unqualified(&name);
            for condition in conditions.iter_mut() {
                *condition = renamed(condition.clone(), &column, &to)?;
            }
            columns.push(Expr::Column(column).alias(name));
        }
        Ok(())
    }

    /// Groups by what the outer row is compared with.
    fn aggregate(&mut self, aggregate: &Aggregate) -> Result<Pulled> {
        let (input, conditions) = self.from(&aggregate.input)?;
        let own = aggregate.group_expr.iter().chain(&aggregate.aggr_expr);
        let sets = aggregate.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_)));
        if own.clone().any(Expr::contains_outer) || sets {
            return Err(correlated());
        }
        if aggregate.group_expr.is_empty() && self.purpose != Purpose::Value {
            return Err(refuse(
                "an aggregate in a subquery that has a row in any case",
                "compare its value: … WHERE (SELECT COUNT(*) FROM …) > 0",
            ));
        }
        self.aggregated = aggregate.group_expr.is_empty();
        let mut groups = aggregate.group_expr.clone();
        let mut tied = Vec::new();
        for condition in conditions {
            let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else {
                return Err(unequal());
            };
            let (own, outer) = if left.contains_outer() { (right, left) } else { (left, right) };
            if own.contains_outer() || !outer.column_refs().is_empty() {
                return Err(unequal());
            }
            let name = (self.fresh)();
            groups.push(own.alias(&name));
            tied.push(Expr::Column(Column::new_unqualified(name)).eq(*outer));
        }
        let rows = LogicalPlanBuilder::from(input).aggregate(groups, aggregate.aggr_expr.clone());
        Ok((rows.and_then(LogicalPlanBuilder::build).map_err(planned)?, tied))
    }

    fn join(&mut self, join: &Join) -> Result<Pulled> {
        let inner = join.join_type == JoinType::Inner;
        let left =
            matches!(join.join_type, JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti);
        let keeps = inner || left && join.right.all_out_ref_exprs().is_empty();
        if !keeps || join.null_equality != NullEquality::NullEqualsNothing {
            return Err(correlated());
        }
        let (left, mut conditions) = self.from(&join.left)?;
        let (right, more) = self.from(&join.right)?;
        conditions.extend(more);
        let equal = join.on.iter().map(|(a, b)| a.clone().eq(b.clone()));
        let filter = join.filter.iter().cloned().flat_map(split_conjunction_owned);
        let (outer, own) = split(equal.chain(filter));
        if !inner && !outer.is_empty() || outer.iter().any(has_subquery) {
            return Err(correlated());
        }
        conditions.extend(outer);
        // One row joined with several is several.
        self.aggregated = false;
        let rows = LogicalPlanBuilder::from(left).join_on(right, join.join_type, own);
        Ok((rows.and_then(LogicalPlanBuilder::build).map_err(planned)?, conditions))
    }
}

fn unequal() -> crate::error::Error {
    refuse(
        "an aggregate in a subquery over rows that are not chosen by equality with the outer row",
        "compare with the outer row by = alone, joined by AND",
    )
}

/// The plan below projections and names.
fn inner_of(plan: &LogicalPlan) -> &LogicalPlan {
    match plan {
        LogicalPlan::Projection(projection) => inner_of(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => inner_of(&alias.input),
        other => other,
    }
}
