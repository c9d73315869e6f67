//! Exact non-negative rationals. Every `f64` is one.

use super::Natural;
use std::cmp::Ordering;

/// `numerator / denominator`, not necessarily in lowest terms.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    numerator: Natural,
    denominator: Natural,
}

impl Ratio {
    /// `numerator / denominator`; the denominator is not 0.
    pub(crate) fn new(numerator: impl Into<Natural>, denominator: impl Into<Natural>) -> Self {
        let (numerator, denominator) = (numerator.into(), denominator.into());
        debug_assert!(!denominator.is_zero());
        Self { numerator, denominator }
    }

    pub(crate) fn zero() -> Self {
        Self::new(0u64, 1u64)
    }

    /// The exact value of |`x`|; `None` for NaN and ±∞.
    pub(crate) fn from_f64(x: f64) -> Option<Self> {
        if !x.is_finite() {
            return None;
        }
        let bits = x.abs().to_bits();
        let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
        // x = significand · 2^exponent; subnormals share the least exponent.
        let (significand, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
        let significand = Natural::from(significand);
        Some(if exponent >= 0 {
            Self::new(significand.shl(exponent as u32), 1u64)
        } else {
            Self::new(significand, Natural::power_of_two(exponent.unsigned_abs()))
        })
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        Self::new(self.numerator.mul(&other.numerator), self.denominator.mul(&other.denominator))
    }

    /// `self / other`; `other` is not 0.
    pub(crate) fn div(&self, other: &Self) -> Self {
        Self::new(self.numerator.mul(&other.denominator), self.denominator.mul(&other.numerator))
    }

    /// `self · 2^exponent`.
    pub(crate) fn scale(&self, exponent: i32) -> Self {
        let by = exponent.unsigned_abs();
        if exponent >= 0 {
            Self::new(self.numerator.shl(by), self.denominator.clone())
        } else {
            Self::new(self.numerator.clone(), self.denominator.shl(by))
        }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        Self::new(
            self.numerator.mul(&other.denominator).add(&other.numerator.mul(&self.denominator)),
            self.denominator.mul(&other.denominator),
        )
    }

    /// `self − other`, or 0 where that would be negative.
    pub(crate) fn saturating_sub(&self, other: &Self) -> Self {
        Self::new(
            self.numerator
                .mul(&other.denominator)
                .saturating_sub(&other.numerator.mul(&self.denominator)),
            self.denominator.mul(&other.denominator),
        )
    }

    /// `⌊self · 2^bits⌋`, and whether that is exact.
    pub(crate) fn fixed(&self, bits: u32) -> (Natural, bool) {
        let (quotient, remainder) = self.numerator.shl(bits).div_rem(&self.denominator);
        let exact = remainder.is_zero();
        (quotient, exact)
    }

    /// `(⌊self⌋, self − ⌊self⌋)`.
    pub(crate) fn split(&self) -> (Natural, Self) {
        let (whole, rest) = self.numerator.div_rem(&self.denominator);
        (whole, Self::new(rest, self.denominator.clone()))
    }

    /// A float within a relative 2⁻⁵² of the value; ∞ or 0 beyond the floats' range.
    pub(crate) fn to_f64(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        // 64 or 65 significant bits of the quotient, then one rounding.
        let shift = 65 + self.denominator.bits() as i32 - self.numerator.bits() as i32;
        let quotient = if shift >= 0 {
            self.numerator.shl(shift as u32).div_rem(&self.denominator).0
        } else {
            self.numerator.div_rem(&self.denominator.shl(shift.unsigned_abs())).0
        };
        let significand = quotient.to_u128().unwrap_or(u128::MAX) as f64;
        // Two steps, so that neither power of two leaves the floats' range early.
        let half = -shift / 2;
        significand * 2f64.powi(half) * 2f64.powi(-shift - half)
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numerator.mul(&other.denominator).cmp(&other.numerator.mul(&self.denominator))
    }
}

#[cfg(test)]
mod tests;
