//! The picture in a terminal: at most 80 columns, legible without colour.

use super::Chart;

const WIDTH: usize = 66;
const HEIGHT: usize = 18;
/// Columns for the labels of the upright axis.
const LABELS: usize = 8;

impl Chart {
    /// Draws it; later series over earlier ones.
    pub(in crate::attack) fn text(&self) -> String {
        let mut cells = vec![vec![' '; WIDTH]; HEIGHT];
        let column = |x: f64| (self.x.place(x) * (WIDTH - 1) as f64).round() as usize;
        let row = |y: f64| HEIGHT - 1 - (self.y.place(y) * (HEIGHT - 1) as f64).round() as usize;
        for (x, _) in &self.marks {
            cells.iter_mut().for_each(|line| line[column(*x)] = '┊');
        }
        for series in &self.series {
            for (x, y) in series.points.iter().filter(|p| self.x.shows(p.0) && self.y.shows(p.1)) {
                cells[row(*y)][column(*x)] = series.glyph;
            }
        }
        // Labels last, and only where nothing is.
        for series in &self.series {
            for ((x, y), label) in series.points.iter().zip(&series.labels) {
                if self.x.shows(*x) && self.y.shows(*y) {
                    beside(&mut cells, row(*y), column(*x), label);
                }
            }
        }
        let mut text = format!("{}\n", self.title);
        text += &self.head(column);
        let ticks = self.y.ticks();
        for (at, line) in cells.iter().enumerate() {
            let tick = ticks.iter().find(|(y, _)| row(*y) == at);
            let (label, mark) = tick.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
            let line: String = line.iter().collect();
            text += format!("{label:>LABELS$} {mark}{line}").trim_end();
            text.push('\n');
        }
        text += &self.foot(column);
        for series in self.series.iter().filter(|series| !series.points.is_empty()) {
            text += &format!("{:>LABELS$}  {}  {}\n", "", series.glyph, series.name);
        }
        text
    }

    /// What the upright lines say.
    fn head(&self, column: impl Fn(f64) -> usize) -> String {
        let mut line = vec![' '; LABELS + 2 + WIDTH];
        for (x, label) in &self.marks {
            let letters: Vec<char> = label.chars().collect();
            let start = (LABELS + 2 + column(*x)).min(line.len().saturating_sub(letters.len()));
            let free = line[start..].iter().take(letters.len() + 1).all(|c| *c == ' ');
            if free {
                line[start..start + letters.len()].copy_from_slice(&letters);
            }
        }
        let line: String = line.iter().collect();
        match line.trim_end() {
            "" => String::new(),
            line => format!("{line}\n"),
        }
    }

    fn foot(&self, column: impl Fn(f64) -> usize) -> String {
        let mut axis = vec!['─'; WIDTH];
        let mut labels = vec![' '; LABELS + 2 + WIDTH + 4];
        let mut free = 0;
        for (x, label) in self.x.ticks() {
            let letters: Vec<char> = label.chars().collect();
            let start = (LABELS + 2 + column(x)).saturating_sub(letters.len() / 2);
            if start >= free && start + letters.len() <= labels.len() {
                axis[column(x)] = '┬';
                labels[start..start + letters.len()].copy_from_slice(&letters);
                free = start + letters.len() + 2;
            }
        }
        let (axis, labels): (String, String) = (axis.iter().collect(), labels.iter().collect());
        format!(
            "{:>LABELS$} └{axis}\n{}\n{:>width$}\n",
            "",
            labels.trim_end(),
            self.x.name,
            width = LABELS + 2 + WIDTH
        )
    }
}

/// Writes a label to the right of a cell or above it, where there is room.
fn beside(cells: &mut [Vec<char>], row: usize, column: usize, label: &str) {
    let letters: Vec<char> = label.chars().collect();
    let blank = |c: &char| matches!(c, ' ' | '┊');
    let places = [(row, column + 2), (row.wrapping_sub(1), column + 1), (row + 1, column + 1)];
    for (row, start) in places {
        let Some(line) = cells.get_mut(row) else { continue };
        let end = start + letters.len();
        // A cell more on each side, so that words stay apart.
        let around = start.saturating_sub(1)..(end + 1).min(line.len());
        if end <= line.len() && line[around].iter().all(blank) {
            line[start..end].copy_from_slice(&letters);
            return;
        }
    }
}
