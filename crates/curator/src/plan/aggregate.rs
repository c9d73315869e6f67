//! The private aggregate: rows in, noised numbers out.

use super::derive::split;
use super::padded::{check_aggregates, require_all};
use super::rows::planned;
use super::{Node, Walk};
use crate::aggregate::{Columns, Keys, Measure, PrivateAggregate, Value};
use crate::error::{Error, Result};
use crate::refusal::{Refusal, Rule};
use crate::rows::admit::{admit, conversion};
use crate::rows::domain;
use crate::rows::expression::{Facts, facts};
use crate::rows::{Limits, Owner, RESERVED, Rows};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchemaRef, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, lit};

impl Walk<'_> {
    /// An aggregate over protected rows.
    pub(super) fn aggregate(&mut self, rows: Rows, aggregate: &Aggregate) -> Result<Node> {
        if aggregate.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_))) {
            return match split(aggregate, &rows)? {
                Some(derived) => self.derived(rows, derived),
                None => self.grouping_sets(rows, aggregate),
            };
        }
        // A key that is written twice is a single column of the schema.
        let mut once = aggregate.clone();
        let mut seen = std::collections::HashSet::new();
        once.group_expr.retain(|expr| seen.insert(expr.clone()));
        // Subqueries become columns; the names of the result stay.
        let mut rows = rows;
        for expr in once.group_expr.iter_mut().chain(&mut once.aggr_expr) {
            (rows, *expr) = self.with_subqueries(rows, expr.clone())?;
        }
        let aggregate = &once;
        let by_person = aggregate.group_expr.iter().any(
            |expr| matches!(expr.clone().unalias(), Expr::Column(c) if self.is_of_one(&c, &rows)),
        );
        if by_person {
            require_all(&rows, "GROUP BY the person's id")?;
            return self.per_person(rows, aggregate);
        }
        if let Some(derived) = split(aggregate, &rows)? {
            return self.derived(rows, derived);
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
        let unit = columns.iter().any(|c| matches!(c, Expr::Column(c) if self.is_of_one(c, &rows)));
        if unit {
            require_all(&rows, "DISTINCT")?;
            let input = std::sync::Arc::new(rows.plan.clone());
            let aggregate = Aggregate::try_new(input, columns, Vec::new()).map_err(planned)?;
            return self.per_person(rows, &aggregate);
        }
        let schema = std::sync::Arc::clone(visible);
        let cut = self.private(rows, &columns, &[], &schema)?;
        self.cut(cut)
    }

    pub(super) fn private(
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
        check_aggregates(&rows, aggregates)?;
        let mut domains = Vec::new();
        let mut drops = false;
        for (i, key) in keys.iter().enumerate() {
            let known = facts(key, &rows);
            drops |= known.origin.is_some() && known.values.is_some() && !known.nullable;
            let data_type = schema.field(i).data_type();
            let chosen = matches!(key.clone().unalias(), Expr::Case(_));
            let of_times = known.within_times
                || (!chosen && domain::time_column(key, &rows, &self.state).is_some());
            drops |= of_times && *data_type != DataType::Boolean;
            domains.push(domain::values(key, &rows, &self.state));
            let key = conversion(admit(key.clone(), &rows)?, data_type, rows.schema());
            columns.push(key.alias(format!("{RESERVED}key_{i}")));
        }
        let keys_kind = match joint(domains, keys, &rows, &self.state) {
            _ if keys.is_empty() => Keys::One,
            Some(domains) => match combinations(&domains, keys.len()) {
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
        let weighs = measures.iter().all(|m| m.family.weighs(m, &found.values));
        limits.learnt &= bounded
            && weighs
            && match keys_kind {
                // People who are counted once without groups have nothing to learn.
                Keys::One => !measures.iter().all(Measure::counts_people),
                Keys::Public(_) => !measures.is_empty(),
                Keys::Private => true,
            };
        let norms = found.values.iter().find(|value| value.norms.is_some());
        if let Some(value) = norms {
            // The norm of a person's sums is learnt where all of the person's rows count, or one row is the unit.
            let copied = matches!(rows.owner, Owner::Row { copies: 2.. });
            if copied || !weighs || (bounded && !limits.learnt) {
                return Err(no_bounds(value, weighs && !copied));
            }
        }
        if limits.learnt || norms.is_some() {
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
            rollup: None,
            among: 1,
            values: found.values,
            measures,
            schema: std::sync::Arc::clone(schema),
        })
    }
}

/// The values of some keys together: which keys, and the tuples of their values.
type Joint = (Vec<usize>, Vec<Vec<ScalarValue>>);

/// The values of keys that are known. Keys from the same public rows have the values of these rows together, and so have
/// keys of the same date or time with bounds, such as its year and month; others have all combinations.
fn joint(
    domains: Vec<Option<Vec<ScalarValue>>>,
    keys: &[Expr],
    rows: &Rows,
    state: &SessionState,
) -> Option<Vec<Joint>> {
    let known: Vec<Facts> = keys.iter().map(|key| facts(key, rows)).collect();
    let same = |a: &Facts, b: &Facts| match (&a.listed, &b.listed) {
        (Some(a), Some(b)) => std::sync::Arc::ptr_eq(&a.rows, &b.rows),
        _ => false,
    };
    let times: Vec<Option<Column>> =
        keys.iter().map(|key| domain::time_column(key, rows, state)).collect();
    let mut found: Vec<Joint> = Vec::new();
    for (i, domain) in domains.into_iter().enumerate() {
        if found.iter().any(|(keys, _)| keys.contains(&i)) {
            continue;
        }
        if let Some(column) = &times[i] {
            let same: Vec<usize> =
                (i..keys.len()).filter(|&j| times[j].as_ref() == Some(column)).collect();
            let exprs: Vec<&Expr> = same.iter().map(|&j| &keys[j]).collect();
            let tuples = match same.len() {
                1 => None,
                _ => domain::time_tuples(&exprs, column, rows, state),
            };
            if let Some(tuples) = tuples {
                found.push((same, tuples));
                continue;
            }
        }
        let together: Vec<usize> =
            (i..keys.len()).filter(|&j| j == i || same(&known[i], &known[j])).collect();
        let tuples = match &known[i].listed {
            Some(listed) if together.len() > 1 || listed.padded => {
                let columns: Vec<(&Expr, &Facts)> =
                    together.iter().map(|&j| (&keys[j], &known[j])).collect();
                domain::tuples(&columns, rows, state)?
            }
            _ => domain?.into_iter().map(|value| vec![value]).collect(),
        };
        found.push((together, tuples));
    }
    Some(found)
}

/// A sum without bounds where no norm can be learnt.
fn no_bounds(value: &Value, limited: bool) -> Error {
    let (name, argument) = &value.call;
    let why = match limited {
        true => {
            "and how large a person's sums are is not learnt where max_groups or max_rows_per_group \
             is set"
        }
        false => "so one person could change it arbitrarily",
    };
    let otherwise = if limited { ", or leave both limits out" } else { "" };
    Refusal::new(
        Rule::Bounds,
        format!("{name}({argument}): the values have no bounds, {why}"),
        format!(
            "declare `bounds = [low, high]` for the column in the policy, or write \
             {name}(CLAMP({argument}, low, high)) with two numbers{otherwise}"
        ),
    )
    .into()
}

/// All combinations of the keys' values, the last changing fastest; `None` if there are too many.
fn combinations(domains: &[Joint], keys: usize) -> Option<Vec<Vec<ScalarValue>>> {
    let n = domains.iter().try_fold(1usize, |n, (_, tuples)| n.checked_mul(tuples.len()))?;
    if n > domain::MOST_KEYS {
        return None;
    }
    let mut all = vec![vec![ScalarValue::Null; keys]];
    for (places, tuples) in domains {
        all = all
            .into_iter()
            .flat_map(|start: Vec<ScalarValue>| {
                tuples.iter().map(move |tuple| {
                    let mut key = start.clone();
                    for (&place, value) in places.iter().zip(tuple) {
                        key[place] = value.clone();
                    }
                    key
                })
            })
            .collect();
    }
    Some(all)
}
