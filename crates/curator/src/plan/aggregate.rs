//! The private aggregate: rows in, noised numbers out.

use super::rows::planned;
use super::{Node, Walk};
use crate::aggregate::{Columns, Keys, Measure, PrivateAggregate};
use crate::error::Result;
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::domain;
use crate::rows::{Limits, Owner, RESERVED, Rows};
use datafusion::common::{DFSchemaRef, ScalarValue};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, lit};

impl Walk<'_> {
    /// An aggregate over protected rows.
    pub(super) fn aggregate(&mut self, rows: Rows, aggregate: &Aggregate) -> Result<Node> {
        if aggregate.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_))) {
            return Err(Refusal::new(
                Rule::Clause,
                "GROUPING SETS, ROLLUP and CUBE over protected rows",
                "ask for each grouping in a query of its own, or combine them with UNION ALL",
            )
            .into());
        }
        // A key that is written twice is a single column of the schema.
        let mut once = aggregate.clone();
        let mut seen = std::collections::HashSet::new();
        once.group_expr.retain(|expr| seen.insert(expr.clone()));
        let aggregate = &once;
        let by_person = aggregate
            .group_expr
            .iter()
            .any(|expr| matches!(expr.clone().unalias(), Expr::Column(c) if rows.is_unit(&c)));
        if by_person {
            return self.per_person(rows, aggregate);
        }
        let cut =
            self.private(rows, &aggregate.group_expr, &aggregate.aggr_expr, &aggregate.schema)?;
        self.cut(cut)
    }

    /// `SELECT DISTINCT`: the distinct rows, which are group keys.
    pub(super) fn distinct(&mut self, rows: Rows, plan: &LogicalPlan) -> Result<Node> {
        let visible = plan.schema();
        let columns: Vec<Expr> = visible.columns().into_iter().map(Expr::Column).collect();
        let columns: Vec<Expr> = columns
            .into_iter()
            .filter(|c| !matches!(c, Expr::Column(c) if c.name.starts_with(RESERVED)))
            .collect();
        let unit = columns.iter().any(|c| matches!(c, Expr::Column(c) if rows.is_unit(c)));
        if unit {
            let input = std::sync::Arc::new(rows.plan.clone());
            let aggregate = Aggregate::try_new(input, columns, Vec::new()).map_err(planned)?;
            return self.per_person(rows, &aggregate);
        }
        let schema = std::sync::Arc::clone(visible);
        let cut = self.private(rows, &columns, &[], &schema)?;
        self.cut(cut)
    }

    fn private(
        &mut self,
        rows: Rows,
        keys: &[Expr],
        aggregates: &[Expr],
        schema: &DFSchemaRef,
    ) -> Result<PrivateAggregate> {
        let mut columns: Vec<Expr> = Vec::new();
        let (bounded, mut limits) = match &rows.owner {
            Owner::Person { column, once: false } => {
                columns.push(Expr::Column(column.clone()).alias(format!("{RESERVED}unit")));
                (true, self.limits(rows.limits))
            }
            Owner::Person { once: true, .. } => (false, Limits::declared(1, 1)),
            // `copies` rows in any groups: `Contributions` describes how to write that.
            Owner::Row { copies } => (false, Limits::declared(*copies, *copies)),
        };
        let mut domains = Vec::new();
        let mut drops = false;
        for (i, key) in keys.iter().enumerate() {
            let known = crate::rows::expression::facts(key, &rows);
            drops |= known.origin.is_some() && known.values.is_some() && !known.nullable;
            let data_type = schema.field(i).data_type();
            domains.push(domain::values(key, &rows, &self.state));
            let key = conversion(admit(key.clone(), &rows)?, data_type, rows.schema());
            columns.push(key.alias(format!("{RESERVED}key_{i}")));
        }
        let keys_kind = match domains.into_iter().collect::<Option<Vec<_>>>() {
            _ if keys.is_empty() => Keys::One,
            Some(domains) => match combinations(&domains) {
                Some(all) => Keys::Public(all),
                None => Keys::Private,
            },
            None => Keys::Private,
        };
        if let (Keys::Private, Owner::Row { copies: 2.. }) = (&keys_kind, &rows.owner) {
            return Err(Refusal::new(
                Rule::Keys,
                "private group keys over a UNION in which a row may be twice",
                "list the keys in the policy (`values = [...]`), or ask for each part by itself",
            )
            .into());
        }
        match &keys_kind {
            Keys::One => limits.groups = 1,
            Keys::Public(_) if matches!(rows.owner, Owner::Row { .. }) => limits.groups = 1,
            Keys::Public(all) => {
                limits.groups = limits.groups.min(u32::try_from(all.len()).unwrap_or(u32::MAX));
            }
            Keys::Private => {}
        }
        let mut found = Columns::default();
        let mut measures = Vec::new();
        for aggregate in aggregates {
            let Expr::AggregateFunction(function) = aggregate.clone().unalias() else {
                return Err(super::unexpected("expected an aggregate function"));
            };
            measures.push(found.measure(&function, &rows)?);
        }
        limits.learnt &= bounded
            && measures.iter().all(|m| m.family.weighs(m, &found.values))
            && match keys_kind {
                // People who are counted once without groups have nothing to learn.
                Keys::One => !measures.iter().all(Measure::counts_people),
                Keys::Public(_) => !measures.is_empty(),
                Keys::Private => true,
            };
        if limits.learnt {
            for value in measures.iter().filter(|m| m.squares()).filter_map(|m| m.value) {
                found.values[value].coarsen()?;
            }
        }
        for (i, argument) in found.arguments.into_iter().enumerate() {
            columns.push(argument.alias(format!("{RESERVED}value_{i}")));
        }
        if columns.is_empty() {
            columns.push(lit(true).alias(format!("{RESERVED}row")));
        }
        let input = LogicalPlanBuilder::from(rows.plan)
            .project(columns)
            .and_then(LogicalPlanBuilder::build)
            .map_err(planned)?;
        Ok(PrivateAggregate {
            input,
            bounded,
            limits,
            drops_unlisted: drops && matches!(keys_kind, Keys::Public(_)),
            keys: keys_kind,
            key_count: keys.len(),
            values: found.values,
            measures,
            schema: std::sync::Arc::clone(schema),
        })
    }
}

/// All combinations of the keys' values, the last changing fastest; `None` if there are too many.
fn combinations(domains: &[Vec<ScalarValue>]) -> Option<Vec<Vec<ScalarValue>>> {
    let n = domains.iter().try_fold(1usize, |n, d| n.checked_mul(d.len()))?;
    if n > domain::MOST_KEYS {
        return None;
    }
    let mut all = vec![Vec::new()];
    for domain in domains {
        all = all
            .into_iter()
            .flat_map(|start: Vec<ScalarValue>| {
                domain.iter().map(move |value| {
                    let mut key = start.clone();
                    key.push(value.clone());
                    key
                })
            })
            .collect();
    }
    Some(all)
}
