//! A curve in the terminal: at most 80 columns, legible without colour.

use crate::report::short;

/// Columns and rows of the drawing area.
const WIDTH: usize = 62;
const HEIGHT: usize = 15;
/// Columns for the labels of the upright axis.
const LABELS: usize = 10;

/// A falling curve with one point chosen on it.
pub(crate) struct Curve<'a> {
    /// x ascending; points that are not positive and finite are left out.
    pub(crate) points: &'a [(f64, f64)],
    pub(crate) chosen: (f64, f64),
    pub(crate) x_name: &'a str,
    pub(crate) y_name: &'a str,
}

impl Curve<'_> {
    /// Draws it on logarithmic axes, with guides from the chosen point to both.
    pub(crate) fn draw(&self) -> String {
        let shown = |&(x, y): &(f64, f64)| x > 0.0 && x.is_finite() && y > 0.0 && y.is_finite();
        let all: Vec<_> = self.points.iter().chain([&self.chosen]).filter(|p| shown(p)).collect();
        let horizontal = Axis::of(all.iter().map(|p| p.0), WIDTH);
        let vertical = Axis::of(all.iter().map(|p| p.1), HEIGHT);
        let place = |(x, y): (f64, f64)| (HEIGHT - 1 - vertical.cell(y), horizontal.cell(x));
        let mut cells = vec![vec![' '; WIDTH]; HEIGHT];
        let marked = shown(&self.chosen).then(|| place(self.chosen));
        if let Some((row, column)) = marked {
            cells[row][..column].fill('·');
            cells.iter_mut().skip(row).for_each(|line| line[column] = ':');
        }
        for &&point in &all {
            let (row, column) = place(point);
            cells[row][column] = '*';
        }
        if let Some((row, column)) = marked {
            cells[row][column] = '●';
            self.label(&mut cells[row.saturating_sub(1)], column);
        }
        self.frame(&cells, &horizontal, &vertical)
    }

    /// Writes the chosen point's numbers above and to its right, where a falling
    /// curve leaves room.
    fn label(&self, line: &mut [char], column: usize) {
        let (x, y) = self.chosen;
        let text = format!("{} {}, {} {}", self.x_name, short(x), self.y_name, short(y));
        let free = column + 2..column + 2 + text.chars().count();
        if free.end <= line.len() && line[free.clone()].iter().all(|&c| c == ' ') {
            line[free].iter_mut().zip(text.chars()).for_each(|(cell, c)| *cell = c);
        }
    }

    fn frame(&self, cells: &[Vec<char>], horizontal: &Axis, vertical: &Axis) -> String {
        let mut text = format!("{:>LABELS$}\n", self.y_name);
        let ticks = vertical.ticks(5);
        for (row, line) in cells.iter().enumerate() {
            let tick = ticks.iter().find(|&&y| HEIGHT - 1 - vertical.cell(y) == row);
            let (label, mark) = tick.map_or((String::new(), '│'), |&y| (short(y), '┤'));
            let line: String = line.iter().collect();
            text += format!("{label:>LABELS$} {mark}{line}").trim_end();
            text.push('\n');
        }
        let mut axis = vec!['─'; WIDTH];
        let mut labels = vec![' '; LABELS + 2 + WIDTH + 4];
        let mut free = 0;
        for x in horizontal.ticks(7) {
            let column = horizontal.cell(x);
            let label: Vec<char> = short(x).chars().collect();
            let start = (LABELS + 2 + column).saturating_sub(label.len() / 2);
            if start >= free && start + label.len() <= labels.len() {
                axis[column] = '┬';
                labels[start..start + label.len()].copy_from_slice(&label);
                free = start + label.len() + 2;
            }
        }
        let (axis, labels): (String, String) = (axis.iter().collect(), labels.iter().collect());
        text += &format!("{:>LABELS$} └{axis}\n{}\n", "", labels.trim_end());
        text + &format!("{:>width$}\n", self.x_name, width = LABELS + 2 + WIDTH)
    }
}

/// A logarithmic axis cut into cells.
struct Axis {
    low: f64,
    high: f64,
    cells: usize,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64>, cells: usize) -> Self {
        let (low, high) = values
            .map(f64::ln)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        // A flat curve lies in the middle.
        let pad = if high - low > 1e-9 { 0.0 } else { 0.5 };
        Self { low: low - pad, high: high + pad, cells }
    }

    fn cell(&self, value: f64) -> usize {
        let share = ((value.ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (share * (self.cells - 1) as f64).round() as usize
    }

    /// Round values on the axis, at most `most`: as fine a set of 1, 2, 5 or powers of ten as fits.
    fn ticks(&self, most: usize) -> Vec<f64> {
        let decades = |step: i32, digits: &[f64]| -> Vec<f64> {
            let (from, to) = ((self.low / 10f64.ln()).floor(), (self.high / 10f64.ln()).ceil());
            if !(from.is_finite() && to.is_finite()) {
                return Vec::new();
            }
            let powers = (from as i32..=to as i32).filter(|power| power % step == 0);
            let values = powers.flat_map(|power| digits.iter().map(move |d| times_ten(*d, power)));
            let slack = 1e-9;
            values.filter(|v| (self.low - slack..=self.high + slack).contains(&v.ln())).collect()
        };
        let all: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        let finest = [(1, &all[..]), (1, &[1.0, 2.0, 5.0]), (1, &[1.0, 3.0]), (1, &[1.0])];
        let coarser = (2..400).map(|step| (step, &[1.0][..]));
        let mut choices = finest.into_iter().chain(coarser).map(|(s, d)| decades(s, d));
        match choices.find(|ticks| ticks.len() <= most) {
            Some(ticks) if ticks.len() >= 2 => ticks,
            _ => vec![self.low.exp(), self.high.exp()],
        }
    }
}

/// `digit·10^power`, as its decimal is read.
fn times_ten(digit: f64, power: i32) -> f64 {
    format!("{digit}e{power}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: &[(f64, f64)], chosen: (f64, f64)) -> String {
        Curve { points, chosen, x_name: "ε", y_name: "error" }.draw()
    }

    #[test]
    fn a_falling_curve_falls_and_the_choice_is_marked() {
        let points: Vec<_> =
            (0..=60).map(|i| 10f64.powf(f64::from(i) / 30.0 - 1.0)).map(|x| (x, 3.0 / x)).collect();
        let picture = plot(&points, (1.0, 3.0));
        let lines: Vec<&str> = picture.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{picture}");
        assert_eq!(picture.matches('●').count(), 1);
        assert!(picture.contains("ε 1, error 3"), "{picture}");
        let column = |line: &str| line.chars().position(|c| c == '*');
        assert!(column(lines[1]) < column(lines[HEIGHT]), "{picture}");
        assert!(lines[HEIGHT + 2].contains("0.1") && lines[HEIGHT + 2].contains("10"), "{picture}");
    }

    #[test]
    fn odd_curves_are_drawn_too() {
        for (points, chosen) in [
            (vec![], (1.0, 1.0)),
            (vec![(1.0, 5.0), (2.0, 5.0)], (1.0, 5.0)),
            (vec![(1.0, 0.0), (2.0, f64::INFINITY), (3.0, f64::NAN)], (1.0, 0.0)),
            (vec![(1e-300, 1e300), (1e300, 1e-300)], (1.0, 1.0)),
            (vec![(1.0, 3.1), (1.1, 3.0)], (1.0, 3.1)),
        ] {
            let picture = plot(&points, chosen);
            assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        let axis = |low: f64, high: f64| Axis::of([low, high].into_iter(), 60);
        assert_eq!(axis(0.1, 10.0).ticks(7), [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]);
        assert_eq!(axis(0.01, 1000.0).ticks(7), [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(axis(3.0, 8.0).ticks(7), [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let narrow = axis(3.0, 3.1).ticks(7);
        assert!(narrow.len() == 2 && (narrow[1] - 3.1).abs() < 1e-12);
    }
}
