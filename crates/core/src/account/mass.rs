//! Non-negative numbers enclosed between two floats whose exponents never overflow, for sums of `C(k,ℓ)·e^((k−ℓ)ε)`.
//!
//! Multi-precision would work, at a thousand times the cost. Here a number is a mantissa in [1, 2) and a 64-bit
//! exponent, every operation is rounded outwards, and the only transcendental functions are `e^−x` and `ln x`, with
//! the error that [`fast`] states for its exponential.

use crate::num::directed::{down, up};
use crate::num::fast;
use crate::num::wide::{HUGE, Wide};

/// A non-negative real in `[lower, upper]`, both of unbounded exponent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mass {
    lower: Wide,
    upper: Wide,
}

impl Mass {
    pub(crate) const ZERO: Self = Self { lower: Wide::ZERO, upper: Wide::ZERO };
    pub(crate) const ONE: Self = {
        let one = Wide { mantissa: 1.0, exponent: 0 };
        Self { lower: one, upper: one }
    };

    /// Exactly `x`, for finite x ≥ 0. For anything else, the interval claims nothing: from 0 to almost ∞.
    pub(crate) fn exactly(x: f64) -> Self {
        Self::between(x, x)
    }

    /// Between two floats.
    pub(crate) fn between(lower: f64, upper: f64) -> Self {
        let lower = if lower.is_finite() && lower > 0.0 { Wide::new(lower, 0) } else { Wide::ZERO };
        let upper = if upper.is_finite() {
            Wide::new(upper.max(0.0), 0)
        } else {
            Wide { mantissa: 1.0, exponent: HUGE }
        };
        Self { lower, upper }
    }

    /// `e^−x` for finite x ≥ 0.
    ///
    /// # Proof
    /// `e^−x = (e^(−x/2^j))^(2^j)`; halving is exact, [`fast::exp_neg`] is within a
    /// relative [`fast::EXP_ERROR`] up to 700, and the squarings round outwards.
    pub(crate) fn exp_neg(x: f64) -> Self {
        let (mut halvings, mut y) = (0, x.max(0.0));
        while y > 512.0 && halvings < 64 {
            y *= 0.5;
            halvings += 1;
        }
        if x.is_nan() {
            return Self { lower: Wide::ZERO, upper: Self::ONE.upper };
        }
        if y > 512.0 {
            // x > 2⁷³: far below anything an exponent holds.
            return Self { lower: Wide::ZERO, upper: Wide { mantissa: 1.0, exponent: 1 - HUGE } };
        }
        let value = fast::exp_neg(y);
        let slack = 2.0 * fast::EXP_ERROR;
        let mut power = Self::between(down(value * (1.0 - slack)), up(value * (1.0 + slack)));
        for _ in 0..halvings {
            power = power.mul(&power);
        }
        if x == 0.0 { Self::ONE } else { power }
    }

    /// `e^−x` for an x in `[lower, upper]`, 0 ≤ lower.
    pub(crate) fn exp_neg_between(lower: f64, upper: f64) -> Self {
        Self { lower: Self::exp_neg(upper).lower, upper: Self::exp_neg(lower).upper }
    }

    /// `e^x` for finite x of either sign.
    pub(crate) fn exp(x: f64) -> Self {
        if x <= 0.0 { Self::exp_neg(-x) } else { Self::ONE.div(&Self::exp_neg(x)) }
    }

    /// `1 − e^−x` for finite x ≥ 0, with a relative error of a few 2⁻⁵⁰ even for
    /// small x.
    ///
    /// # Proof
    /// Up to ½: Horner's scheme for `x·(1 − x/2·(1 − x/3·(…)))` to the 18th term;
    /// the rest is below `2⁻¹⁸/19!`. Each step multiplies the error of the last by
    /// `x/k ≤ ¼` and adds at most three roundings, so the result is within `8·2⁻⁵³`.
    pub(crate) fn one_minus_exp_neg(x: f64) -> Self {
        if !(x.is_finite() && x >= 0.0) {
            return Self { lower: Wide::ZERO, upper: Self::ONE.upper };
        }
        if x > 0.5 {
            return Self::ONE.sub(&Self::exp_neg(x));
        }
        let mut sum = 1.0;
        for k in (2..=18).rev() {
            sum = 1.0 - x * sum / f64::from(k);
        }
        let slack = 16.0 * f64::EPSILON;
        Self::exactly(x).mul(&Self::between(sum * (1.0 - slack), sum * (1.0 + slack)))
    }

    /// `1 − e^−x` for an x in `[lower, upper]`, 0 ≤ lower.
    pub(crate) fn one_minus_exp_neg_between(lower: f64, upper: f64) -> Self {
        Self {
            lower: Self::one_minus_exp_neg(lower).lower,
            upper: Self::one_minus_exp_neg(upper).upper,
        }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        Self { lower: self.lower.add(other.lower, down), upper: self.upper.add(other.upper, up) }
    }

    /// `max(0, self − other)`.
    pub(crate) fn sub(&self, other: &Self) -> Self {
        Self { lower: self.lower.sub(other.upper, down), upper: self.upper.sub(other.lower, up) }
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        Self { lower: self.lower.mul(other.lower, down), upper: self.upper.mul(other.upper, up) }
    }

    /// `self · x` for an exact float x ≥ 0.
    pub(crate) fn times(&self, x: f64) -> Self {
        self.mul(&Self::exactly(x))
    }

    /// `self / other`; if `other` may be 0, the upper end claims nothing.
    pub(crate) fn div(&self, other: &Self) -> Self {
        let lower =
            if other.upper.is_zero() { Wide::ZERO } else { self.lower.div(other.upper, down) };
        let upper = if other.lower.is_zero() {
            Wide { mantissa: 1.0, exponent: HUGE }
        } else {
            self.upper.div(other.lower, up)
        };
        Self { lower, upper }
    }

    /// `self^n`.
    pub(crate) fn pow(&self, mut n: u64) -> Self {
        let (mut result, mut base) = (Self::ONE, *self);
        while n > 0 {
            if n % 2 == 1 {
                result = result.mul(&base);
            }
            base = base.mul(&base);
            n /= 2;
        }
        result
    }

    /// The larger of two, end by end.
    pub(crate) fn max(&self, other: &Self) -> Self {
        let larger = |a: Wide, b: Wide| if a.cmp(b).is_ge() { a } else { b };
        Self { lower: larger(self.lower, other.lower), upper: larger(self.upper, other.upper) }
    }

    /// The interval from 0 to this.
    pub(crate) fn or_less(&self) -> Self {
        Self { lower: Wide::ZERO, upper: self.upper }
    }

    /// Whether it is certainly 0.
    pub(crate) fn is_zero(&self) -> bool {
        self.upper.is_zero()
    }

    /// Whether it is certainly at most `other`.
    pub(crate) fn at_most(&self, other: &Self) -> bool {
        self.upper.exponent < HUGE && self.upper.cmp(other.lower).is_le()
    }

    /// Whether it is certainly at least `other`.
    pub(crate) fn at_least(&self, other: &Self) -> bool {
        other.at_most(self)
    }

    /// `(lower, upper)` floats around the number.
    pub(crate) fn to_f64(self) -> (f64, f64) {
        let upper = self.upper.to_f64();
        let upper = if self.upper.is_zero() { 0.0 } else { upper.max(f64::MIN_POSITIVE) };
        let lower = self.lower.to_f64();
        (if lower.is_infinite() { f64::MAX } else { lower }, upper)
    }

    /// `(lower, upper)` around the natural logarithm; −∞ below if the number may be 0.
    pub(crate) fn ln(self) -> (f64, f64) {
        let end = |wide: Wide| (!wide.is_zero()).then(|| wide.ln());
        (
            end(self.lower).map_or(f64::NEG_INFINITY, |(low, _)| low),
            end(self.upper).map_or(f64::NEG_INFINITY, |(_, high)| {
                if self.upper.exponent >= HUGE { f64::INFINITY } else { high }
            }),
        )
    }
}

#[cfg(test)]
mod tests;
