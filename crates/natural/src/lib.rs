//! Natural numbers of any size: the little arithmetic every proof rests on.
//!
//! Schoolbook algorithms on 64-bit limbs, least significant first, no leading
//! zero limb. They are slow and short on purpose: the core runs them only when a draw
//! falls within about 2⁻⁴⁰ of a boundary and in calibration, the anonymizer only where
//! 128 bits end.
//!
//! ```
//! use demure_natural::Natural;
//!
//! let x = Natural::power_of_two(128);
//! let product = x.saturating_sub(&Natural::one()).mul(&x.add(&Natural::one()));
//! assert_eq!(product.add(&Natural::one()), Natural::power_of_two(256));
//! ```
//!
//! # What this crate does not do
//! It is not fast, and it has no negative numbers: what would be below 0 is 0.

#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// A natural number, 0 included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Natural {
    limbs: Vec<u64>,
}

impl Natural {
    /// 0.
    #[must_use]
    pub fn zero() -> Self {
        Self::default()
    }

    /// 1.
    #[must_use]
    pub fn one() -> Self {
        Self::from(1u64)
    }

    /// 2^`exponent`.
    #[must_use]
    pub fn power_of_two(exponent: u32) -> Self {
        Self::one().shl(exponent)
    }

    fn from_limbs(mut limbs: Vec<u64>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self { limbs }
    }

    /// Whether it is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// The number of binary digits; 0 for 0.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.limbs.last().map_or(0, |top| 64 * self.limbs.len() as u32 - top.leading_zeros())
    }

    /// The value, if it fits.
    #[must_use]
    pub fn to_u128(&self) -> Option<u128> {
        match self.limbs[..] {
            [] => Some(0),
            [a] => Some(u128::from(a)),
            [a, b] => Some(u128::from(b) << 64 | u128::from(a)),
            _ => None,
        }
    }

    /// A double within a few units in the last place; ∞ beyond its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let limbs = self.limbs.iter().rev();
        limbs.fold(0.0, |sum, &limb| sum * 18_446_744_073_709_551_616.0 + limb as f64)
    }

    /// The sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let (long, short) =
            if self.limbs.len() >= other.limbs.len() { (self, other) } else { (other, self) };
        let mut limbs = Vec::with_capacity(long.limbs.len() + 1);
        let mut carry = false;
        for (i, &a) in long.limbs.iter().enumerate() {
            let b = short.limbs.get(i).copied().unwrap_or(0);
            let (sum, first) = a.overflowing_add(b);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first || second;
            limbs.push(sum);
        }
        if carry {
            limbs.push(1);
        }
        Self { limbs }
    }

    /// `self − other`, or 0 where that would be negative.
    #[must_use]
    pub fn saturating_sub(&self, other: &Self) -> Self {
        if *self <= *other {
            return Self::zero();
        }
        let mut limbs = Vec::with_capacity(self.limbs.len());
        let mut borrow = false;
        for (i, &a) in self.limbs.iter().enumerate() {
            let b = other.limbs.get(i).copied().unwrap_or(0);
            let (difference, first) = a.overflowing_sub(b);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            borrow = first || second;
            limbs.push(difference);
        }
        Self::from_limbs(limbs)
    }

    /// The product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        let mut limbs = vec![0u64; self.limbs.len() + other.limbs.len()];
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in other.limbs.iter().enumerate() {
                // (2⁶⁴−1)² + 2(2⁶⁴−1) = 2¹²⁸ − 1: no overflow.
                let wide =
                    u128::from(a) * u128::from(b) + u128::from(limbs[i + j]) + u128::from(carry);
                limbs[i + j] = wide as u64;
                carry = (wide >> 64) as u64;
            }
            limbs[i + other.limbs.len()] = carry;
        }
        Self::from_limbs(limbs)
    }

    /// `self · 2^by`.
    #[must_use]
    pub fn shl(&self, by: u32) -> Self {
        if self.is_zero() {
            return Self::zero();
        }
        let (limb_shift, bit_shift) = ((by / 64) as usize, by % 64);
        let mut limbs = vec![0u64; limb_shift];
        if bit_shift == 0 {
            limbs.extend_from_slice(&self.limbs);
        } else {
            let mut carry = 0u64;
            for &limb in &self.limbs {
                limbs.push(limb << bit_shift | carry);
                carry = limb >> (64 - bit_shift);
            }
            limbs.push(carry);
        }
        Self::from_limbs(limbs)
    }

    /// `⌊self / 2^by⌋`.
    #[must_use]
    pub fn shr(&self, by: u32) -> Self {
        let (limb_shift, bit_shift) = ((by / 64) as usize, by % 64);
        if limb_shift >= self.limbs.len() {
            return Self::zero();
        }
        let kept = &self.limbs[limb_shift..];
        if bit_shift == 0 {
            return Self::from_limbs(kept.to_vec());
        }
        let limbs = (0..kept.len())
            .map(|i| {
                let above = kept.get(i + 1).copied().unwrap_or(0);
                kept[i] >> bit_shift | above << (64 - bit_shift)
            })
            .collect();
        Self::from_limbs(limbs)
    }

    /// `⌈self / 2^by⌉`.
    #[must_use]
    pub fn shr_up(&self, by: u32) -> Self {
        let floor = self.shr(by);
        if floor.shl(by) == *self { floor } else { floor.add(&Self::one()) }
    }

    /// `⌊self / divisor⌋`; the divisor is not 0.
    #[must_use]
    pub fn div_small(&self, divisor: u64) -> Self {
        debug_assert!(divisor != 0);
        let mut remainder = 0u64;
        let mut limbs = vec![0u64; self.limbs.len()];
        for i in (0..self.limbs.len()).rev() {
            let wide = u128::from(remainder) << 64 | u128::from(self.limbs[i]);
            limbs[i] = (wide / u128::from(divisor)) as u64;
            remainder = (wide % u128::from(divisor)) as u64;
        }
        Self::from_limbs(limbs)
    }

    /// `(⌊self / divisor⌋, self mod divisor)`; the divisor is not 0.
    ///
    /// Long division (Knuth, TAOCP 2, §4.3.1, algorithm D) in 64-bit digits.
    #[must_use]
    pub fn div_rem(&self, divisor: &Self) -> (Self, Self) {
        debug_assert!(!divisor.is_zero());
        if *self < *divisor {
            return (Self::zero(), self.clone());
        }
        if let [single] = divisor.limbs[..] {
            let quotient = self.div_small(single);
            let remainder = self.saturating_sub(&quotient.mul(divisor));
            return (quotient, remainder);
        }
        // Normalise so that the divisor's top digit is at least 2⁶³: the
        // estimated digit is then at most 2 too large.
        let shift = 64 - divisor.bits() % 64;
        let shift = shift % 64;
        let d = divisor.shl(shift).limbs;
        let mut r = self.shl(shift).limbs;
        r.push(0);
        let n = d.len();
        let mut quotient = vec![0u64; r.len() - n];
        for j in (0..quotient.len()).rev() {
            let top = u128::from(r[j + n]) << 64 | u128::from(r[j + n - 1]);
            let mut digit = (top / u128::from(d[n - 1])).min(u128::from(u64::MAX));
            let mut rest = top - digit * u128::from(d[n - 1]);
            while rest <= u128::from(u64::MAX)
                && digit * u128::from(d[n - 2]) > (rest << 64 | u128::from(r[j + n - 2]))
            {
                digit -= 1;
                rest += u128::from(d[n - 1]);
            }
            // Subtract digit·d from the window of r; add one d back if it was too much.
            let (mut carry, mut borrow) = (0u128, false);
            for i in 0..=n {
                let product = if i < n { digit * u128::from(d[i]) + carry } else { carry };
                carry = product >> 64;
                let (a, first) = r[i + j].overflowing_sub(product as u64);
                let (a, second) = a.overflowing_sub(u64::from(borrow));
                r[i + j] = a;
                borrow = first || second;
            }
            if borrow {
                digit -= 1;
                let mut carry = false;
                for i in 0..=n {
                    let b = if i < n { d[i] } else { 0 };
                    let (a, first) = r[i + j].overflowing_add(b);
                    let (a, second) = a.overflowing_add(u64::from(carry));
                    r[i + j] = a;
                    carry = first || second;
                }
            }
            quotient[j] = digit as u64;
        }
        (Self::from_limbs(quotient), Self::from_limbs(r).shr(shift))
    }

    /// `⌊√self⌋`, by Newton's iteration from above.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        if self.is_zero() {
            return Self::zero();
        }
        let mut root = Self::power_of_two(self.bits().div_ceil(2));
        loop {
            let next = root.add(&self.div_rem(&root).0).shr(1);
            if next >= root {
                return root;
            }
            root = next;
        }
    }
}

impl From<u64> for Natural {
    fn from(value: u64) -> Self {
        Self::from_limbs(vec![value])
    }
}

impl From<u128> for Natural {
    fn from(value: u128) -> Self {
        Self::from_limbs(vec![value as u64, (value >> 64) as u64])
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        self.limbs
            .len()
            .cmp(&other.limbs.len())
            .then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

#[cfg(test)]
mod tests;
