//! A private quality report: how far the released rows are from the table, pair by pair.
//!
//! A comparison with the raw table would be a release that nobody paid for. This one pays, with 2 % of the budget:
//! noise on the ℓ₁ distance of each pair of columns.

use crate::candidates::Candidate;
use crate::error::Result;
use crate::measure::{Comparison, Meter};
use crate::profile::Profile;
use crate::table::CodedTable;
use crate::threads;
use crate::view::{Axis, View};
use demure_core::mechanism::Gaussian;
use demure_core::unit::{Beta, Rho, Sensitivity};
use demure_core::utility::Accuracy;

/// Pairs with more cells are compared at coarser bins.
const MOST_CELLS: usize = 1_000_000;
/// Pairs that are compared at once.
const BATCH: usize = 64;

/// How far the rows are from the table in one pair of columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairError {
    /// The positions of the columns.
    pub columns: (usize, usize),
    /// The total variation distance with noise; a small one may come out negative.
    pub total_variation: f64,
}

/// The noised error of every pair of the released rows.
///
/// The total variation distance of a pair is half the sum of the absolute differences of shares. All estimates have
/// the same Gaussian noise, and independent draws of it.
#[derive(Clone, Debug, PartialEq)]
pub struct QualityReport {
    pairs: Vec<PairError>,
    deviation: f64,
}

impl QualityReport {
    /// Each pair of columns that both have at least two codes.
    #[must_use]
    pub fn pairs(&self) -> &[PairError] {
        &self.pairs
    }

    /// The standard deviation of the noise on each pair's error.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.deviation
    }

    /// The mean over all pairs, and the standard deviation of its noise.
    #[must_use]
    pub fn mean(&self) -> (f64, f64) {
        let pairs = self.pairs.len().max(1) as f64;
        let sum: f64 = self.pairs.iter().map(|pair| pair.total_variation).sum();
        (sum / pairs, self.deviation / pairs.sqrt())
    }

    /// How far a pair's true error is from the stated one at most, except with probability `beta`. (The number of
    /// rows that errors are relative to is an estimate too, which this leaves out.)
    pub fn half_width(&self, beta: Beta) -> Result<f64> {
        let rho = Rho::new(0.5 / (self.deviation * self.deviation))?;
        Ok(Gaussian::concentrated(rho, Sensitivity::new(1.0)?)?.error(beta)?)
    }
}

/// Compares the rows with the table, for `quanta` in all. `total` is the estimated number of rows of the table.
pub(crate) fn report(
    meter: &mut Meter<'_>,
    rows: &CodedTable,
    profiles: &[Profile],
    candidates: &[Candidate],
    total: f64,
    quanta: u64,
    threads: usize,
) -> Result<QualityReport> {
    let pairs: Vec<[usize; 2]> =
        candidates.chunk_by(|x, y| x.columns == y.columns).map(|pair| pair[0].columns).collect();
    let each = quanta / (pairs.len() as u64).max(1);
    let scale = total / rows.rows().max(1) as f64;
    let (mut found, mut deviation) = (Vec::with_capacity(pairs.len()), 0.0);
    for batch in pairs.chunks(BATCH) {
        let comparisons = threads::map(threads, batch, |&[a, b]| {
            let (x, y) = levels(&profiles[a], &profiles[b]);
            let (x, y) = (&profiles[a].levels[x], &profiles[b].levels[y]);
            let view = View::new(vec![Axis::new(a, x), Axis::new(b, y)]);
            let expected = rows.tally(&view).iter().map(|&count| count as f64 * scale).collect();
            let same = |bins: usize| ((0..bins).map(|bin| bin as u16).collect(), bins);
            Comparison { view, expected, resolutions: vec![[same(x.bins), same(y.bins)]] }
        });
        let (distances, sigma) = meter.distances(&comparisons, each)?;
        // The price of a batch is shared evenly, so every batch has the same noise but for rounding.
        deviation = f64::max(deviation, sigma / (2.0 * total));
        for (&[a, b], distance) in batch.iter().zip(distances.iter().flatten()) {
            let total_variation = distance / (2.0 * total);
            found.push(PairError { columns: (a, b), total_variation });
        }
    }
    Ok(QualityReport { pairs: found, deviation })
}

/// All codes of both columns, or as many bins as keep the table small.
fn levels(a: &Profile, b: &Profile) -> (usize, usize) {
    let cells = |x: usize, y: usize| a.levels[x].bins * b.levels[y].bins;
    let (mut x, mut y) = (a.finest(), b.finest());
    while cells(x, y) > MOST_CELLS && x + y > 0 {
        if y == 0 || (x > 0 && a.levels[x].bins >= b.levels[y].bins) { x -= 1 } else { y -= 1 }
    }
    (x, y)
}
