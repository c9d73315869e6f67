//! Prints an answer as a table, with its cost, the budget that is left and its error.

use crate::Failure;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_curator::{Answer, expected, price_in_words};
use demure_ledger::{Accounting, Balance};
use demure_report::number::{grouped_if_long, whole_with_error, with_error};
use demure_report::table::{Cell, Column};
use demure_report::{Table, printable, short};
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

/// From it on, thousands are set apart: 2024 may be a year, 20,240 is a count.
const LONG: f64 = 10_000.0;

/// The rows of an answer. With `intervals`, `x`, `x_low` and `x_high` are shown as one: `value ± half`.
pub(crate) fn table(answer: &Answer, intervals: bool) -> Result<Table, Failure> {
    let failed = |error: ArrowError| Failure::usage(format!("showing the answer: {error}"));
    let fields = answer.schema.fields();
    let name = |at: usize| fields.get(at).map(|field| field.name().as_str());
    let mut columns = Vec::new();
    let mut at = 0;
    while let Some(this) = name(at) {
        let ends = intervals
            && name(at + 1) == Some(&format!("{this}_low"))
            && name(at + 2) == Some(&format!("{this}_high"));
        let mut column = Column {
            name: printable(this),
            cells: Vec::new(),
            numeric: fields[at].data_type().is_numeric(),
        };
        for batch in &answer.batches {
            let high = if ends { Some(batch.column(at + 2)) } else { None };
            cells(batch.column(at), high, &mut column.cells).map_err(failed)?;
        }
        columns.push(column);
        at += if ends { 3 } else { 1 };
    }
    Ok(Table { columns, ..Table::default() })
}

fn cells(
    values: &ArrayRef,
    high: Option<&ArrayRef>,
    into: &mut Vec<Cell>,
) -> Result<(), ArrowError> {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(values, &options)?;
    let numeric = values.data_type().is_numeric();
    let whole = values.data_type().is_integer();
    let numbers = if numeric { Some(cast(values, &DataType::Float64)?) } else { None };
    for row in 0..values.len() {
        let at = |array: &ArrayRef| {
            let array = array.as_primitive_opt::<Float64Type>()?;
            array.is_valid(row).then(|| array.value(row))
        };
        let number = numbers.as_ref().and_then(at);
        let error = number.and_then(|x| Some((high.and_then(at)? - x).abs()));
        let error = error.filter(|error| error.is_finite());
        let (text, half) = match (number, error) {
            (Some(x), Some(error)) => {
                let round = if whole { whole_with_error } else { with_error };
                let (text, half) = round(x, error);
                (text, Some(half))
            }
            (Some(x), None) if !whole || (LONG..1e15).contains(&x.abs()) => {
                (grouped_if_long(x), None)
            }
            _ => (printable(&formatter.value(row).to_string()), None),
        };
        into.push(Cell { text, half, number, error });
    }
    Ok(())
}
