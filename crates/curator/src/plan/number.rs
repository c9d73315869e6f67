//! Numbers that a statement releases and then uses over protected rows: `WHERE cost > (SELECT AVG(cost) FROM visits)`,
//! z-scores, a `CROSS JOIN` with one row of averages.
//!
//! Such a number stands in the plan as a placeholder until it is known. The aggregate that it comes from is bought in
//! the same purchase, before the one that uses it; [`crate::pipeline`] then writes the number in.
//!
//! # Guarantee
//! Both aggregates keep their guarantees, and together they cost the sum of their prices.
//!
//! # Proof
//! The second mechanism is chosen by the first one's output: adaptive composition. Which events are paid for is decided
//! before either runs, since nothing is known of a placeholder: its interval is everything, it is no constant of any
//! function, and no bound, grid or list of keys comes from it. So the second is, for every value of the number, a
//! mechanism of the event that was paid for. For a fixed sequence of prices, pure ε, (ε, δ) and ρ add up under adaptive
//! composition, which is what the ledger's filters charge. ∎
//!
//! The name of a placeholder is the identity of its number: the plan that computes it and the aggregates in it. Before
//! anything is looked up, [`crate::pipeline`] adds the keys of those purchases, so that an answer is found again only for
//! the same released number.

use super::lookup::beside;
use super::rows::planned;
use super::semi::has_subquery;
use super::{Node, Walk};
use crate::aggregate::digest;
use crate::answer::deferred::DeferredTable;
use crate::answer::lasting::changing;
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use crate::rows::expression::Facts;
use crate::rows::{NUMBER, Rows};
use datafusion::arrow::datatypes::{Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DataFusionError, ScalarValue};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Expr, FetchType, Join, JoinType, LogicalPlan, LogicalPlanBuilder};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A number that is computed from released and public tables, and used over protected rows.
#[derive(Debug)]
pub(crate) struct ReleasedNumber {
    /// The name of its placeholder.
    pub(crate) id: String,
    /// The plan over released and public tables: one column, and at most one row.
    pub(crate) plan: LogicalPlan,
    /// The aggregates whose releases it reads, by their place.
    pub(crate) needs: Vec<usize>,
}

impl ReleasedNumber {
    /// The type of the number.
    pub(crate) fn field(&self) -> FieldRef {
        let field = self.plan.schema().fields().first();
        let null = datafusion::arrow::datatypes::DataType::Null;
        let kind = field.map_or(null, |field| field.data_type().clone());
        Arc::new(Field::new(&self.id, kind, true))
    }
}

impl Walk<'_> {
    /// Replaces subqueries that are released or public by placeholders of their numbers. Others stay.
    pub(super) fn with_numbers(&mut self, expr: Expr) -> Result<Expr> {
        if !has_subquery(&expr) {
            return Ok(expr);
        }
        let mut failed = None;
        let replaced = expr.transform_up(|expr| {
            let Expr::ScalarSubquery(subquery) = &expr else { return Ok(Transformed::no(expr)) };
            if !subquery.outer_ref_columns.is_empty() {
                return Ok(Transformed::no(expr));
            }
            // Its plan is that of the same query by itself, and the names of the rows around it stay theirs.
            let named = std::mem::take(&mut self.named);
            let visited = self.visit(&subquery.subquery);
            self.named = named;
            let found = match visited {
                Ok(Node::Released(_)) if !has_at_most_one_row(&subquery.subquery) => {
                    Err(Refusal::new(
                        Rule::Subquery,
                        "a subquery of several released rows where one value is needed",
                        "leave out its GROUP BY, or end it with LIMIT 1",
                    )
                    .into())
                }
                Ok(Node::Released(plan) | Node::Public(plan)) => self.number(plan),
                Ok(Node::Rows(_)) => return Ok(Transformed::no(expr)),
                Err(error) => Err(error),
            };
            found.map(Transformed::yes).map_err(|error| {
                failed = Some(error);
                DataFusionError::Plan(String::new())
            })
        });
        match (replaced, failed) {
            (_, Some(error)) => Err(error),
            (Ok(expr), None) => Ok(expr.data),
            (Err(error), None) => Err(planned(error)),
        }
    }

    /// The placeholder of a number.
    pub(super) fn number(&mut self, plan: LogicalPlan) -> Result<Expr> {
        if let Some(name) = changing(&plan).map_err(planned)? {
            let what = format!("{name}() in a subquery whose value is used over people's rows");
            let remedy = "its value changes, and an answer that was bought before would be of \
                          another one: write the value itself (a date, a number)";
            return Err(Refusal::new(Rule::Function, what, remedy).into());
        }
        if plan.schema().fields().len() != 1 {
            return Err(super::unexpected("a scalar subquery of several columns"));
        }
        let needs = self.needs(&plan)?;
        let mut hash = Sha256::new();
        hash.update(digest(&plan));
        for place in &needs {
            hash.update(self.aggregates[*place].0.fingerprint());
        }
        let identity: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let number = ReleasedNumber { id: format!("{NUMBER}{identity}"), plan, needs };
        let (id, field) = (number.id.clone(), number.field());
        if !self.numbers.iter().any(|other| other.id == id) {
            self.numbers.push(Arc::new(number));
        }
        Ok(Expr::Placeholder(Placeholder::new_with_field(id, Some(field))))
    }

    /// The aggregates whose releases a plan reads.
    fn needs(&self, plan: &LogicalPlan) -> Result<Vec<usize>> {
        let mut needs = BTreeSet::new();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Ok(provider) = source_as_provider(&scan.source)
                && let Some(table) = provider.downcast_ref::<DeferredTable>()
            {
                let same = |(_, other): &(_, Arc<DeferredTable>)| std::ptr::eq(&**other, table);
                needs.extend(self.aggregates.iter().position(same));
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(planned)?;
        Ok(needs.into_iter().collect())
    }

    /// Protected rows joined with the one row of a release.
    pub(super) fn with_released(
        &mut self,
        join: &Join,
        rows: Rows,
        released: LogicalPlan,
        rows_left: bool,
    ) -> Result<Node> {
        let written = if rows_left { &join.right } else { &join.left };
        if join.join_type != JoinType::Inner || !is_one_row(written) {
            return self.with_looked_up(join, rows, released, rows_left);
        }
        let joined = self.with_one_row(rows, released, rows_left)?;
        let equal = join.on.iter().map(|(a, b)| a.clone().eq(b.clone()));
        let filter = join.filter.iter().cloned().flat_map(split_conjunction_owned);
        let conditions = equal.chain(filter).collect();
        Ok(Node::Rows(Box::new(self.narrowed(joined, conditions)?)))
    }

    /// Protected rows beside the one row of a release: each of its columns is a number.
    pub(super) fn with_one_row(
        &mut self,
        rows: Rows,
        released: LogicalPlan,
        rows_left: bool,
    ) -> Result<Rows> {
        let mut numbers = Vec::new();
        for (qualifier, field) in released.schema().iter() {
            let column = Expr::Column(Column::new(qualifier.cloned(), field.name()));
            let one = LogicalPlanBuilder::from(released.clone())
                .project(vec![column])
                .and_then(LogicalPlanBuilder::build)
                .map_err(planned)?;
            let number = self.number(one)?;
            let named = number.alias_qualified(qualifier.cloned(), field.name());
            numbers.push((named, Facts::unknown()));
        }
        beside(rows, numbers, rows_left)
    }
}

/// Whether a plan has exactly one row: an aggregate without groups.
pub(super) fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Sort(_) => {
            plan.inputs().first().is_some_and(|input| is_one_row(input))
        }
        // Each has one row.
        LogicalPlan::Join(join) => {
            join.join_type == JoinType::Inner
                && join.on.is_empty()
                && join.filter.is_none()
                && is_one_row(&join.left)
                && is_one_row(&join.right)
        }
        _ => false,
    }
}

/// Whether a plan has one row, or none.
fn has_at_most_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type(), Ok(FetchType::Literal(Some(0 | 1))))
        }
        LogicalPlan::Projection(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Filter(_) => {
            plan.inputs().first().is_some_and(|input| has_at_most_one_row(input))
        }
        other => is_one_row(other),
    }
}

/// Refuses a placeholder with the name of a number: no query can write one.
pub(super) fn check_names(plan: &LogicalPlan) -> Result<()> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                found |= matches!(part, Expr::Placeholder(one) if one.id.starts_with(NUMBER));
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })
    .map_err(planned)?;
    match found {
        true => Err(Refusal::new(
            Rule::Setting,
            "a parameter without a value",
            "give every parameter a value",
        )
        .into()),
        false => Ok(()),
    }
}

/// The plan with every placeholder of a number replaced by `known`.
pub(crate) fn replace_numbers(
    plan: LogicalPlan,
    known: impl Fn(&Placeholder) -> Option<Expr>,
) -> Result<LogicalPlan> {
    let replaced = plan.transform_up(|node| {
        let node = node.map_expressions(|expr| {
            expr.transform_up(|part| {
                Ok(match &part {
                    Expr::Placeholder(one) => match known(one) {
                        Some(value) => Transformed::yes(value),
                        None => Transformed::no(part),
                    },
                    _ => Transformed::no(part),
                })
            })
        })?;
        node.map_data(LogicalPlan::recompute_schema)
    });
    Ok(replaced.map_err(planned)?.data)
}

/// A value of the number's type, for planning before the number is known.
pub(crate) fn any_value(number: &ReleasedNumber) -> Result<ScalarValue> {
    let field = number.field();
    let kind = field.data_type();
    ScalarValue::new_default(kind).or_else(|_| ScalarValue::try_from(kind)).map_err(planned)
}
