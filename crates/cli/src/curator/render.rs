//! Prints an answer as a table, with its cost, the budget that is left and its error.

use crate::Failure;
use demure_curator::{Answer, AnswerCell, AnswerColumn};
use demure_report::number::{grouped_if_long, whole_with_error, with_error};
use demure_report::table::{Cell, Column};
use demure_report::{Table, printable};

/// Its errors, its cost and advice, on stderr.
pub(crate) fn print(answer: &Answer) {
    for line in answer.errors_in_words() {
        note!("{line}");
    }
    note!("{}", answer.cost_in_words());
    for note in &answer.notes {
        note!("note: {note}");
    }
}

/// From it on, thousands are set apart: 2024 may be a year, 20,240 is a count.
const LONG: f64 = 10_000.0;

/// The rows of an answer. With `intervals`, `x`, `x_low` and `x_high` are shown as one: `value ± half`, or `value (low to
/// high)` where one end is the value.
pub(crate) fn table(answer: &Answer, intervals: bool) -> Result<Table, Failure> {
    let columns = answer.cells(intervals);
    let columns =
        columns.map_err(|error| Failure::usage(format!("showing the answer: {error}")))?;
    let column = |AnswerColumn { name, numeric, whole, cells }: AnswerColumn| {
        let lopsided = cells.iter().any(AnswerCell::is_lopsided);
        let show = |it| if lopsided { with_ends(it, whole) } else { cell(it, whole) };
        Column { name: printable(&name), cells: cells.into_iter().map(show).collect(), numeric }
    };
    Ok(Table { columns: columns.into_iter().map(column).collect(), ..Table::default() })
}

/// `97 (97 to 120)`: a value with the ends of its interval, where `±` would mislead.
fn with_ends(it: AnswerCell, whole: bool) -> Cell {
    let (Some(x), Some(error), Some((low, high))) = (it.number, it.error, it.ends) else {
        return cell(it, whole);
    };
    let text = |x: f64| (if whole { whole_with_error } else { with_error })(x, error).0;
    let text = format!("{} ({} to {})", text(x), text(low), text(high));
    Cell { text, half: None, number: Some(x), error: Some(error) }
}

fn cell(AnswerCell { text, number, error, .. }: AnswerCell, whole: bool) -> Cell {
    let (text, half) = match (number, error) {
        (Some(x), Some(error)) => {
            let (text, half) = (if whole { whole_with_error } else { with_error })(x, error);
            (text, Some(half))
        }
        (Some(x), None) if !whole || (LONG..1e15).contains(&x.abs()) => (grouped_if_long(x), None),
        _ => (printable(&text), None),
    };
    Cell { text, half, number, error }
}
