//! ε against δ, or against how often the batch is repeated, as an SVG file.

use super::Batch;
use crate::Failure;
use clap::ValueEnum;
use demure_core::account::Interval;
use demure_core::unit::Delta;
use demure_report::chart::{Axis, Chart, Series};
use demure_report::progress::Progress;
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
    std::fs::write(path, chart(&points, &title, &note, name).svg())
        .map_err(|source| Failure::File { what: format!("writing {}", path.display()), source })
}

/// Where the curve is evaluated, ascending, and what it costs there.
fn points(batch: &Batch, against: Against) -> Result<Vec<(f64, Interval)>, Failure> {
    let mut found = Vec::new();
    let progress = Progress::new(40);
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
        progress.at(u64::from(i) + 1);
    }
    if found.len() < 2 {
        return Err(Failure::usage("nothing to draw: ε is 0 or infinite almost everywhere"));
    }
    Ok(found)
}

/// The certified upper end as a curve, and a band down to the lower end.
fn chart(points: &[(f64, Interval)], title: &str, note: &str, x_name: &str) -> Chart {
    let upper: Vec<(f64, f64)> = points.iter().map(|(x, cost)| (*x, cost.upper)).collect();
    let band: Vec<_> = points.iter().map(|(x, cost)| (*x, cost.lower, cost.upper)).collect();
    let ends = || upper.iter().flat_map(|point| [point.1 / 1.1, point.1 * 1.1]);
    Chart {
        title: format!("ε of {title}"),
        note: format!("{note} · certified upper end; the band reaches down to the lower end"),
        x: Axis::around(x_name, points.iter().map(|point| point.0)),
        y: Axis::around("ε", ends()),
        series: vec![Series::line("", '*', upper), Series::band("", &band)],
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_well_formed() {
        let points = [(1.0, Interval::new(0.9, 1.0)), (10.0, Interval::new(4.9, 5.0))];
        let drawn = chart(&points, "a<b", "note", "δ").svg();
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
        assert!(drawn.contains("a&lt;b") && !drawn.contains("NaN") && !drawn.contains("inf"));
    }
}
