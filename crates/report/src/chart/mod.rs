//! A chart for the terminal and for the page: curves, points, bars and bands over one pair of axes.

mod axis;
mod svg;
mod text;

pub use axis::{Axis, seconds};
pub(crate) use svg::frame as svg_frame;

use crate::number::short;
use std::time::SystemTime;

/// From `low` to `high` in so many steps of equal factors: where to compute a curve over a logarithmic axis.
pub fn factors(low: f64, high: f64, steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |i| low * (high / low).powf(f64::from(i) / f64::from(steps.max(1))))
}

/// A chart.
#[derive(Default)]
pub struct Chart {
    /// The title above.
    pub title: String,
    /// A line below the title; may be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
    /// Lines across the whole chart.
    pub marks: Vec<Mark>,
}

/// A dashed line with a label.
pub enum Mark {
    /// A vertical line at this x.
    Upright(f64, String),
    /// A horizontal line at this y.
    Level(f64, String),
}

/// Points that belong together.
#[derive(Clone)]
pub struct Series {
    name: String,
    points: Vec<(f64, f64)>,
    /// The labels of the points; there may be fewer than points, or none.
    labels: Vec<String>,
    /// The glyph in the terminal.
    glyph: char,
    shape: Shape,
}

#[derive(Clone, PartialEq)]
enum Shape {
    Line,
    Dots,
    /// Vertical bars from the lower end of the axis.
    Bars,
    /// A filled area between the points and these lower ends.
    Band(Vec<f64>),
    /// A point with guides to both axes, and its numbers next to it.
    Chosen,
}

impl Series {
    fn new(name: impl Into<String>, glyph: char, points: Vec<(f64, f64)>, shape: Shape) -> Self {
        Self { name: name.into(), points, labels: Vec::new(), glyph, shape }
    }

    /// Points joined by a line.
    #[must_use]
    pub fn line(name: impl Into<String>, glyph: char, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, glyph, points, Shape::Line)
    }

    /// A staircase: each value holds until the next point.
    #[must_use]
    pub fn steps(name: impl Into<String>, glyph: char, points: &[(f64, f64)]) -> Self {
        let corner = |pair: &[(f64, f64)]| [(pair[1].0, pair[0].1), pair[1]];
        let first = points.first().copied();
        let rest = points.windows(2).flat_map(corner);
        Self::line(name, glyph, first.into_iter().chain(rest).collect())
    }

    /// Points.
    #[must_use]
    pub fn dots(name: impl Into<String>, glyph: char, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, glyph, points, Shape::Dots)
    }

    /// Vertical bars over the groups of an axis of names, in order.
    #[must_use]
    pub fn bars(name: impl Into<String>, glyph: char, heights: Vec<f64>) -> Self {
        let points = (0..).map(f64::from).zip(heights).collect();
        Self::new(name, glyph, points, Shape::Bars)
    }

    /// The area between two values at each x: `(x, lower, upper)`.
    #[must_use]
    pub fn band(name: impl Into<String>, points: &[(f64, f64, f64)]) -> Self {
        let lower = points.iter().map(|point| point.1).collect();
        let upper = points.iter().map(|point| (point.0, point.2)).collect();
        Self::new(name, '░', upper, Shape::Band(lower))
    }

    /// One point, with guides to both axes.
    #[must_use]
    pub fn chosen(name: impl Into<String>, point: (f64, f64)) -> Self {
        Self::new(name, '●', vec![point], Shape::Chosen)
    }

    /// Its points; for a staircase, its corners.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The same with a label next to each point.
    #[must_use]
    pub fn labelled(self, labels: Vec<String>) -> Self {
        Self { labels, ..self }
    }
}

impl Chart {
    /// A curve on logarithmic axes, named `(x, y)`, with one point chosen on it. Values that are not positive are left
    /// out.
    #[must_use]
    pub fn curve(points: Vec<(f64, f64)>, chosen: (f64, f64), (x, y): (&str, &str)) -> Self {
        let positive = |point: &(f64, f64)| point.0 > 0.0 && point.1 > 0.0;
        let points: Vec<(f64, f64)> = points.into_iter().filter(positive).collect();
        let chosen = Some(chosen).filter(positive);
        let all = || points.iter().chain(&chosen);
        Self {
            x: Axis::around(x, all().map(|point| point.0)),
            y: Axis::around(y, all().map(|point| point.1)),
            series: [Series::line("", '*', points)]
                .into_iter()
                .chain(chosen.map(|point| Series::chosen("", point)))
                .collect(),
            ..Self::default()
        }
    }

    /// Several curves on logarithmic axes, named `(x, y)`, with one point chosen among them.
    #[must_use]
    pub fn curves(
        title: &str,
        lines: Vec<(&str, Vec<(f64, f64)>)>,
        (name, chosen): (&str, (f64, f64)),
        (x, y): (&str, &str),
    ) -> Self {
        let all = || lines.iter().flat_map(|(_, points)| points).chain([&chosen]);
        let x = Axis::around(x, all().map(|point| point.0));
        let y = Axis::around(y, all().map(|point| point.1));
        let lines = lines.into_iter().map(|(name, points)| Series::line(name, '*', points));
        let series = lines.chain([Series::chosen(name, chosen)]).collect();
        Self { title: title.to_owned(), x, y, series, ..Self::default() }
    }

    /// What was spent of a limit over time: a staircase. `letter` is the currency's.
    #[must_use]
    pub fn spending(steps: &[(SystemTime, f64)], limit: f64, letter: &str) -> Self {
        let first = steps.first().map_or(SystemTime::UNIX_EPOCH, |step| step.0);
        let last = steps.last().map_or(first, |step| step.0);
        let highest = steps.iter().map(|step| step.1).fold(limit, f64::max);
        let spent = steps.last().map_or(0.0, |step| step.1);
        let points: Vec<(f64, f64)> =
            [(first, 0.0)].iter().chain(steps).map(|(at, spent)| (seconds(*at), *spent)).collect();
        let series = Series::steps("", '─', &points);
        let areas: Vec<_> = series.points().iter().map(|(x, y)| (*x, 0.0, *y)).collect();
        Self {
            title: format!("spent {} of {letter} {}", short(spent), short(limit)),
            x: Axis::time("", first, last),
            y: Axis::linear(letter, 0.0, 1.08 * highest.max(f64::MIN_POSITIVE)),
            series: vec![series, Series::band("", &areas)],
            marks: vec![Mark::Level(limit, format!("limit {}", short(limit)))],
            ..Self::default()
        }
    }

    fn shows(&self, (x, y): (f64, f64)) -> bool {
        self.x.shows(x) && self.y.shows(y)
    }

    /// Each visible point with its label.
    fn labels<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = ((f64, f64), String)> + 'a {
        let chosen = |(x, y): (f64, f64)| {
            format!("{} {}, {} {}", self.x.name, short(x), self.y.name, short(y))
        };
        let own = series.points.iter().copied().zip(series.labels.iter().cloned());
        let point = series.points.first().copied().filter(|_| series.shape == Shape::Chosen);
        own.chain(point.map(|p| (p, chosen(p)))).filter(|(p, _)| self.shows(*p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn spending_is_a_staircase_under_its_limit() {
        let at = |s: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(s);
        let chart = Chart::spending(&[(at(0), 0.0), (at(50), 1.0), (at(100), 1.5)], 2.0, "ε");
        assert_eq!(
            chart.series[0].points()[3..],
            [(50.0, 0.0), (50.0, 1.0), (100.0, 1.0), (100.0, 1.5)]
        );
        let svg = chart.svg();
        assert!(
            svg.contains("spent 1.5 of ε 2") && svg.contains("limit 2") && !svg.contains("NaN")
        );
        assert!(Chart::spending(&[], 0.0, "ρ").svg().starts_with("<svg"));
    }

    fn sample() -> Chart {
        let theory = (0..50).map(|i| (0.1 * 1.2f64.powi(i), 0.9)).collect();
        let measured = vec![(0.0, 1.0), (10.0, 0.7), (1e9, 0.5), (1.0, f64::NAN)];
        Chart {
            title: "rows <recovered>".to_owned(),
            x: Axis::logarithmic("noise", 0.1, 1000.0),
            y: Axis::linear("share", 0.4, 1.0),
            series: vec![
                Series::line("theory", '·', theory),
                Series::dots("measured", 'o', measured).labelled(vec!["exact".to_owned()]),
            ],
            marks: vec![Mark::Upright(31.6, "√n".to_owned())],
            ..Chart::default()
        }
    }

    #[test]
    fn both_pictures_hold_what_was_given_and_nothing_impossible() {
        let chart = sample();
        let text = chart.text();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("√n") && text.contains("o  measured") && text.contains("noise"));
        // Values that are out of range or not a number are left out; 0 is at the left end.
        let drawn: usize =
            text.lines().filter(|l| l.contains(['│', '┤'])).map(|l| l.matches('o').count()).sum();
        assert_eq!(drawn, 2, "{text}");
        let svg = chart.svg();
        assert!(svg.contains("&lt;recovered&gt;") && !svg.contains("NaN") && svg.contains("exact"));
        // Two points and the one in the legend.
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
    }

    #[test]
    fn a_falling_curve_falls_and_the_choice_is_marked() {
        let points: Vec<_> =
            (0..=60).map(|i| 10f64.powf(f64::from(i) / 30.0 - 1.0)).map(|x| (x, 3.0 / x)).collect();
        let chart = Chart::curve(points, (1.0, 3.0), ("ε", "error"));
        let picture = chart.text();
        let lines: Vec<&str> = picture.lines().filter(|l| l.contains(['│', '┤'])).collect();
        assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
        assert_eq!(picture.matches('●').count(), 1);
        assert!(picture.contains("ε 1, error 3"), "{picture}");
        let column = |line: &str| line.chars().position(|c| c == '*');
        assert!(column(lines[0]) < column(lines[lines.len() - 1]), "{picture}");
        assert!(chart.svg().contains("ε 1, error 3"));
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
            let chart = Chart::curve(points, chosen, ("x", "y"));
            let picture = chart.text();
            assert_eq!(picture.matches('●').count(), usize::from(chosen.1 > 0.0), "{picture}");
            assert!(picture.lines().all(|line| line.chars().count() <= 80), "{picture}");
            assert!(!chart.svg().contains("NaN") && !chart.svg().contains("inf"));
        }
    }

    #[test]
    fn bars_bands_and_steps_stay_within_the_picture() {
        let chart = Chart {
            title: "<sizes>".to_owned(),
            x: Axis::names("rows", vec!["1".to_owned(), "2".to_owned()]),
            y: Axis::from_zero("classes", 9.0),
            series: vec![
                Series::bars("before", '█', vec![9.0, 0.0]),
                Series::bars("after", '▒', vec![2.0, f64::NAN]),
            ],
            ..Chart::default()
        };
        let svg = chart.svg();
        assert!(svg.contains("&lt;sizes&gt;") && svg.contains("1, before: 9"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("height=\"-"), "{svg}");
        assert!(chart.text().matches('█').count() > 10, "{}", chart.text());

        let chart = Chart {
            x: Axis::linear("x", 0.0, 4.0),
            y: Axis::linear("y", 0.0, 2.0),
            series: vec![
                Series::band("between", &[(0.0, 0.5, 1.0), (4.0, 1.0, 2.0)]),
                Series::steps("spent", '─', &[(0.0, 0.0), (2.0, 1.0), (4.0, 1.5)]),
            ],
            marks: vec![Mark::Level(1.8, "limit".to_owned())],
            ..Chart::default()
        };
        assert!(chart.text().contains("limit") && chart.svg().contains(">limit</text>"));
        let corners = chart.series[1].points.clone();
        assert_eq!(corners, [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (4.0, 1.0), (4.0, 1.5)]);
    }
}
