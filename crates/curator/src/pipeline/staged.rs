//! Writes numbers that one part of a question releases into the plan of a later part.
//!
//! All parts are priced before anything is bought, and debited in one batch ([`super::purchase`]). Then they are read in
//! their order, on one task that leaves through the gate once: a later part's number is computed from an earlier part's
//! noised table, inside that task, and its rows are planned and read with the number as a constant. If that fails, the
//! error says that it was paid for.

use super::Part;
use super::answered::post_process;
use super::collected::CollectedRows;
use crate::aggregate::PrivateAggregate;
use crate::answer::deferred::DeferredTable;
use crate::curator::Curator;
use crate::error::{Error, Result};
use crate::plan::{ReleasedNumber, any_value, replace_numbers};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A number in a part's plan, under the name that it has there.
pub(super) struct UsedNumber {
    id: String,
    number: Arc<ReleasedNumber>,
}

/// The numbers that an aggregate uses. Their names in its plan get the keys of the purchases that they come from, so
/// that its own key is of these purchases.
pub(super) fn used_numbers(
    aggregate: &mut PrivateAggregate,
    numbers: &[Arc<ReleasedNumber>],
    before: &[Part],
) -> Result<Vec<UsedNumber>> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let used: Mutex<HashMap<String, Arc<ReleasedNumber>>> = Mutex::default();
    let renamed = |one: &Placeholder| {
        let number = numbers.iter().find(|number| number.id == one.id)?;
        let keys = number.needs.iter().map(|&at| before.get(at).map_or("", |part| &part.key));
        let id = keys.fold(one.id.clone(), |id, key| format!("{id}_{key}"));
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(id.clone(), Arc::clone(number));
        Some(Expr::Placeholder(Placeholder::new_with_field(id, one.field.clone())))
    };
    aggregate.input = replace_numbers(aggregate.input.clone(), renamed)?;
    let used = used.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut used: Vec<UsedNumber> =
        used.into_iter().map(|(id, number)| UsedNumber { id, number }).collect();
    used.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(used)
}

/// Writes in the numbers that come from public tables alone, which are computed before anything is bought.
pub(super) async fn with_public_numbers(
    curator: &Curator,
    aggregates: Vec<(PrivateAggregate, Arc<DeferredTable>)>,
    numbers: Vec<Arc<ReleasedNumber>>,
) -> Result<(Vec<(PrivateAggregate, Arc<DeferredTable>)>, Vec<Arc<ReleasedNumber>>)> {
    let (public, later): (Vec<_>, Vec<_>) =
        numbers.into_iter().partition(|number| number.needs.is_empty());
    let mut values = HashMap::new();
    for number in &public {
        let found = value(curator, number).await.map_err(|error| match error {
            Error::After(text) => Error::Sql(text),
            other => other,
        })?;
        values.insert(&*number.id, found);
    }
    let mut filled = Vec::with_capacity(aggregates.len());
    for (aggregate, table) in aggregates {
        let input = written(aggregate.input.clone(), &values)?;
        filled.push((PrivateAggregate { input, ..aggregate }, table));
    }
    Ok((filled, later))
}

/// The plan with these values in place of their placeholders.
fn written(input: LogicalPlan, values: &HashMap<&str, ScalarValue>) -> Result<LogicalPlan> {
    if values.is_empty() {
        return Ok(input);
    }
    let known =
        |one: &Placeholder| values.get(&*one.id).map(|value| Expr::Literal(value.clone(), None));
    replace_numbers(input, known)
}

impl Part {
    /// The places of the parts whose releases it uses.
    pub(super) fn needs(&self) -> impl Iterator<Item = usize> + '_ {
        self.numbers.iter().flat_map(|used| used.number.needs.iter().copied())
    }

    /// The plan of its rows with some value for each number, to find out whether it can be planned.
    pub(super) fn tried_input(&self) -> Result<LogicalPlan> {
        let mut values = HashMap::new();
        for used in &self.numbers {
            values.insert(&*used.id, any_value(&used.number)?);
        }
        written(self.aggregate.input.clone(), &values)
    }

    /// The plan of its rows with the numbers themselves. The tables that they are computed from are filled.
    pub(super) async fn known_input(&self, curator: &Curator) -> Result<LogicalPlan> {
        let mut values = HashMap::new();
        for used in &self.numbers {
            values.insert(&*used.id, value(curator, &used.number).await?);
        }
        written(self.aggregate.input.clone(), &values)
    }
}

/// A number: the one value of its plan, or NULL where it has no row.
async fn value(curator: &Curator, number: &ReleasedNumber) -> Result<ScalarValue> {
    let (_, held) = post_process(curator, number.plan.clone()).await?;
    let CollectedRows { batches, .. } = held;
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    let after = |text: String| Error::After(text);
    if rows > 1 {
        return Err(after("a subquery that is used as a value has several rows".to_owned()));
    }
    let failed = |e: datafusion::error::DataFusionError| after(e.strip_backtrace());
    match batches.iter().find(|batch| batch.num_rows() == 1) {
        Some(batch) => ScalarValue::try_from_array(batch.column(0), 0).map_err(failed),
        None => ScalarValue::try_from(number.field().data_type()).map_err(failed),
    }
}
