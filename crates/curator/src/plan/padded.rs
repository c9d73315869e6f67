//! Public rows that are read before the query is cut: those on the left of an outer join, and short lists.
//!
//! `regions LEFT JOIN patients` keeps every region. Which of them have no patient depends on people's rows, so the rows
//! that such a join makes are those of JOIN, and the regions come back as public keys, all of them. What is missing is
//! one *padded* row for each region without a patient, with NULL in all columns of `patients`. An aggregate may be
//! asked for if such a row does not change it: `COUNT(p.id)` and `SUM(p.cost)` skip NULL. `COUNT(*)` would count it,
//! and is refused.

use super::Walk;
use super::join::Written;
use super::rows::planned;
use crate::answer::lasting::changing;
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::expression::{Facts, Listed, number};
use crate::rows::{Owner, Rows};
use crate::tables::catalog::Catalog;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Expr, ExprSchemable, JoinType, LogicalPlan, LogicalPlanBuilder, TableScan,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use std::sync::Arc;

/// The most public rows that are read in this way.
const MOST: usize = 100_000;

/// Public parts of a statement, with their rows.
#[derive(Default)]
pub(crate) struct Listings(Vec<(LogicalPlan, Arc<RecordBatch>)>);

/// The public sides of joins with protected rows, as they are written.
fn sides(plan: &LogicalPlan, catalog: &Catalog) -> Vec<LogicalPlan> {
    let mut found: Vec<LogicalPlan> = Vec::new();
    // The closure never fails, so neither does the walk.
    let _ = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Join(join) = node {
            let (left, right) =
                (catalog.is_protected(&join.left), catalog.is_protected(&join.right));
            match (left, right) {
                (false, true) => parts(&join.left, &mut found),
                (true, false) => parts(&join.right, &mut found),
                _ => {}
            }
        }
        Ok(TreeNodeRecursion::Continue)
    });
    let known = |scan: &TableScan| catalog.is_small(scan.table_name.table());
    found.retain(|side| {
        let mut small = true;
        let _ = side.apply_with_subqueries(|node| {
            small &= !matches!(node, LogicalPlan::TableScan(scan) if !known(scan));
            Ok(TreeNodeRecursion::Continue)
        });
        small && matches!(changing(side), Ok(None))
    });
    found
}

/// A side of a join, and the tables that are joined in it.
fn parts(side: &LogicalPlan, found: &mut Vec<LogicalPlan>) {
    if !found.contains(side) {
        found.push(side.clone());
    }
    if let LogicalPlan::Join(join) = side
        && join.join_type == JoinType::Inner
    {
        parts(&join.left, found);
        parts(&join.right, found);
    }
}

impl Listings {
    /// Reads the public sides of a statement's joins, if they are short and made of short tables.
    pub(crate) async fn read(plan: &LogicalPlan, catalog: &Catalog) -> Result<Self> {
        let mut listings = Self::default();
        for side in sides(plan, catalog) {
            let schema = Arc::new(side.schema().as_arrow().clone());
            let few = LogicalPlanBuilder::from(side.clone())
                .limit(0, Some(MOST + 1))
                .and_then(LogicalPlanBuilder::build)
                .map_err(planned)?;
            // What fails here fails where the rows are read for the join.
            let Ok(rows) = DataFrame::new(catalog.public_state(), few).collect().await else {
                continue;
            };
            let Ok(rows) = concat_batches(&schema, &rows) else { continue };
            if rows.num_rows() <= MOST {
                listings.0.push((side, Arc::new(rows)));
            }
        }
        Ok(listings)
    }
}

/// What a join does if a public row and a protected one have no partner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Partner {
    /// It drops both.
    Needed,
    /// It keeps the protected row.
    Missing,
    /// It keeps the public row.
    Padded,
}

impl Partner {
    /// For a join that keeps no public row without a partner.
    pub(super) fn of(kind: JoinType) -> Self {
        if kind == JoinType::Inner { Self::Needed } else { Self::Missing }
    }
}

fn refuse(what: impl Into<String>, remedy: &str) -> Error {
    Refusal::new(Rule::Join, what, remedy).into()
}

impl Walk<'_> {
    /// All public rows, with the protected rows that match.
    pub(super) fn padded(
        &mut self,
        join: Written,
        rows: Rows,
        public: LogicalPlan,
        written: &LogicalPlan,
        rows_left: bool,
    ) -> Result<Rows> {
        let listed = self.listings.0.iter().any(|(plan, _)| plan == written);
        if !listed {
            return Err(refuse(
                format!(
                    "an outer join that keeps all rows of a public table of which there are too \
                     many to list ({MOST})"
                ),
                "use JOIN, or LEFT JOIN with the protected table on the left",
            ));
        }
        let join = Written { kind: JoinType::Inner, ..join };
        let mut joined = self.with_public(join, rows, public, rows_left)?;
        self.list(&mut joined, written, rows_left, Partner::Padded);
        Ok(joined)
    }

    /// Notes which rows the columns of the public side come from. They are the last columns if `rows_left`.
    pub(super) fn list(
        &self,
        joined: &mut Rows,
        written: &LogicalPlan,
        rows_left: bool,
        partner: Partner,
    ) {
        let padded = partner == Partner::Padded;
        let Some((_, rows)) = self.listings.0.iter().find(|(plan, _)| plan == written) else {
            return;
        };
        // Two joins with the same public rows may match different ones.
        let rows = Arc::new(rows.as_ref().clone());
        let width = rows.num_columns();
        let Some(first) = joined.facts.len().checked_sub(width) else { return };
        let first = if rows_left { first } else { 0 };
        for (column, facts) in joined.facts[first..first + width].iter_mut().enumerate() {
            if facts.values.is_none() {
                let values = (0..rows.num_rows())
                    .map(|row| ScalarValue::try_from_array(rows.column(column), row));
                let mut seen = std::collections::HashSet::new();
                let values = values.filter_map(|value| value.ok());
                let values: Vec<ScalarValue> =
                    values.filter(|value| seen.insert(value.clone())).collect();
                facts.list(&values);
                facts.nullable |= partner == Partner::Missing;
            }
            facts.listed = Some(Listed { rows: Arc::clone(&rows), column, padded });
        }
    }
}

impl Rows {
    /// Whether rows of a public table that nothing matches are missing.
    pub(crate) fn is_padded(&self) -> bool {
        self.facts.iter().any(|facts| facts.listed.as_ref().is_some_and(|listed| listed.padded))
    }

    /// Rows from which those that are padded have been left out.
    pub(super) fn unpadded(mut self) -> Self {
        for listed in self.facts.iter_mut().filter_map(|facts| facts.listed.as_mut()) {
            listed.padded = false;
        }
        self
    }

    /// The value of an expression in a padded row, if it is the same in all of them.
    fn when_padded(&self, expr: &Expr) -> Option<ScalarValue> {
        let schema = self.schema();
        let nulls = expr.clone().transform(|part| {
            let Expr::Column(column) = &part else { return Ok(Transformed::no(part)) };
            let public = self.facts_of(column).is_some_and(|f| f.listed.is_some() && !f.unit);
            if public {
                return Ok(Transformed::no(part));
            }
            let null = ScalarValue::try_from(&part.get_type(schema)?)?;
            Ok(Transformed::yes(Expr::Literal(null, None)))
        });
        let context =
            SimplifyContext::builder().with_schema(Arc::clone(self.plan.schema())).build();
        match ExprSimplifier::new(context).simplify(nulls.ok()?.data).ok()? {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        }
    }

    /// Whether an expression names a column of people.
    fn names_people(&self, expr: &Expr) -> bool {
        let names = expr.column_refs();
        names.into_iter().any(|column| self.facts_of(column).is_none_or(|f| f.listed.is_none()))
    }
}

fn is_null(value: Option<ScalarValue>) -> bool {
    value.is_some_and(|value| value.is_null())
}

/// Rows that meet these conditions: whether padded rows do is known, or the query is refused.
pub(super) fn after_filter(rows: Rows, conditions: &[Expr]) -> Result<Rows> {
    if !rows.is_padded() {
        return Ok(rows);
    }
    let of_people: Vec<Expr> =
        conditions.iter().filter(|condition| rows.names_people(condition)).cloned().collect();
    let Some(all) = conjunction(of_people) else { return Ok(rows) };
    match rows.when_padded(&all) {
        Some(ScalarValue::Boolean(Some(false))) => Ok(rows.unpadded()),
        Some(value) if value.is_null() => Ok(rows.unpadded()),
        _ => Err(refuse(
            "a condition that public rows meet if no protected row matches them",
            "put the condition into ON; for keys without people, ask for COUNT(p.id) of all keys",
        )),
    }
}

/// Checks that padded rows change none of the aggregates.
pub(super) fn check_aggregates(rows: &Rows, aggregates: &[Expr]) -> Result<()> {
    if !rows.is_padded() {
        return Ok(());
    }
    for aggregate in aggregates {
        let Expr::AggregateFunction(call) = aggregate.clone().unalias() else { continue };
        let params = &call.params;
        let filtered = params.filter.as_ref().map(|filter| rows.when_padded(filter));
        let left_out = filtered
            .flatten()
            .is_some_and(|value| value.is_null() || value == ScalarValue::Boolean(Some(false)));
        let sums = call.func.name() == "sum";
        let nothing = |value: ScalarValue| value.is_null() || sums && number(&value) == Some(0.0);
        let ordered = params.order_by.iter().map(|sort| &sort.expr);
        let mut arguments = params.args.iter().chain(ordered);
        let skipped = arguments.any(|arg| rows.when_padded(arg).is_some_and(nothing));
        if !left_out && !skipped {
            let name = call.func.name().to_uppercase();
            let what = format!(
                "{name} that changes with rows of the public table that no protected row matches"
            );
            return Err(refuse(
                what,
                "count or sum a column of the protected table: COUNT(p.id) instead of COUNT(*)",
            ));
        }
    }
    Ok(())
}

/// Checks that a projection leaves the columns of people NULL in padded rows, and a column that says where they are.
pub(super) fn check_projection(rows: &Rows, columns: &[(Expr, Facts)]) -> Result<()> {
    if !rows.is_padded() {
        return Ok(());
    }
    let padded = |facts: &Facts| facts.listed.as_ref().is_some_and(|listed| listed.padded);
    for (expr, facts) in columns {
        if !padded(facts) && !is_null(rows.when_padded(expr)) {
            return Err(refuse(
                "a column that is not NULL where no protected row matches the public one",
                "compute it in a subquery of the protected table, and join that",
            ));
        }
    }
    let kept = columns.iter().any(|(_, facts)| padded(facts));
    match rows.owner {
        Owner::Row { .. } if !kept => Err(refuse(
            "rows of an outer join without the columns of the public table",
            "select a column of the public table as well",
        )),
        _ => Ok(()),
    }
}

/// Refuses a clause for which padded rows would have to be there.
pub(super) fn require_all(rows: &Rows, what: &str) -> Result<()> {
    match rows.is_padded() {
        false => Ok(()),
        true => Err(refuse(
            format!("{what} over an outer join that keeps all rows of a public table"),
            "aggregate per person first, in a subquery, and join that",
        )),
    }
}
