//! Rows that are asked for as they are: a synthetic table is made of them.
//!
//! What a `SELECT` over protected tables yields, before any aggregate, with what is known of its columns. The walk is that
//! of any other statement, so everything holds of these rows that holds of the rows below an aggregate.

use super::padded::require_all;
use super::rows::planned;
use super::{Node, PublicJoin, Walk, lateral, number};
use crate::answer::deferred::DeferredTable;
use crate::error::Result;
use crate::plan::Listings;
use crate::refusal::{Refusal, Rule};
use crate::rows::expression::Facts;
use crate::rows::{Owner, RESERVED, Rows};
use crate::statement::settings::Settings;
use crate::tables::catalog::Catalog;
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;

/// Protected rows, and what has to be read before them.
pub(crate) struct WholeRows {
    pub(crate) rows: Rows,
    /// Public plans that the rows are joined with.
    pub(crate) publics: Vec<(LogicalPlan, Arc<DeferredTable>)>,
    pub(crate) public_joins: Vec<PublicJoin>,
}

/// The rows of a statement whose types are already coerced.
pub(crate) fn whole_rows(
    plan: &LogicalPlan,
    catalog: &Catalog,
    settings: &Settings,
    listings: &Listings,
) -> Result<WholeRows> {
    number::check_names(plan)?;
    let plan = lateral::without_laterals(plan, catalog)?;
    let mut walk = Walk::new(catalog, settings, listings);
    let visited = walk.visit(&plan)?;
    let rows = match visited {
        Node::Rows(rows) => *rows,
        Node::Public(_) => {
            return Err(released(
                "a SELECT over public tables alone",
                "public rows need no synthesis: copy them",
            ));
        }
        Node::Released(_) => {
            return Err(released(
                "a SELECT of aggregates",
                "select rows: `SELECT a, b FROM t WHERE …`; `demure query` answers aggregates",
            ));
        }
    };
    if !walk.aggregates.is_empty() || !walk.numbers.is_empty() {
        return Err(released(
            "a SELECT that uses a released number, or a number of a public table",
            "ask for the number first, and write it into the SELECT",
        ));
    }
    require_all(&rows, "a synthetic table")?;
    Ok(WholeRows { rows, publics: walk.publics, public_joins: walk.public_joins })
}

fn released(what: &str, remedy: &str) -> crate::error::Error {
    let what = format!("{what} cannot be synthesized");
    Refusal::new(Rule::Statement, what, remedy).into()
}

impl WholeRows {
    /// The columns that the statement shows, in order, and what is known of them.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (Column, &Facts)> {
        let fields = self.rows.schema().iter().zip(&self.rows.facts);
        fields
            .filter(|((_, field), _)| !field.name().starts_with(RESERVED))
            .map(|((table, field), facts)| (Column::new(table.cloned(), field.name()), facts))
    }

    /// The rows with their person, if a person may have several, and these columns.
    pub(crate) fn input(&self, columns: &[Column]) -> Result<LogicalPlan> {
        let mut exprs = Vec::with_capacity(columns.len() + 1);
        if let Owner::Person { column, once: false } = &self.rows.owner {
            exprs.push(Expr::Column(column.clone()).alias(format!("{RESERVED}unit")));
        }
        for (i, column) in columns.iter().enumerate() {
            exprs.push(Expr::Column(column.clone()).alias(format!("{RESERVED}value_{i}")));
        }
        LogicalPlanBuilder::from(self.rows.plan.clone())
            .project(exprs)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)
    }
}
