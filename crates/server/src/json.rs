//! Answers, prices, ledger lines and accounts for programs, and what is said of a failure.

use crate::query_service::{Failure, QueryService};
use crate::users::{Account, Record, Role, Token};

pub use crate::users::hex;

use demure_curator::{AggregateExplanation, Answer, Expected, Explanation, expected};
use demure_ledger::{Accounting, Entry, Outcome, Price, Question};
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// `{"epsilon":0.5,"delta":0}`, or with `rho`.
pub fn price(price: &Price, concentrated: bool) -> Value {
    let name = if concentrated { "rho" } else { "epsilon" };
    json!({ name: price.main, "delta": price.delta })
}

/// What is said of an answer beside its rows, for programs. `left` is what its reader has left, and `again` the
/// name of the field that says whether it was bought before.
pub fn answer(answer: &Answer, left: &Price, again: &str) -> Map<String, Value> {
    let balance = &answer.balance;
    let concentrated = balance.limit.accounting == Accounting::Zcdp;
    let errors = answer.columns.iter().map(|column| {
        json!({
            "column": column.name,
            "mechanism": column.mechanism,
            "error_95": expected(column),
        })
    });
    let fields = [
        ("cost", price(&answer.price, concentrated)),
        ("left", price(left, concentrated)),
        ("spent_epsilon", json!(balance.spent_epsilon)),
        ("limit_epsilon", json!(balance.limit.epsilon.get())),
        (again, json!(answer.repeated)),
        ("errors", errors.collect()),
        ("notes", json!(answer.notes)),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// How a moment is written.
pub type Moment = fn(SystemTime) -> String;

/// A line of the ledger, without what says something of the data: the key that an answer is found by is nobody's
/// business, and neither is a hash of the time when keys were plain.
pub fn entry(entry: &Entry, concentrated: bool, moment: Moment) -> Value {
    json!({
        "seq": entry.seq,
        "time": moment(entry.time),
        "kind": entry.kind.to_string(),
        "refers": entry.refers,
        "who": entry.who,
        "asked": entry.question.as_ref().map(question),
        "outcome": entry.outcome.map(Outcome::name),
        "query": entry.query,
        "event": entry.event,
        "cost": price(&entry.price, concentrated),
        "hash": entry.shareable.then(|| hex(&entry.hash)),
    })
}

/// A question as its analyst wrote it.
fn question(question: &Question) -> Value {
    let settings = question.settings.iter();
    let settings: Map<String, Value> =
        settings.map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "sql": question.sql,
        "values": question.values,
        "settings": settings,
        "complete": question.complete,
    })
}

/// An account.
pub fn account(account: &Account, moment: Moment) -> Value {
    json!({
        "name": account.user.name,
        "role": account.user.role.name(),
        "created": moment(account.created),
        "disabled": account.disabled,
        "locked": account.locked,
        "tokens": account.tokens,
    })
}

/// A token; it cannot be used from what is shown.
pub fn token(token: &Token, moment: Moment) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "reads": if token.name.is_some() { "everything of the account" } else { "metrics" },
        "label": token.label,
        "created": moment(token.created),
        "expires": moment(token.expires),
        "expired": token.expired,
    })
}

/// A line of the record of accounts.
pub fn record(record: &Record, moment: Moment) -> Value {
    json!({
        "time": moment(record.time),
        "who": record.who,
        "action": record.action,
        "detail": record.detail,
    })
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
            "error_95": expected(column),
            "error": half_width(&column.error),
            "per_row": column.per_row,
            "per_sum": column.per_sum,
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
        kind if kind.starts_with("Interval") => "interval",
        kind if kind.starts_with("Int") || kind.starts_with("UInt") => "integer",
        kind if kind.starts_with("Timestamp") => "timestamp",
        other => other,
    }
}

impl QueryService {
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
