use super::*;
use demure_ledger::{Accounting, Price};

#[test]
fn a_budget_refusal_has_a_price_and_a_hint() {
    let error = Error::Ledger(demure_ledger::Error::OverBudget {
        accounting: Accounting::Pure,
        asked: Price { main: 2.0, delta: 0.0 },
        left: Price { main: 1.5, delta: 1e-6 },
        which: demure_ledger::Rule::Dataset,
    });
    let words = words(&error);
    assert!(words.starts_with("refused: this query costs ε 2 and the budget has ε 1.5"));
    assert!(words.contains("\nhint: "));
}
