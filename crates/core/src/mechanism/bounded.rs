//! Count and sum of bounded values, in fixed point; mean and variance are in `moments`.
//!
//! Values are clamped to public bounds `[a, b]`, put on a public grid and accumulated as integers: these
//! mechanisms add noise to no floating-point sum. An [`Accumulator`], which adds and merges, holds everything that a release needs of the rows.

use super::histogram::{Budget, Noise};
use super::{Calibration, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::up;
use crate::random::Randomness;
use crate::unit::{Beta, Grid, Neighbours};
use crate::utility::Accuracy;
use std::borrow::Borrow;
use std::fmt;

/// The widest bounds, in grid steps, for which 2⁶⁴ squares fit into an `i128`.
const WIDEST: i128 = 1 << 30;
const FARTHEST: i128 = 1 << 62;

/// Public bounds `[a, b]` on values, with the grid that values are rounded to.
///
/// The bounds are the multiples of the grid nearest to the numbers given. Choose them without
/// looking at the data: wide bounds need much noise, narrow ones clamp many values.
///
/// # Special values
/// Every value is put in bounds, row by row, so none can enlarge a sensitivity:
/// ±∞ become a or b; **NaN counts as 0, clamped**. NULL is the caller's: a row
/// that is not added. Bounds that are not finite, meet on the grid, are more than 2³⁰
/// steps apart or beyond 2⁶² steps are refused, whatever the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub(super) grid: Grid,
    pub(super) lower: i128,
    pub(super) width: i128,
}

impl Bounds {
    /// Bounds on a grid of about a millionth of their distance.
    pub fn new(lower: f64, upper: f64) -> Result<Self> {
        Self::on(lower, upper, Grid::for_scale(upper - lower).map_err(|_| Self::range())?)
    }

    /// Bounds on a grid of your choice.
    pub fn on(lower: f64, upper: f64, grid: Grid) -> Result<Self> {
        let steps = |x: f64| (x / grid.spacing()).round();
        let (low, high) = (steps(lower), steps(upper));
        if !(lower.is_finite() && upper.is_finite() && low < high) {
            return Err(Self::range());
        }
        let (low, high) = (low as i128, high as i128);
        if low < -FARTHEST || high > FARTHEST || high - low > WIDEST {
            return Err(Self::range());
        }
        Ok(Self { grid, lower: low, width: high - low })
    }

    fn range() -> Error {
        Error::OutOfRange {
            parameter: "bounds",
            allowed: "two finite numbers, the lower first, between 1 and 2^30 grid steps apart",
        }
    }

    /// The least value after clamping.
    #[must_use]
    pub fn lower(&self) -> f64 {
        self.grid.at(self.lower)
    }

    /// The greatest value after clamping.
    #[must_use]
    pub fn upper(&self) -> f64 {
        self.grid.at(self.lower + self.width)
    }

    /// The spacing of values.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The distance of a value, clamped and rounded, from the lower bound, in steps of the grid:
    /// at most 2³⁰. [`Accumulator::add`] adds this.
    #[must_use]
    pub fn step(&self, value: f64) -> u32 {
        self.offset(value) as u32
    }

    /// `b − a` in steps of the grid: at most 2³⁰.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.width as u64
    }

    /// `b − a`.
    pub(super) fn distance(&self) -> f64 {
        self.grid.at(self.width)
    }

    /// The value's distance from a, in steps: 0 ..= width.
    #[inline]
    fn offset(&self, value: f64) -> i64 {
        // 2^−exponent, exactly: exponents are within ±1000.
        let per_step = f64::from_bits(((1023 - self.grid.exponent()) as u64) << 52);
        let steps = value * per_step;
        // Rounded half away from 0; a cast takes NaN to 0 and saturates beyond i64.
        let steps = (steps + 0.5f64.copysign(steps)) as i64;
        steps.clamp(self.lower as i64, (self.lower + self.width) as i64) - self.lower as i64
    }
}

/// Exact totals of bounded values: everything that a sum, mean or variance needs of the rows.
///
/// It holds `n`, `Σu` and `Σu²`, with u a value's distance from the lower bound in grid steps.
/// Protected: `Debug` shows nothing.
#[derive(Clone)]
pub struct Accumulator {
    pub(super) bounds: Bounds,
    pub(super) rows: u64,
    pub(super) sum: i128,
    pub(super) squares: i128,
}

impl Accumulator {
    /// An accumulator without rows.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, rows: 0, sum: 0, squares: 0 }
    }

    /// Accumulates all of `values`.
    #[must_use]
    pub fn of_values(bounds: Bounds, values: impl IntoIterator<Item = impl Borrow<f64>>) -> Self {
        let mut accumulator = Self::new(bounds);
        accumulator.extend(values.into_iter().map(|value| *value.borrow()));
        accumulator
    }

    /// An accumulator from totals made elsewhere: `Σu` and `Σu²` over `rows` rows, with u as
    /// [`Bounds::step`] returns it. Refused where no rows can have these totals.
    pub fn of_parts(
        bounds: Bounds,
        rows: u64,
        sum_of_offsets: i128,
        squares_of_offsets: i128,
    ) -> Result<Self> {
        // At most 2⁶⁴·2⁶⁰.
        let most = i128::from(rows) * bounds.width;
        let fits = (0..=most).contains(&sum_of_offsets)
            && (0..=most * bounds.width).contains(&squares_of_offsets);
        if !fits {
            let allowed = "what so many rows within the bounds can add up to";
            return Err(Error::OutOfRange { parameter: "totals", allowed });
        }
        Ok(Self { bounds, rows, sum: sum_of_offsets, squares: squares_of_offsets })
    }

    /// Adds a row. With fewer than 2⁶⁴ rows nothing can overflow.
    pub fn add(&mut self, value: f64) {
        let u = self.bounds.offset(value);
        self.rows = self.rows.saturating_add(1);
        self.sum = self.sum.saturating_add(i128::from(u));
        self.squares = self.squares.saturating_add(i128::from(u * u)); // u ≤ 2³⁰
    }

    /// Adds the rows of another part of the data. Refused if its bounds differ, or if there
    /// would be 2⁶⁴ rows.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same(&self.bounds, &other.bounds)?;
        let many = Error::OutOfRange { parameter: "rows", allowed: "less than 2^64" };
        self.rows = self.rows.checked_add(other.rows).ok_or(many)?;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
        Ok(())
    }
}

impl Extend<f64> for Accumulator {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accumulator").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

pub(super) fn same(a: &Bounds, b: &Bounds) -> Result<()> {
    let what = "the rows were accumulated with other bounds";
    let differ = Error::Infeasible { what, remedy: "use the same bounds for both" };
    if a == b { Ok(()) } else { Err(differ) }
}

/// Δ², refused where twice it might not fit a `u128`.
pub(super) fn square(change: u128) -> Result<u128> {
    let allowed = "less than 2^63 grid steps: choose a coarser grid";
    let wide = Error::OutOfRange { parameter: "sensitivity", allowed };
    if change < 1 << 63 { Ok(change * change) } else { Err(wide) }
}

/// The contribution bound: how many rows one unit (a row, a person) has in the aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Every unit has exactly this many rows, whatever the data. Under replace the number of rows
    /// is then public. **Not** valid behind a filter that looks at the data.
    Exactly(u32),
    /// Every unit has at most this many rows.
    AtMost(u32),
}

impl Rows {
    pub(super) fn most(self) -> Result<u128> {
        match self {
            Self::Exactly(0) | Self::AtMost(0) => {
                Err(Error::OutOfRange { parameter: "rows per unit", allowed: "at least 1" })
            }
            Self::Exactly(k) | Self::AtMost(k) => Ok(u128::from(k)),
        }
    }

    /// Whether the number of rows is the same for neighbours, and so public.
    #[must_use]
    pub fn public(self, neighbours: Neighbours) -> bool {
        matches!((self, neighbours), (Self::Exactly(_), Neighbours::Replace))
    }
}

/// Releases the number of rows, plus integer noise. With k rows per unit Δ = k, under both
/// relations.
///
/// ```
/// use demure_core::mechanism::{Count, Rows};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// // Visits, of which each person has at most 3.
/// let count = Count::new(Epsilon::new(0.5)?, Neighbours::AddRemove, Rows::AtMost(3))?;
/// println!("about {}", count.release(1_204, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP or ρ-zCDP, by the budget.
/// # Proof
/// Adding, removing or replacing a unit of 0 to k rows changes the number by at
/// most k; then [`Geometric`](super::Geometric) or [`DiscreteGaussian`](super::DiscreteGaussian). ∎
/// # Special values
/// Under replace with [`Rows::Exactly`] the count is public and needs no noise: refused.
#[derive(Clone, Debug)]
pub struct Count {
    noise: Noise,
}

impl Count {
    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a
    /// [`Rho`](crate::unit::Rho).
    pub fn new(budget: impl Into<Budget>, neighbours: Neighbours, rows: Rows) -> Result<Self> {
        if rows.public(neighbours) {
            let what = "the number of rows is public under this relation";
            return Err(Error::Infeasible { what, remedy: "use it as it is" });
        }
        let k = rows.most()?;
        Ok(Self { noise: Noise::new(budget.into(), k, square(k)?)? })
    }

    /// The noise on the count.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.noise.calibration()
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.noise.guarantee()
    }

    /// Releases a number of rows.
    pub fn release(&self, rows: u64, rng: &mut dyn Randomness) -> Result<Release<i128>> {
        Ok(Release::new(self.noise.add_one(i128::from(rows), rng)?, self.guarantee()))
    }
}

impl Accuracy for Count {
    fn error(&self, beta: Beta) -> Result<f64> {
        self.noise.error(beta)
    }
}

/// Releases the sum of values clamped to public bounds, plus integer noise in grid steps.
///
/// ```
/// use demure_core::mechanism::{BoundedSum, Bounds, Rows};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// let (epsilon, bounds) = (Epsilon::new(0.5)?, Bounds::new(0.0, 100.0)?);
/// let sum = BoundedSum::new(epsilon, bounds, Neighbours::AddRemove, Rows::AtMost(1))?;
/// let payments = sum.accumulate([12.5, 99.0, 250.0, 40.0]); // 250 counts as 100
/// println!("about {}", sum.release(&payments, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// | k rows per unit | Δ |
/// |---|---|
/// | add or remove | k·max(\|a\|, \|b\|) |
/// | replace, exactly k | k·(b − a) |
/// | replace, at most k | k·(max(b, 0) − min(a, 0)) |
///
/// # Guarantee
/// ε-DP or ρ-zCDP, by the budget.
/// # Proof
/// A unit's own sum is k values of [a, b] (exactly), or lies between `k·min(a,0)` and
/// `k·max(b,0)` (at most); the sum changes by it, or by the difference of two such.
/// Then [`Geometric`](super::Geometric) or [`DiscreteGaussian`](super::DiscreteGaussian) on the integers. ∎
#[derive(Clone, Debug)]
pub struct BoundedSum {
    bounds: Bounds,
    noise: Noise,
}

impl BoundedSum {
    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a
    /// [`Rho`](crate::unit::Rho).
    pub fn new(
        budget: impl Into<Budget>,
        bounds: Bounds,
        neighbours: Neighbours,
        rows: Rows,
    ) -> Result<Self> {
        let (a, b, k) = (bounds.lower, bounds.lower + bounds.width, rows.most()?);
        let change = match (neighbours, rows) {
            (Neighbours::AddRemove, _) => a.unsigned_abs().max(b.unsigned_abs()),
            (Neighbours::Replace, Rows::Exactly(_)) => bounds.width.unsigned_abs(),
            (Neighbours::Replace, Rows::AtMost(_)) => (b.max(0) - a.min(0)).unsigned_abs(),
        };
        let noise = Noise::new(budget.into(), k * change, square(k * change)?)?;
        Ok(Self { bounds, noise })
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.noise.guarantee()
    }

    /// The noise on the sum.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.noise.calibration().times(self.bounds.grid.spacing())
    }

    /// Accumulates values (a `Vec<f64>`, a `&[f64]`, an iterator) within the bounds of this
    /// mechanism, for [`Self::release`].
    #[must_use]
    pub fn accumulate(&self, values: impl IntoIterator<Item = impl Borrow<f64>>) -> Accumulator {
        Accumulator::of_values(self.bounds, values)
    }

    fn exact(&self, of: &Accumulator) -> Result<i128> {
        same(&self.bounds, &of.bounds)?;
        Ok(of.sum + i128::from(of.rows) * self.bounds.lower)
    }

    /// Releases the sum, a multiple of the grid.
    pub fn release(&self, of: &Accumulator, rng: &mut dyn Randomness) -> Result<Release<f64>> {
        let noised = self.noise.add_one(self.exact(of)?, rng)?;
        Ok(Release::new(self.bounds.grid.at(noised), self.guarantee()))
    }
}

impl Accuracy for BoundedSum {
    /// Against the sum of the values clamped and rounded to the grid.
    fn error(&self, beta: Beta) -> Result<f64> {
        Ok(up(self.noise.error(beta)? * self.bounds.grid.spacing()))
    }
}

#[cfg(test)]
pub(super) mod tests;
