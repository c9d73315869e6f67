//! What is said of an answer beside the answer.

use demure_curator::{Answer, price_in_words};
use demure_ledger::{Accounting, Balance};

/// `cost ε 0.5; left ε 2.5 of 3`.
pub(crate) fn cost(answer: &Answer) -> String {
    let concentrated = answer.balance.limit.accounting == Accounting::Zcdp;
    let cost = match (answer.repeated, answer.columns.is_empty()) {
        (true, _) => "cost nothing: this was bought before".to_owned(),
        (false, true) => "cost nothing".to_owned(),
        (false, false) => format!("cost {}", price_in_words(&answer.price, concentrated)),
    };
    format!("{cost}; left {}", left(&answer.balance))
}

/// What is left of the dataset's budget.
pub(crate) fn left(balance: &Balance) -> String {
    let concentrated = balance.limit.accounting == Accounting::Zcdp;
    let left = price_in_words(&balance.left, concentrated);
    match balance.limit.accounting {
        Accounting::Pure => format!("{left} of ε {}", balance.limit.epsilon),
        Accounting::Zcdp => {
            let (spent, all) = (balance.spent_epsilon, balance.limit.epsilon);
            format!("{left}; what is spent amounts to ε {spent:.3} of {all}")
        }
    }
}
