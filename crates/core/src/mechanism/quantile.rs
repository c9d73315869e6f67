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
/// `exp(−(ε/2Δ)·|(1−q)·#{x < o} − q·#{x > o}|)`: the closer its rank to q, the likelier. Each
/// value is first moved to the nearest point of the grid within the bounds.
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
/// keeps neighbours neighbours. One value more or less changes `#{x < o}` or
/// `#{x > o}` by 1, or neither, so the score by at most `max(q, 1−q)`. A
/// replacement at worst takes 1 from one and gives it to the other: the
/// difference changes by `(1−q) + q = 1`. The score is *not* monotone: a new low
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
    /// `2³²·|(1−q)·#{x < o} − q·#{x > o}|`.
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
        let segments = self.segments(values);
        let (least, alternatives) = self.alternatives(&segments);
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

    /// The points, cut at every value into 2n + 1 segments, some of them empty.
    fn segments(&self, values: &[f64]) -> Vec<Segment> {
        let place = |x: f64| {
            let steps = (x / self.grid.spacing()).round();
            (steps.clamp(self.first as f64, self.last as f64) as i64 - self.first) as u64
        };
        let mut places: Vec<u64> =
            values.iter().filter(|x| !x.is_nan()).map(|&x| place(x)).collect();
        sort(&mut places, self.points());
        let n = places.len() as u64;
        let error = |below: u64, above: u64| {
            let low = u128::from(ONE - self.rank) * u128::from(below);
            low.abs_diff(u128::from(self.rank) * u128::from(above))
        };
        // For each value, the points since the previous value, and its own point if it is the first of equal values.
        // `equals[i]` is the number of values that do not exceed it.
        let mut equals = vec![n; places.len()];
        for i in (1..places.len()).rev() {
            equals[i - 1] = if places[i - 1] == places[i] { equals[i] } else { i as u64 };
        }
        let mut segments = Vec::with_capacity(2 * places.len() + 1);
        let mut start = 0; // the first point not yet in a segment
        for (below, (&here, up_to)) in (0..).zip(places.iter().zip(equals)) {
            segments.push(Segment {
                start,
                count: here.saturating_sub(start),
                error: error(below, n - below),
            });
            let first = u64::from(here >= start);
            segments.push(Segment { start: here, count: first, error: error(below, n - up_to) });
            start = here + 1;
        }
        segments.push(Segment { start, count: self.points() - start, error: error(n, 0) });
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
    /// In ranks: how much larger `|(1−q)·#{x < o} − q·#{x > o}|` is than for the best point of
    /// the grid.
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
mod tests {
    use super::*;
    use crate::random::SeededForTests;
    use Neighbours::{AddRemove, Replace};
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::{datasets, neighbours};

    fn integers(epsilon: f64, relation: Neighbours, rank: f64, high: f64) -> Quantile {
        let epsilon = Epsilon::new(epsilon).unwrap();
        Quantile::with_grid(epsilon, relation, rank, 0.0..=high, Grid::ONE).unwrap()
    }

    /// The formula, point by point, at the rate ε/(2Δ).
    fn formula(values: &[f64], q: f64, rate: f64, points: u32) -> Vec<f64> {
        let weight = |o: u32| {
            let below = values.iter().filter(|&&x| x < f64::from(o)).count() as f64;
            let above = values.iter().filter(|&&x| x > f64::from(o)).count() as f64;
            (-rate * ((1.0 - q) * below - q * above).abs()).exp()
        };
        let total: f64 = (0..points).map(weight).sum();
        (0..points).map(|o| weight(o) / total).collect()
    }

    #[test]
    fn the_table_is_the_formula_duplicates_and_all() {
        for values in [
            vec![],
            vec![3.0],
            vec![7.0; 4],
            vec![0.0, 0.0, 9.0],
            vec![5.0, 1.0, 5.0, 2.0, 8.0, 9.0],
        ] {
            for (q, relation, delta) in
                [(0.5, Replace, 1.0), (0.25, AddRemove, 0.75), (0.875, AddRemove, 0.875)]
            {
                let quantile = integers(1.5, relation, q, 9.0);
                let table = quantile.probabilities(&values).unwrap();
                let expected = formula(&values, q, 0.75 / delta, 10);
                assert_eq!(table.len(), 10);
                assert_eq!(quantile.sensitivity(), delta);
                assert!((quantile.scale() * 1.5 / (2.0 * delta) - 1.0).abs() < 1e-15);
                for (k, (point, p)) in table.into_iter().enumerate() {
                    assert_eq!(point, k as f64);
                    assert!((p - expected[k]).abs() < 1e-14, "{values:?} {q} {k}");
                }
            }
        }
    }

    #[test]
    fn releases_fit_the_table_and_the_test_has_power() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i * i % 97)).collect();
        for (seed, relation, q) in [(1, Replace, 0.5), (2, AddRemove, 0.9)] {
            let mut rng = SeededForTests::insecure(seed);
            let median = integers(0.5, relation, q, 99.0);
            let draws: Vec<_> = (0..200_000)
                .map(|_| median.release(&values, &mut rng).unwrap().into_value() as i128)
                .collect();
            let fit = |epsilon| {
                let table = integers(epsilon, relation, q, 99.0).probabilities(&values).unwrap();
                Fit::of(draws.iter().copied(), |k| table[k as usize].1, 0..=99)
            };
            assert!(fit(0.5).accepts() && fit(0.525).rejects(), "{relation}");
        }
    }

    #[test]
    fn private_by_brute_force_under_each_relation_with_its_own_sensitivity() {
        let domain = [0, 1, 2, 3];
        let replace = |d: &Vec<i32>| datasets::replace_one(d, &domain);
        let add = |d: &Vec<i32>| datasets::add_or_remove_one(d, &domain);
        let release = |relation, q| {
            move |rows: &Vec<i32>| {
                let values: Vec<_> = rows.iter().map(|&x| f64::from(x)).collect();
                let table = integers(1.0, relation, q, 3.0).probabilities(&values).unwrap();
                Distribution::new(table.into_iter().map(|(o, p)| (o as i32, p)))
            }
        };
        for q in [0.5, 0.25, 0.9] {
            let all = || datasets::rows(&domain, 0..=4);
            neighbours::check(release(Replace, q), all(), replace, 1.0, 0.0).unwrap();
            neighbours::check(release(AddRemove, q), all(), add, 1.0, 0.0).unwrap();
            let orders = [1.1, 2.0, 8.0, 64.0];
            let rho = integers(1.0, Replace, q, 3.0).rho().unwrap().get();
            neighbours::check_zcdp(release(AddRemove, q), all(), add, rho, &orders).unwrap();
        }
        // The sensitivity of the median under add or remove, ½, is not enough for replace.
        let wrong = neighbours::check(
            release(AddRemove, 0.5),
            datasets::rows(&domain, 4..=4),
            replace,
            1.0,
            0.0,
        );
        assert!(wrong.is_err());
    }

    #[test]
    fn special_values() {
        let table =
            |values: &[f64]| integers(1.0, Replace, 0.5, 9.0).probabilities(values).unwrap();
        assert_eq!(table(&[f64::NAN, 4.0, f64::NAN]), table(&[4.0]));
        let outside = [f64::NEG_INFINITY, -3.0, 1e300, f64::INFINITY, 4.4, 3.6];
        assert_eq!(table(&outside), table(&[0.0, 0.0, 9.0, 9.0, 4.0, 4.0]));
        let epsilon = Epsilon::new(1.0).unwrap();
        for (rank, low, high) in [
            (0.0, 0.0, 1.0),
            (1.0, 0.0, 1.0),
            (f64::NAN, 0.0, 1.0),
            (0.5, 1.0, 1.0),
            (0.5, 2.0, 1.0),
            (0.5, f64::NAN, 1.0),
            (0.5, 0.0, f64::INFINITY),
            (0.5, f64::MIN, f64::MAX),
            (0.5, 1e15, 1e15 + 1.0),
        ] {
            let error =
                Quantile::between(epsilon, Replace, rank, low..=high).unwrap_err().to_string();
            assert!(error.contains("rank") || error.contains("bounds"), "{error}");
        }
    }

    #[test]
    fn a_wide_grid_is_as_good_as_a_narrow_one_and_the_error_holds() {
        let epsilon = Epsilon::new(0.1).unwrap();
        let income = Quantile::between(epsilon, AddRemove, 0.5, -1e6..=1e6).unwrap();
        assert_eq!((income.points(), income.grid().spacing()), (2_000_001, 1.0));
        let values: Vec<f64> = (0..20_001).map(|i| f64::from(i) * 10.0).collect();
        let bound = income.error(Beta::new(1e-6).unwrap()).unwrap();
        assert!((270.0..290.0).contains(&bound), "{bound}"); // (2Δ/ε)·ln(2e12), Δ = ½
        let mut rng = SeededForTests::insecure(3);
        for _ in 0..200 {
            let median = income.release(&values, &mut rng).unwrap().into_value();
            // A rank error of |½#below − ½#above| ranks is that many tens.
            assert!((median - 100_000.0).abs() <= 10.0 * bound + 10.0, "{median}");
        }
    }

    #[test]
    fn sorting_is_sorting() {
        let mut rng = SeededForTests::insecure(4);
        for bound in [1, 2, 256, 257, 1 << 20, 1 << 54] {
            let mut places: Vec<_> =
                (0..500).map(|_| uniform_below(bound, &mut rng).unwrap()).collect();
            let mut expected = places.clone();
            expected.sort_unstable();
            sort(&mut places, bound);
            assert_eq!(places, expected);
        }
    }
}
