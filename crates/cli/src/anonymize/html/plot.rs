//! Bars, before and after, as inline SVG that takes its colours from the page.

use super::escape;
use crate::report::{grouped, short};
use std::fmt::Write;

/// One group of bars: a label, and a height for each series.
pub(crate) struct Group {
    /// What stands below.
    pub(crate) label: String,
    /// As many as the plot has series.
    pub(crate) heights: Vec<f64>,
}

/// A bar chart.
pub(crate) struct Bars<'a> {
    /// What stands above.
    pub(crate) title: &'a str,
    /// What the groups are.
    pub(crate) x: &'a str,
    /// What the heights are.
    pub(crate) y: &'a str,
    /// One name a series; the page colours the first and the second differently.
    pub(crate) series: &'a [&'a str],
    /// From left to right.
    pub(crate) groups: Vec<Group>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 52.0;

impl Bars<'_> {
    /// The chart, or nothing where there is nothing to draw.
    pub(crate) fn svg(&self) -> String {
        let highest = self.groups.iter().flat_map(|g| &g.heights).copied().fold(0.0, f64::max);
        if self.groups.is_empty() || !highest.is_finite() {
            return String::new();
        }
        let top = ceiling(highest);
        let base = HEIGHT - BOTTOM;
        let y = |value: f64| base - value / top * (base - TOP);
        let mut out = format!(
            "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"16\">{title}</text>\n",
            title = escape(self.title)
        );
        for (i, name) in self.series.iter().enumerate() {
            let at = LEFT + 110.0 * i as f64;
            let colour = self.colour(i);
            let _ = writeln!(
                out,
                "<rect class=\"s{colour}\" x=\"{at}\" y=\"25\" width=\"11\" height=\"11\"/>\
                 <text x=\"{}\" y=\"35\">{}</text>",
                at + 16.0,
                escape(name)
            );
        }
        for step in 0..=4 {
            let value = top * f64::from(step) / 4.0;
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y(value) + 4.0,
                grouped(value),
                at = y(value),
            );
        }
        self.draw(&mut out, base, &y);
        let _ = writeln!(
            out,
            "<text class=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
             <text class=\"middle\" transform=\"translate(14 {:.1}) rotate(-90)\">{}</text>\
             </svg></figure>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escape(self.x),
            (TOP + base) / 2.0,
            escape(self.y)
        );
        out
    }

    /// One series alone is what came after.
    fn colour(&self, series: usize) -> usize {
        if self.series.len() == 1 { 1 } else { series }
    }

    fn draw(&self, out: &mut String, base: f64, y: &dyn Fn(f64) -> f64) {
        let room = (WIDTH - LEFT - RIGHT) / self.groups.len() as f64;
        let bar = (room * 0.8 / self.series.len().max(1) as f64).min(60.0);
        for (i, group) in self.groups.iter().enumerate() {
            let middle = LEFT + room * (i as f64 + 0.5);
            let start = middle - bar * group.heights.len() as f64 / 2.0;
            for (j, (height, name)) in group.heights.iter().zip(self.series).enumerate() {
                let _ = writeln!(
                    out,
                    "<rect class=\"s{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
                     <title>{}, {}: {}</title></rect>",
                    self.colour(j),
                    start + bar * j as f64,
                    y(*height),
                    bar,
                    base - y(*height),
                    escape(&group.label),
                    escape(name),
                    short(*height)
                );
            }
            let _ = writeln!(
                out,
                "<text class=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
                base + 16.0,
                escape(&group.label)
            );
        }
    }
}

/// The least of 1, 2, 4, 5, 8, 10 × a power of ten that is at least `x`.
pub(crate) fn ceiling(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    let steps = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0];
    steps.into_iter().map(|s| s * power).find(|top| *top >= x).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_within_the_picture_and_escaped() {
        for (x, top) in [(0.0, 1.0), (0.3, 0.4), (7.0, 8.0), (1178.0, 2000.0), (10.0, 10.0)] {
            assert!((ceiling(x) - top).abs() < 1e-9, "{x}");
        }
        let bars = Bars {
            title: "<sizes>",
            x: "rows",
            y: "classes",
            series: &["before", "after"],
            groups: vec![Group { label: "1".to_owned(), heights: vec![9.0, 0.0] }],
        };
        let svg = bars.svg();
        assert!(svg.contains("&lt;sizes&gt;") && svg.contains("1, before: 9"));
        assert!(!svg.contains("NaN") && !svg.contains("height=\"-"));
        assert_eq!(Bars { groups: vec![], ..bars }.svg(), "");
    }
}
