//! The ends of a quantile's interval, in units of its column.
//!
//! A quantile's error is known in ranks. What it means in units of the column depends on the data, so each end of an
//! interval is a release of its own: a quantile that is drawn farther out.
//!
//! Let v be the released value, and p = q for the upper end or 1−q for the lower one. The rows of a group are sorted by
//! how far out they lie: row x is at the first of some distances `0 = d₀ < d₁ < … < d_N` with `x ≤ v + dⱼ`, or
//! `x ≥ v − dⱼ` for the lower end. Rows on the other side of v are at d₀. To them come a *made-up rows* at d_N, which is
//! as far as the column's bounds. The end is v moved out by dⱼ, cut at the bound, with j the quantile of rank p of these
//! rows, by the exponential mechanism. [`Ends::new`] says how large a is.
//!
//! # Guarantee
//! *Privacy*: each end costs its share of the budget, for all groups together.
//! *Coverage*: but for probability [`BETA`]/2, the interval holds the quantile of rank q of the group's rows, by every
//! usual definition: all points from the ⌊qn⌋th to the (⌈qn⌉+1)th value, between which `percentile_cont` interpolates.
//! # Proof
//! *Privacy.* v and the distances are public, a is too, and each row is moved by itself. So neighbours stay neighbours, and
//! the draw is a quantile at the ε of [`Share::per_row`].
//!
//! *Coverage.* Among n rows and a made-up ones some j has no rank error, so the one that is drawn has one of at most k but for
//! probability β/4 ([`Quantile`]'s error, with N+1 points). If it is not N, the rows within dⱼ are at least
//! `p(n+a) − k ≥ pn + 1`, if `pa ≥ k + 1`. For the upper end that is `#{x ≤ high} ≥ qn + 1`, so the (⌈qn⌉+1)th value is
//! at most `high`. For the lower end `#{x ≥ low} ≥ (1−q)n + 1`, so `#{x < low} ≤ qn − 1`, and the ⌊qn⌋th value is at least
//! `low`. If j = N, the end is the column's bound, and nothing lies beyond it. Both ends hold but for probability β/2. ∎
//!
//! *Weights.* Where people are weighed, ranks count weight. If weights take away a share L of all rows, as far as can be
//! seen, the weight W of a group is at least `(1−L)n`. The end of rank `r = p/(1−L)` has a weight of at least
//! `rW + 1 ≥ pn + 1` within it, which is at most the number of rows: the interval is for the rows themselves. If
//! `r ≥ 1`, or L is not known, the end is the column's bound.
//! # Special values
//! Without rows every interval holds. Values count as they are ranked: within the bounds, on the column's grid.

use super::{BETA, Most, ReleasedColumns, Share, Weights};
use crate::error::Result;
use datafusion::common::ScalarValue;
use demure_core::mechanism::{Bounds, Quantile};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Grid};
use demure_core::utility::Accuracy;

/// A value of a group, and the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Located {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Values with intervals, of which each holds but for probability `BETA`/`among`.
pub(super) struct LocatedValues {
    pub(super) values: Vec<Located>,
    pub(super) among: u32,
}

impl ReleasedColumns for LocatedValues {
    fn column(&self, _: &super::Measure) -> Result<Vec<(ScalarValue, Option<f64>)>> {
        let farther = |at: &Located| (at.high - at.value).max(at.value - at.low);
        let values = self.values.iter();
        Ok(values.map(|at| (ScalarValue::Float64(Some(at.value)), Some(farther(at)))).collect())
    }

    fn errors(&self, measure: &super::Measure, among: u32) -> Result<Vec<Option<f64>>> {
        match among <= self.among {
            true => Ok(self.column(measure)?.into_iter().map(|(_, error)| error).collect()),
            false => Ok(Vec::new()),
        }
    }

    fn ends(&self) -> Vec<(f64, f64)> {
        self.values.iter().map(|at| (at.low, at.high)).collect()
    }
}

/// The intervals of a quantile hold but for probability `BETA` over this: two of them hold together.
pub(super) const AMONG: u32 = 2;

/// Buys the ends of a quantile's interval.
pub(crate) struct Ends {
    bounds: Bounds,
    /// The distances of the ends from the value, in steps of the grid.
    distances: Vec<u64>,
    /// `None` where the end is always the column's bound.
    low: Option<End>,
    high: Option<End>,
}

/// One end: a quantile of distances.
pub(crate) struct End {
    pub(crate) quantile: Quantile,
    /// Its rank among distances.
    #[cfg(test)]
    pub(crate) rank: f64,
    /// The number of made-up rows at the farthest distance, in the steps in which rows are counted.
    pub(crate) made_up: u64,
}

impl Ends {
    /// The ends of the interval of a quantile, `share` for each of the two.
    pub(super) fn new(
        rank: f64,
        bounds: Bounds,
        share: &Share,
        (most, single): (Most, bool),
        weights: Option<&Weights>,
    ) -> Result<Self> {
        let distances = distances(bounds.steps());
        let lost = weights.map_or(0.0, |weights| weights.lost);
        let end = |p: f64| End::new(p / (1.0 - lost), distances.len(), share, most, single);
        let (low, high) = (end(1.0 - rank)?, end(rank)?);
        Ok(Self { bounds, distances, low, high })
    }

    /// A value with the ends of its interval, given the values of its group, each with the number of its rows.
    pub(super) fn around(
        &self,
        value: f64,
        values: &[(f64, u64)],
        rng: &mut dyn Randomness,
    ) -> Result<Located> {
        let bounds = &self.bounds;
        let (at, steps) = (u64::from(bounds.step(value)), bounds.steps());
        let far = |x: f64, up: bool| {
            let step = u64::from(bounds.step(x));
            if up { step.saturating_sub(at) } else { at.saturating_sub(step) }
        };
        let mut reach = |end: &Option<End>, up: bool| {
            let Some(end) = end else { return Ok(steps) };
            end.release(&self.distances, values.iter().map(|(x, n)| (far(*x, up), *n)), rng)
        };
        let low = at.saturating_sub(reach(&self.low, false)?);
        let high = (at + reach(&self.high, true)?).min(steps);
        let lower = (bounds.lower() / bounds.grid().spacing()).round() as i128;
        let place = |step: u64| bounds.grid().at(lower + i128::from(step));
        // Smooth noise is not on the grid.
        Ok(Located { value, low: place(low).min(value), high: place(high).max(value) })
    }

    /// The ends that are drawn: the lower one first.
    #[cfg(test)]
    pub(crate) fn drawn(&self) -> impl Iterator<Item = (bool, &End)> {
        let ends = [(false, &self.low), (true, &self.high)].into_iter();
        ends.filter_map(|(up, end)| Some((up, end.as_ref()?)))
    }

    /// The number of the first distance that is not shorter.
    #[cfg(test)]
    pub(crate) fn cell(&self, distance: u64) -> usize {
        cell(&self.distances, distance)
    }
}

impl End {
    fn new(
        rank: f64,
        distances: usize,
        share: &Share,
        most: Most,
        single: bool,
    ) -> Result<Option<Self>> {
        // The quantile rounds its rank to 2⁻³²: it must not be rounded inwards.
        let rank = (rank * 2f64.powi(32)).ceil() / 2f64.powi(32);
        if rank.is_nan() || rank >= 1.0 {
            return Ok(None);
        }
        let epsilon = share.per_row(most, single, rank.max(1.0 - rank) + 2f64.powi(-32))?;
        let range = 0.0..=(distances - 1) as f64;
        let quantile = Quantile::with_grid(epsilon, share.neighbours, rank, range, Grid::ONE)?;
        let error = quantile.error(Beta::new(BETA / f64::from(2 * AMONG))?)?;
        let made_up = ((error + most.per_row) / rank).ceil() + 1.0;
        // Beyond all numbers of rows.
        let countable = made_up < 2f64.powi(62);
        Ok(countable.then_some(Self {
            quantile,
            #[cfg(test)]
            rank,
            made_up: made_up as u64,
        }))
    }

    /// A distance, given how far out each row is.
    fn release(
        &self,
        distances: &[u64],
        rows: impl Iterator<Item = (u64, u64)>,
        rng: &mut dyn Randomness,
    ) -> Result<u64> {
        let counts = self.counts(distances, rows);
        let places: Vec<(f64, u64)> =
            counts.into_iter().enumerate().map(|(j, count)| (j as f64, count)).collect();
        let drawn = self.quantile.release_counted(&places, rng)?.into_value();
        Ok(distances[drawn as usize])
    }

    /// The number of rows at each distance, with those that are made up.
    fn counts(&self, distances: &[u64], rows: impl Iterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut counts = vec![0u64; distances.len()];
        let farthest = distances.last().copied().unwrap_or(0);
        for (distance, rows) in rows.chain([(farthest, self.made_up)]) {
            let count = &mut counts[cell(distances, distance)];
            *count = count.saturating_add(rows);
        }
        counts
    }
}

fn cell(distances: &[u64], distance: u64) -> usize {
    distances.partition_point(|d| *d < distance).min(distances.len() - 1)
}

/// 0, 1, 2, … and from 8 on each a quarter more than the one before, up to all steps. Few of them make the error of an
/// end small: it grows with the logarithm of their number. A quarter of the distance is what that costs at most.
fn distances(steps: u64) -> Vec<u64> {
    let next = |d: &u64| Some(d + (d / 4).max(1));
    let short = std::iter::successors(Some(0), next).take_while(|d| *d < steps);
    short.chain([steps]).collect()
}

#[cfg(test)]
mod tests;
