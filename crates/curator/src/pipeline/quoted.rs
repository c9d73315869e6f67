//! The second stage: every aggregate is priced, and it is known which are bought already.

use super::staged::{UsedNumber, used_numbers};
use super::{Asker, Planned};
use crate::aggregate::{PrivateAggregate, Quote, Released, quote};
use crate::answer::deferred::DeferredTable;
use crate::curator::Curator;
use crate::error::Result;
use datafusion::logical_expr::LogicalPlan;
use demure_core::event::Event;
use demure_core::unit::Epsilon;
use demure_ledger::Hash;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The number of storage formats in which builds may have stored an answer.
const FORMS: u32 = 16;

/// A priced question.
pub(crate) struct Quoted {
    /// The plan that runs on released tables.
    pub(super) after: LogicalPlan,
    pub(super) parts: Vec<Part>,
}

/// A private aggregate of a question, and its price.
pub(crate) struct Part {
    pub(crate) aggregate: PrivateAggregate,
    pub(crate) table: Arc<DeferredTable>,
    pub(crate) quote: Quote,
    pub(crate) purchase: Purchase,
    /// The numbers that it uses over rows: of parts before this one, or of public tables.
    pub(super) numbers: Vec<UsedNumber>,
    /// The cache key of the answer in the first storage format, and in the one that this build reads.
    first_key: String,
    pub(crate) key: String,
}

/// Where an aggregate's noised table comes from.
pub(crate) enum Purchase {
    /// It is free for this analyst, who received it before, or the policy shares what another bought.
    Known(Released),
    /// Public keys alone: no part of it comes from the data.
    Public,
    /// It has to be bought, or received from an analyst who bought it.
    Buy,
}

impl Part {
    /// Whether it has to be bought or received.
    pub(crate) fn is_to_buy(&self) -> bool {
        matches!(self.purchase, Purchase::Buy)
    }

    /// Whether it is free because it was bought before.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self.purchase, Purchase::Known(_))
    }

    /// The ε that was asked for. Grouping sets that are released separately share it.
    pub(super) fn asked(&self, asker: Asker<'_>) -> Option<Epsilon> {
        let (settings, budget) = (asker.settings, &asker.curator.policy.budget);
        match self.aggregate.among > 1 && settings.error_at_most.is_none() {
            true => Some(settings.epsilon.unwrap_or(budget.per_query)),
            false => self.quote.epsilon,
        }
    }

    /// Decodes the table in `bytes`, if it fits this aggregate.
    pub(super) fn fitting(&self, bytes: &[u8]) -> Option<Released> {
        Released::from_stored(bytes).filter(|released| self.table.fits(released))
    }

    /// The keys of all formats in which the answer may be stored, the first format first.
    fn keys(&self, curator: &Curator) -> Vec<String> {
        let later = (1..=FORMS).map(|form| {
            let text = format!("{} form {form}", self.first_key);
            curator.ledger.seal(&Sha256::digest(text).into())
        });
        std::iter::once(self.first_key.clone()).chain(later).collect()
    }

    /// The answer that this analyst has already paid for, in whichever format this build reads: another build may have
    /// stored it in one that it cannot.
    ///
    /// Answers that others bought are not looked up, since the time to price a question would then depend on them.
    fn known(&self, asker: Asker<'_>) -> Result<Option<Released>> {
        let (ledger, answers) = (&asker.curator.ledger, asker.curator.policy.budget.answers);
        let keys = self.keys(asker.curator);
        Ok(ledger.recall_first(asker.who, &keys, answers, |bytes| self.fitting(&bytes))?)
    }

    /// Finds the key under which to buy an answer: the first that holds no answer, of any analyst, that this build
    /// cannot read.
    pub(super) fn find_key(&mut self, curator: &Curator) -> Result<()> {
        let anyones = |key: &str| Ok(curator.ledger.find(key)?.is_some());
        self.first_key = key_in_use(curator, &self.aggregate, &self.quote, anyones)?;
        for key in self.keys(curator) {
            let stored = curator.ledger.find(&key)?;
            self.key = key;
            if stored.is_none_or(|bytes| self.fitting(&bytes).is_some()) {
                break;
            }
        }
        Ok(())
    }
}

impl Planned {
    /// Prices every aggregate, and looks up those that are free.
    pub(crate) fn quoted(self, asker: Asker<'_>) -> Result<Quoted> {
        let curator = asker.curator;
        let mut parts = Vec::with_capacity(self.aggregates.len());
        for (mut aggregate, table) in self.aggregates {
            let numbers = used_numbers(&mut aggregate, &self.numbers, &parts)?;
            let quote = quote(&aggregate, &curator.policy.budget, asker.settings)?;
            let answers = curator.policy.budget.answers;
            let hers = |key: &str| Ok(curator.ledger.recall(asker.who, key, answers)?.is_some());
            let key = key_in_use(curator, &aggregate, &quote, hers)?;
            let purchase = match free(&quote.event) {
                true => Purchase::Public,
                false => Purchase::Buy,
            };
            let first_key = key.clone();
            let mut part = Part { aggregate, table, quote, purchase, numbers, first_key, key };
            if let Some(released) = part.known(asker)? {
                part.purchase = Purchase::Known(released);
            }
            parts.push(part);
        }
        Ok(Quoted { after: self.after, parts })
    }
}

/// Whether an event costs nothing because no mechanism was used.
fn free(event: &Event) -> bool {
    matches!(event, Event::Compose(events) if events.is_empty())
}

/// The cache key of a bought answer. Anyone who reads the journal sees it, and it depends on sizes and times of
/// protected files, so it is keyed with the ledger's secret.
fn key(curator: &Curator, aggregate: &PrivateAggregate, quote: &Quote) -> String {
    let policy = curator.policy.text_without_ledger();
    curator.ledger.seal(&digest(curator, &policy, aggregate, quote))
}

/// The cache key in use: [`key`], or the plain hash of the same parts if the answer was bought under that, before
/// ledgers had secrets.
fn key_in_use(
    curator: &Curator,
    aggregate: &PrivateAggregate,
    quote: &Quote,
    is_there: impl Fn(&str) -> Result<bool>,
) -> Result<String> {
    let key = key(curator, aggregate, quote);
    if !curator.ledger.has_plain_keys() || is_there(&key)? {
        return Ok(key);
    }
    // A policy that did not end in a newline got one when its ledger was written into it.
    let policy = curator.policy.text_without_ledger();
    for text in [&*policy, policy.trim_end_matches('\n')] {
        let digest = digest(curator, text, aggregate, quote);
        let plain: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        if is_there(&plain)? {
            return Ok(plain);
        }
    }
    Ok(key)
}

/// The hash of the plan, the price, the policy and the sources. It must not leave the process.
fn digest(curator: &Curator, policy: &str, aggregate: &PrivateAggregate, quote: &Quote) -> Hash {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    part(policy);
    for table in &curator.policy.tables {
        part(&table.name);
        part(curator.catalog.table(&table.name).map_or("", |table| &table.version));
    }
    part(&quote.event.to_string());
    hash.update(aggregate.fingerprint());
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
