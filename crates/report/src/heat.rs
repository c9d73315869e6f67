//! A triangle of cells, one for each pair of names, darker where the number is larger.

use crate::chart::svg_frame;
use crate::number::short;
use crate::page::escape;
use std::fmt::Write;

/// A number for each pair of names.
pub struct HeatMap {
    /// The title above.
    pub title: String,
    /// The names, from left to right and from top to bottom.
    pub names: Vec<String>,
    /// The pairs, by their places, with a number and what is said of it when it is pointed at.
    pub cells: Vec<HeatCell>,
}

/// One cell.
pub struct HeatCell {
    /// The places of the two names.
    pub pair: (usize, usize),
    /// The number. A negative one is drawn like 0.
    pub value: f64,
    /// What is said of it.
    pub words: String,
}

const LEFT: f64 = 190.0;
const TOP: f64 = 56.0;
const WIDTH: f64 = 760.0;
/// The largest cell.
const LARGEST: f64 = 44.0;
/// The longest name; longer ones are cut.
const NAME: usize = 26;
/// With more names, cells are too small to be pointed at.
const MOST: usize = 100;

impl HeatMap {
    /// Draws it; names beyond the hundredth are left out.
    #[must_use]
    pub fn svg(&self) -> String {
        let count = self.names.len().min(MOST);
        let size = ((WIDTH - LEFT - 20.0) / (count.max(2) - 1) as f64).min(LARGEST);
        let most = self.cells.iter().map(|cell| cell.value).fold(0.0, f64::max);
        let cut = |text: &str| escape(&text.chars().take(NAME).collect::<String>());
        let mut body =
            format!("<text class=\"title\" x=\"16\" y=\"30\">{}</text>\n", escape(&self.title));
        // Writing to a string cannot fail.
        for (row, name) in self.names.iter().take(count).enumerate().skip(1) {
            let y = TOP + size * (row as f64 - 0.5) + 4.0;
            let _ = writeln!(
                body,
                "<text class=\"end\" x=\"{}\" y=\"{y:.1}\">{}</text>",
                LEFT - 8.0,
                cut(name)
            );
        }
        for HeatCell { pair: (a, b), value, words } in &self.cells {
            let (left, below) = (*a.min(b), *a.max(b));
            if below >= count || left == below {
                continue;
            }
            let (x, y) = (LEFT + size * left as f64, TOP + size * (below - 1) as f64);
            let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
            let _ = writeln!(
                body,
                "<rect class=\"c2 fill\" opacity=\"{:.3}\" x=\"{x:.1}\" y=\"{y:.1}\" \
                 width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                0.04 + 0.9 * share,
                size - 1.0,
                size - 1.0,
                escape(words)
            );
        }
        let bottom = TOP + size * count.saturating_sub(1) as f64;
        for (column, name) in self.names.iter().take(count.saturating_sub(1)).enumerate() {
            let (x, y) = (LEFT + size * (column as f64 + 0.5), bottom + 12.0);
            let _ = writeln!(
                body,
                "<text class=\"end\" x=\"{x:.1}\" y=\"{y:.1}\" transform=\"rotate(-45 {x:.1} {y:.1})\">{}</text>",
                cut(name)
            );
        }
        let _ = writeln!(
            body,
            "<text x=\"{LEFT}\" y=\"{:.1}\">darkest: {}</text>",
            TOP - 8.0,
            short((most * 1e4).round() / 1e4)
        );
        svg_frame((WIDTH, bottom + 150.0), &self.title, &body, true)
    }
}

#[cfg(test)]
mod tests;
