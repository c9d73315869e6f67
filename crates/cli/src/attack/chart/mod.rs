//! One picture for the terminal and for the page: curves and points over one pair of axes.

mod svg;
mod text;

use crate::report::short;

/// A picture.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    /// Upright lines, each with what it says.
    pub(super) marks: Vec<(f64, String)>,
}

/// What is measured along a side.
#[derive(Clone)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Equal steps are equal factors. Then 0 and less is drawn at the lower end.
    pub(super) logarithmic: bool,
}

/// Points that belong together.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// What stands beside each point; fewer than points, or none, will do.
    pub(super) labels: Vec<String>,
    /// In the terminal.
    pub(super) glyph: char,
    /// Whether they are joined.
    pub(super) line: bool,
}

impl Series {
    /// Points joined by a line.
    pub(super) fn line(name: impl Into<String>, glyph: char, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, labels: Vec::new(), glyph, line: true }
    }

    /// Points.
    pub(super) fn dots(name: impl Into<String>, glyph: char, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, labels: Vec::new(), glyph, line: false }
    }

    /// The same with a word beside each.
    pub(super) fn labelled(self, labels: Vec<String>) -> Self {
        Self { labels, ..self }
    }
}

impl Axis {
    pub(super) fn linear(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self { name: name.into(), low, high, logarithmic: false }
    }

    pub(super) fn logarithmic(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self { name: name.into(), low, high, logarithmic: true }
    }

    /// Where a value lies, from 0 at the lower end to 1 at the upper.
    fn place(&self, value: f64) -> f64 {
        let share = match self.logarithmic {
            true if value <= self.low => 0.0,
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether a value can be drawn.
    fn shows(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        value.is_finite()
            && value <= self.high + slack
            && (self.logarithmic || value >= self.low - slack)
    }

    /// Round values, with their texts.
    fn ticks(&self) -> Vec<(f64, String)> {
        if self.logarithmic {
            let decades = (self.high / self.low).log10();
            let digits: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let all = powers.flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
            let inside = all.filter(|v| (self.low * 0.999..=self.high * 1.001).contains(v));
            return inside.map(|value| (value, short(value))).collect();
        }
        // The least of 1, 2, 5 times a power of ten that leaves at most eight steps.
        let wide = (self.high - self.low) / 8.0;
        let power = 10f64.powf(wide.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
        let step = steps.into_iter().find(|step| *step >= wide * (1.0 - 1e-9)).unwrap_or(wide);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(|i| round(i as f64 * step)).map(|v| (v, short(v))).collect()
    }
}

/// Without the dust of binary fractions.
fn round(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn sample() -> Chart {
        Chart {
            title: "rows <recovered>".to_owned(),
            x: Axis::logarithmic("noise", 0.1, 1000.0),
            y: Axis::linear("share", 0.4, 1.0),
            series: vec![
                Series::line("theory", '·', (0..50).map(|i| (0.1 * 1.2f64.powi(i), 0.9)).collect()),
                Series::dots(
                    "measured",
                    'o',
                    vec![(0.0, 1.0), (10.0, 0.7), (1e9, 0.5), (1.0, f64::NAN)],
                )
                .labelled(vec!["exact".to_owned()]),
            ],
            marks: vec![(31.6, "√n".to_owned())],
        }
    }

    #[test]
    fn both_pictures_hold_what_was_given_and_nothing_impossible() {
        let chart = sample();
        let text = chart.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("√n") && text.contains("o  measured") && text.contains("noise"));
        // What is not in reach or no number is left out; 0 is at the left end.
        assert_eq!(
            text.matches('o').count(),
            2 + "rows <recovered>".matches('o').count()
                + "theory".matches('o').count()
                + "noise".matches('o').count()
                + 1
        );
        let svg = chart.svg();
        assert!(svg.contains("&lt;recovered&gt;") && !svg.contains("NaN") && svg.contains("exact"));
        assert_eq!(svg.matches("<circle").count(), 2 + 1);
    }

    #[test]
    fn ticks_are_round() {
        let texts = |axis: Axis| axis.ticks().into_iter().map(|t| t.1).collect::<Vec<_>>();
        assert_eq!(texts(Axis::linear("", 0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(
            texts(Axis::linear("", 0.4, 0.8)),
            ["0.4", "0.45", "0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8"]
        );
        assert_eq!(texts(Axis::logarithmic("", 1.0, 50.0)), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(
            texts(Axis::logarithmic("", 0.5, 20_000.0)),
            ["1", "10", "100", "1000", "10000"]
        );
    }
}
