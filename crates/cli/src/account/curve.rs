//! ε against δ, or against how often the batch is repeated, as an SVG file.

use super::Batch;
use crate::Failure;
use crate::progress::Progress;
use crate::report::short;
use clap::ValueEnum;
use demure_core::account::Interval;
use demure_core::unit::Delta;
use std::fmt::Write;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Against {
    /// δ from 1e-14 to 0.1
    Delta,
    /// The whole batch once to a hundred times
    Queries,
}

pub(super) fn draw(batch: &Batch, against: Against, path: &Path) -> Result<(), Failure> {
    let points = points(batch, against)?;
    let (name, note) = match against {
        Against::Delta => ("δ", batch.neighbours.to_string()),
        Against::Queries => {
            ("times over", format!("{}, δ = {:e}", batch.neighbours, batch.delta.get()))
        }
    };
    let title = batch.shown().join(" + ");
    std::fs::write(path, svg(&points, &title, &note, name))
        .map_err(|source| Failure::File { what: format!("writing {}", path.display()), source })
}

/// Where the curve is evaluated, ascending, and what it costs there.
fn points(batch: &Batch, against: Against) -> Result<Vec<(f64, Interval)>, Failure> {
    let mut found = Vec::new();
    let mut progress = Progress::new(40);
    for i in 0..40u32 {
        let share = f64::from(i) / 39.0;
        let (x, cost) = match against {
            Against::Delta => {
                let delta = 10f64.powf(-14.0 + 13.0 * share);
                (delta, batch.account(1)?.epsilon(Delta::new(delta)?)?)
            }
            Against::Queries => {
                let times = 100f64.powf(share).round();
                (times, batch.account(times as u64)?.epsilon(batch.delta)?)
            }
        };
        if cost.upper.is_finite()
            && cost.upper > 0.0
            && found.last().is_none_or(|p: &(f64, _)| p.0 < x)
        {
            found.push((x, cost));
        }
        progress.at(i + 1);
    }
    if found.len() < 2 {
        return Err(Failure::usage("nothing to draw: ε is 0 or infinite almost everywhere"));
    }
    Ok(found)
}

/// A curve on logarithmic axes, and a band from the lower to the upper end.
fn svg(points: &[(f64, Interval)], title: &str, note: &str, x_name: &str) -> String {
    let (width, height) = (720.0, 440.0);
    let (left, right, top, bottom) = (80.0, 20.0, 64.0, 56.0);
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)))
    };
    let (x0, x1) = ends(&mut points.iter().map(|p| p.0));
    let (y0, y1) = ends(&mut points.iter().map(|p| p.1.upper));
    let (y0, y1) = (y0 / 1.1, y1 * 1.1);
    let x = |v: f64| left + (v / x0).ln() / (x1 / x0).ln() * (width - left - right);
    let y = |v: f64| {
        let share = (v.max(y0) / y0).ln() / (y1 / y0).ln();
        height - bottom - share * (height - top - bottom)
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fdfcf8\"/>\n\
         <text x=\"{left}\" y=\"26\" font-weight=\"bold\" fill=\"#222\">ε of {}</text>\n\
         <text x=\"{left}\" y=\"46\" fill=\"#555\">{} · certified upper end; the band reaches down to the lower end</text>\n",
        escape(title),
        escape(note)
    );
    let base = height - bottom;
    for tick in ticks(x0, x1) {
        let at = x(tick);
        let _ = write!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{base}\" stroke=\"#e4e1d6\"/>\n\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444\">{}</text>\n",
            base + 18.0,
            label(tick)
        );
    }
    for tick in ticks(y0, y1) {
        let at = y(tick);
        let _ = write!(
            out,
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#e4e1d6\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444\">{}</text>\n",
            width - right,
            left - 8.0,
            at + 4.0,
            label(tick)
        );
    }
    let path = |value: &dyn Fn(&Interval) -> f64| {
        points.iter().map(|(px, cost)| format!("{:.2},{:.2} ", x(*px), y(value(cost)))).collect()
    };
    let upper: String = path(&|cost| cost.upper);
    let back: Vec<(f64, Interval)> = points.iter().rev().copied().collect();
    let lower: String =
        back.iter().map(|(px, cost)| format!("{:.2},{:.2} ", x(*px), y(cost.lower))).collect();
    let _ = write!(
        out,
        "<polygon points=\"{upper}{lower}\" fill=\"#31688e\" fill-opacity=\"0.15\"/>\n\
         <polyline points=\"{upper}\" fill=\"none\" stroke=\"#31688e\" stroke-width=\"2\"/>\n\
         <line x1=\"{left}\" y1=\"{base}\" x2=\"{:.1}\" y2=\"{base}\" stroke=\"#444\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#444\">{x_name}</text>\n\
         <text x=\"22\" y=\"{:.1}\" fill=\"#444\">ε</text>\n</svg>\n",
        width - right,
        (left + width - right) / 2.0,
        height - 14.0,
        (top + base) / 2.0
    );
    out
}

/// Powers of ten, with 2 and 5 between them where there is room, on a log axis.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let steps: &[f64] = if decades < 1.0 {
        &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
    } else if decades < 4.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let every = if decades > 10.0 { 2 } else { 1 };
    let first = low.log10().floor() as i32;
    (first..=high.log10().ceil() as i32)
        .filter(|exponent| exponent % every == 0)
        .flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)))
        .filter(|tick| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick))
        .collect()
}

fn label(x: f64) -> String {
    if x < 1e-3 { format!("{x:.0e}") } else { short(x) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_inside() {
        assert_eq!(ticks(1.0, 100.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert!(ticks(1e-14, 0.1).len() <= 8);
        assert!(ticks(2.1, 2.9).len() <= 2);
    }

    #[test]
    fn a_curve_is_well_formed() {
        let points = [(1.0, Interval::new(0.9, 1.0)), (10.0, Interval::new(4.9, 5.0))];
        let drawn = svg(&points, "a<b", "note", "δ");
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
        assert!(drawn.contains("a&lt;b") && !drawn.contains("NaN") && !drawn.contains("inf"));
    }
}
