//! What could be measured next: every pair of columns at several resolutions, and how far off the model is there.

use crate::budget::quanta;
use crate::error::Result;
use crate::estimate::Estimate;
use crate::measure::{Comparison, Meter};
use crate::profile::Profile;
use crate::threads;
use crate::view::{Axis, View};

/// The numbers of bins up to which both columns of a candidate are refined.
const SIZES: [usize; 8] = [5, 8, 12, 16, 24, 32, 64, usize::MAX];
/// The most cells of a measured histogram.
pub(crate) const MOST_CELLS: usize = 20_000;
/// Comparisons that are held in memory at once have about this many cells.
const BATCH: usize = 4_000_000;

/// A pair of columns at one resolution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) columns: [usize; 2],
    pub(crate) levels: [usize; 2],
    pub(crate) cells: f64,
    /// How much the pair matters.
    pub(crate) weight: f64,
    /// The noised ℓ₁ distance between table and model, in rows.
    pub(crate) distance: f64,
}

/// All candidates: pairs of columns that have at least two codes. Those of a pair are together, coarsest first; both
/// of their levels rise.
pub(crate) fn candidates(
    profiles: &[Profile],
    weight: impl Fn(usize, usize) -> f64,
) -> Vec<Candidate> {
    let varies = |column: usize| profiles[column].shares.len() > 1;
    let mut found: Vec<Candidate> = Vec::new();
    for a in (0..profiles.len()).filter(|&a| varies(a)) {
        for b in (a + 1..profiles.len()).filter(|&b| varies(b)) {
            for size in SIZES {
                let levels = [profiles[a].level_within(size), profiles[b].level_within(size)];
                let cells = profiles[a].levels[levels[0]].bins * profiles[b].levels[levels[1]].bins;
                let again = found
                    .last()
                    .is_some_and(|last| last.columns == [a, b] && last.levels == levels);
                if !again && cells <= MOST_CELLS {
                    found.push(Candidate {
                        columns: [a, b],
                        levels,
                        cells: cells as f64,
                        weight: weight(a, b),
                        distance: 0.0,
                    });
                }
            }
        }
    }
    found
}

/// Scores every candidate against the model, for `fraction` of the whole budget.
pub(crate) fn score(
    candidates: &mut [Candidate],
    estimate: &Estimate,
    meter: &mut Meter<'_>,
    fraction: f64,
    threads: usize,
) -> Result<()> {
    let each = quanta(fraction) / (candidates.len() as u64).max(1);
    let passages = estimate.passages();
    let mut rest = candidates;
    while !rest.is_empty() {
        // As many first columns as fit in memory together; at least one.
        let (mut pairs, mut cells): (Vec<(usize, Vec<&Candidate>)>, usize) = (Vec::new(), 0);
        let mut taken = 0;
        for group in rest.chunk_by(|x, y| x.columns[0] == y.columns[0]) {
            let size = |pair: &[Candidate]| pair.last().map_or(0, |finest| finest.cells as usize);
            let more: usize = group.chunk_by(|x, y| x.columns == y.columns).map(size).sum();
            if !pairs.is_empty() && cells + more > BATCH {
                break;
            }
            pairs.push((group[0].columns[0], group.iter().collect()));
            cells += more;
            taken += group.len();
        }
        let comparisons: Vec<Comparison> = threads::map(threads, &pairs, |(first, group)| {
            let tables = passages.from(*first);
            let of_pair = |pair: &[&Candidate]| -> Option<Comparison> {
                let second = pair[0].columns[1];
                let (_, table) = tables.iter().find(|(column, _)| *column == second)?;
                Some(comparison(estimate, pair, table))
            };
            group.chunk_by(|x, y| x.columns == y.columns).filter_map(of_pair).collect::<Vec<_>>()
        })
        .into_iter()
        .flatten()
        .collect();
        let distances = meter.distances(&comparisons, each)?.0;
        let (batch, others) = rest.split_at_mut(taken);
        for (candidate, distance) in batch.iter_mut().zip(distances.into_iter().flatten()) {
            candidate.distance = distance;
        }
        rest = others;
    }
    Ok(())
}

/// The model's table of a pair at its finest candidate, to be compared at all of its candidates.
fn comparison(estimate: &Estimate, pair: &[&Candidate], tree_table: &[f64]) -> Comparison {
    let finest = pair[pair.len() - 1];
    let level = |i: usize, level: usize| &estimate.profiles[finest.columns[i]].levels[level];
    let down = |i: usize, candidate: &Candidate| {
        let coarse = level(i, candidate.levels[i]);
        (level(i, finest.levels[i]).down_to(coarse), coarse.bins)
    };
    let axis = |i: usize| Axis::new(finest.columns[i], level(i, finest.levels[i]));
    Comparison {
        view: View::new(vec![axis(0), axis(1)]),
        expected: estimate.table(finest.columns, finest.levels, tree_table, estimate.total),
        resolutions: pair
            .iter()
            .map(|candidate| [down(0, candidate), down(1, candidate)])
            .collect(),
    }
}
