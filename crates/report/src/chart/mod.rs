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
mod tests;
