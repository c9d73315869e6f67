//! Projections, filters, aliases and unions of protected rows. The unit's id is always carried along under its
//! reserved name, whatever the query selects.

use super::join_rows::{PublicJoin, one_each};
use super::{Node, Walk, protected_subquery};
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::expression::{Facts, facts};
use crate::rows::{Owner, Rows};
use datafusion::common::{Column, DFSchema, DataFusionError, ExprSchema};
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Expr, ExprSchemable, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Projection,
    SubqueryAlias, Union,
};

pub(super) fn planned(error: DataFusionError) -> Error {
    Error::planning(&error)
}

impl Walk<'_> {
    pub(super) fn project(&mut self, rows: Rows, projection: &Projection) -> Result<Node> {
        let names = projection.schema.iter();
        let mut columns = Vec::new();
        for (expr, (qualifier, field)) in projection.expr.iter().zip(names) {
            let known = facts(expr, &rows);
            let admitted = admit(expr.clone(), &rows)?;
            columns.push((admitted.alias_qualified(qualifier.cloned(), field.name()), known));
        }
        Ok(Node::Rows(Box::new(select(rows, columns)?)))
    }

    pub(super) fn filter(&mut self, mut rows: Rows, filter: &Filter) -> Result<Node> {
        let mut kept = Vec::new();
        for part in split_conjunction_owned(filter.predicate.clone()) {
            match part {
                Expr::InSubquery(within) => rows = self.within(rows, within)?,
                other => kept.push(admit(other, &rows)?),
            }
        }
        if let Some(predicate) = conjunction(kept) {
            rows.plan = LogicalPlanBuilder::from(rows.plan)
                .filter(predicate)
                .and_then(LogicalPlanBuilder::build)
                .map_err(planned)?;
        }
        Ok(Node::Rows(Box::new(rows)))
    }

    /// `x IN (SELECT …)`: a public list, or a list of people by id.
    fn within(&mut self, rows: Rows, within: InSubquery) -> Result<Rows> {
        if !within.subquery.outer_ref_columns.is_empty() {
            return Err(protected_subquery().into());
        }
        let expr = admit(*within.expr, &rows)?;
        let is_unit = matches!(&expr, Expr::Column(column) if rows.is_unit(column));
        match self.visit(&within.subquery.subquery)? {
            Node::Public(list) => {
                let join = if within.negated { JoinType::LeftAnti } else { JoinType::LeftSemi };
                // NOT IN a list with NULL keeps nothing; the list is public, so drop its NULLs
                // only for IN, where they never match.
                if within.negated {
                    return Err(Refusal::new(
                        Rule::Subquery,
                        "NOT IN with a subquery",
                        "write NOT IN with the values themselves, or LEFT JOIN the public table \
                         and keep the rows where its key IS NULL",
                    )
                    .into());
                }
                let list = members(list)?;
                let like =
                    |list: &LogicalPlan| Some(list.schema().fields().first()?.data_type().clone());
                // After conversion to another type, different values may be equal.
                let kept = expr.get_type(rows.schema()).ok() == like(&list);
                let (list, table) = self.read_before(list)?;
                let determined = if kept { vec![0] } else { Vec::new() };
                self.public_joins.push(PublicJoin { table, determined, multiplies: false });
                semi(rows, expr, list, join)
            }
            Node::Rows(others) => {
                let theirs =
                    others.schema().iter().next().map(|(q, f)| Column::new(q.cloned(), f.name()));
                let same = theirs.as_ref().is_some_and(|column| others.is_unit(column));
                match theirs {
                    Some(_) if is_unit && same && !within.negated => {
                        semi(rows, expr, one_each(*others).plan, JoinType::LeftSemi)
                    }
                    _ => Err(Refusal::new(
                        Rule::Subquery,
                        "a subquery over protected rows that is not about the same person",
                        "compare the person's id: … WHERE id IN (SELECT id FROM …)",
                    )
                    .into()),
                }
            }
            Node::Released(_) => Err(Refusal::new(
                Rule::Subquery,
                "protected rows filtered by a value that is itself being released",
                "ask for the inner value first, then write it into the second query",
            )
            .into()),
        }
    }

    pub(super) fn alias(&mut self, rows: Rows, alias: &SubqueryAlias) -> Result<Node> {
        let Rows { plan, owner, facts, limits } = rows;
        let plan = LogicalPlanBuilder::from(plan)
            .alias(alias.alias.clone())
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        let owner = match owner {
            Owner::Person { column, once } => {
                let column = Column::new(Some(alias.alias.clone()), column.name);
                Owner::Person { column, once }
            }
            row => row,
        };
        Ok(Node::Rows(Box::new(Rows { plan, owner, facts, limits })))
    }

    pub(super) fn union(&mut self, union: &Union, plan: &LogicalPlan) -> Result<Node> {
        let mut parts = Vec::new();
        for input in &union.inputs {
            parts.push(self.visit(input)?);
        }
        if !parts.iter().any(|part| matches!(part, Node::Rows(_))) {
            return self.again(plan, parts);
        }
        let mut merged: Option<Rows> = None;
        for part in parts {
            let Node::Rows(rows) = part else {
                return Err(Refusal::new(
                    Rule::Clause,
                    "UNION of protected rows with other rows",
                    "aggregate the protected rows first",
                )
                .into());
            };
            let rows = named_like(*rows, &union.schema)?;
            merged = Some(match merged {
                None => rows,
                Some(before) => stack(before, rows)?,
            });
        }
        let rows = merged.ok_or_else(|| super::unexpected("an empty union"))?;
        Ok(Node::Rows(Box::new(rows)))
    }
}

/// The selected columns, followed by the unit's id.
pub(super) fn select(rows: Rows, columns: Vec<(Expr, Facts)>) -> Result<Rows> {
    let (mut exprs, mut facts): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let mut owner = rows.owner;
    if let Owner::Person { column, once } = owner {
        exprs.push(Expr::Column(column.clone()).alias(&column.name));
        facts.push(Facts { unit: true, ..Facts::unknown() });
        owner = Owner::Person { column: Column::new_unqualified(column.name), once };
    }
    let plan = LogicalPlanBuilder::from(rows.plan)
        .project(exprs)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    Ok(Rows { plan, owner, facts, limits: rows.limits })
}

/// The first column of a public list without duplicates: a row is compared with all that are equal.
fn members(list: LogicalPlan) -> Result<LogicalPlan> {
    let first = list.schema().iter().next().map(|(q, f)| Column::new(q.cloned(), f.name()));
    let first = first.ok_or_else(|| super::unexpected("a subquery without columns"))?;
    LogicalPlanBuilder::from(list)
        .project(vec![Expr::Column(first)])
        .and_then(LogicalPlanBuilder::distinct)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)
}

/// The rows whose `expr` is in the first column of `list`.
fn semi(rows: Rows, expr: Expr, list: LogicalPlan, join: JoinType) -> Result<Rows> {
    let theirs = "__demure_member";
    let first = list.schema().iter().next().map(|(q, f)| Column::new(q.cloned(), f.name()));
    let first = first.ok_or_else(|| super::unexpected("a subquery without columns"))?;
    let list = LogicalPlanBuilder::from(list)
        .project(vec![Expr::Column(first).alias(theirs)])
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    let on = expr.eq(Expr::Column(Column::new_unqualified(theirs)));
    let plan = LogicalPlanBuilder::from(rows.plan)
        .join_on(list, join, [on])
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    Ok(Rows { plan, ..rows })
}

/// The rows of one branch of a union, with the union's names and types.
fn named_like(rows: Rows, schema: &DFSchema) -> Result<Rows> {
    let visible = schema.fields().len();
    let given: Vec<Column> =
        rows.schema().iter().map(|(q, f)| Column::new(q.cloned(), f.name())).collect();
    let mut columns = Vec::new();
    for ((qualifier, field), column) in schema.iter().zip(given.into_iter().take(visible)) {
        let mut known = rows.facts_of(&column).cloned().unwrap_or_else(Facts::unknown);
        let given = Expr::Column(column);
        let cast = conversion(given.clone(), field.data_type(), rows.schema());
        known.unit &= cast == given; // a conversion may merge two ids
        known.origin = None;
        columns.push((cast.alias_qualified(qualifier.cloned(), field.name()), known));
    }
    select(rows, columns)
}

fn stack(above: Rows, below: Rows) -> Result<Rows> {
    let owner = match (&above.owner, &below.owner) {
        (Owner::Person { column, .. }, Owner::Person { column: theirs, .. }) => {
            let kind = |rows: &Rows, column: &Column| {
                rows.schema().field_from_column(column).map(|field| field.data_type().clone())
            };
            // Converting both to one type could merge two ids.
            if kind(&above, column).map_err(planned)? != kind(&below, theirs).map_err(planned)? {
                return Err(Refusal::new(
                    Rule::Clause,
                    "UNION of tables whose person ids are of different types",
                    "give the ids the same `type` in the policy, or ask two queries",
                )
                .into());
            }
            Owner::Person { column: column.clone(), once: false }
        }
        // Both may read the same source: a row of it then has copies in both.
        (Owner::Row { copies: a }, Owner::Row { copies: b }) => {
            Owner::Row { copies: a.saturating_add(*b) }
        }
        _ => {
            return Err(Refusal::new(
                Rule::Clause,
                "UNION of a table of people with a table of single rows",
                "ask two queries",
            )
            .into());
        }
    };
    // Both sides use one name for the unit.
    let below = match (&above.owner, below) {
        (Owner::Person { column, .. }, mut below) => {
            if let Owner::Person { column: theirs, .. } = &below.owner {
                let all = below.schema().iter().map(|(q, f)| Column::new(q.cloned(), f.name()));
                let renamed = all.map(|c| {
                    let name = if c == *theirs { column.name.clone() } else { c.name.clone() };
                    let relation = if c == *theirs { None } else { c.relation.clone() };
                    Expr::Column(c).alias_qualified(relation, name)
                });
                let renamed: Vec<Expr> = renamed.collect();
                below.plan = LogicalPlanBuilder::from(below.plan)
                    .project(renamed)
                    .and_then(LogicalPlanBuilder::build)
                    .map_err(planned)?;
            }
            below
        }
        (_, below) => below,
    };
    let merge = |(a, b): (&Facts, &Facts)| {
        let values = if a.values == b.values { a.values.clone() } else { None };
        Facts {
            interval: a.interval.union(b.interval),
            integral: a.integral && b.integral,
            nullable: a.nullable || b.nullable,
            values,
            grid: if a.grid == b.grid { a.grid } else { None },
            unit: a.unit && b.unit,
            origin: None,
            size: a.size.max(b.size),
            depth: a.depth.max(b.depth),
        }
    };
    let facts = above.facts.iter().zip(&below.facts).map(merge).collect();
    let limits = above.limits.or(below.limits);
    let plan = LogicalPlanBuilder::from(above.plan)
        .union(below.plan)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    let owner = match owner {
        Owner::Person { column, once } => {
            Owner::Person { column: Column::new_unqualified(column.name), once }
        }
        row => row,
    };
    Ok(Rows { plan, owner, facts, limits })
}
