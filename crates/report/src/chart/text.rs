//! The chart in a terminal: at most 80 columns, legible without colour.

use super::{Chart, Mark, Series, Shape};
use crate::width;

const WIDTH: usize = 66;
const HEIGHT: usize = 16;
/// The columns for the labels of the vertical axis.
const LABELS: usize = 10;

type Cells = Vec<Vec<char>>;

impl Chart {
    /// Draws it; later series over earlier ones.
    #[must_use]
    pub fn text(&self) -> String {
        let mut cells = vec![vec![' '; WIDTH]; HEIGHT];
        self.draw_marks(&mut cells);
        self.series.iter().for_each(|series| self.draw(series, &mut cells));
        // Labels last, and only in empty cells.
        for (point, label) in self.series.iter().flat_map(|series| self.labels(series)) {
            beside(&mut cells, self.row(point.1), self.column(point.0), &label);
        }
        let mut text: String = [&self.title, &self.note]
            .iter()
            .filter(|t| !t.is_empty())
            .map(|t| format!("{t}\n"))
            .collect();
        text += &self.head();
        let ticks = self.y.ticks(6);
        for (at, line) in cells.iter().enumerate() {
            let tick = ticks.iter().find(|(y, _)| self.row(*y) == at);
            let (label, mark) = tick.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
            let line: String = line.iter().collect();
            text += format!("{label:>LABELS$} {mark}{line}").trim_end();
            text.push('\n');
        }
        text += &self.foot();
        let named = |series: &&Series| !series.points.is_empty() && !series.name.is_empty();
        for series in self.series.iter().filter(named) {
            text += &format!("{:>LABELS$}  {}  {}\n", "", series.glyph, series.name);
        }
        text
    }

    fn column(&self, x: f64) -> usize {
        (self.x.place(x) * (WIDTH - 1) as f64).round() as usize
    }

    fn row(&self, y: f64) -> usize {
        HEIGHT - 1 - (self.y.place(y) * (HEIGHT - 1) as f64).round() as usize
    }

    fn draw_marks(&self, cells: &mut Cells) {
        for mark in &self.marks {
            match mark {
                Mark::Upright(x, _) => {
                    let at = self.column(*x);
                    cells.iter_mut().for_each(|line| line[at] = '┊');
                }
                Mark::Level(y, label) => {
                    let line = &mut cells[self.row(*y)];
                    line.fill('┄');
                    let end = WIDTH.saturating_sub(label.chars().count() + 1);
                    line[end..].iter_mut().zip(label.chars()).for_each(|(cell, c)| *cell = c);
                }
            }
        }
    }

    fn draw(&self, series: &Series, cells: &mut Cells) {
        let place = |&(x, y): &(f64, f64)| (self.row(y), self.column(x));
        let shown: Vec<(usize, usize)> =
            series.points.iter().filter(|p| self.shows(**p)).map(place).collect();
        match series.shape {
            Shape::Line => {
                shown.windows(2).for_each(|pair| join(cells, pair[0], pair[1], series.glyph));
            }
            Shape::Bars => {
                let kin: Vec<&Series> =
                    self.series.iter().filter(|s| s.is_drawn_as_bars()).collect();
                let own = kin.iter().position(|s| s.name == series.name).unwrap_or(0);
                let each = (WIDTH / self.x.groups().max(1) / (kin.len() + 1)).max(1);
                for (row, middle) in &shown {
                    let start = (middle + own * each).saturating_sub(each * kin.len() / 2);
                    for line in &mut cells[*row..] {
                        let end = (start + each).min(WIDTH);
                        line[start.min(end)..end].fill(series.glyph);
                    }
                }
            }
            Shape::Chosen => {
                for (row, column) in &shown {
                    cells[*row][..*column].fill('·');
                    cells.iter_mut().skip(*row).for_each(|line| line[*column] = ':');
                }
            }
            Shape::Dots | Shape::Band(_) => {}
        }
        if !matches!(series.shape, Shape::Bars | Shape::Band(_)) {
            shown.iter().for_each(|(row, column)| cells[*row][*column] = series.glyph);
        }
    }

    /// The labels of the vertical lines.
    fn head(&self) -> String {
        let mut line = vec![' '; LABELS + 2 + WIDTH];
        for mark in &self.marks {
            let Mark::Upright(x, label) = mark else { continue };
            let letters: Vec<char> = label.chars().collect();
            let start =
                (LABELS + 2 + self.column(*x)).min(line.len().saturating_sub(letters.len()));
            let free = line[start..].iter().take(letters.len() + 1).all(|c| *c == ' ');
            if free {
                line[start..start + letters.len()].copy_from_slice(&letters);
            }
        }
        let above = match self.y.name.as_str() {
            "" => String::new(),
            name => format!("{}{name}\n", " ".repeat(LABELS.saturating_sub(width(name)))),
        };
        let line: String = line.iter().collect();
        match line.trim_end() {
            "" => above,
            line => format!("{above}{line}\n"),
        }
    }

    fn foot(&self) -> String {
        let mut axis = vec!['─'; WIDTH];
        let mut labels = vec![' '; LABELS + 2 + WIDTH + 2];
        let mut free = 0;
        for (x, label) in self.x.ticks(8) {
            let letters: Vec<char> = label.chars().collect();
            let middle = (LABELS + 2 + self.column(x)).saturating_sub(letters.len() / 2);
            let start = middle.min(labels.len().saturating_sub(letters.len()));
            if start >= free && start + letters.len() <= labels.len() {
                axis[self.column(x)] = '┬';
                labels[start..start + letters.len()].copy_from_slice(&letters);
                free = start + letters.len() + 2;
            }
        }
        let (axis, labels): (String, String) = (axis.iter().collect(), labels.iter().collect());
        let mut text = format!("{:>LABELS$} └{axis}\n{}\n", "", labels.trim_end());
        if !self.x.name.is_empty() {
            text += &format!("{:>width$}\n", self.x.name, width = LABELS + 2 + WIDTH);
        }
        text
    }
}

/// Fills the cells between two cells, one per step.
fn join(cells: &mut Cells, from: (usize, usize), to: (usize, usize), glyph: char) {
    let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1));
    for step in 0..=steps {
        let share = step as f64 / steps.max(1) as f64;
        let at = |a: usize, b: usize| (a as f64 + share * (b as f64 - a as f64)).round() as usize;
        cells[at(from.0, to.0)][at(from.1, to.1)] = glyph;
    }
}

/// Writes a label above a cell, to its right or below it, where there is space.
fn beside(cells: &mut Cells, row: usize, column: usize, label: &str) {
    let letters: Vec<char> = label.chars().collect();
    let blank = |c: &char| matches!(c, ' ' | '┊');
    let places = [(row.wrapping_sub(1), column + 2), (row, column + 2), (row + 1, column + 2)];
    for (row, start) in places {
        let Some(line) = cells.get_mut(row) else { continue };
        let end = start + letters.len();
        // One more cell on each side, so that words stay separate.
        let around = start.saturating_sub(1)..(end + 1).min(line.len());
        if end <= line.len() && line[around].iter().all(blank) {
            line[start..end].copy_from_slice(&letters);
            return;
        }
    }
}
