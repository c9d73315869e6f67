//! What is said of an answer beside the answer, and what of a failure.

use crate::desk::{Desk, Failure};
use crate::users::Role;
use demure_curator::{
    AggregateExplanation, Answer, Expected, Explanation, expected, price_in_words,
};
use demure_ledger::{Accounting, Balance, Price};
use serde_json::{Value, json};

/// `cost ε 0.5; left ε 2.5 of 3`.
pub(crate) fn cost(answer: &Answer) -> String {
    let concentrated = answer.balance.limit.accounting == Accounting::Zcdp;
    let cost = match answer.repeated {
        true => "cost nothing: this was bought before".to_owned(),
        false => format!("cost {}", price_in_words(&answer.price, concentrated)),
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

/// `{"epsilon":0.5,"delta":0}`, or with `rho`.
pub fn price(price: &Price, concentrated: bool) -> Value {
    let name = if concentrated { "rho" } else { "epsilon" };
    json!({ name: price.main, "delta": price.delta })
}

/// A price and an error, before anything is bought, for programs.
pub fn explanation(explanation: &Explanation) -> Value {
    let concentrated = explanation.concentrated;
    json!({
        "aggregates": explanation.aggregates.iter().map(aggregate).collect::<Vec<_>>(),
        "cost": price(&explanation.price, concentrated),
        "left": price(&explanation.left, concentrated),
        "affordable": explanation.price.within(explanation.left),
        "notes": explanation.notes,
    })
}

fn aggregate(aggregate: &AggregateExplanation) -> Value {
    let columns = aggregate.columns.iter().map(|column| {
        json!({
            "name": column.name,
            "mechanism": column.mechanism,
            "why": column.why,
            "sensitivity": column.sensitivity,
            "scale": column.scale,
            "error_95": expected(&column.error),
            "error": half_width(&column.error),
        })
    });
    json!({
        "columns": columns.collect::<Vec<_>>(),
        "groups": aggregate.keys,
        "contributions": aggregate.contributions,
        "joins": aggregate.joins,
        "work": aggregate.work,
        "event": aggregate.event,
        "bought_before": aggregate.bought,
    })
}

/// The error as a number, where it is in the column's own units.
fn half_width(error: &Expected) -> Option<f64> {
    match error {
        Expected::Within(error) | Expected::WithinAt { error, .. } => Some(*error),
        _ => None,
    }
}

/// A type's name, as SQL users say it.
pub fn plain_name(kind: &str) -> &str {
    match kind {
        "Utf8" | "LargeUtf8" | "Utf8View" => "text",
        "Float16" | "Float32" | "Float64" => "real",
        "Boolean" => "boolean",
        "Date32" | "Date64" => "date",
        kind if kind.starts_with("Int") || kind.starts_with("UInt") => "integer",
        kind if kind.starts_with("Timestamp") => "timestamp",
        other => other,
    }
}

impl Desk {
    /// A failure as far as `role` may know it: of files, disks and threads analysts are told a
    /// number, with which a steward finds the rest.
    pub(crate) fn told(&self, failure: Failure, role: Role) -> Failure {
        match failure {
            Failure::Failed(text) if role != Role::Steward && !about_the_question(&text) => {
                Failure::Failed(self.curator.incident(&text).to_string())
            }
            known => known,
        }
    }
}

/// Messages that tell nothing of the inside: an incident's number, or what the analyst's own
/// arithmetic on released values came to.
fn about_the_question(text: &str) -> bool {
    ["the query could not be completed (incident", "after the release:"]
        .iter()
        .any(|opening| text.starts_with(opening))
}
