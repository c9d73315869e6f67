//! Exact samplers: every draw has *exactly* the distribution its type names.
//!
//! | file | draws |
//! |---|---|
//! | `uniform` | integers below n; a real in \[0,1) revealed bit by bit |
//! | `bernoulli` | coins of rational and of exponential probability |
//! | `geometric` | `⌊sE + g⌋` for an exponential E: the engine of the next two |
//! | `laplace` | discrete Laplace; a real Laplace rounded to the grid |
//! | `exponential` | a real exponential rounded to the grid |
//! | `gaussian` | discrete Gaussian; a real Gaussian rounded to the grid |
//! | `gumbel` | a real Gumbel rounded to the grid |
//!
//! # How a draw is exact and still fast
//! Sixty-four random bits pin a uniform real U down to 2⁻⁶⁴. The wanted integer
//! is computed from them in floats together with a bound on every error made,
//! U's unknown bits included. If the whole interval rounds to one integer,
//! that integer is the answer the infinitely precise algorithm would have
//! given. If not (about one draw in 2²⁵ at scale 10⁶), more bits of the *same*
//! U are drawn and the comparison is repeated in certified arithmetic until it
//! is decided. So the output is a function of an ideal real, and a release on
//! a grid is a post-processing of the ideal real-valued mechanism.
//!
//! All are `draw` for one value and `fill` for a slice. The work of a draw does
//! not depend on the value drawn, beyond what `docs/known-limits.md` states.

mod bernoulli;
mod exponential;
mod gaussian;
mod geometric;
mod gumbel;
mod laplace;
mod strips;
mod uniform;

pub use bernoulli::{bernoulli, bernoulli_exp};
pub use exponential::RoundedExponential;
pub use gaussian::{DiscreteGaussian, RoundedGaussian};
pub use geometric::Geometric;
pub use gumbel::RoundedGumbel;
pub use laplace::{DiscreteLaplace, RoundedLaplace};
pub use uniform::uniform_below;

pub(crate) use uniform::LazyUniform;

use crate::error::{Error, Result};
use crate::num::{Natural, Ratio};
use crate::unit::Grid;

/// The exact scale of a noise distribution, in steps of the grid.
///
/// A quotient of two floats, kept exactly: for `Δ/ε` no rounding happens
/// between the privacy parameters and the sampler.
#[derive(Clone, Debug)]
pub struct Scale {
    exact: Ratio,
    approximate: f64,
}

impl Scale {
    /// The scale `value` itself.
    pub fn new(value: f64) -> Result<Self> {
        Self::quotient(value, 1.0)
    }

    /// `numerator / denominator`, exactly; for Laplace noise, Δ/ε.
    pub fn quotient(numerator: f64, denominator: f64) -> Result<Self> {
        let exact = match (Ratio::from_f64(numerator), Ratio::from_f64(denominator)) {
            (Some(n), Some(d)) if numerator > 0.0 && denominator > 0.0 => n.div(&d),
            _ => return Err(Self::range()),
        };
        Self::of(exact)
    }

    fn of(exact: Ratio) -> Result<Self> {
        let approximate = exact.to_f64();
        // 2^−1000 and 2^60.
        if (9.332_636_185_032_189e-302..=1_152_921_504_606_846_976.0).contains(&approximate) {
            Ok(Self { exact, approximate })
        } else {
            Err(Self::range())
        }
    }

    fn range() -> Error {
        Error::OutOfRange {
            parameter: "scale",
            allowed: "between 2^-1000 and 2^60 steps of the grid; choose a grid that fits the noise",
        }
    }

    /// The same scale counted in steps of `grid` instead of in ones.
    pub fn on(&self, grid: Grid) -> Result<Self> {
        Self::of(self.exact.scale(-grid.exponent()))
    }

    /// The nearest float (within 2 units in the last place).
    #[must_use]
    pub fn get(&self) -> f64 {
        self.approximate
    }
}

/// A protected value placed on the grid exactly: `whole + fraction` steps.
///
/// Saturates at ±2¹²⁰ steps, so that adding noise cannot overflow; a clamp is
/// post-processing of the value and cannot enlarge its sensitivity.
#[derive(Clone)]
pub(crate) struct Centre {
    whole: i128,
    fraction: Offset,
    /// 1 − fraction.
    complement: Offset,
}

impl Centre {
    fn new(whole: i128, fraction: Ratio) -> Self {
        let complement = Ratio::new(1u64, 1u64).saturating_sub(&fraction);
        Self { whole, fraction: Offset::new(fraction), complement: Offset::new(complement) }
    }

    /// `value / grid + ½`, whose floor after adding noise is the rounding to
    /// the nearest step.
    pub(crate) fn rounding(value: f64, grid: Grid) -> Result<Self> {
        let Some(magnitude) = Ratio::from_f64(value) else {
            return Err(Error::OutOfRange { parameter: "value", allowed: "a finite number" });
        };
        let magnitude = magnitude.scale(-grid.exponent());
        let half = Ratio::new(1u64, 2u64);
        let limit = 1i128 << 120;
        let clamp = |n: &Natural| n.to_u128().unwrap_or(u128::MAX).min(limit as u128) as i128;
        if value >= 0.0 {
            let (whole, fraction) = magnitude.add(&half).split();
            return Ok(Self::new(clamp(&whole), fraction));
        }
        // ½ − m = −⌈m − ½⌉ + (⌈m − ½⌉ − (m − ½)), for m > ½; else it is in (0, ½].
        if magnitude <= half {
            let fraction = half.saturating_sub(&magnitude);
            return Ok(Self::new(0, fraction));
        }
        let (whole, rest) = magnitude.saturating_sub(&half).split();
        let (whole, fraction) = if rest.is_zero() {
            (clamp(&whole), Ratio::zero())
        } else {
            ((clamp(&whole) + 1).min(limit), Ratio::new(1u64, 1u64).saturating_sub(&rest))
        };
        Ok(Self::new(-whole, fraction))
    }

    /// ½: noise around 0, rounded to the nearest step.
    pub(crate) fn zero() -> Self {
        Self::new(0, Ratio::new(1u64, 2u64))
    }

    /// `⌊fraction ± magnitude⌋` given `⌊magnitude + g⌋`, where g is
    /// [`Self::offset`] for that sign: the ceiling of a real that is almost
    /// surely not an integer is its floor plus 1.
    fn place(&self, negative: bool, steps: i128) -> i128 {
        if negative { self.whole.saturating_sub(steps) } else { self.whole.saturating_add(steps) }
    }

    fn offset(&self, negative: bool) -> &Offset {
        if negative { &self.complement } else { &self.fraction }
    }
}

/// An exact number of [0, 1] with its float.
#[derive(Clone)]
pub(crate) struct Offset {
    exact: Ratio,
    approximate: f64,
}

impl Offset {
    fn new(exact: Ratio) -> Self {
        let approximate = exact.to_f64();
        Self { exact, approximate }
    }
}

/// Slack that covers every rounding of a float expression with |result| ≤ `x`
/// and at most 16 operations: a relative 2⁻⁴⁸ and a subnormal's worth.
#[inline]
fn rounding(x: f64) -> f64 {
    x.abs() * (1.0 / (1u64 << 48) as f64) + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_sits_on_the_grid_exactly() {
        let grid = Grid::power_of_two(-2).unwrap();
        // value/grid + ½ = whole + fraction.
        for (value, whole, fraction) in [
            (0.0, 0, 0.5),
            (0.25, 1, 0.5),
            (0.125, 1, 0.0),
            (0.1875, 1, 0.25),
            (-0.125, 0, 0.0),
            (-0.25, -1, 0.5),
            (-0.0625, 0, 0.25),
            (-0.1875, -1, 0.75),
            (-0.375, -1, 0.0),
            (1e6, 4_000_000, 0.5),
        ] {
            let centre = Centre::rounding(value, grid).unwrap();
            assert_eq!((centre.whole, centre.fraction.approximate), (whole, fraction), "{value}");
        }
        assert_eq!(Centre::rounding(f64::MAX, grid).unwrap().whole, 1 << 120);
        assert_eq!(Centre::rounding(f64::MIN, grid).unwrap().whole, -(1 << 120));
        assert!(Centre::rounding(f64::NAN, grid).is_err());
    }

    #[test]
    fn scales_are_exact_quotients_in_range() {
        let scale = Scale::quotient(1.0, 3.0).unwrap();
        assert_eq!(scale.exact, Ratio::new(1u64, 3u64));
        assert_eq!(scale.on(Grid::power_of_two(-4).unwrap()).unwrap().get(), 16.0 / 3.0);
        for (n, d) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert!(Scale::quotient(n, d).is_err());
        }
        assert!(Scale::new(2f64.powi(60)).is_ok() && Scale::new(2f64.powi(61)).is_err());
    }
}
