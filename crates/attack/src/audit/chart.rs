//! An audit as charts: what was seen on both sides, and how the bound grows with runs.

use super::examine::Finding;
use super::picture::Bar;
use demure_report::chart::{Axis, Chart, Mark, Series, factors};

/// More bars than this have no room for a label each.
const LABELLED: usize = 12;

impl Finding {
    /// What the event looks at, on both sides, with marks under what it takes in.
    #[must_use]
    pub fn seen(&self) -> Chart {
        let bars = &self.picture.bars;
        // Labels of many bars would run into each other: every fourth has one, and marks go between.
        let many = bars.len() > LABELLED;
        let label = |(i, bar): (usize, &Bar)| match (many, i % 4, bar.marked) {
            (false, _, true) => format!("▲ {}", bar.label),
            (false, _, false) | (true, 0, _) => bar.label.clone(),
            (true, 2, true) => "▲".to_owned(),
            _ => String::new(),
        };
        let shares =
            |side: usize| -> Vec<f64> { bars.iter().map(|bar| 100.0 * bar.shares[side]).collect() };
        let (left, right) = (shares(0), shares(1));
        let highest = left.iter().chain(&right).copied().fold(0.0, f64::max);
        Chart {
            title: format!("{} (▲: in the event)", self.picture.feature),
            x: Axis::names("what was seen", bars.iter().enumerate().map(label).collect()),
            y: Axis::from_zero("percent of the runs that scouted", highest),
            series: vec![Series::bars("left", '▒', left), Series::bars("right", '█', right)],
            ..Chart::default()
        }
    }

    /// The bound that these frequencies would give with other numbers of runs.
    #[must_use]
    pub fn growth(&self) -> Chart {
        let at = |runs: f64| (runs, self.bound_after(runs as u64));
        let points: Vec<(f64, f64)> = factors(1e2, 1e8, 48).map(at).collect();
        let claimed = self.claim.epsilon;
        let highest = points.iter().map(|p| p.1).fold(claimed.unwrap_or(0.0), f64::max).max(0.1);
        let here = ((self.tested.max(100) as f64).min(1e8), self.epsilon_lower);
        let mark = claimed.map(|epsilon| Mark::Level(epsilon, "claimed".to_owned()));
        Chart {
            title: "What so many runs of this event would show".to_owned(),
            x: Axis::logarithmic("tested runs a side", 1e2, 1e8),
            y: Axis::from_zero("ε at least", highest),
            series: vec![
                Series::line("the bound on ε", '·', points),
                Series::dots("this audit", 'o', vec![here]),
            ],
            marks: mark.into_iter().collect(),
            ..Chart::default()
        }
    }
}
