//! Group keys: a single group, a public list, or private keys, of which only those with many people are released.

use super::{BETA, PrivateAggregate, part_of};
use crate::bound::ExactGroup;
use crate::error::Result;
use crate::policy::BudgetPolicy;
use crate::refusal::{Refusal, Rule};
use datafusion::common::ScalarValue;
use demure_core::event::Event;
use demure_core::mechanism::{Budget, KeySelection, KeyWeights};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Delta, Epsilon};
use std::collections::BTreeMap;

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

/// How private keys are selected.
pub(crate) enum Selection {
    /// By the number of their people, of which each has a limited number of keys.
    Counted(KeySelection),
    /// By the weight of their people, of which each spreads a weight of 1 over any number of keys.
    Weighted(KeyWeights),
}

impl Selection {
    /// The groups that come back, by their place.
    pub(super) fn release(
        &self,
        groups: &[ExactGroup],
        rng: &mut dyn Randomness,
    ) -> Result<Vec<usize>> {
        // Sorted by content, so that the order of the rows does not show.
        let numbers = |of: fn(&ExactGroup) -> u64| -> BTreeMap<usize, u64> {
            groups.iter().enumerate().map(|(i, group)| (i, of(group))).collect()
        };
        let weight = |group: &ExactGroup| group.weighed.as_ref().map_or(0, |group| group.key);
        Ok(match self {
            Self::Counted(keys) => keys.release(&numbers(|group| group.people), rng)?.into_value(),
            Self::Weighted(keys) => keys.release(&numbers(weight), rng)?.into_value(),
        })
    }

    /// How many people a key needs to come back, in words.
    pub(crate) fn needs(&self) -> Result<String> {
        Ok(match self {
            Self::Counted(keys) => {
                format!("a key of more than {} people always comes back", keys.crossovers().1)
            }
            Self::Weighted(keys) => {
                let beta = Beta::new(BETA)?;
                let people = |keys_each: u64| keys.units(keys_each, beta);
                format!(
                    "a key of {} people who have no other comes back (95 %), or one of {} people who \
                     have ten keys each",
                    people(1)?,
                    people(10)?
                )
            }
        })
    }
}

/// Selects private keys, at a share of the query's ε and at δ.
pub(crate) fn select_keys(
    aggregate: &PrivateAggregate,
    budget: &BudgetPolicy,
    (epsilon, delta): (Epsilon, Delta),
    share: f64,
) -> Result<(Selection, Event)> {
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
            "list them in the policy (`values = [...]`), give an integer or a date column `bounds`, \
             group by CASE or FLOOR(x / 10), or give the budget a δ",
        )
        .into());
    }
    let epsilon = match part_of(epsilon, budget.accounting, share)? {
        Budget::Pure(epsilon) => epsilon,
        Budget::Concentrated(rho) => Epsilon::new((2.0 * rho.get()).sqrt() * (1.0 - 1e-15))?,
    };
    let (groups, neighbours) = (aggregate.limits.groups, budget.neighbours);
    let selection = match aggregate.limits.learnt {
        true => Selection::Weighted(KeyWeights::new(epsilon, delta, neighbours)?),
        false => Selection::Counted(KeySelection::new(epsilon, delta, neighbours, groups)?),
    };
    Ok((selection, Event::Approximate { epsilon, delta }))
}
