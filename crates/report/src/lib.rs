//! Presentation: numbers, tables, charts and pages in one style.
//!
//! | module | what it holds |
//! |---|---|
//! | [`number`] | numbers, percentages and times as text |
//! | [`fields`] | named fields, as aligned text or as JSON |
//! | [`table`] | tables, as aligned text or as HTML |
//! | [`records`] | rows as a table for people and as objects for programs |
//! | [`chart`] | curves, points, bars and bands over two axes, in a terminal or as SVG |
//! | [`bars`] | named horizontal bars with their intervals, in a terminal or as SVG |
//! | [`estimates`] | estimates with intervals and bars, in a terminal or as SVG |
//! | [`heat`] | a number for each pair of names, as SVG |
//! | [`page`] | HTML: escaping, the style and the frame of every page |
//! | [`document`] | a result with its tables, charts and explanation, as text or as a page |
//! | [`progress`] | a bar, a spinner or lines on stderr while something takes long |
//!
//! # What this crate does not do
//! It computes nothing and decides nothing: callers bring numbers that may be shown. It reads no
//! files, and only [`progress`] writes to a stream by itself.
//!
//! # Example
//! ```
//! use demure_report::chart::{Axis, Chart, Series};
//!
//! let points = (1..=50).map(|i| f64::from(i) / 10.0).map(|x| (x, 3.0 / x)).collect();
//! let chart = Chart {
//!     title: "error by ε".to_owned(),
//!     x: Axis::logarithmic("ε", 0.1, 5.0),
//!     y: Axis::logarithmic("error", 0.6, 30.0),
//!     series: vec![Series::line("Laplace", '·', points)],
//!     ..Chart::default()
//! };
//! assert!(chart.text().contains("error by ε"));
//! assert!(chart.svg().starts_with("<svg"));
//! ```

#![forbid(unsafe_code)]

pub mod bars;
pub mod chart;
pub mod document;
pub mod estimates;
pub mod fields;
pub mod heat;
pub mod number;
pub mod page;
pub mod progress;
pub mod records;
pub mod table;

pub use fields::{Report, integer, line, named, plain};
pub use number::{counted, grouped, percent, short, time};
pub use records::Records;
pub use table::Table;

use unicode_width::UnicodeWidthStr;

/// An answer could not be written to its stream.
#[derive(Debug, thiserror::Error)]
#[error("writing the answer: {0}")]
pub struct WriteError(#[from] pub std::io::Error);

/// The number of columns that a text takes in a terminal.
fn width(text: &str) -> usize {
    text.width()
}

/// `text` padded with spaces after it, or before it, up to `columns`.
fn padded(text: &str, columns: usize, right: bool) -> String {
    let blanks = " ".repeat(columns.saturating_sub(width(text)));
    if right { blanks + text } else { text.to_owned() + &blanks }
}

/// `text` on one line, without characters that a terminal would interpret: controls, and marks that reverse the
/// direction of what follows.
#[must_use]
pub fn printable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{FFFD}' } else { c }).collect()
}

/// The same line by line.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// `text` broken into lines of at most `columns`, with `indent` before all but the first.
#[must_use]
pub fn wrapped(text: &str, columns: usize, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
