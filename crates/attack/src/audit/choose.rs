//! Which event to test: chosen on runs that are not tested.
//!
//! Half of the runs given here teach (where cells begin, which of them are likelier on which side),
//! the other half rank. A choice too hopeful costs power and nothing else: what is chosen is
//! tested on runs that neither half has seen.

use super::cell::Cells;
use super::event::{Event, KeySet};
use super::feature::{Feature, Output};
use super::score::Scores;
use super::seen::SeenKeys;
use std::sync::Arc;

/// An event worth testing.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) event: Event,
    /// Whether it is likelier on the left.
    pub(super) left: bool,
    /// What it promises to show, by a rough reckoning.
    pub(super) score: f64,
}

/// The most telling event of every feature, the best first.
pub(super) fn candidates(runs: &[Vec<Output>; 2], delta: f64) -> Vec<Candidate> {
    let [(learn_left, rank_left), (learn_right, rank_right)] =
        [&runs[0], &runs[1]].map(|side| side.split_at(side.len() / 2));
    let width = learn_left.iter().chain(learn_right).map(Vec::len).max().unwrap_or(0);
    let scores = (width > 1).then(|| Arc::new(Scores::learn(learn_left, learn_right, width)));
    let best_of = |feature: Feature| {
        let keys =
            |side: &[Output]| side.iter().map(|output| feature.key(output)).collect::<Vec<u64>>();
        let learn = [keys(learn_left), keys(learn_right)];
        let rank = [keys(rank_left), keys(rank_right)];
        best(&feature, &learn, &rank, delta)
    };
    let mut found: Vec<Candidate> =
        Feature::all(width, scores).into_iter().filter_map(best_of).collect();
    // Of what is about as good, what is read more easily: later features must be better by a little.
    for (place, candidate) in found.iter_mut().enumerate() {
        candidate.score -= 1e-3 * place as f64 / width.max(1) as f64;
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found
}

/// The best union of cells.
fn best(
    feature: &Feature,
    learn: &[Vec<u64>; 2],
    rank: &[Vec<u64>; 2],
    delta: f64,
) -> Option<Candidate> {
    let cells = Cells::of(&learn[0], &learn[1]);
    let counts = [cells.counts(&rank[0]), cells.counts(&rank[1])];
    let sizes = [rank[0].len() as f64, rank[1].len() as f64];
    let mut best: Option<Candidate> = None;
    let mut consider = |seen: [u64; 2], set: &dyn Fn() -> KeySet| {
        let share = [seen[0] as f64 / sizes[0], seen[1] as f64 / sizes[1]];
        for left in [true, false] {
            let (p, q) = if left { (share[0], share[1]) } else { (share[1], share[0]) };
            let score = hope(p, q, sizes[0].min(sizes[1]), delta);
            if best.as_ref().is_none_or(|best| score > best.score) {
                let event = Event { feature: feature.clone(), set: set() };
                best = Some(Candidate { event, left, score });
            }
        }
    };
    let at = |cell: usize, side: usize| counts[side].get(cell).copied().unwrap_or(0);
    if feature.has_order() {
        let mut below = [0, 0];
        for (cell, &edge) in cells.edges().iter().enumerate() {
            below = [below[0] + at(cell, 0), below[1] + at(cell, 1)];
            let above = [rank[0].len() as u64 - below[0], rank[1].len() as u64 - below[1]];
            if cells.ends(edge) {
                consider(below, &|| KeySet::AtMost(edge));
            }
            if cells.begins(edge.saturating_add(1)) {
                consider(above, &|| KeySet::AtLeast(edge.saturating_add(1)));
            }
        }
    }
    // Cells in the order in which they speak for the left, and for the right.
    let ratios = cells.ratios(&learn[0], &learn[1]);
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|&a, &b| ratios[b].total_cmp(&ratios[a]));
    for reversed in [false, true] {
        if reversed {
            order.reverse();
        }
        let mut seen = [0, 0];
        for (taken, &cell) in order.iter().enumerate() {
            seen = [seen[0] + at(cell, 0), seen[1] + at(cell, 1)];
            consider(seen, &|| {
                let mut mask = vec![false; cells.len()];
                order.iter().take(taken + 1).for_each(|&cell| mask[cell] = true);
                KeySet::Cells(cells.clone(), mask)
            });
        }
    }
    // Where there are too many values for cells of their own: those that were seen on one side alone, or more often.
    let told_apart = feature.by_value() && !cells.single;
    if let Some(seen) = told_apart.then(|| SeenKeys::of(&learn[0], &learn[1])).flatten() {
        let counts = [seen.counts(&rank[0]), seen.counts(&rank[1])];
        // What is taken is taken of all runs: they have seen more values, and are not tested either.
        let [left, right] = [0, 1].map(|side: usize| [&learn[side][..], &rank[side][..]].concat());
        let all = SeenKeys::of(&left, &right);
        for left in [true, false] {
            let mut sum = [0, 0];
            for class in seen.speaking(left) {
                sum = [sum[0] + counts[0][class], sum[1] + counts[1][class]];
                let all = all.as_ref().unwrap_or(&seen);
                consider(sum, &|| KeySet::Keys(all.keys_like(&seen, class, left)));
            }
        }
    }
    best
}

/// What an event seen with these shares would show if it were four standard deviations less
/// telling than it looks. Of those that then show nothing, the one that differs most.
fn hope(p: f64, q: f64, n: f64, delta: f64) -> f64 {
    let off = |share: f64| 4.0 * (share * (1.0 - share) / n).sqrt() + 8.0 / n;
    let (low, high) = (p - off(p) - delta, (q + off(q)).min(1.0));
    if low > high {
        return (low / high).ln();
    }
    let spread = ((p * (1.0 - p) + q * (1.0 - q) + 1.0 / n) / n).sqrt();
    (p - delta - q) / spread - 1e3
}

#[cfg(test)]
mod tests;
