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
mod tests;
