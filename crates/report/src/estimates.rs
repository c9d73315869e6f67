//! Estimates as rows: a name, a number, an interval, a bar. Legible without colour.

use crate::bars::{self, Bar, Bars, bar};
use crate::chart::Axis;
use crate::short;
use std::fmt::Write;

/// Columns of a bar.
const BAR: usize = 36;
/// The longest name that is shown whole.
const NAME: usize = 24;
/// More rows than these are shown only if asked for.
const ROWS: usize = 40;

/// One thing that was estimated.
#[derive(Clone, Debug)]
pub struct EstimateRow {
    /// What it is of.
    pub name: String,
    /// The estimate.
    pub estimate: f64,
    /// The interval, where there is one.
    pub interval: Option<(f64, f64)>,
    /// The nearest estimate that is possible, where it is shown.
    pub consistent: Option<f64>,
}

/// Estimates that belong together.
#[derive(Clone, Debug)]
pub struct EstimateTable {
    /// What they are of.
    pub name: String,
    /// How they were made.
    pub note: String,
    /// From top to bottom.
    pub rows: Vec<EstimateRow>,
    /// Where bars begin and end.
    pub axis: (f64, f64),
}

/// An axis for shares: from 0 to a round number that no bar is above, at most 1.
#[must_use]
pub fn share_axis(rows: &[EstimateRow]) -> (f64, f64) {
    let ends =
        rows.iter().map(|r| r.interval.map_or(r.estimate, |(_, upper)| upper.max(r.estimate)));
    let highest = ends.fold(0.0, f64::max);
    let round = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
    (0.0, round.into_iter().find(|x| highest <= *x).unwrap_or(1.0))
}

/// All tables as one picture.
#[must_use]
pub fn estimates_svg(title: &str, tables: &[EstimateTable]) -> String {
    let part = |table: &EstimateTable| {
        let note = table.note.lines().next().unwrap_or_default();
        let title = match tables.len() > 1 {
            true => format!("{}: {note}", table.name),
            false => note.to_owned(),
        };
        let bar = |row: &EstimateRow| Bar {
            name: row.name.clone(),
            value: row.estimate,
            interval: row.interval,
        };
        let axis = Axis::linear("", table.axis.0, table.axis.1);
        Bars { title, axis, rows: table.rows.iter().map(bar).collect() }
    };
    bars::svg(title, &tables.iter().map(part).collect::<Vec<_>>())
}

impl EstimateTable {
    /// The table in at most 80 columns or so; the largest rows if there are too many and not all are wanted.
    #[must_use]
    pub fn text(&self, confidence: &str, all: bool) -> String {
        let mut shown: Vec<&EstimateRow> = self.rows.iter().collect();
        let left = shown.len().saturating_sub(ROWS);
        let cut = left > 0 && !all;
        if cut {
            shown.sort_by(|a, b| b.estimate.total_cmp(&a.estimate));
            shown.truncate(ROWS);
        }
        let width = shown.iter().map(|r| name(&r.name).chars().count()).max().unwrap_or(0).max(5);
        let digits = if self.axis.1 <= 1.0 && self.axis.0 >= 0.0 { 4 } else { 2 };
        let number = |x: f64| format!("{x:.digits$}");
        let span = |r: &EstimateRow| {
            r.interval.map_or(String::new(), |(a, b)| format!("{} – {}", number(a), number(b)))
        };
        let wide =
            shown.iter().map(|r| number(r.estimate).chars().count()).max().unwrap_or(0).max(8);
        let spans = shown.iter().map(|r| span(r).chars().count()).max().unwrap_or(0);
        let spans = if spans > 0 { spans.max(confidence.chars().count() + 9) } else { 0 };
        let nearest = shown.iter().any(|r| r.consistent.is_some());
        let mut text = format!("{:width$}  {:>wide$}", "value", "estimate");
        if spans > 0 {
            let _ = write!(text, "  {:spans$}", format!("{confidence} interval"));
        }
        if nearest {
            let _ = write!(text, "  {:>10}", "consistent");
        }
        let axis = Axis::linear("", self.axis.0, self.axis.1);
        let (low, high) = (short(self.axis.0), short(self.axis.1));
        let _ = writeln!(text, "  {low}{high:>rest$}", rest = BAR - low.chars().count());
        for row in shown {
            let _ = write!(text, "{:width$}  {:>wide$}", name(&row.name), number(row.estimate));
            if spans > 0 {
                let _ = write!(text, "  {:spans$}", span(row));
            }
            if nearest {
                let _ = write!(text, "  {:>10}", row.consistent.map(number).unwrap_or_default());
            }
            let bar = bar(&axis, row.estimate, row.interval, BAR);
            text = format!("{text}  {bar}").trim_end().to_owned() + "\n";
        }
        if cut {
            let _ = writeln!(text, "… and {left} smaller ones (--all shows them)");
        }
        text
    }
}

/// A name in few columns, without anything that a terminal would obey.
fn name(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { '·' } else { c }).collect();
    if clean.chars().count() <= NAME {
        return clean;
    }
    clean.chars().take(NAME - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
