//! What is said of an answer beside the answer: its cost, what is left, how wrong it may be.

use crate::report::short;
use demure_curator::{Answer, expected, price_in_words};
use demure_ledger::{Accounting, Balance};
use demure_server::told::price;
use serde_json::{Map, Value, json};

/// `cost ε 0.5; left ε 2.5 of 3`.
pub(crate) fn cost(answer: &Answer) -> String {
    let concentrated = answer.balance.limit.accounting == Accounting::Zcdp;
    let cost = match answer.repeated {
        true => "cost nothing: this was bought before".to_owned(),
        false => format!("cost {}", price_in_words(&answer.price, concentrated)),
    };
    format!("{cost}; left {}", left(&answer.balance))
}

/// What rounding left over of a budget is nothing.
fn amount(x: f64) -> String {
    short(if x < 1e-12 { 0.0 } else { x })
}

/// `ε 2.5 of 3`; for zCDP `ρ 0.08 of 0.1 (ε 0.9 of 3 spent)`. δ where there is one.
pub(crate) fn left(balance: &Balance) -> String {
    let main = match balance.limit.accounting {
        Accounting::Pure => {
            format!("ε {} of {}", amount(balance.left.main), short(balance.limit.epsilon.get()))
        }
        Accounting::Zcdp => format!(
            "ρ {}; what is spent amounts to ε {} of {}",
            amount(balance.left.main),
            short(balance.spent_epsilon),
            short(balance.limit.epsilon.get())
        ),
    };
    match balance.spent.delta > 0.0 {
        true => format!("{main}, δ {:.1e}", balance.left.delta),
        false => main,
    }
}

/// Each noised column's expected error: `count(*): ± 6 (95 %)`.
pub(crate) fn errors(answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for column in &answer.columns {
        let line = format!("{}: {} (95 %)", column.name, expected(&column.error));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// All of it, for stderr.
pub(crate) fn print(answer: &Answer) {
    for line in errors(answer) {
        eprintln!("{line}");
    }
    eprintln!("{}", cost(answer));
    for note in &answer.notes {
        eprintln!("note: {note}");
    }
}

/// All of it, for programs.
pub(crate) fn fields(answer: &Answer) -> Map<String, Value> {
    let balance = &answer.balance;
    let concentrated = balance.limit.accounting == Accounting::Zcdp;
    let errors = answer.columns.iter().map(|column| {
        json!({ "column": column.name, "mechanism": column.mechanism, "error_95": expected(&column.error) })
    });
    let mut fields = Map::new();
    fields.insert("cost".into(), price(&answer.price, concentrated));
    fields.insert("left".into(), price(&balance.left, concentrated));
    fields.insert("spent_epsilon".into(), json!(balance.spent_epsilon));
    fields.insert("limit_epsilon".into(), json!(balance.limit.epsilon.get()));
    fields.insert("bought_before".into(), json!(answer.repeated));
    fields.insert("errors".into(), errors.collect());
    fields.insert("notes".into(), json!(answer.notes));
    fields
}
