//! `EXPLAIN PRIVACY`: what a question would cost.

use super::{Asker, Part, Quoted, least};
use crate::answer::explain::{AggregateExplanation, Explanation, advice};
use crate::error::Result;
use crate::identity::limit;
use demure_ledger::Price;

impl Quoted {
    /// The price and the expected errors. Nothing is bought.
    pub(crate) fn explained(&self, asker: Asker<'_>) -> Result<Explanation> {
        let (curator, parts) = (asker.curator, &self.parts);
        let filter = limit(&curator.policy).filter()?;
        let to_buy = || parts.iter().filter(|part| part.is_to_buy()).map(|part| &part.quote);
        let mut price = Price { main: 0.0, delta: 0.0 };
        for quote in to_buy() {
            let (main, delta) = filter.price(&quote.event)?;
            price = Price { main: price.main + main, delta: price.delta + delta };
        }
        let balance = curator.ledger.balance_for(asker.who)?;
        let mut notes = Vec::new();
        if let Some(epsilon) = parts.first().and_then(|first| first.asked(asker)) {
            notes = vec![advice(epsilon, curator.policy.budget.neighbours)];
        }
        if least::too_little(to_buy(), &curator.policy.budget).is_some() {
            let least = curator.policy.budget.min_per_query;
            notes.push(format!("a new query costs at least ε {least}: it would be refused"));
        }
        if let Some(frozen) = &balance.frozen {
            notes.push(format!("the budget is frozen by {}: it would be refused", frozen.by));
        } else if price.main > balance.left.main || price.delta > balance.left.delta {
            let which = &balance.which;
            let unless = match which {
                demure_ledger::Rule::Subject(_) => "",
                // An answer that another analyst has bought costs the dataset nothing.
                _ => " unless somebody has bought it before",
            };
            notes
                .push(format!("{which} does not have that much left: it would be refused{unless}"));
        }
        let explained =
            |part: &Part| AggregateExplanation::new(&part.aggregate, &part.quote, part.is_known());
        Ok(Explanation {
            aggregates: parts.iter().map(explained).collect(),
            price,
            left: balance.left,
            concentrated: curator.concentrated(),
            notes,
        })
    }
}
