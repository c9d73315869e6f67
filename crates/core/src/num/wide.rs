//! Non-negative floats whose exponents never overflow.
//!
//! A mantissa in [1, 2) and a 64-bit exponent; every operation rounds as its caller says. The
//! only transcendental function is `ln x`, with the error that [`fast`] states for its exponential.

use super::directed::{down, up};
use super::fast;
use std::cmp::Ordering;

/// Exponents stay within ± this; an upper end that reaches it claims nothing.
pub(crate) const HUGE: i64 = 1 << 58;

/// `mantissa · 2^exponent`, mantissa in [1, 2) or 0. Never NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide {
    pub(crate) mantissa: f64,
    pub(crate) exponent: i64,
}

impl Wide {
    pub(crate) const ZERO: Self = Self { mantissa: 0.0, exponent: 0 };

    /// `mantissa · 2^exponent` for a finite mantissa ≥ 0.
    #[inline]
    pub(crate) fn new(mantissa: f64, exponent: i64) -> Self {
        let bits = mantissa.to_bits();
        let biased = (bits >> 52) as i64;
        if biased == 0 {
            // Zero or subnormal: scale up exactly, once.
            let scaled = mantissa * 2f64.powi(600);
            return if scaled == 0.0 { Self::ZERO } else { Self::new(scaled, exponent - 600) };
        }
        let unit = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
        Self { mantissa: unit, exponent: exponent + biased - 1023 }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    #[inline]
    pub(crate) fn mul(self, other: Self, round: fn(f64) -> f64) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        let from = if self.exponent >= other.exponent { self } else { other };
        Self::new(round(self.mantissa * other.mantissa), self.exponent + other.exponent)
            .within_range(from, round)
    }

    /// `self / other`; `other` is not 0.
    pub(crate) fn div(self, other: Self, round: fn(f64) -> f64) -> Self {
        if self.is_zero() {
            return Self::ZERO;
        }
        Self::new(round(self.mantissa / other.mantissa), self.exponent - other.exponent)
            .within_range(self, round)
    }

    /// Beyond ±[`HUGE`], the nearest claim that is still true. If the operand `from` claimed nothing upwards, neither
    /// does the result.
    #[inline]
    fn within_range(self, from: Self, round: fn(f64) -> f64) -> Self {
        if self.exponent.abs() < HUGE && from.exponent < HUGE {
            self
        } else if self.exponent >= HUGE || (from.exponent >= HUGE && round(1.0) > 1.0) {
            Self { mantissa: 1.0, exponent: HUGE }
        } else if self.exponent > -HUGE {
            self
        } else if round(1.0) > 1.0 {
            Self { mantissa: 1.0, exponent: 1 - HUGE }
        } else {
            Self::ZERO
        }
    }

    /// `other`'s mantissa on this number's exponent, for `other ≤ ~self`.
    #[inline]
    fn aligned(self, other: Self) -> f64 {
        let by = self.exponent - other.exponent;
        if by > 200 { f64::MIN_POSITIVE } else { other.mantissa * power_of_two(-by) }
    }

    #[inline]
    pub(crate) fn add(self, other: Self, round: fn(f64) -> f64) -> Self {
        let (big, small) = if self.cmp(other).is_ge() { (self, other) } else { (other, self) };
        if small.is_zero() {
            return big;
        }
        // A term 200 binades down is rounded up to the least normal float or,
        // rounding down, absorbed by `next_down`.
        Self::new(round(big.mantissa + big.aligned(small)), big.exponent)
    }

    /// `max(0, self − other)`.
    pub(crate) fn sub(self, other: Self, round: fn(f64) -> f64) -> Self {
        if other.is_zero() {
            return self;
        }
        if self.cmp(other).is_le() {
            return Self::ZERO;
        }
        Self::new(round(self.mantissa - self.aligned(other)).max(0.0), self.exponent)
            .within_range(self, round)
    }

    pub(crate) fn cmp(self, other: Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => {
                let mantissas = self.mantissa.total_cmp(&other.mantissa);
                self.exponent.cmp(&other.exponent).then(mantissas)
            }
        }
    }

    /// The nearest float, 0 or ∞ beyond them.
    pub(crate) fn to_f64(self) -> f64 {
        if self.is_zero() || self.exponent < -1021 {
            0.0
        } else if self.exponent > 1023 {
            f64::INFINITY
        } else {
            self.mantissa * power_of_two(self.exponent)
        }
    }

    /// `(lower, upper)` around `ln self`, for a number that is not 0.
    ///
    /// # Proof
    /// A guess y = ln m from the platform is checked, not trusted: `m·e^−y = 1 + r`
    /// is computed with a relative error below `η = 2⁻⁴⁹` ([`fast::EXP_ERROR`] and
    /// one rounding), and `r − r² ≤ ln(1+r) ≤ r` for |r| ≤ ½. ln 2 is enclosed by
    /// two neighbouring floats, and the sums are rounded outwards.
    pub(crate) fn ln(self) -> (f64, f64) {
        const ETA: f64 = 2.0 * fast::EXP_ERROR;
        const LN_2: f64 = std::f64::consts::LN_2; // below ln 2, by less than half a unit
        let guess = self.mantissa.ln().clamp(0.0, 0.7);
        let r = self.mantissa * fast::exp_neg(guess) - 1.0;
        if r.abs() > 1e-8 {
            // The platform's logarithm is broken: claim only m ∈ [1, 2).
            let (low, high) = (self.exponent as f64, self.exponent as f64 + 1.0);
            return ((low * 0.693).min(low * 0.694), (high * 0.693).max(high * 0.694));
        }
        let e = self.exponent as f64;
        let (low, high) =
            if e >= 0.0 { (e * LN_2, e * up(LN_2)) } else { (e * up(LN_2), e * LN_2) };
        let (low, high) = if e == 0.0 { (0.0, 0.0) } else { (down(low), up(high)) };
        (down(low + down(guess + (r - r * r - ETA))), up(high + up(guess + (r + ETA))))
    }
}

/// 2^e exactly, for −1022 ≤ e ≤ 1023.
#[inline]
fn power_of_two(e: i64) -> f64 {
    f64::from_bits(((1023 + e.clamp(-1022, 1023)) as u64) << 52)
}
