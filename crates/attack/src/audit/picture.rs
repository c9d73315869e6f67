//! What both sides look like, for a plot.

use super::event::Event;
use super::feature::{Feature, Output, number, ordered};

/// One bar for each side.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What the bar stands over.
    pub label: String,
    /// The share of the left side's runs, and of the right's.
    pub shares: [f64; 2],
    /// Whether the event takes it in.
    pub marked: bool,
}

/// How a feature is distributed on both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// What is shown.
    pub feature: String,
    /// From left to right.
    pub bars: Vec<Bar>,
}

/// At most so many bars.
const BARS: usize = 24;

impl Picture {
    /// The feature that an event looks at.
    pub(super) fn of(event: &Event, runs: &[Vec<Output>; 2]) -> Self {
        let keys = |side: &[Output]| {
            side.iter().map(|output| event.feature.key(output)).collect::<Vec<u64>>()
        };
        let sides = [keys(&runs[0]), keys(&runs[1])];
        let mut all: Vec<u64> = sides.iter().flatten().copied().collect();
        all.sort_unstable();
        let mut values = all.clone();
        values.dedup();
        let share = |low: u64, high: u64| {
            [0, 1].map(|side: usize| {
                let inside = sides[side].iter().filter(|key| (low..=high).contains(*key)).count();
                inside as f64 / sides[side].len().max(1) as f64
            })
        };
        let bars = if values.len() <= BARS {
            let one = |&key: &u64| Bar {
                label: event.feature.shown(key),
                shares: share(key, key),
                marked: event.set.holds(key),
            };
            values.iter().map(one).collect()
        } else if numeric(&event.feature) {
            // Equal widths over all but the outer hundredths.
            let real: Vec<f64> =
                all.iter().map(|&key| number(key)).filter(|x| x.is_finite()).collect();
            let at = |i: usize| real.get(i).copied().unwrap_or(0.0);
            let (low, high) = (at(real.len() / 100), at(real.len() - real.len() / 100 - 1));
            let width = ((high - low) / BARS as f64).max(f64::MIN_POSITIVE);
            let one = |i: usize| {
                let from = low + width * i as f64;
                let key = |x: f64| ordered(x);
                Bar {
                    label: super::short(from + width / 2.0),
                    shares: share(key(from), key(from + width).saturating_sub(1)),
                    marked: event.set.holds(key(from + width / 2.0)),
                }
            };
            (0..BARS).map(one).collect()
        } else {
            // The commonest values, in order.
            let mut runs: Vec<(usize, u64)> = all
                .chunk_by(|a, b| a == b)
                .filter_map(|run| Some((run.len(), *run.first()?)))
                .collect();
            runs.sort_unstable_by(|a, b| b.cmp(a));
            runs.truncate(BARS);
            runs.sort_unstable_by_key(|run| run.1);
            let one = |(_, key): (usize, u64)| Bar {
                label: event.feature.shown(key),
                shares: share(key, key),
                marked: event.set.holds(key),
            };
            runs.into_iter().map(one).collect()
        };
        Self { feature: event.feature.to_string(), bars }
    }
}

/// Whether keys are those of floats.
fn numeric(feature: &Feature) -> bool {
    matches!(
        feature,
        Feature::Value(_)
            | Feature::Sum
            | Feature::Largest
            | Feature::Least
            | Feature::Difference(..)
            | Feature::Likelihood(_)
    )
}
