//! `LATERAL` subqueries of a person's own rows, written as joins.
//!
//! `u, LATERAL (SELECT … FROM v WHERE v.id = u.id ORDER BY ts LIMIT 2) x` has, for each row of u, the first two rows of
//! v with its id. So it is the join of u on the id with the rows of v whose `ROW_NUMBER() OVER (PARTITION BY id ORDER BY
//! ts)` is at most 2. The rewritten plan is checked like any other: whether the id is a person's is decided there.

use super::rows::planned;
use crate::error::{Error, Result};
use crate::policy::Access;
use crate::refusal::{Refusal, Rule};
use crate::tables::catalog::Catalog;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Column, TableReference};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{Sort, WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, FetchType, Join, JoinType, Limit, LogicalPlan, LogicalPlanBuilder, Operator,
    SkipType, Subquery, WindowFrame, lit,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Names of columns that the rewriting adds. They have spaces, so that few queries have them.
const KEY: &str = "lateral key";
const PLACE: &str = "lateral place";

/// A subquery without references to the query around it: equalities of outer expressions with its own columns.
struct Uncorrelated {
    plan: LogicalPlan,
    keys: Vec<(Expr, Column)>,
}

/// The plan with every `LATERAL` subquery of protected rows written as a join.
pub(super) fn without_laterals<'a>(
    plan: &'a LogicalPlan,
    catalog: &Catalog,
) -> Result<Cow<'a, LogicalPlan>> {
    let mut any = false;
    plan.apply_with_subqueries(|node| {
        any |= matches!(node, LogicalPlan::Join(join) if lateral(&join.right).is_some());
        Ok(TreeNodeRecursion::Continue)
    })
    .map_err(planned)?;
    if !any {
        return Ok(Cow::Borrowed(plan));
    }
    let mut failed = None;
    let rewritten = plan.clone().transform_up_with_subqueries(|node| {
        let LogicalPlan::Join(join) = &node else { return Ok(Transformed::no(node)) };
        match lateral(&join.right) {
            Some((alias, subquery)) if reads_protected(&subquery.subquery, catalog) => {
                match joined(join, alias, subquery) {
                    Ok(plan) => Ok(Transformed::yes(plan)),
                    Err(error) => {
                        failed = Some(error);
                        Ok(Transformed::no(node))
                    }
                }
            }
            _ => Ok(Transformed::no(node)),
        }
    });
    match (rewritten, failed) {
        (_, Some(error)) => Err(error),
        (Ok(plan), None) => Ok(Cow::Owned(plan.data)),
        (Err(error), None) => Err(planned(error)),
    }
}

fn lateral(side: &LogicalPlan) -> Option<(Option<&TableReference>, &Subquery)> {
    match side {
        LogicalPlan::Subquery(subquery) => Some((None, subquery)),
        LogicalPlan::SubqueryAlias(alias) => match alias.input.as_ref() {
            LogicalPlan::Subquery(subquery) => Some((Some(&alias.alias), subquery)),
            _ => None,
        },
        _ => None,
    }
}

fn reads_protected(plan: &LogicalPlan, catalog: &Catalog) -> bool {
    let mut found = false;
    // The closure never fails, so neither does the walk.
    let _ = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let table = catalog.table(scan.table_name.table());
            found |= table.is_some_and(|t| matches!(t.policy.access, Access::Protected(_)));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}

/// The join in place of one with a lateral subquery.
fn joined(join: &Join, alias: Option<&TableReference>, subquery: &Subquery) -> Result<LogicalPlan> {
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
        return Err(refuse());
    }
    let Uncorrelated { mut plan, mut keys } = uncorrelated(&subquery.subquery)?;
    if keys.is_empty() {
        return Err(refuse());
    }
    if let Some(alias) = alias {
        plan = LogicalPlanBuilder::from(plan)
            .alias(alias.clone())
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        keys.iter_mut().for_each(|(_, key)| key.relation = Some(alias.clone()));
    }
    let equal = keys.into_iter().map(|(outer, key)| outer.eq(Expr::Column(key)));
    let on = join.on.iter().map(|(a, b)| a.clone().eq(b.clone()));
    let conditions: Vec<Expr> = equal.chain(on).chain(join.filter.clone()).collect();
    let shown: Vec<Expr> = join.schema.columns().into_iter().map(Expr::Column).collect();
    LogicalPlanBuilder::from(join.left.as_ref().clone())
        .join_on(plan, join.join_type, conditions)
        .and_then(|both| both.project(shown))
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)
}

/// The subquery for all values of the outer query at once. Its plan has the keys as further columns.
fn uncorrelated(plan: &LogicalPlan) -> Result<Uncorrelated> {
    match plan {
        LogicalPlan::Filter(filter) if !refers(&filter.input) => {
            let (mut keys, mut kept) = (Vec::new(), Vec::new());
            for part in split_conjunction_owned(filter.predicate.clone()) {
                match key(&part) {
                    Some(key) => keys.push(key),
                    None if part.contains_outer() => return Err(refuse()),
                    None => kept.push(part),
                }
            }
            let mut plan = LogicalPlanBuilder::from(filter.input.as_ref().clone());
            if let Some(kept) = conjunction(kept) {
                plan = plan.filter(kept).map_err(planned)?;
            }
            Ok(Uncorrelated { plan: plan.build().map_err(planned)?, keys })
        }
        LogicalPlan::Projection(projection) => {
            let below = uncorrelated(&projection.input)?;
            let exprs = projection.expr.iter().zip(projection.schema.iter());
            let shown = exprs.map(|(expr, (qualifier, field))| match expr {
                Expr::Column(_) => expr.clone(),
                other => other.clone().alias_qualified(qualifier.cloned(), field.name()),
            });
            if projection.expr.iter().any(Expr::contains_outer) {
                return Err(refuse());
            }
            projected(below, shown.collect())
        }
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => uncorrelated(&sort.input),
        LogicalPlan::Limit(limit) => first(limit),
        LogicalPlan::SubqueryAlias(alias) => {
            let Uncorrelated { plan, mut keys } = uncorrelated(&alias.input)?;
            keys.iter_mut().for_each(|(_, key)| key.relation = Some(alias.alias.clone()));
            let plan = LogicalPlanBuilder::from(plan)
                .alias(alias.alias.clone())
                .and_then(LogicalPlanBuilder::build)
                .map_err(planned)?;
            Ok(Uncorrelated { plan, keys })
        }
        _ => Err(refuse()),
    }
}

/// The shown columns, then the keys under names of their own.
fn projected(below: Uncorrelated, mut shown: Vec<Expr>) -> Result<Uncorrelated> {
    let mut keys = Vec::new();
    for (i, (outer, key)) in below.keys.into_iter().enumerate() {
        let name = format!("{KEY} {i}");
        shown.push(Expr::Column(key).alias(&name));
        keys.push((outer, Column::new_unqualified(name)));
    }
    let plan = LogicalPlanBuilder::from(below.plan)
        .project(shown)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    Ok(Uncorrelated { plan, keys })
}

/// `ORDER BY … LIMIT n`: the rows whose place among those with the same keys is at most n.
fn first(limit: &Limit) -> Result<Uncorrelated> {
    let (Ok(SkipType::Literal(0)), Ok(FetchType::Literal(Some(most)))) =
        (limit.get_skip_type(), limit.get_fetch_type())
    else {
        return Err(refuse());
    };
    // A column that is sorted by and not shown is dropped in between.
    let (shown, sorted) = match limit.input.as_ref() {
        LogicalPlan::Projection(projection) => (Some(projection), projection.input.as_ref()),
        other => (None, other),
    };
    let (order, input): (Vec<Sort>, &Arc<LogicalPlan>) = match sorted {
        LogicalPlan::Sort(sort) => (sort.expr.clone(), &sort.input),
        _ => (Vec::new(), &limit.input),
    };
    let shown = shown.filter(|_| matches!(sorted, LogicalPlan::Sort(_)));
    if order.iter().any(|sort| sort.expr.contains_outer()) {
        return Err(refuse());
    }
    let Uncorrelated { plan, keys } = uncorrelated(input)?;
    if keys.is_empty() {
        return Err(refuse());
    }
    let place = Expr::from(WindowFunction {
        fun: row_number_udwf().into(),
        params: WindowFunctionParams {
            args: Vec::new(),
            partition_by: keys.iter().map(|(_, key)| Expr::Column(key.clone())).collect(),
            order_by: order,
            window_frame: WindowFrame::new(None),
            filter: None,
            null_treatment: None,
            distinct: false,
        },
    });
    let columns: Vec<Expr> = match shown {
        Some(projection) => projection.expr.clone(),
        None => input.schema().columns().into_iter().map(Expr::Column).collect(),
    };
    let plan = LogicalPlanBuilder::from(plan)
        .window(vec![place.alias(PLACE)])
        .and_then(|numbered| {
            let place = Expr::Column(Column::new_unqualified(PLACE));
            numbered.filter(place.lt_eq(lit(most as u64)))
        })
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    projected(Uncorrelated { plan, keys }, columns)
}

/// `column = outer expression`.
fn key(part: &Expr) -> Option<(Expr, Column)> {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = part else { return None };
    let outer = |expr: &Expr| match expr {
        Expr::OuterReferenceColumn(_, column) => Some(Expr::Column(column.clone())),
        _ => None,
    };
    match (left.as_ref(), right.as_ref()) {
        (Expr::Column(own), other) | (other, Expr::Column(own)) => {
            Some((outer(other)?, own.clone()))
        }
        _ => None,
    }
}

/// Whether a plan refers to the query around it.
fn refers(plan: &LogicalPlan) -> bool {
    !plan.all_out_ref_exprs().is_empty()
}

fn refuse() -> Error {
    Refusal::new(
        Rule::Subquery,
        "a LATERAL subquery of protected rows in this form",
        "write LATERAL (SELECT … FROM v WHERE v.id = u.id ORDER BY … LIMIT 1), or join with \
         (SELECT …, ROW_NUMBER() OVER (PARTITION BY id ORDER BY …) AS n FROM v) on the id and keep \
         n = 1",
    )
    .into()
}
