//! Natural numbers without a bound.

use std::cmp::Ordering;

/// A natural number. Slow and simple: it is reached only where 128 bits end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Natural {
    /// Least significant first; the last is never 0.
    limbs: Vec<u64>,
}

impl Natural {
    /// The sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let (long, short) =
            if self.limbs.len() >= other.limbs.len() { (self, other) } else { (other, self) };
        let mut limbs = Vec::with_capacity(long.limbs.len() + 1);
        let mut carry = 0_u128;
        for (i, &limb) in long.limbs.iter().enumerate() {
            let sum =
                u128::from(limb) + u128::from(short.limbs.get(i).copied().unwrap_or(0)) + carry;
            limbs.push(sum as u64);
            carry = sum >> 64;
        }
        limbs.push(carry as u64);
        Self::trimmed(limbs)
    }

    /// The product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        let mut limbs = vec![0_u64; self.limbs.len() + other.limbs.len()];
        for (i, &a) in self.limbs.iter().enumerate() {
            let mut carry = 0_u128;
            for (place, &b) in limbs[i..].iter_mut().zip(&other.limbs) {
                let sum = u128::from(a) * u128::from(b) + u128::from(*place) + carry;
                *place = sum as u64;
                carry = sum >> 64;
            }
            // Row i has written up to i + other.len(); that place is still 0.
            if let Some(place) = limbs.get_mut(i + other.limbs.len()) {
                *place = carry as u64;
            }
        }
        Self::trimmed(limbs)
    }

    /// `self · 2^bits`.
    #[must_use]
    pub fn shl(&self, bits: u32) -> Self {
        let mut limbs = vec![0; (bits / 64) as usize];
        let part = bits % 64;
        let mut carry = 0_u64;
        for &limb in &self.limbs {
            limbs.push((limb << part) | carry);
            carry = if part == 0 { 0 } else { limb >> (64 - part) };
        }
        limbs.push(carry);
        Self::trimmed(limbs)
    }

    /// `⌊self / 2^bits⌋`.
    #[must_use]
    pub fn shr(&self, bits: u32) -> Self {
        let part = bits % 64;
        let rest = self.limbs.get((bits / 64) as usize..).unwrap_or(&[]);
        let limbs = rest
            .iter()
            .enumerate()
            .map(|(i, &limb)| {
                let above = rest.get(i + 1).copied().unwrap_or(0);
                if part == 0 { limb } else { (limb >> part) | (above << (64 - part)) }
            })
            .collect();
        Self::trimmed(limbs)
    }

    /// `⌊self / divisor⌋`; 0 for a divisor of 0, which no caller has.
    #[must_use]
    pub fn div_small(&self, divisor: u64) -> Self {
        if divisor == 0 {
            return Self::default();
        }
        let divisor = u128::from(divisor);
        let mut limbs = self.limbs.clone();
        let mut rest = 0_u128;
        for limb in limbs.iter_mut().rev() {
            let whole = (rest << 64) | u128::from(*limb);
            *limb = (whole / divisor) as u64;
            rest = whole % divisor;
        }
        Self::trimmed(limbs)
    }

    /// A double within a few units in the last place; ∞ beyond its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.limbs
            .iter()
            .rev()
            .fold(0.0, |sum, &limb| sum * 18_446_744_073_709_551_616.0 + limb as f64)
    }

    fn trimmed(mut limbs: Vec<u64>) -> Self {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Self { limbs }
    }
}

impl From<u128> for Natural {
    fn from(number: u128) -> Self {
        Self::trimmed(vec![number as u64, (number >> 64) as u64])
    }
}

impl From<u64> for Natural {
    fn from(number: u64) -> Self {
        Self::trimmed(vec![number])
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.limbs.len().cmp(&other.limbs.len());
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_u128_where_that_reaches() {
        let some =
            [0_u128, 1, 2, 63, 1 << 63, u64::MAX.into(), 1 << 64, (1 << 64) + 7, (3 << 62) + 1];
        for a in some {
            for b in some {
                let (x, y) = (Natural::from(a), Natural::from(b));
                assert_eq!(x.add(&y), Natural::from(a + b));
                assert_eq!(x.cmp(&y), a.cmp(&b));
                if let Some(product) = a.checked_mul(b) {
                    assert_eq!(x.mul(&y), Natural::from(product));
                }
                if let Ok(divisor) = u64::try_from(b) {
                    assert_eq!(x.div_small(divisor), Natural::from(a.checked_div(b).unwrap_or(0)));
                }
            }
            for bits in [0, 1, 5, 63, 64, 65, 127] {
                assert_eq!(Natural::from(a).shr(bits), Natural::from(a >> bits));
                assert_eq!(Natural::from(a).shl(bits).shr(bits), Natural::from(a));
            }
        }
    }

    #[test]
    fn identities_beyond_u128() {
        let a = Natural::from(u128::MAX);
        // (x−1)(x+1) + 1 = x² with x = 2¹²⁸
        let product = a.mul(&Natural::from(1_u64).shl(128).add(&Natural::from(1_u64)));
        assert_eq!(product.add(&Natural::from(1_u64)), Natural::from(1_u64).shl(256));
        assert!((product.to_f64() / 2_f64.powi(256) - 1.0).abs() < 1e-15);
        assert_eq!(a.mul(&Natural::default()), Natural::default());
    }
}
