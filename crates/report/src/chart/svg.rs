//! The chart as SVG, standalone or in a page, light and dark.

use super::{Chart, Mark, Series, Shape};
use crate::number::short;
use crate::page::escape;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
/// The vertical position of the horizontal axis.
const BASE: f64 = HEIGHT - 46.0;
/// The height of a line of the legend.
const LINE: f64 = 18.0;
/// The number of colours in `chart.css`. Each series also has a distinct shape, for people who cannot tell colours
/// apart.
const COLOURS: usize = 6;

/// An SVG frame around its parts; a standalone one includes its style.
pub(crate) fn frame((width, height): (f64, f64), label: &str, body: &str, alone: bool) -> String {
    let (space, style) = match alone {
        true => (
            " xmlns=\"http://www.w3.org/2000/svg\"",
            concat!("<style>\n", include_str!("../chart.css"), "</style>\n"),
        ),
        false => ("", ""),
    };
    format!(
        "<svg{space} class=\"chart\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\n{style}{body}</svg>\n",
        escape(label)
    )
}

impl Chart {
    /// Draws it as a separate file.
    #[must_use]
    pub fn svg(&self) -> String {
        self.draw_svg(true)
    }

    /// Draws it as a figure of a [`page`](crate::page::page); empty if there is nothing to draw.
    #[must_use]
    pub fn figure(&self) -> String {
        match self.series.iter().any(|series| !series.points.is_empty()) {
            true => format!("<figure>{}</figure>\n", self.draw_svg(false)),
            false => String::new(),
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.place(x) * (WIDTH - LEFT - RIGHT);
        (across, BASE - self.y.place(y) * (BASE - TOP))
    }

    fn draw_svg(&self, alone: bool) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "<text class=\"title\" x=\"16\" y=\"22\">{}</text>", escape(&self.title));
        let _ = writeln!(out, "<text x=\"16\" y=\"40\">{}</text>", escape(&self.note));
        self.draw_axes(&mut out);
        for (number, series) in self.series.iter().enumerate() {
            self.draw_series(series, number, &mut out);
        }
        self.draw_marks_svg(&mut out);
        for (point, label) in self.series.iter().flat_map(|series| self.labels(series)) {
            let (x, y) = self.at(point);
            let end = x > WIDTH - 120.0;
            let (class, x) = if end { (" class=\"end\"", x - 9.0) } else { ("", x + 9.0) };
            // Above the point, where a falling curve leaves space; below it at the upper edge.
            let y = if y < TOP + 20.0 { y + 17.0 } else { y - 8.0 };
            let _ =
                writeln!(out, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(&label));
        }
        let lines = self.draw_legend(&mut out);
        frame((WIDTH, BASE + 46.0 + LINE * lines as f64), &self.title, &out, alone)
    }

    fn draw_axes(&self, out: &mut String) {
        let right = WIDTH - RIGHT;
        for (value, label) in self.y.ticks(9) {
            let y = self.at((0.0, value)).1;
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
                 <text class=\"end\" x=\"{}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                escape(&label)
            );
        }
        for (value, label) in self.x.ticks(9) {
            let x = self.at((value, 0.0)).0;
            // A long label would cross the edge.
            let half = 3.5 * label.chars().count() as f64;
            let (class, at) = if x + half > WIDTH { ("end", right) } else { ("middle", x) };
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{x:.1} {BASE}v5\"/>\
                 <text class=\"{class}\" x=\"{at:.1}\" y=\"{}\">{}</text>",
                BASE + 19.0,
                escape(&label)
            );
        }
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {BASE}H{right}\"/>\
             <text class=\"middle\" x=\"{:.1}\" y=\"{}\">{}</text>\
             <text class=\"middle\" transform=\"translate(14 {:.1}) rotate(-90)\">{}</text>",
            (LEFT + right) / 2.0,
            BASE + 37.0,
            escape(&self.x.name),
            (TOP + BASE) / 2.0,
            escape(&self.y.name)
        );
    }

    fn draw_marks_svg(&self, out: &mut String) {
        for mark in &self.marks {
            let (path, class, x, y, label) = match mark {
                Mark::Upright(value, label) => {
                    let x = self.at((*value, 0.0)).0;
                    (format!("M{x:.1} {BASE}V{}", TOP - 4.0), "middle", x, TOP - 8.0, label)
                }
                Mark::Level(value, label) => {
                    let y = self.at((0.0, *value)).1;
                    let right = WIDTH - RIGHT;
                    (format!("M{LEFT} {y:.1}H{right}"), "end", right - 4.0, y - 5.0, label)
                }
            };
            let _ = writeln!(
                out,
                "<path class=\"mark\" d=\"{path}\"/><text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                escape(label)
            );
        }
    }

    fn draw_series(&self, series: &Series, number: usize, out: &mut String) {
        // A band without a name belongs to the series before it.
        let own = !(matches!(series.shape, Shape::Band(_)) && series.name.is_empty());
        let colour = if own { number } else { number.saturating_sub(1) } % COLOURS;
        let inside = || series.points.iter().filter(|p| self.shows(**p)).map(|p| self.at(*p));
        let path = |points: &mut dyn Iterator<Item = (f64, f64)>| -> String {
            points.map(|(x, y)| format!("{x:.1} {y:.1}")).collect::<Vec<_>>().join("L")
        };
        match &series.shape {
            Shape::Line if inside().next().is_some() => {
                let line = path(&mut inside());
                let dashes = dashes(number);
                let _ = writeln!(out, "<path class=\"c{colour} line\"{dashes} d=\"M{line}\"/>");
            }
            Shape::Band(lower) => {
                let lower = series.points.iter().zip(lower).rev().map(|(p, low)| (p.0, *low));
                let lower = lower.filter(|p| self.shows(*p)).map(|p| self.at(p));
                let area = path(&mut inside().chain(lower));
                if !area.is_empty() {
                    let _ = writeln!(
                        out,
                        "<path class=\"c{colour} fill\" opacity=\".15\" d=\"M{area}Z\"/>"
                    );
                }
            }
            Shape::Bars => self.draw_bars(series, colour, out),
            Shape::Chosen => {
                for (x, y) in inside() {
                    let _ = writeln!(
                        out,
                        "<path class=\"c{colour} guide\" d=\"M{LEFT} {y:.1}H{x:.1}V{BASE}\"/>{}",
                        shape(1, x, y, colour)
                    );
                }
            }
            Shape::Dots => inside().for_each(|(x, y)| *out += &shape(number, x, y, colour)),
            Shape::Line => {}
        }
    }

    fn draw_bars(&self, series: &Series, colour: usize, out: &mut String) {
        let kin: Vec<&Series> = self.series.iter().filter(|s| s.is_drawn_as_bars()).collect();
        let own = kin.iter().position(|s| s.name == series.name).unwrap_or(0);
        let room = (WIDTH - LEFT - RIGHT) / self.x.groups().max(1) as f64;
        let wide = (room * 0.8 / kin.len().max(1) as f64).min(60.0);
        for &point in series.points.iter().filter(|p| self.shows(**p)) {
            let (middle, top) = self.at(point);
            let _ = writeln!(
                out,
                "<rect class=\"c{colour} fill\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" \
                 height=\"{:.1}\"><title>{}, {}: {}</title></rect>",
                middle + wide * (own as f64 - kin.len() as f64 / 2.0),
                BASE - top,
                escape(self.x.group(point.0)),
                escape(&series.name),
                short(point.1)
            );
        }
    }

    /// Draws the name of each series that has one, two per line; returns the number of lines.
    fn draw_legend(&self, out: &mut String) -> usize {
        let named = |(_, s): &(usize, &Series)| !s.points.is_empty() && !s.name.is_empty();
        let mut count: usize = 0;
        for (number, series) in self.series.iter().enumerate().filter(named) {
            let colour = number % COLOURS;
            let x = LEFT + 8.0 + (count % 2) as f64 * (WIDTH - LEFT - RIGHT) / 2.0;
            let y = BASE + 56.0 + LINE * (count / 2) as f64;
            *out += &match series.shape {
                Shape::Line => {
                    let (dashes, x) = (dashes(number), x - 9.0);
                    format!("<path class=\"c{colour} line\"{dashes} d=\"M{x:.1} {y:.1}h18\"/>")
                }
                Shape::Bars | Shape::Band(_) => shape(2, x, y, colour),
                Shape::Chosen => shape(1, x, y, colour),
                Shape::Dots => shape(number, x, y, colour),
            };
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 16.0,
                y + 4.0,
                escape(&series.name)
            );
            count += 1;
        }
        count.div_ceil(2)
    }
}

impl Series {
    pub(super) fn is_drawn_as_bars(&self) -> bool {
        self.shape == Shape::Bars && !self.points.is_empty()
    }
}

/// Every second line is dashed, so that a line on top of another does not hide it.
fn dashes(number: usize) -> &'static str {
    if number % 2 == 1 { " stroke-dasharray=\"7 6\"" } else { "" }
}

/// A dot, with a shape that depends on its number.
fn shape(number: usize, x: f64, y: f64, colour: usize) -> String {
    let class = format!("class=\"c{colour} fill\"");
    match number % 4 {
        1 => format!("<circle {class} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>\n"),
        2 => {
            let (x, y) = (x - 4.0, y - 4.0);
            format!("<rect {class} x=\"{x:.1}\" y=\"{y:.1}\" width=\"8\" height=\"8\"/>\n")
        }
        3 => format!("<path {class} d=\"M{x:.1} {:.1}l5.5 9h-11z\"/>\n", y - 5.5),
        _ => format!("<path {class} d=\"M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>\n", y - 5.5),
    }
}
