//! The picture as SVG that stands alone or in a page, light and dark.

use super::Chart;
use crate::anonymize::html::escape;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 58.0;
/// Room for a line of the legend.
const LINE: f64 = 18.0;
/// Told apart by people who see colours and by those who do not: each has a shape of its own too.
const COLOURS: [&str; 6] = ["#31688e", "#b0793a", "#b3261e", "#1d7a46", "#7a4fa3", "#5b6470"];

impl Chart {
    /// Draws it.
    pub(in crate::attack) fn svg(&self) -> String {
        let shown: Vec<_> = self.series.iter().filter(|s| !s.points.is_empty()).collect();
        let bottom = 46.0 + LINE * shown.len().div_ceil(2) as f64;
        let base = HEIGHT - 46.0;
        let whole = base + bottom;
        let x = |value: f64| LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| base - self.y.place(value) * (base - TOP);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {whole}\" role=\"img\" \
             aria-label=\"{title}\">\n<style>.c-t{{font:12px system-ui,sans-serif;fill:#5b6470}}\
             .c-h{{font:600 15px system-ui,sans-serif;fill:#1f2328}}.c-g{{stroke:#dcd8cc}}\
             .c-m{{stroke:#5b6470;stroke-dasharray:5 4}}\
             @media(prefers-color-scheme:dark){{.c-t{{fill:#9aa4b1}}.c-h{{fill:#e4e6ea}}\
             .c-g{{stroke:#313843}}}}</style>\n\
             <text class=\"c-h\" x=\"{LEFT}\" y=\"22\">{title}</text>\n",
            title = escape(&self.title)
        );
        // Writing to a string cannot fail.
        for (value, label) in self.y.ticks() {
            let _ = writeln!(
                out,
                "<path class=\"c-g\" d=\"M{LEFT} {at:.1}H{}\"/><text class=\"c-t\" x=\"{}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y(value) + 4.0,
                at = y(value),
            );
        }
        for (value, label) in self.x.ticks() {
            let _ = writeln!(
                out,
                "<path class=\"c-g\" d=\"M{at:.1} {base}v5\"/><text class=\"c-t\" x=\"{at:.1}\" \
                 y=\"{}\" text-anchor=\"middle\">{label}</text>",
                base + 19.0,
                at = x(value),
            );
        }
        for (value, label) in &self.marks {
            let _ = writeln!(
                out,
                "<path class=\"c-m\" d=\"M{at:.1} {base}V{}\"/><text class=\"c-t\" x=\"{at:.1}\" \
                 y=\"{}\" text-anchor=\"middle\">{}</text>",
                TOP - 8.0,
                TOP - 13.0,
                escape(label),
                at = x(*value),
            );
        }
        for (number, series) in shown.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let inside: Vec<(f64, f64)> = series
                .points
                .iter()
                .filter(|p| self.x.shows(p.0) && self.y.shows(p.1))
                .map(|p| (x(p.0), y(p.1)))
                .collect();
            if series.line {
                let path: Vec<String> =
                    inside.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
                let _ = writeln!(
                    out,
                    "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                    path.join("L")
                );
            } else {
                inside.iter().for_each(|(x, y)| out += &shape(number, *x, *y, colour));
            }
            let visible = |p: &(f64, f64)| self.x.shows(p.0) && self.y.shows(p.1);
            let named = series.points.iter().zip(&series.labels).filter(|(p, _)| visible(p));
            for ((px, py), label) in named {
                let (at, end) = (x(*px), x(*px) > WIDTH - 120.0);
                let _ = writeln!(
                    out,
                    "<text class=\"c-t\" x=\"{:.1}\" y=\"{:.1}\"{}>{}</text>",
                    if end { at - 8.0 } else { at + 8.0 },
                    y(*py) + 17.0,
                    if end { " text-anchor=\"end\"" } else { "" },
                    escape(label)
                );
            }
            let column = (number % 2) as f64 * (WIDTH - LEFT - RIGHT) / 2.0;
            let at = (LEFT + column + 8.0, base + 52.0 + LINE * (number / 2) as f64);
            if series.line {
                let _ = write!(
                    out,
                    "<path d=\"M{:.1} {:.1}h18\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                    at.0 - 9.0,
                    at.1
                );
            } else {
                out += &shape(number, at.0, at.1, colour);
            }
            let _ = writeln!(
                out,
                "<text class=\"c-t\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                at.0 + 16.0,
                at.1 + 4.0,
                escape(&series.name)
            );
        }
        let _ = writeln!(
            out,
            "<text class=\"c-t\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"c-t\" text-anchor=\"middle\" transform=\"translate(18 {:.1}) rotate(-90)\">{}</text>\
             </svg>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            base + 36.0,
            escape(&self.x.name),
            (TOP + base) / 2.0,
            escape(&self.y.name)
        );
        out
    }
}

/// A dot of the series' own shape.
fn shape(number: usize, x: f64, y: f64, colour: &str) -> String {
    match number % 4 {
        1 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{colour}\"/>\n"),
        2 => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\" fill=\"{colour}\"/>\n",
            x - 4.0,
            y - 4.0
        ),
        3 => format!("<path d=\"M{x:.1} {:.1}l5.5 9h-11z\" fill=\"{colour}\"/>\n", y - 5.5),
        _ => format!(
            "<path d=\"M{x:.1} {:.1}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\" fill=\"{colour}\"/>\n",
            y - 5.5
        ),
    }
}
