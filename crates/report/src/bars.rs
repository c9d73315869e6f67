//! Named horizontal bars with their intervals.

use crate::chart::{Axis, svg_frame};
use crate::number::short;
use crate::page::escape;
use crate::table::{Column, Table};
use crate::{padded, width};
use std::fmt::Write;

/// A bar in a terminal, at most `cells` long: `██████├─┼─┤` with an interval, `██████` without. A value at the lower
/// end of a linear axis has no bar; on a logarithmic one it has one cell, so that it is visible.
#[must_use]
pub fn bar(axis: &Axis, value: f64, interval: Option<(f64, f64)>, cells: usize) -> String {
    let cell = |x: f64| (axis.place(x) * (cells - 1) as f64).round() as usize;
    let at = cell(value);
    let Some((low, high)) = interval else {
        let some = axis.shows(value) && (axis.is_logarithmic() || axis.place(value) > 0.0);
        return if some { "█".repeat(at + 1) } else { String::new() };
    };
    let (low, high) = (cell(low), cell(high));
    let mark = |here: usize| match here {
        _ if here == at => '┼',
        _ if here < low => '█',
        _ if here == low => '├',
        _ if here == high => '┤',
        _ => '─',
    };
    (0..=high.max(at)).map(mark).collect()
}

/// The used share of something: `[█████···············]`.
#[must_use]
pub fn gauge(share: f64) -> String {
    let filled = (share.clamp(0.0, 1.0) * 20.0).ceil() as usize;
    format!("[{}{}]", "█".repeat(filled), "·".repeat(20 - filled))
}

/// A bar with an interval for each row of a table: the first column names it, and the last column with errors is
/// drawn. `None` for values that a bar from 0 cannot show.
#[must_use]
pub fn of_table(table: &Table, indent: &str) -> Option<String> {
    const CELLS: usize = 44;
    let names = table.columns.first()?;
    let erring = |column: &&Column| column.cells.iter().any(|cell| cell.half.is_some());
    let values = table.columns.iter().rev().find(erring)?;
    let numbers: Option<Vec<(f64, f64)>> =
        values.cells.iter().map(|cell| Some((cell.number?, cell.error?))).collect();
    let numbers = numbers?;
    let most = numbers.iter().map(|(x, error)| x + error).fold(0.0, f64::max);
    if !most.is_finite() || most <= 0.0 {
        return None;
    }
    let axis = Axis::linear("", 0.0, most);
    let named = names.cells.iter().map(|cell| width(&cell.text)).max()?.max(width(&names.name));
    let digits = values.cells.iter().map(|cell| width(&cell.text)).max()?;
    let mut text = format!("{indent}{}  {}\n", padded(&names.name, named, false), values.name);
    for ((name, value), (x, error)) in names.cells.iter().zip(&values.cells).zip(numbers) {
        let half = value.half.as_deref().unwrap_or_default();
        let bar = bar(&axis, x, Some((x - error, x + error)), CELLS);
        let (name, value) = (padded(&name.text, named, false), padded(&value.text, digits, true));
        text += &format!("{indent}{name}  {bar:CELLS$} {value} ± {half}\n");
    }
    Some(text)
}

/// Bars over one axis.
pub struct Bars {
    /// The title above.
    pub title: String,
    /// The axis that the bars share.
    pub axis: Axis,
    /// The bars, from top to bottom.
    pub rows: Vec<Bar>,
}

/// One bar.
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its value, where it ends.
    pub value: f64,
    /// The interval around its end, if it has one.
    pub interval: Option<(f64, f64)>,
}

const WIDTH: f64 = 760.0;
/// The left edge of the bars.
const LEFT: f64 = 190.0;
/// The space for the numbers after the bars.
const RIGHT: f64 = 150.0;
const ROW: f64 = 24.0;
/// The largest number of bars that are drawn.
const MOST: usize = 200;
/// The longest name; longer ones are cut.
const NAME: usize = 26;

/// Draws the parts below each other.
#[must_use]
pub fn svg(title: &str, parts: &[Bars]) -> String {
    let cut = |text: &str, most: usize| escape(&text.chars().take(most).collect::<String>());
    let mut body = format!("<text class=\"title\" x=\"16\" y=\"30\">{}</text>\n", cut(title, 90));
    let mut y = 30.0;
    for Bars { title, axis, rows } in parts {
        let _ = writeln!(body, "<text x=\"16\" y=\"{}\">{}</text>", y + 26.0, escape(title));
        y += 38.0;
        let shown = &rows[..rows.len().min(MOST)];
        let bottom = y + ROW * shown.len() as f64;
        let place = |value: f64| LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT);
        for (value, label) in axis.ticks(6) {
            let (x, below) = (place(value), bottom + 16.0);
            let _ = writeln!(
                body,
                "<path class=\"grid\" d=\"M{x:.1} {y:.1}V{bottom:.1}\"/>\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{below:.1}\">{label}</text>"
            );
        }
        for row in shown {
            let (middle, line, x) = (y + ROW / 2.0, y + ROW / 2.0 + 4.0, place(row.value));
            let _ = write!(
                body,
                "<text class=\"end\" x=\"{}\" y=\"{line:.1}\">{}</text>\
                 <rect class=\"c0 fill\" opacity=\".35\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\"/>",
                LEFT - 8.0,
                cut(&row.name, NAME),
                y + 4.0,
                x - LEFT,
                ROW - 8.0,
            );
            let mut words = short((row.value * 1e4).round() / 1e4);
            if let Some((low, high)) = row.interval {
                let (a, b, top) = (place(low), place(high), middle - 4.0);
                let _ = write!(
                    body,
                    "<path class=\"c0 line\" d=\"M{a:.1} {top:.1}v8M{a:.1} {middle:.1}H{b:.1}M{b:.1} {top:.1}v8\"/>"
                );
                words += &format!(" [{low:.3}, {high:.3}]");
            }
            let _ = writeln!(
                body,
                "<circle class=\"c0 fill\" cx=\"{x:.1}\" cy=\"{middle:.1}\" r=\"3\"/>\
                 <text x=\"{}\" y=\"{line:.1}\">{words}</text>",
                WIDTH - RIGHT + 8.0,
            );
            y += ROW;
        }
        y = bottom + 24.0;
        if shown.len() < rows.len() {
            let (shown, all) = (shown.len(), rows.len());
            let _ = writeln!(body, "<text x=\"16\" y=\"{y}\">the first {shown} of {all}</text>");
            y += 16.0;
        }
    }
    svg_frame((WIDTH, y + 8.0), title, &body, true)
}

#[cfg(test)]
mod tests;
