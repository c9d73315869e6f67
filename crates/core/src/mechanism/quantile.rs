//! A quantile of bounded values, by the exponential mechanism on the rank error.

use super::choice::{self, Alternative};
use super::exponential::{Change, Rate, bounded_range, exponential_error};
use super::{Bounds, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::Ratio;
use crate::random::Randomness;
use crate::sample::uniform_below;
use crate::unit::{Beta, Epsilon, Grid, Neighbours, Rho, Sensitivity};
use crate::utility::Accuracy;
use std::ops::RangeInclusive;

/// Ranks are counted in units of 2⁻³², so that rank errors are integers.
const ONE: u64 = 1 << 32;

/// Releases a quantile of bounded values: the median, a quartile, any rank q.
///
/// A point o of a public grid between public bounds has a probability proportional to
/// `exp(−(ε/2Δ)·e(o))`, where `e(o) = max(0, #{x < o} − qn, qn − #{x ≤ o})` is the number of
/// ranks from those of o to the rank qn. Each value is first moved to the nearest point of the grid
/// within the bounds. So the quantile itself has e = 0, also where many values are equal.
///
/// ```
/// use demure_core::mechanism::{Bounds, Quantile};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// let bounds = Bounds::new(0.0, 120.0)?;
/// let median = Quantile::new(Epsilon::new(0.5)?, Neighbours::AddRemove, 0.5, bounds)?;
/// let ages = [34.0, 51.0, 29.0, 62.0, 45.0, 38.0];
/// println!("about {:.1}", median.release(&ages, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP and ε²/8-zCDP, under either relation: `Δ = 1` for replace and
/// `Δ = max(q, 1−q)` for add or remove, where the number of values is protected too.
/// # Proof
/// It is the [exponential mechanism](super::Exponential) over the points of the
/// grid, which are public. Moving values to the grid acts on each by itself and
/// keeps neighbours neighbours. One value more changes qn by q, and `#{x < o}` and `#{x ≤ o}`
/// each by 0 or 1: `#{x < o} − qn` changes by −q or 1−q, `qn − #{x ≤ o}` by q or q−1. A
/// replacement leaves qn and changes each count by at most 1. A maximum moves no farther than the
/// largest of its terms. The score is *not* monotone: a new low
/// value improves points below the quantile and worsens those above. Points with the
/// same values on either side have the same score; they are chosen as a whole and
/// then evenly, both exactly. ∎
/// # Special values
/// NaN is left out, as if its row were not there (removing or replacing it stays within the
/// sensitivity); ±∞ and all values outside the bounds count at the bound. Without values every
/// point of the grid is equally likely. Duplicates need no care, as points are chosen and not
/// gaps. q is rounded to a multiple of 2⁻³².
/// # References
/// Smith 2011 (privacy-preserving statistical estimation), Algorithm 2, on a grid.
#[derive(Clone, Debug)]
pub struct Quantile {
    pub(super) epsilon: Epsilon,
    rank: u64,
    first: i64,
    last: i64,
    grid: Grid,
    /// 2³²·Δ.
    sensitivity: u64,
    rate: Rate,
}

/// Neighbouring points of the grid with the same rank error.
struct Segment {
    start: u64,
    count: u64,
    /// `2³²·max(0, #{x < o} − qn, qn − #{x ≤ o})`.
    error: u128,
}

impl Quantile {
    /// The quantile `rank` (0.5 is the median) of values within `bounds`, on their grid.
    pub fn new(
        epsilon: Epsilon,
        neighbours: Neighbours,
        rank: f64,
        bounds: Bounds,
    ) -> Result<Self> {
        let range = bounds.lower()..=bounds.upper();
        Self::with_grid(epsilon, neighbours, rank, range, bounds.grid())
    }

    /// As [`Quantile::new`], between two numbers, on a grid of about a millionth of their distance.
    pub fn between(
        epsilon: Epsilon,
        neighbours: Neighbours,
        rank: f64,
        range: RangeInclusive<f64>,
    ) -> Result<Self> {
        let grid = Grid::for_scale(range.end() - range.start()).map_err(|_| Self::bounds())?;
        Self::with_grid(epsilon, neighbours, rank, range, grid)
    }

    /// As [`Quantile::new`], on a public grid of your choice: [`Grid::ONE`] for integers. The
    /// ends of the range move inwards to the grid.
    pub fn with_grid(
        epsilon: Epsilon,
        neighbours: Neighbours,
        rank: f64,
        range: RangeInclusive<f64>,
        grid: Grid,
    ) -> Result<Self> {
        let (low, high) = range.into_inner();
        let rank = (rank * ONE as f64).round();
        if !(rank > 0.0 && rank < ONE as f64) {
            let allowed = "strictly between 0 and 1 (by 2^-32 at least)";
            return Err(Error::OutOfRange { parameter: "rank", allowed });
        }
        // Division by a power of two is exact; the bounds move inwards to the grid.
        let (first, last) = ((low / grid.spacing()).ceil(), (high / grid.spacing()).floor());
        let reach = (1u64 << 53) as f64;
        if !(first <= last && -reach <= first && last <= reach) {
            return Err(Self::bounds());
        }
        let rank = rank as u64;
        let sensitivity = match neighbours {
            Neighbours::Replace => ONE,
            Neighbours::AddRemove => rank.max(ONE - rank),
        };
        let rate = Rate::new(epsilon, Sensitivity::new(sensitivity as f64)?, Change::General)?;
        Ok(Self { epsilon, rank, first: first as i64, last: last as i64, grid, sensitivity, rate })
    }

    fn bounds() -> Error {
        Error::OutOfRange {
            parameter: "bounds",
            allowed: "finite, the lower below the upper, around at least one step of the grid \
                      and within 2^53 steps of 0",
        }
    }

    /// The spacing of released values.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The sensitivity Δ of the rank error.
    #[must_use]
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity as f64 / ONE as f64
    }

    /// The difference of ranks that multiplies the odds by e: `2Δ/ε`.
    #[must_use]
    pub fn scale(&self) -> f64 {
        1.0 / (self.rate.near * ONE as f64)
    }

    /// The number of points that may be released.
    #[must_use]
    pub fn points(&self) -> u64 {
        (self.last - self.first) as u64 + 1
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The guarantee as zCDP: ρ = ε²/8, rounded up.
    pub fn rho(&self) -> Result<Rho> {
        bounded_range(self.epsilon)
    }

    /// Releases the quantile of `values`.
    ///
    /// # Work
    /// For n values, `O(n)` steps and 2n + 1 alternatives, whatever the values
    /// (except NaN, which is left out, and the rare draws that need more random bits).
    pub fn release(&self, values: &[f64], rng: &mut dyn Randomness) -> Result<Release<f64>> {
        self.drawn(&self.segments(values), rng)
    }

    /// Releases the quantile of values that occur so many times. The work depends on how many different
    /// values there are.
    pub fn release_counted(
        &self,
        values: &[(f64, u64)],
        rng: &mut dyn Randomness,
    ) -> Result<Release<f64>> {
        let known = values.iter().filter(|(x, _)| !x.is_nan());
        let mut places: Vec<(u64, u64)> = known.map(|&(x, n)| (self.place(x), n)).collect();
        places.sort_unstable_by_key(|(place, _)| *place);
        self.drawn(&self.segments_of(&places), rng)
    }

    fn drawn(&self, segments: &[Segment], rng: &mut dyn Randomness) -> Result<Release<f64>> {
        let (least, alternatives) = self.alternatives(segments);
        let exact = |i: usize| self.exponent(&segments[i], least);
        let chosen = &segments[choice::choose(&alternatives, exact, rng.bits()?)?];
        let point = chosen.start + uniform_below(chosen.count, rng)?;
        let value = self.grid.at(i128::from(self.first) + i128::from(point));
        Ok(Release::new(value, self.guarantee()))
    }

    /// Each point and its probability, for small grids. Depends on protected values, so do not
    /// publish it.
    pub fn probabilities(&self, values: &[f64]) -> Result<Vec<(f64, f64)>> {
        let segments = self.segments(values);
        let (least, alternatives) = self.alternatives(&segments);
        let table = choice::table(&alternatives, |i| self.exponent(&segments[i], least))?;
        let spread = |(segment, p): (&Segment, f64)| {
            let points = segment.start..segment.start + segment.count;
            points.map(move |k| (self.grid.at(i128::from(self.first) + i128::from(k)), p))
        };
        Ok(segments.iter().zip(table).flat_map(spread).collect())
    }

    /// The nearest point of the grid within the bounds, counted from the first.
    fn place(&self, x: f64) -> u64 {
        let steps = (x / self.grid.spacing()).round();
        (steps.clamp(self.first as f64, self.last as f64) as i64 - self.first) as u64
    }

    /// The points, cut at every value into 2n + 1 segments, some of them empty.
    fn segments(&self, values: &[f64]) -> Vec<Segment> {
        let mut places: Vec<u64> =
            values.iter().filter(|x| !x.is_nan()).map(|&x| self.place(x)).collect();
        sort(&mut places, self.points());
        let counted: Vec<(u64, u64)> = places.into_iter().map(|place| (place, 1)).collect();
        self.segments_of(&counted)
    }

    /// The same from places in order, each with a number of values.
    fn segments_of(&self, places: &[(u64, u64)]) -> Vec<Segment> {
        let n: u64 = places.iter().fold(0, |n, (_, count)| n.saturating_add(*count));
        let wanted = u128::from(self.rank) * u128::from(n);
        let error = |below: u64, up_to: u64| {
            let [below, up_to] = [below, up_to].map(|count| u128::from(ONE) * u128::from(count));
            below.saturating_sub(wanted).max(wanted.saturating_sub(up_to))
        };
        // For each value, the points since the previous value, and its own point if it is the first of equal values.
        // `up_to[i]` is the number of values that do not exceed it.
        let sum = |below: &mut u64, (_, count): &(u64, u64)| {
            *below = below.saturating_add(*count);
            Some(*below)
        };
        let mut up_to: Vec<u64> = places.iter().scan(0, sum).collect();
        for i in (1..places.len()).rev() {
            let equal = places[i - 1].0 == places[i].0;
            up_to[i - 1] = if equal { up_to[i] } else { up_to[i - 1] };
        }
        let mut segments = Vec::with_capacity(2 * places.len() + 1);
        let (mut start, mut below) = (0, 0u64); // the first point not yet in a segment, and the values below
        for (&(here, count), up_to) in places.iter().zip(up_to) {
            segments.push(Segment {
                start,
                count: here.saturating_sub(start),
                error: error(below, below),
            });
            let first = u64::from(here >= start);
            segments.push(Segment { start: here, count: first, error: error(below, up_to) });
            start = here + 1;
            below = below.saturating_add(count);
        }
        segments.push(Segment { start, count: self.points() - start, error: error(n, n) });
        segments
    }

    /// The least rank error of any point, and the weights relative to it.
    fn alternatives(&self, segments: &[Segment]) -> (u128, Vec<Alternative>) {
        let errors = segments.iter().filter(|s| s.count > 0).map(|s| s.error);
        let least = errors.min().unwrap_or(0);
        let weigh = |s: &Segment| Alternative {
            count: s.count,
            near: s.error.saturating_sub(least) as f64 * self.rate.near,
        };
        (least, segments.iter().map(weigh).collect())
    }

    fn exponent(&self, segment: &Segment, least: u128) -> Ratio {
        self.rate.times(&Ratio::new(segment.error.saturating_sub(least), 1u64))
    }
}

impl Accuracy for Quantile {
    /// In ranks: how far the released point's ranks, from `#{x < o}` to `#{x ≤ o}`, are from qn.
    fn error(&self, beta: Beta) -> Result<f64> {
        Ok(exponential_error(self.points(), &self.rate, beta)? / ONE as f64)
    }
}

/// Sorts numbers below `bound` byte by byte, so that the work does not depend on them.
fn sort(places: &mut Vec<u64>, bound: u64) {
    let mut sorted = vec![0; places.len()];
    for shift in (0..u64::BITS - bound.leading_zeros()).step_by(8) {
        let byte = |place: u64| (place >> shift & 0xff) as usize;
        let mut next = [0usize; 257];
        for &place in places.iter() {
            next[byte(place) + 1] += 1;
        }
        for i in 1..256 {
            next[i] += next[i - 1];
        }
        for &place in places.iter() {
            sorted[next[byte(place)]] = place;
            next[byte(place)] += 1;
        }
        std::mem::swap(places, &mut sorted);
    }
}

#[cfg(test)]
mod tests;
