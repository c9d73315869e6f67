//! Group keys: a single group, a public list, or private keys, of which only those with many people are released.

use super::{PrivateAggregate, part_of};
use crate::error::Result;
use crate::policy::BudgetPolicy;
use crate::refusal::{Refusal, Rule};
use datafusion::common::ScalarValue;
use demure_core::event::Event;
use demure_core::mechanism::{Budget, KeySelection};
use demure_core::unit::{Delta, Epsilon};

/// Where the group keys come from.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// No GROUP BY: one group.
    One,
    /// A public list: every combination is released, whatever the data.
    Public(Vec<Vec<ScalarValue>>),
    /// Private keys: which of them are released is itself a private answer.
    Private,
}

/// Selects private keys, at a share of the query's ε and at δ.
pub(crate) fn select_keys(
    aggregate: &PrivateAggregate,
    budget: &BudgetPolicy,
    (epsilon, delta): (Epsilon, Delta),
    share: f64,
) -> Result<(KeySelection, Event)> {
    let names: Vec<&str> =
        (0..aggregate.key_count).map(|i| aggregate.schema.field(i).name().as_str()).collect();
    if delta.get() <= 0.0 {
        return Err(Refusal::new(
            Rule::Keys,
            format!(
                "the values of {} are not public, and there is no δ to pay for choosing among \
                     them",
                names.join(", ")
            ),
            "list them in the policy (`values = [...]`), give an integer column `bounds`, group by \
             CASE or FLOOR(x / 10), or give the budget a δ",
        )
        .into());
    }
    let epsilon = match part_of(epsilon, budget.accounting, share)? {
        Budget::Pure(epsilon) => epsilon,
        Budget::Concentrated(rho) => Epsilon::new((2.0 * rho.get()).sqrt() * (1.0 - 1e-15))?,
    };
    let groups = aggregate.limits.groups;
    let selection = KeySelection::new(epsilon, delta, budget.neighbours, groups)?;
    Ok((selection, Event::Approximate { epsilon, delta }))
}
