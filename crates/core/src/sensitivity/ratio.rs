//! Quotients: the reciprocal of a count, and the slope of a regression. Their denominators can vanish, so their smooth
//! sensitivity is infinite; propose-test-release and private bounds still work.

use super::Statistic;
use crate::error::{Error, Result};
use crate::mechanism::Bounds;
use crate::unit::Grid;
use std::fmt;

/// The reciprocal `1/c` of a count c, on a public grid; 0 for c = 0. Under both relations the count moves by 1.
///
/// # Local sensitivity
/// `A_k = ⌈1/((c−k)(c−k−1))⌉ + 1` steps, the 1 for the rounding to the grid; without bound where `c − k < 2`.
/// # Proof
/// `1/(c−1) − 1/c = 1/(c(c−1))` is the larger of the two moves and falls as c grows; a neighbour's c is at least c−1. ∎
/// # Special values
/// Its smooth sensitivity is infinite for every c, as a count of 0 is c steps away: [`Statistic::most`] is `None`.
#[derive(Clone, Copy)]
pub struct Reciprocal {
    count: u64,
    grid: Grid,
}

impl Reciprocal {
    /// The reciprocal of `count`, on a grid between 2⁻⁶⁰ and 1.
    pub fn new(count: u64, grid: Grid) -> Result<Self> {
        if (-60..=0).contains(&grid.exponent()) {
            Ok(Self { count, grid })
        } else {
            Err(Error::OutOfRange { parameter: "grid", allowed: "between 2^-60 and 1" })
        }
    }

    /// Steps to 1.
    fn one(&self) -> u128 {
        1 << self.grid.exponent().unsigned_abs()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// A bound on the local sensitivity at this count, and at any larger one; `None` below 2.
    pub(super) fn steps_at(&self, count: u64) -> Option<u64> {
        let pairs = u128::from(count).checked_mul(u128::from(count.checked_sub(2)?) + 1)?;
        u64::try_from(self.one().div_ceil(pairs) + 1).ok()
    }
}

impl Statistic for Reciprocal {
    fn value(&self) -> i128 {
        let count = u128::from(self.count);
        (self.one() + count / 2).checked_div(count).unwrap_or(0) as i128
    }

    fn at_distance(&self, k: u64) -> u64 {
        self.steps_at(self.count.saturating_sub(k)).unwrap_or(u64::MAX)
    }

    fn most(&self) -> Option<u64> {
        None
    }

    fn answer(&self, noised: i128) -> f64 {
        (noised as f64 * self.unit()).clamp(0.0, 1.0)
    }

    fn unit(&self) -> f64 {
        self.grid.spacing()
    }
}

impl fmt::Debug for Reciprocal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reciprocal").field("grid", &self.grid).finish_non_exhaustive()
    }
}

/// Fractional bits of a slope, in steps of y to a step of x.
const FINE: u32 = 20;

/// The least-squares slope of y on x for n pairs of bounded values, n public: `C/V`, `V = Σ(x−x̄)²`,
/// `C = Σ(x−x̄)(y−ȳ)`; 0 where all x are equal. For *replace one*; under add or remove n is not public, and the slope
/// is not offered.
///
/// # Local sensitivity
/// With X, Y the widths of the bounds, an upper bound: `A_k = (X²(|C| + kXY)/(V − kX²) + XY)/(V − (k+1)X²)`, plus 1
/// step for the rounding to the grid; without bound where a denominator is not positive.
/// # Proof
/// Replacing a pair changes V by at most `X²` and C by at most `XY` (fix the other pairs, with means m and μ: the pair
/// adds `(n−1)/n·(x−m)²` and `(n−1)/n·(x−m)(y−μ)`, and the latter has a range of at most XY). So
/// `|C/V − C′/V′| ≤ (|C||V−V′| + V|C−C′|)/(VV′) ≤ (X²|C|/V + XY)/(V − X²)`. Within k steps V is at least `V − kX²`
/// and |C| at most `|C| + kXY`, and for a neighbour these bounds are no worse than for k+1 steps from here: that makes
/// it a profile. It is evaluated in floats, every operation of which is monotone, so the inequality between neighbours
/// is not lost to rounding; a factor `1 + 2⁻⁴⁰` makes it an upper bound. ∎
/// # Special values
/// Its smooth sensitivity is infinite: [`Statistic::most`] is `None`. Values are put in bounds as [`Bounds`] says.
#[derive(Clone)]
pub struct Slope {
    n: u64,
    /// `nV` and `nC`, in steps.
    variation: i128,
    covariation: i128,
    widths: (u32, u32),
    grids: (Grid, Grid),
}

impl Slope {
    /// The slope of the pairs `(x, y)` of all rows. Refused if n and the bounds are so large that sums could overflow.
    pub fn new(
        x_bounds: Bounds,
        y_bounds: Bounds,
        pairs: impl IntoIterator<Item = (f64, f64)>,
    ) -> Result<Self> {
        let widths = (x_bounds.step(f64::INFINITY), y_bounds.step(f64::INFINITY));
        let (mut n, mut sums, mut squares, mut products) = (0u64, (0i128, 0i128), 0i128, 0i128);
        for (x, y) in pairs {
            let (x, y) = (i128::from(x_bounds.step(x)), i128::from(y_bounds.step(y)));
            n += 1;
            sums = (sums.0 + x, sums.1 + y);
            squares += x * x;
            products += x * y;
        }
        // n²·XY·2²¹ must fit: a public condition.
        let widest = f64::from(widths.0) * f64::from(widths.0.max(widths.1));
        if n as f64 * n as f64 * widest * 2f64.powi(FINE as i32 + 1) > 2f64.powi(126) {
            return Err(Error::OutOfRange {
                parameter: "rows and bounds",
                allowed: "fewer, or on a coarser grid: the sums could overflow",
            });
        }
        let n_wide = i128::from(n);
        Ok(Self {
            n,
            variation: n_wide * squares - sums.0 * sums.0,
            covariation: n_wide * products - sums.0 * sums.1,
            widths,
            grids: (x_bounds.grid(), y_bounds.grid()),
        })
    }
}

impl Statistic for Slope {
    fn value(&self) -> i128 {
        if self.variation == 0 {
            return 0;
        }
        // Rounded to the nearest: ⌊(2·C·2²⁰ + V)/2V⌋.
        ((self.covariation << (FINE + 1)) + self.variation).div_euclid(2 * self.variation)
    }

    fn at_distance(&self, k: u64) -> u64 {
        let (x, y) = (i128::from(self.widths.0), i128::from(self.widths.1));
        let n = i128::from(self.n);
        // All within n + 1 steps; beyond, the denominators are negative anyway.
        let k = i128::from(k.min(self.n + 1));
        let variation = self.variation - k * n * x * x;
        let beside = variation - n * x * x;
        if beside <= 0 {
            return u64::MAX;
        }
        let covariation = self.covariation.abs() + k * n * x * y;
        let slope = covariation as f64 / variation as f64;
        let moved = (slope * (x * x) as f64 + (x * y) as f64) * n as f64 / beside as f64;
        let steps = moved * f64::from(1u32 << FINE) * (1.0 + 2f64.powi(-40));
        // A cast saturates; the 1 is for the rounding, the other for the ceiling.
        (steps as u64).saturating_add(2)
    }

    fn most(&self) -> Option<u64> {
        None
    }

    fn unit(&self) -> f64 {
        2f64.powi(self.grids.1.exponent() - self.grids.0.exponent() - FINE as i32)
    }
}

impl fmt::Debug for Slope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slope").field("n", &self.n).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::gate::Gate;
    use super::super::gate::tests::{laplace_cdf, opening};
    use super::super::propose::ProposeTestRelease;
    use super::super::{ProfileLimits, check_profile};
    use super::*;
    use crate::random::SeededForTests;
    use crate::unit::{Delta, Epsilon};
    use demure_testkit::distribution::Distribution;
    use demure_testkit::neighbours::check;

    #[test]
    fn the_reciprocal_has_a_profile_at_every_grid() {
        for exponent in [0, -3, -10, -60] {
            let grid = Grid::power_of_two(exponent).unwrap();
            let at = |c: &u64| Reciprocal::new(*c, grid).unwrap();
            let near = |&c: &u64| {
                let beside = [c.checked_sub(1), Some(c + 1)].into_iter().flatten();
                beside.filter(|&c| c <= 40).collect()
            };
            // The counts 0 and 1 are without bound, so what happens between them is not claimed.
            let value = |c: &u64| at(c).value();
            let profile = |c: &u64, k| at(c).at_distance(k);
            let limits = ProfileLimits::of(&at(&1));
            check_profile(0..=40, near, value, profile, limits, 12).unwrap();
            assert_eq!(at(&5).distance_above(at(&5).at_distance(0) - 1), Some(0));
            assert_eq!(at(&30).distance_above(u64::MAX - 1), Some(29));
        }
        assert!(Reciprocal::new(1, Grid::power_of_two(-61).unwrap()).is_err());
    }

    /// Multisets of n of the points of a 3 × 3 grid.
    fn points(n: usize) -> Vec<Vec<u8>> {
        let mut all = vec![vec![]];
        for _ in 0..n {
            all = all
                .into_iter()
                .flat_map(|x: Vec<u8>| {
                    let from = x.last().copied().unwrap_or(0);
                    (from..9).map(move |v| x.iter().copied().chain([v]).collect())
                })
                .collect();
        }
        all
    }

    fn replaced(x: &Vec<u8>) -> Vec<Vec<u8>> {
        let one = |(i, v): (usize, u8)| {
            let mut y = x.clone();
            y[i] = v;
            y.sort_unstable();
            y
        };
        (0..x.len()).flat_map(|i| (0..9).map(move |v| (i, v))).map(one).filter(|y| y != x).collect()
    }

    fn slope(x: &[u8]) -> Slope {
        let bounds = Bounds::on(0.0, 2.0, Grid::ONE).unwrap();
        let pairs = x.iter().map(|&v| (f64::from(v / 3), f64::from(v % 3)));
        Slope::new(bounds, bounds, pairs).unwrap()
    }

    #[test]
    fn the_slope_has_a_profile_on_all_small_datasets() {
        for n in 2..=5 {
            let value = |x: &Vec<u8>| slope(x).value();
            let profile = |x: &Vec<u8>, k| slope(x).at_distance(k);
            let limits = ProfileLimits::of(&slope(&[0, 8]));
            check_profile(points(n), replaced, value, profile, limits, 6)
                .unwrap_or_else(|flaw| panic!("{n}: {flaw}"));
        }
        // Finite only where V > X²: many points, spread out.
        let spread: Vec<u8> = (0..40).map(|i| if i % 2 == 0 { 0 } else { 8 }).collect();
        assert_eq!(slope(&spread).value(), 1 << FINE);
        assert!(slope(&spread).at_distance(0) < 1 << FINE);
        assert_eq!(slope(&spread).at_distance(10), u64::MAX);
        assert_eq!(slope(&[0, 1, 2]).value(), 0);
    }

    #[test]
    fn the_distance_of_a_slope_is_lipschitz_where_it_is_finite() {
        // Random walks through larger datasets: the distance moves by one at most.
        let mut state = 3u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) % n
        };
        let mut x: Vec<u8> = (0..60).map(|_| next(9) as u8).collect();
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..3_000 {
            let before = slope(&x);
            let moved = before.value();
            let bounds = [1u64 << 14, 1 << 16, 1 << 18];
            let distances = bounds.map(|b| before.distance_above(b).unwrap());
            x[next(60) as usize] = next(9) as u8;
            let after = slope(&x);
            assert!(moved.abs_diff(after.value()) <= u128::from(before.at_distance(0)));
            for (b, d) in bounds.into_iter().zip(distances) {
                seen.insert(d);
                assert!(d.abs_diff(after.distance_above(b).unwrap()) <= 1);
            }
        }
        assert!(seen.len() > 5, "{seen:?}");
    }

    /// A proposal's release, put into cells: a post-processing that leaves enough to see.
    fn coarse(
        statistic: &dyn Statistic,
        (gate, bound, e2): (&Gate, u64, f64),
        cell: i128,
    ) -> Distribution<Option<i128>> {
        let p = opening(gate, statistic.distance_above(bound).unwrap_or(1 << 41));
        let below = |o: i128| match o {
            -12 => 0.0,
            12 => 1.0,
            _ => laplace_cdf(bound as f64 / e2, o * cell - statistic.value()),
        };
        let cells = (-12..12).map(|o| (Some(o), p * (below(o + 1) - below(o))));
        Distribution::new(cells.chain([(None, 1.0 - p)]))
    }

    #[test]
    fn proposals_for_reciprocals_and_slopes_are_private_on_all_small_datasets() {
        let (e1, e2, d) = (1.0, 1.0, 0.05);
        let gate = Gate::new(Epsilon::new(e1).unwrap(), Delta::new(d).unwrap()).unwrap();
        let grid = Grid::power_of_two(-6).unwrap();
        let counts =
            |&c: &u64| [c.wrapping_sub(1), c + 1].into_iter().filter(|&c| c <= 30).collect();
        for bound in [2, 5, 12] {
            let law = |&c: &u64| coarse(&Reciprocal::new(c, grid).unwrap(), (&gate, bound, e2), 6);
            check(law, 0..=30, counts, e1 + e2 + 1e-9, d).unwrap_or_else(|v| panic!("{v}"));
        }
        for bound in [1u64 << 18, 1 << 20, 1 << 22] {
            for n in 2..=5 {
                let law = |x: &Vec<u8>| coarse(&slope(x), (&gate, bound, e2), 1 << 19);
                check(law, points(n), replaced, e1 + e2 + 1e-9, d)
                    .unwrap_or_else(|v| panic!("{n}: {v}"));
            }
        }
    }

    #[test]
    fn a_slope_of_many_points_comes_back_and_one_of_few_does_not() {
        let bounds = Bounds::new(0.0, 1.0).unwrap();
        let pairs = |n: u32| {
            (0..n).map(move |i| {
                let x = f64::from(i) / f64::from(n);
                (x, 0.2 + 0.5 * x)
            })
        };
        let many = Slope::new(bounds, bounds, pairs(50_000)).unwrap();
        let mut rng = SeededForTests::insecure(4);
        let (e, d) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let bound = (0.01 / many.unit()) as u64;
        let m = ProposeTestRelease::new(e, d, bound).unwrap();
        let answer = m.release(&many, &mut rng).unwrap().into_value().unwrap();
        assert!((answer - 0.5).abs() < 0.5, "{answer}");
        let few = Slope::new(bounds, bounds, pairs(20)).unwrap();
        assert_eq!(m.release(&few, &mut rng).unwrap().into_value(), None);
        let gate = Gate::new(Epsilon::new(0.5).unwrap(), d).unwrap();
        assert!(opening(&gate, 0) <= 1e-6);
    }
}
