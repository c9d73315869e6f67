//! Subqueries over protected rows: EXISTS, IN, NOT EXISTS, NOT IN and subqueries that stand for a value.
//!
//! # Guarantee
//! Each becomes a join as `join` admits it. A subquery over people's rows is compared by the id, or by a key that
//! carries it, so whether a row stays, and which value it gets, depends on rows of the same person alone. A subquery
//! over public tables is run to its end before any protected row is read.
//!
//! # NULL
//! Over people's rows, `x NOT IN (SELECT y …)` keeps a row if `x <> y` is true for all rows of the *same person*: a NULL
//! among them keeps none of that person's rows. Where ids or keys that carry them are compared, rows without one are
//! left out on both sides: they belong to no one, and in SQL a single one of them would empty everyone's answer.
//! Over public tables NULL does what it does in PostgreSQL.

use super::join::{Written, is_about_people, rows};
use super::join_rows::one_each;
use super::padded::after_filter;
use super::place::{keeps_one, one_each_if};
use super::rows::planned;
use super::subquery::{Detached, Purpose, detach, refuse};
use super::{Node, Walk};
use crate::error::{Error, Result};
use crate::refusal::Refusal;
use crate::rows::admit::admit;
use crate::rows::{INNER, Owner, Rows};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, ScalarValue};
use datafusion::functions_aggregate::expr_fn::max;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Expr, ExprSchemable, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, lit, when,
};
use std::collections::HashSet;

/// Whether an expression has a subquery in it.
pub(super) fn has_subquery(expr: &Expr) -> bool {
    expr.exists(|part| Ok(is_subquery(part))).unwrap_or(true)
}

fn is_subquery(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)
    )
}

/// EXISTS or IN, or the negation of one.
struct Test<'a> {
    negated: bool,
    /// The value that is looked for.
    member: Option<&'a Expr>,
    subquery: &'a LogicalPlan,
}

impl<'a> Test<'a> {
    fn of(expr: &'a Expr) -> Option<Self> {
        match expr {
            Expr::Not(inner) => Self::of(inner).map(|test| Self { negated: !test.negated, ..test }),
            Expr::Exists(exists) => Some(Self {
                negated: exists.negated,
                member: None,
                subquery: &exists.subquery.subquery,
            }),
            Expr::InSubquery(within) => Some(Self {
                negated: within.negated,
                member: Some(&within.expr),
                subquery: &within.subquery.subquery,
            }),
            _ => None,
        }
    }
}

/// The outer columns that EXISTS or IN names, if an expression is one of these.
pub(super) fn named_by_test(expr: &Expr) -> Option<HashSet<Column>> {
    let test = Test::of(expr)?;
    let mut names: HashSet<Column> = HashSet::new();
    if let Some(member) = test.member.filter(|member| !has_subquery(member)) {
        names.extend(member.column_refs().into_iter().cloned());
    } else if test.member.is_some() {
        return None;
    }
    for expr in test.subquery.all_out_ref_exprs() {
        // The closure never fails, so neither does the walk.
        let _ = expr.apply(|part| {
            if let Expr::OuterReferenceColumn(_, column) = part {
                names.insert(column.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
    }
    Some(names)
}

fn not_the_same_person() -> Error {
    refuse(
        "a subquery over protected rows that is not about the same person",
        "compare the person's id: … WHERE id IN (SELECT id FROM …); or release the list: IN (SELECT x FROM … \
         GROUP BY x)",
    )
}

fn of_a_release() -> Error {
    refuse(
        "protected rows filtered by a value that is itself being released",
        "ask for the inner value first, then write it into the second query",
    )
}

impl Walk<'_> {
    pub(super) fn filter(&mut self, filtered: Rows, filter: &Filter) -> Result<Node> {
        let once = keeps_one(&filtered, &filter.predicate);
        let conditions = split_conjunction_owned(filter.predicate.clone());
        Ok(rows(one_each_if(self.narrowed(filtered, conditions)?, once)))
    }

    /// The rows that meet all of the conditions.
    pub(super) fn narrowed(&mut self, mut rows: Rows, conditions: Vec<Expr>) -> Result<Rows> {
        let mut kept = Vec::new();
        for condition in conditions {
            match Test::of(&condition) {
                Some(test) => match self.tested(rows, test)? {
                    (tested, None) => rows = tested,
                    (tested, Some(left)) => {
                        rows = tested;
                        kept.push(left);
                    }
                },
                None => {
                    let (with, condition) = self.with_subqueries(rows, condition)?;
                    rows = with;
                    kept.push(condition);
                }
            }
        }
        let kept: std::result::Result<Vec<Expr>, Refusal> =
            kept.into_iter().map(|condition| admit(condition, &rows)).collect();
        let kept = kept?;
        rows = after_filter(rows, &kept)?;
        if let Some(predicate) = conjunction(kept) {
            rows.plan = LogicalPlanBuilder::from(rows.plan)
                .filter(predicate)
                .and_then(LogicalPlanBuilder::build)
                .map_err(planned)?;
        }
        Ok(rows)
    }

    fn detached(&mut self, plan: &LogicalPlan, purpose: Purpose) -> Result<Detached> {
        let mut fresh = || self.fresh("inner");
        detach(plan, purpose, &mut fresh)
    }

    /// The rows for which a test is met, and a condition that is still to be checked.
    fn tested(&mut self, rows: Rows, test: Test<'_>) -> Result<(Rows, Option<Expr>)> {
        let Test { negated, member, subquery } = test;
        let purpose = if member.is_some() { Purpose::Member } else { Purpose::Exists };
        let kind = if negated { JoinType::LeftAnti } else { JoinType::LeftSemi };
        let inner = self.detached(subquery, purpose)?;
        let same = member.map(|x| x.clone().eq(Expr::Column(inner.value.clone())));
        match self.visit_beside(&inner.plan)? {
            Node::Released(released) => match member {
                Some(member) => {
                    let among = self.among_released(&rows, member, &inner, released)?;
                    Ok((rows, Some(if negated { Expr::Not(Box::new(among)) } else { among })))
                }
                None => Err(of_a_release()),
            },
            Node::Public(public) => {
                if let (Some(member), true) = (member, negated) {
                    let (rows, among) = self.among(rows, member, &inner, public)?;
                    return Ok((rows, Some(Expr::Not(Box::new(among)))));
                }
                let conditions: Vec<Expr> = same.into_iter().chain(inner.conditions).collect();
                let public = if conditions.is_empty() { at_most_one(public)? } else { public };
                let join = Written { kind, conditions };
                Ok((self.with_public(join, rows, public, true)?, None))
            }
            Node::Rows(others) => {
                let mut conditions: Vec<Expr> = same.iter().cloned().collect();
                let mut left = None;
                let by_key = self.pairs_people(&conditions, &rows, &others);
                if let (Some(same), Some(member), true) = (same, member, negated) {
                    match by_key {
                        // A key that carries the id may be NULL.
                        true => left = Some(member.clone().is_not_null()),
                        false => conditions = vec![Expr::IsNotFalse(Box::new(same))],
                    }
                }
                conditions.extend(inner.conditions);
                if !self.pairs_people(&conditions, &rows, &others) {
                    return Err(not_the_same_person());
                }
                let join = Written { kind, conditions };
                Ok((self.of_people(join, rows, *others)?, left))
            }
        }
    }

    /// An expression whose subqueries are columns of the rows.
    pub(super) fn with_subqueries(&mut self, mut rows: Rows, expr: Expr) -> Result<(Rows, Expr)> {
        let expr = self.with_numbers(expr)?;
        let mut found: Vec<Expr> = Vec::new();
        // The closure never fails, so neither does the walk.
        let _ = expr.apply(|part| {
            if is_subquery(part) && !found.contains(part) {
                found.push(part.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        let mut columns = Vec::new();
        for subquery in found {
            let (with, column) = self.as_column(rows, &subquery)?;
            rows = with;
            columns.push((subquery, column));
        }
        if columns.is_empty() {
            return Ok((rows, expr));
        }
        let replaced = expr.transform_down(|part| {
            Ok(match columns.iter().find(|(subquery, _)| *subquery == part) {
                Some((_, column)) => {
                    Transformed::new(column.clone(), true, TreeNodeRecursion::Jump)
                }
                None => Transformed::no(part),
            })
        });
        Ok((rows, replaced.map_err(planned)?.data))
    }

    /// A subquery within an expression, as an expression of columns that are joined to the rows.
    fn as_column(&mut self, rows: Rows, subquery: &Expr) -> Result<(Rows, Expr)> {
        if let Expr::ScalarSubquery(scalar) = subquery {
            return self.value(rows, &scalar.subquery);
        }
        let Some(Test { negated, member, subquery }) = Test::of(subquery) else {
            return Err(refuse(
                "a comparison with ANY or ALL of a subquery over protected rows",
                "write it with IN, or with EXISTS and the comparison in its WHERE",
            ));
        };
        let purpose = if member.is_some() { Purpose::Member } else { Purpose::Exists };
        let inner = self.detached(subquery, purpose)?;
        let (rows, found) = match self.visit_beside(&inner.plan)? {
            Node::Released(released) => match member {
                Some(member) => {
                    let among = self.among_released(&rows, member, &inner, released)?;
                    (rows, among)
                }
                None => return Err(of_a_release()),
            },
            Node::Public(public) => match member {
                Some(member) => self.among(rows, member, &inner, public)?,
                None => {
                    let found = Expr::Column(inner.value.clone()).is_not_null();
                    let public = match inner.conditions.is_empty() {
                        true => at_most_one(public)?,
                        false => distinct(public)?,
                    };
                    let join = Written { kind: JoinType::Left, conditions: inner.conditions };
                    (self.joined(join, rows, public, true, true)?, found)
                }
            },
            Node::Rows(others) => {
                let same = member.map(|x| x.clone().eq(Expr::Column(inner.value.clone())));
                let conditions: Vec<Expr> = same.into_iter().chain(inner.conditions).collect();
                if !self.pairs_people(&conditions, &rows, &others) {
                    return Err(not_the_same_person());
                }
                let id = conditions
                    .iter()
                    .flat_map(Expr::column_refs)
                    .find(|column| column.name.starts_with(INNER) && others.is_unit(column));
                let id = id.cloned().filter(|_| is_about_people(&conditions, &rows, &others));
                let Some(id) = id else {
                    return Err(refuse(
                        "a subquery within OR, NOT or CASE that compares more than the person's id",
                        "make it a condition of its own, joined by AND; for a OR b, ask for a, and \
                         for NOT a AND b, and add the answers",
                    ));
                };
                let mut others = one_each(*others);
                if let Owner::Person { once, .. } = &mut others.owner {
                    *once = true;
                }
                let (join, limits) = (Written { kind: JoinType::Left, conditions }, rows.limits);
                // No row becomes several.
                let marked = Rows { limits, ..self.of_people(join, rows, others)? };
                (marked, Expr::Column(id).is_not_null())
            }
        };
        Ok((rows, if negated { Expr::Not(Box::new(found)) } else { found }))
    }

    /// `member IN (public list)`, with NULL as in PostgreSQL.
    fn among(
        &mut self,
        rows: Rows,
        member: &Expr,
        inner: &Detached,
        public: LogicalPlan,
    ) -> Result<(Rows, Expr)> {
        if !inner.conditions.is_empty() {
            return Err(refuse(
                "NOT IN, or IN within OR, with a subquery that uses the outer row",
                "write NOT EXISTS (SELECT … WHERE … AND y = x)",
            ));
        }
        let value = Expr::Column(inner.value.clone());
        // One row: NULL if the list is empty, otherwise whether a NULL is in it.
        let has_null = self.fresh("inner");
        let is_null = when(value.clone().is_null(), lit(1_i64)).otherwise(lit(0_i64));
        let nulls = is_null
            .and_then(|is_null| {
                LogicalPlanBuilder::from(public.clone())
                    .aggregate(Vec::<Expr>::new(), vec![max(is_null).alias(&has_null)])
            })
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let join = Written { kind: JoinType::Left, conditions: Vec::new() };
        let rows = self.joined(join, rows, nulls, true, true)?;
        let (member, same) = (member.clone(), member.clone().eq(value.clone()));
        let join = Written { kind: JoinType::Left, conditions: vec![same] };
        let rows = self.joined(join, rows, distinct(public)?, true, true)?;
        let has_null = Expr::Column(Column::new_unqualified(has_null));
        let unknown = member.is_null().or(has_null.clone().eq(lit(1_i64)));
        let found = when(value.is_not_null(), lit(true))
            .when(has_null.is_null(), lit(false))
            .when(unknown, lit(ScalarValue::Boolean(None)))
            .otherwise(lit(false))
            .map_err(planned)?;
        Ok((rows, found))
    }

    /// A subquery that stands for a value.
    fn value(&mut self, rows: Rows, subquery: &LogicalPlan) -> Result<(Rows, Expr)> {
        let inner = self.detached(subquery, Purpose::Value)?;
        let value = Expr::Column(inner.value.clone());
        let kind = inner.plan.schema().field(0).data_type().clone();
        let visited = match self.visit_beside(&inner.plan)? {
            Node::Released(released) => {
                return match self.released_value(&rows, &inner, released)? {
                    Some(value) => Ok((rows, value)),
                    None => Err(of_a_release()),
                };
            }
            other => other,
        };
        let conditions = inner.conditions;
        let named = conditions.iter().flat_map(Expr::column_refs);
        let tied = named.into_iter().find(|column| column.name.starts_with(INNER)).cloned();
        let rows = match visited {
            Node::Released(_) => return Err(of_a_release()),
            Node::Public(public) => {
                let join = Written { kind: JoinType::Left, conditions };
                self.joined(join, rows, public, true, true)?
            }
            Node::Rows(others) => {
                if !inner.aggregated {
                    return Err(refuse(
                        "a subquery over protected rows that may have several rows where one \
                         value is expected",
                        "aggregate in it: (SELECT MAX(x) FROM … WHERE b.id = a.id)",
                    ));
                }
                if !self.pairs_people(&conditions, &rows, &others) {
                    return Err(not_the_same_person());
                }
                let (join, limits) = (Written { kind: JoinType::Left, conditions }, rows.limits);
                // Groups by what is compared: no row becomes several.
                Rows { limits, ..self.of_people(join, rows, *others)? }
            }
        };
        match (tied, inner.of_nothing) {
            (Some(tied), Some(nothing)) => {
                let nothing = nothing.cast_to(&kind, rows.schema()).map_err(planned)?;
                let value = when(Expr::Column(tied).is_null(), nothing).otherwise(value);
                Ok((rows, value.map_err(planned)?))
            }
            _ => Ok((rows, value)),
        }
    }
}

fn at_most_one(public: LogicalPlan) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(public)
        .limit(0, Some(1))
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)
}

fn distinct(public: LogicalPlan) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(public).distinct().and_then(LogicalPlanBuilder::build).map_err(planned)
}
