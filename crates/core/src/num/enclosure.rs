//! Certified intervals in fixed point, to any precision.
//!
//! An [`Enclosure`] is a pair of natural numbers `lower ≤ upper` and a number
//! of fractional bits; the truth lies in `[lower, upper] / 2^bits`. Every
//! operation rounds outwards. Asking for more bits gives a narrower interval,
//! so "draw more bits and look again" ends with probability 1.

use super::{Natural, Ratio};

/// A non-negative real, known to lie in `[lower, upper] / 2^bits`.
#[derive(Clone, Debug)]
pub(crate) struct Enclosure {
    pub(crate) lower: Natural,
    pub(crate) upper: Natural,
    pub(crate) bits: u32,
}

impl Enclosure {
    /// `value / 2^bits`, give or take `slack` units of the last place.
    fn around(value: &Natural, slack: u64, bits: u32) -> Self {
        let slack = Natural::from(slack);
        Self { lower: value.saturating_sub(&slack), upper: value.add(&slack), bits }
    }

    pub(crate) fn of_ratio(x: &Ratio, bits: u32) -> Self {
        let (lower, exact) = x.fixed(bits);
        let upper = if exact { lower.clone() } else { lower.add(&Natural::one()) };
        Self { lower, upper, bits }
    }

    /// The interval with fewer fractional bits, rounded outwards.
    pub(crate) fn truncate(&self, bits: u32) -> Self {
        let by = self.bits.saturating_sub(bits);
        Self { lower: self.lower.shr(by), upper: self.upper.shr_up(by), bits: self.bits - by }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        debug_assert_eq!(self.bits, other.bits);
        Self {
            lower: self.lower.add(&other.lower),
            upper: self.upper.add(&other.upper),
            bits: self.bits,
        }
    }

    /// `max(0, self − other)`.
    pub(crate) fn saturating_sub(&self, other: &Self) -> Self {
        debug_assert_eq!(self.bits, other.bits);
        Self {
            lower: self.lower.saturating_sub(&other.upper),
            upper: self.upper.saturating_sub(&other.lower),
            bits: self.bits,
        }
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        debug_assert_eq!(self.bits, other.bits);
        Self {
            lower: self.lower.mul(&other.lower).shr(self.bits),
            upper: self.upper.mul(&other.upper).shr_up(self.bits),
            bits: self.bits,
        }
    }

    /// `self / other`; `None` when `other` may be 0.
    pub(crate) fn div(&self, other: &Self) -> Option<Self> {
        debug_assert_eq!(self.bits, other.bits);
        if other.lower.is_zero() {
            return None;
        }
        let (lower, _) = self.lower.shl(self.bits).div_rem(&other.upper);
        let (upper, rest) = self.upper.shl(self.bits).div_rem(&other.lower);
        let upper = if rest.is_zero() { upper } else { upper.add(&Natural::one()) };
        Some(Self { lower, upper, bits: self.bits })
    }

    /// `self · ratio`.
    pub(crate) fn mul_ratio(&self, ratio: &Ratio) -> Self {
        self.mul(&Self::of_ratio(ratio, self.bits))
    }

    pub(crate) fn half(&self) -> Self {
        Self { lower: self.lower.shr(1), upper: self.upper.shr_up(1), bits: self.bits }
    }

    /// Encloses `e^−x` for an exact x ≥ 0, within a few units of 2^−`bits`.
    ///
    /// # Proof
    /// Let `w` be the working precision and `y = ⌊x·2^w/2^r⌋` with r such that
    /// `y/2^w < 2⁻⁸`. Then `x/2^r ∈ [y, y+1)/2^w`, and since the slope of
    /// `e^−y` is at most 1 in absolute value, `e^(−x/2^r)` is within one unit
    /// of `e^(−y/2^w)`. The Taylor terms `tₙ = yⁿ/n!` are computed with floors:
    /// the error of `tₙ` is at most `eₙ ≤ (eₙ₋₁·2⁻⁸ + 1)/n + 1 ≤ 3` units, so N
    /// terms are within 3N; the alternating tail is below its first term,
    /// which is below one unit when the loop ends. Then r outward squarings.
    pub(crate) fn exp_neg(x: &Ratio, bits: u32) -> Self {
        let (whole, _) = x.fixed(0);
        // e^−x < 2^−bits if x ≥ bits (as e > 2): only the last unit is left.
        if whole >= Natural::from(u64::from(bits) + 1) {
            return Self { lower: Natural::zero(), upper: Natural::one(), bits };
        }
        let halvings = whole.bits() + 8;
        // Each squaring at most doubles the width and adds two units.
        let work = bits + halvings + 16;
        let y = x.fixed(work).0.shr(halvings);
        let one = Natural::power_of_two(work);
        let (mut even, mut odd, mut term, mut n) = (one.clone(), Natural::zero(), one, 0u64);
        loop {
            n += 1;
            term = term.mul(&y).shr(work).div_small(n);
            if term.is_zero() {
                break;
            }
            if n % 2 == 0 {
                even = even.add(&term);
            } else {
                odd = odd.add(&term);
            }
        }
        let mut power = Self::around(&even.saturating_sub(&odd), 3 * n + 2, work);
        for _ in 0..halvings {
            power = power.mul(&power);
        }
        let one = Natural::power_of_two(bits);
        let mut result = power.truncate(bits);
        if result.upper > one {
            result.upper = one; // e^−x ≤ 1
        }
        result
    }

    /// Encloses `e^−x` for an enclosed x ≥ 0.
    pub(crate) fn exp_neg_of(x: &Self) -> Self {
        let ends = |end: &Natural| {
            Self::exp_neg(&Ratio::new(end.clone(), Natural::power_of_two(x.bits)), x.bits)
        };
        Self { lower: ends(&x.upper).lower, upper: ends(&x.lower).upper, bits: x.bits }
    }

    /// Encloses `e^x` for an exact 0 ≤ x < 2¹⁶; `None` beyond.
    pub(crate) fn exp(x: &Ratio, bits: u32) -> Option<Self> {
        let whole = x.fixed(0).0.to_u128().filter(|&whole| whole < 1 << 16)? as u32;
        // e^x < 2^(1.5(⌊x⌋+1)): that many bits are lost in the reciprocal, twice over.
        let work = bits + 3 * (whole + 1) + 8;
        let one = Self::of_ratio(&Ratio::new(1u64, 1u64), work);
        Some(one.div(&Self::exp_neg(x, work))?.truncate(bits))
    }

    /// Encloses π by Machin's formula, `π/4 = 4 arctan(1/5) − arctan(1/239)`.
    pub(crate) fn pi(bits: u32) -> Self {
        let work = bits + 32;
        let arctan_of_inverse = |n: u64| {
            // Σ (−1)^k / ((2k+1) n^(2k+1)), floors: within one unit per term, plus the tail.
            let (mut power, mut even, mut odd, mut k) =
                (Natural::power_of_two(work).div_small(n), Natural::zero(), Natural::zero(), 0u64);
            while !power.is_zero() {
                let term = power.div_small(2 * k + 1);
                if k % 2 == 0 {
                    even = even.add(&term);
                } else {
                    odd = odd.add(&term);
                }
                power = power.div_small(n * n);
                k += 1;
            }
            // Each power is low by less than 2 units, each term by less than 3.
            Self::around(&even.saturating_sub(&odd), 3 * k + 3, work)
        };
        let four = Ratio::new(4u64, 1u64);
        let quarter = arctan_of_inverse(5).mul_ratio(&four).saturating_sub(&arctan_of_inverse(239));
        quarter.mul_ratio(&four).truncate(bits)
    }

    /// `√self`.
    pub(crate) fn sqrt(&self) -> Self {
        Self {
            lower: self.lower.shl(self.bits).sqrt(),
            upper: self.upper.shl(self.bits).sqrt().add(&Natural::one()),
            bits: self.bits,
        }
    }

    /// `(lower, upper)` floats around the interval; ∞ beyond the floats' range.
    pub(crate) fn to_f64(&self) -> (f64, f64) {
        let denominator = Natural::power_of_two(self.bits);
        // `Ratio::to_f64` is within 2 units in the last place.
        let lower = Ratio::new(self.lower.clone(), denominator.clone());
        let upper = Ratio::new(self.upper.clone(), denominator);
        let (low, high) = (lower.to_f64(), upper.to_f64());
        let low = if Ratio::from_f64(low).is_some_and(|r| r <= lower) {
            low
        } else {
            low.next_down().max(0.0)
        };
        let high =
            if Ratio::from_f64(high).is_none_or(|r| r >= upper) { high } else { high.next_up() };
        (low.max(0.0), high)
    }
}

#[cfg(test)]
mod tests;
