//! Places a protected value on the grid exactly, at a cost that does not depend on it.

use crate::error::{Error, Result};
use crate::num::Ratio;
use crate::unit::Grid;

/// No value is farther from 0 than this many steps, so that adding noise
/// cannot overflow. A clamp cannot enlarge a sensitivity.
const LIMIT: u128 = 1 << 120;

/// `value / grid + ½ = whole + fraction`, whose floor after adding noise is the
/// rounding to the nearest step.
///
/// The fraction is kept as a float, within 2⁻⁵³, for the fast paths; the exact
/// one is computed from the value's own bits when a draw needs it.
#[derive(Clone, Copy)]
pub(crate) struct Centre {
    pub(super) whole: i128,
    near: f64,
    negative: bool,
    /// |value|/grid = significand · 2^exponent.
    significand: u64,
    exponent: i32,
}

impl Centre {
    pub(crate) fn rounding(value: f64, grid: Grid) -> Result<Self> {
        if !value.is_finite() {
            return Err(Error::OutOfRange { parameter: "value", allowed: "a finite number" });
        }
        let bits = value.abs().to_bits();
        let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        let significand = fraction | u64::from(biased > 0) << 52;
        Ok(Self::new(value < 0.0, significand, biased.max(1) - 1075 - grid.exponent()))
    }

    /// ½: noise around 0, rounded to the nearest step.
    pub(crate) fn zero() -> Self {
        Self::new(false, 0, -1075)
    }

    fn new(negative: bool, significand: u64, exponent: i32) -> Self {
        // |value|/grid = steps + rest; the rest has at most 53 bits, so its
        // float is exact (or below 2⁻¹⁰⁰⁰ and as good as 0 beside ½).
        let down = exponent.min(0).unsigned_abs();
        let up = exponent.clamp(0, 127).unsigned_abs();
        let steps = if down < 64 { significand >> down } else { 0 };
        let rest = significand - if down < 64 { steps << down } else { 0 };
        let unit = f64::from_bits(u64::from(1023 - down.min(1023)) << 52);
        let rest = rest as f64 * unit;
        let width = 64 - steps.leading_zeros() + up;
        let steps = if width > 120 { LIMIT } else { u128::from(steps) << up };
        // ½ ± rest, brought into [0, 1).
        let (sign, carry, near) = match (negative, rest >= 0.5, rest > 0.5) {
            (false, false, _) => (1, 0, 0.5 + rest),
            (false, true, _) => (1, 1, rest - 0.5),
            (true, _, false) => (-1, 0, 0.5 - rest),
            (true, _, true) => (-1, 1, 1.5 - rest),
        };
        let whole = sign * (steps + carry).min(LIMIT) as i128;
        Self { whole, near, negative, significand, exponent }
    }

    /// The fraction, exactly.
    fn exact(&self) -> Ratio {
        let (half, one) = (Ratio::new(1u64, 2u64), Ratio::new(1u64, 1u64));
        let (_, rest) = Ratio::new(self.significand, 1u64).scale(self.exponent).split();
        match (self.negative, rest >= half, rest > half) {
            (false, false, _) => half.add(&rest),
            (false, true, _) => rest.saturating_sub(&half),
            (true, _, false) => half.saturating_sub(&rest),
            (true, _, true) => half.add(&one).saturating_sub(&rest),
        }
    }

    /// The offset to add to a magnitude of noise before taking its floor.
    pub(super) fn offset(&self, negative: bool) -> Offset<'_> {
        if negative { Offset::Complement(self) } else { Offset::Fraction(self) }
    }

    /// `⌊whole + fraction ± magnitude⌋` given `steps = ⌊magnitude + g⌋`, where g is
    /// [`Self::offset`] for that sign: the ceiling of a real that is almost
    /// surely not an integer is its floor plus 1.
    pub(super) fn place(&self, negative: bool, steps: i128) -> i128 {
        if negative { self.whole.saturating_sub(steps) } else { self.whole.saturating_add(steps) }
    }
}

/// A number of [0, 1]: a centre's fraction f, or 1 − f, or 0.
#[derive(Clone, Copy)]
pub(crate) enum Offset<'a> {
    Zero,
    Fraction(&'a Centre),
    Complement(&'a Centre),
}

impl Offset<'_> {
    /// Within 2⁻⁵².
    #[inline]
    pub(super) fn near(&self) -> f64 {
        match self {
            Self::Zero => 0.0,
            Self::Fraction(centre) => centre.near,
            Self::Complement(centre) => 1.0 - centre.near,
        }
    }

    pub(super) fn exact(&self) -> Ratio {
        match self {
            Self::Zero => Ratio::zero(),
            Self::Fraction(centre) => centre.exact(),
            Self::Complement(centre) => Ratio::new(1u64, 1u64).saturating_sub(&centre.exact()),
        }
    }
}

#[cfg(test)]
mod tests;
