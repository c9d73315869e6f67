//! Fractions of two `u128`.

use crate::error::{Error, Result};
use demure_natural::Natural;
use std::cmp::Ordering;
use std::fmt;

/// A fraction that is not negative, in lowest terms.
///
/// Equality and order are those of the rational numbers: comparison multiplies
/// crosswise into 256 bits and cannot overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// 0.
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    /// 1.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`, reduced; `None` where the denominator is 0.
    #[must_use]
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = gcd(numerator, denominator);
        Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// A whole number.
    #[must_use]
    pub fn whole(number: u64) -> Self {
        Self { numerator: number.into(), denominator: 1 }
    }

    /// Reads `0.2`, `.2`, `3`, `1/5` or `20%`, exactly as written: `0.2` is one
    /// fifth and not the nearest double.
    ///
    /// # Special values
    /// Signs, exponents, a denominator of 0 and more than 18 digits on either
    /// side are refused, so both parts stay below 10³⁸.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text.trim()).ok_or(Error::OutOfRange {
            parameter: "a threshold",
            allowed: "a decimal (0.2), a fraction (1/5) or a percentage (20%), not negative, of at most 18 digits",
        })
    }

    fn read(text: &str) -> Option<Self> {
        if let Some((above, below)) = text.split_once('/') {
            return Self::new(digits(above.trim())?, digits(below.trim())?);
        }
        let (text, hundred) = match text.strip_suffix('%') {
            Some(rest) => (rest.trim_end(), 100),
            None => (text, 1),
        };
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        if whole.len() + part.len() > 18 {
            return None;
        }
        let scale = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
        let joined = digits(&format!("{whole}{part}"))?;
        Self::new(joined, scale.checked_mul(hundred)?)
    }

    /// The part above the line.
    #[must_use]
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The part below the line, never 0.
    #[must_use]
    pub fn denominator(self) -> u128 {
        self.denominator
    }

    /// The nearest double, or one beside it: for show, never for a decision.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// 1 + self; `None` where it outgrows 128 bits.
    #[must_use]
    pub fn plus_one(self) -> Option<Self> {
        Self::new(self.numerator.checked_add(self.denominator)?, self.denominator)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// A sum of `u128`s that may pass 2¹²⁸ on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    high: u128,
    low: u128,
}

impl Sum {
    /// Adds one term.
    pub fn add(&mut self, term: u128) {
        let (low, carried) = self.low.overflowing_add(term);
        self.low = low;
        self.high += u128::from(carried);
    }

    /// Adds `term · factor`.
    pub fn add_product(&mut self, term: u128, factor: u64) {
        let (high, low) = product(term, factor.into());
        self.add(low);
        self.high += high;
    }

    /// Whether `self / denominator ≤ threshold`, the denominator being the product of
    /// its two parts. A denominator of 0 is nobody's distance: false.
    #[must_use]
    pub fn at_most(&self, denominator: (u128, u64), threshold: Fraction) -> bool {
        let (large, small) = denominator;
        if large == 0 || small == 0 {
            return false;
        }
        if let (0, Some(whole)) = (self.high, large.checked_mul(small.into())) {
            return product(self.low, threshold.denominator) <= product(threshold.numerator, whole);
        }
        let left = self.natural().mul(&Natural::from(threshold.denominator));
        let right = Natural::from(large)
            .mul(&Natural::from(small))
            .mul(&Natural::from(threshold.numerator));
        left <= right
    }

    /// `self / denominator` in lowest terms, where it fits 128 bits.
    #[must_use]
    pub fn over(&self, denominator: (u128, u64)) -> Option<Fraction> {
        let whole = denominator.0.checked_mul(denominator.1.into())?;
        if self.high == 0 { Fraction::new(self.low, whole) } else { None }
    }

    /// `self / denominator`, nearly: for show.
    #[must_use]
    pub fn over_f64(&self, denominator: (u128, u64)) -> f64 {
        self.natural().to_f64() / (denominator.0 as f64 * denominator.1 as f64)
    }

    /// The same number.
    #[must_use]
    pub fn natural(&self) -> Natural {
        Natural::from(self.high).shl(128).add(&Natural::from(self.low))
    }
}

/// `a·b` as (high, low) halves of 256 bits; ordered as numbers are.
#[must_use]
pub fn product(a: u128, b: u128) -> (u128, u128) {
    const MASK: u128 = u64::MAX as u128;
    if let Some(low) = a.checked_mul(b) {
        return (0, low);
    }
    let (a1, a0, b1, b0) = (a >> 64, a & MASK, b >> 64, b & MASK);
    let low = a0 * b0;
    // Each product is at most (2⁶⁴−1)², so adding two 64-bit halves to it cannot overflow.
    let middle = a1 * b0 + (low >> 64);
    let cross = a0 * b1 + (middle & MASK);
    let high = a1 * b1 + (middle >> 64) + (cross >> 64);
    (high, (cross << 64) | (low & MASK))
}

/// The greatest common divisor; `gcd(0, b) = b`.
#[must_use]
pub fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(x), Ok(y)) => (y.into(), (x % y).into()),
            _ => (b, a % b),
        };
    }
    a
}

/// At most 18 digits and nothing else.
fn digits(text: &str) -> Option<u128> {
    if text.is_empty() || text.len() > 18 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests;
