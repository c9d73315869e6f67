//! Projections, filters, aliases and unions of protected rows. The unit's id is always carried along under its
//! reserved name, whatever the query selects.

use super::padded::{check_projection, require_all};
use super::{Node, Walk};
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::domain;
use crate::rows::expression::{Facts, facts};
use crate::rows::{Owner, Rows};
use datafusion::common::{Column, DFSchema, DataFusionError, ExprSchema};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias, Union,
};

pub(super) fn planned(error: DataFusionError) -> Error {
    Error::planning(&error)
}

impl Walk<'_> {
    pub(super) fn project(&mut self, mut rows: Rows, projection: &Projection) -> Result<Node> {
        let names = projection.schema.iter();
        let mut columns = Vec::new();
        for (expr, (qualifier, field)) in projection.expr.iter().zip(names) {
            let (with, expr) = self.with_subqueries(rows, expr.clone())?;
            rows = with;
            let mut known = facts(&expr, &rows);
            if let Some(values) = domain::of_times(&expr, &rows, &self.state) {
                known.list(&values);
                known.within_times = true;
            }
            let admitted = admit(expr, &rows)?;
            columns.push((admitted.alias_qualified(qualifier.cloned(), field.name()), known));
        }
        check_projection(&rows, &columns)?;
        Ok(Node::Rows(Box::new(select(rows, columns)?)))
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
            require_all(&rows, "UNION")?;
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
    // Whether padded rows are missing is noted, whatever is selected.
    let padding = rows.facts.iter().filter_map(|facts| facts.listed.clone());
    let padding = padding.into_iter().find(|listed| listed.padded);
    let mut owner = rows.owner;
    if let Owner::Person { column, once } = owner {
        exprs.push(Expr::Column(column.clone()).alias(&column.name));
        facts.push(Facts { unit: true, listed: padding, ..Facts::unknown() });
        owner = Owner::Person { column: Column::new_unqualified(column.name), once };
    }
    let plan = LogicalPlanBuilder::from(rows.plan)
        .project(exprs)
        .and_then(LogicalPlanBuilder::build)
        .map_err(planned)?;
    Ok(Rows { plan, owner, facts, limits: rows.limits })
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
        known.unit_or_null &= cast == given;
        (known.origin, known.listed) = (None, None);
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
            unit_or_null: a.unit_or_null && b.unit_or_null,
            size: a.size.max(b.size),
            depth: a.depth.max(b.depth),
            ..Facts::unknown()
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
