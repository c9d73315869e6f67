//! A release that other code makes, on a policy's budget.
//!
//! # Guarantee
//! When [`Outside::buy`] returns, the debit is on disk, so it covers whatever the caller reads afterwards. It is never
//! refunded. The price is that of the guarantee which the caller states, under the policy's own neighbour relation.
//!
//! # What this does not do
//! It cannot see what the caller reads. One unit of those data must be one unit of the policy: that is the caller's
//! to ensure.

use crate::error::Result;
use crate::identity::ledger_of;
use crate::policy::Accounting;
use crate::refusal::{Refusal, Rule};
use crate::words::{left as left_in_words, price as price_in_words};
use demure_core::mechanism::Guarantee;
use demure_core::random::SystemRandom;
use demure_core::sample::uniform_below;
use demure_core::unit::Neighbours;
use demure_ledger::{Hash, Ledger, Reading, Request};
use std::path::Path;

/// A release that is paid for and not made yet.
#[derive(Debug)]
#[must_use = "the debit is spent: `settle` stores the answer that it bought"]
pub struct Outside {
    ledger: Ledger,
    reading: Reading,
    concentrated: bool,
}

impl Outside {
    /// Debits `times` releases of this guarantee from the budget of the policy at `path`. `text` says in the journal
    /// what is released; it is public.
    ///
    /// # Errors
    /// The ledger's, if the budget does not allow it, and a refusal if the guarantee is for another neighbour relation
    /// than the policy's. Then nothing is spent.
    pub fn buy(
        path: &Path,
        who: &str,
        text: &str,
        (guarantee, times): (Guarantee, u32),
        neighbours: Neighbours,
    ) -> Result<Self> {
        let (policy, ledger) = ledger_of(path)?;
        if policy.budget.neighbours != neighbours {
            let theirs = policy.budget.neighbours;
            return Err(Refusal::new(
                Rule::Setting,
                format!("the policy counts under {theirs}, and this release is for {neighbours}"),
                format!("ask for it under {theirs}"),
            )
            .into());
        }
        let least = policy.budget.min_per_query;
        if epsilon_of(guarantee) < least.get() {
            return Err(Refusal::new(
                Rule::Least,
                format!("a release costs at least ε {least}; nothing was spent"),
                format!("ask for ε {least} or more, as the policy's `min_per_query` says"),
            )
            .into());
        }
        let event = guarantee.event().repeat(u64::from(times))?;
        let (who, query) = (who.to_owned(), text.to_owned());
        let key = ledger.seal(&unlike_any_other()?);
        let reserved = ledger.reserve(&Request { who, key, query, event })?;
        let concentrated = policy.budget.accounting == Accounting::Zcdp;
        Ok(Self { ledger, reading: reserved.begin()?, concentrated })
    }

    /// What it costs, in words.
    #[must_use]
    pub fn price(&self) -> String {
        price_in_words(&self.reading.price(), self.concentrated)
    }

    /// What is left of the dataset's budget, in words.
    pub fn left(&self) -> Result<String> {
        Ok(left_in_words(&self.ledger.balance()?))
    }

    /// Stores the answer, which may be shown once this returns.
    pub fn settle(self, answer: &str) -> Result<()> {
        Ok(self.reading.settle(answer.as_bytes())?)
    }
}

/// The ε of a guarantee; of ρ, the ε of which ρ is the zCDP.
fn epsilon_of(guarantee: Guarantee) -> f64 {
    match guarantee {
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => epsilon.get(),
        Guarantee::Concentrated(rho) => (2.0 * rho.get()).sqrt(),
        // Of an unknown kind nothing is known to be enough.
        _ => 0.0,
    }
}

/// Every release is a new one, so its key is new too.
fn unlike_any_other() -> Result<Hash> {
    let (mut rng, mut key) = (SystemRandom::new()?, Hash::default());
    for byte in &mut key {
        *byte = uniform_below(1 << 8, &mut rng)? as u8;
    }
    Ok(key)
}

#[cfg(test)]
mod tests;
