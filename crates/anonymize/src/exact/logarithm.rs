//! The order of two sums of logarithms, decided.
//!
//! Entropy, KL divergence and log-ratio models all ask whether
//! `Σ eᵢ·ln xᵢ + a ≤ Σ fⱼ·ln yⱼ + b` for natural numbers. That has an exact answer:
//!
//! 1. Logarithms in fixed point with a proven error; nearly every question ends here.
//! 2. If the two sides are too near: are they equal? With `a ≠ b` never, since e to
//!    a whole power other than 0 is irrational. With `a = b` they are equal iff
//!    `Π xᵢ^eᵢ = Π yⱼ^fⱼ`, which a basis of pairwise coprime numbers tells without
//!    computing the powers.
//! 3. If they differ: the same logarithms with twice the digits, until the order
//!    shows. It does, because the difference is not 0.

use super::fraction::{Sum, gcd};
use demure_natural::Natural;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// A sum `Σ eᵢ·ln xᵢ + units`.
#[derive(Clone, Debug, Default)]
pub struct LogSum {
    terms: Vec<(u64, u128)>,
    units: u128,
}

impl LogSum {
    /// 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `exponent · ln base`. A base of 0 has no logarithm: it counts as 1,
    /// which is the limit `0·ln 0 = 0` where the exponent is 0 too.
    pub fn add(&mut self, base: u64, exponent: u128) {
        if base > 1 && exponent > 0 {
            self.terms.push((base, exponent));
        }
    }

    /// Adds a whole number. `None` past 2¹²⁸.
    pub fn add_units(&mut self, units: u128) -> Option<()> {
        self.units = self.units.checked_add(units)?;
        Some(())
    }

    /// The order of the two real numbers, exactly.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        if let Some(order) = self.fast(other) {
            return order;
        }
        if self.units == other.units && equal_products(&self.terms, &other.terms) {
            return Ordering::Equal;
        }
        let mut bits = 128;
        loop {
            let (left_low, left_high) = self.bounds(bits);
            let (right_low, right_high) = other.bounds(bits);
            if left_low > right_high {
                return Ordering::Greater;
            }
            if left_high < right_low {
                return Ordering::Less;
            }
            bits *= 2;
        }
    }

    /// The order in 57-bit fixed point, where that is enough.
    fn fast(&self, other: &Self) -> Option<Ordering> {
        let bounds = |side: &Self| {
            let (mut low, mut high) = (Sum::default(), Sum::default());
            for &(base, exponent) in &side.terms {
                let ln = ln_fixed(base);
                low.add_product(exponent, ln);
                high.add_product(exponent, ln + FIXED_ERROR);
            }
            low.add_product(side.units, 1 << FIXED_BITS);
            high.add_product(side.units, 1 << FIXED_BITS);
            (low, high)
        };
        let ((left_low, left_high), (right_low, right_high)) = (bounds(self), bounds(other));
        if left_low > right_high {
            Some(Ordering::Greater)
        } else if left_high < right_low {
            Some(Ordering::Less)
        } else {
            None
        }
    }

    /// Below and above `self · 2^bits`.
    fn bounds(&self, bits: u32) -> (Natural, Natural) {
        let mut low = Natural::from(self.units).shl(bits);
        let mut error = Natural::default();
        for &(base, exponent) in &self.terms {
            let (ln, off) = ln_natural(base, bits);
            low = low.add(&ln.mul(&Natural::from(exponent)));
            error = error.add(&Natural::from(off).mul(&Natural::from(exponent)));
        }
        let high = low.add(&error);
        (low, high)
    }
}

/// Whether `Π x^e` is the same on both sides.
///
/// # Proof
/// The basis holds pairwise coprime numbers above 1 with the exponent each side
/// has of them; every step keeps both products. Pairwise coprime numbers are
/// multiplicatively independent (look at one prime of each), so the products
/// agree iff all exponents do. It ends: each split makes the product of all
/// numbers held smaller. ∎
fn equal_products(left: &[(u64, u128)], right: &[(u64, u128)]) -> bool {
    let side = |terms: &[(u64, u128)], is_left: bool| -> Vec<(u64, Natural, Natural)> {
        terms
            .iter()
            .map(|&(base, exponent)| {
                let exponent = Natural::from(exponent);
                if is_left {
                    (base, exponent, Natural::default())
                } else {
                    (base, Natural::default(), exponent)
                }
            })
            .collect()
    };
    let mut waiting = side(left, true);
    waiting.extend(side(right, false));
    let mut basis: Vec<(u64, Natural, Natural)> = Vec::new();
    while let Some((x, in_left, in_right)) = waiting.pop() {
        if x == 1 {
            continue;
        }
        let shared = basis.iter().position(|(b, _, _)| gcd(u128::from(*b), u128::from(x)) > 1);
        let Some(shared) = shared else {
            basis.push((x, in_left, in_right));
            continue;
        };
        let (b, b_left, b_right) = basis.swap_remove(shared);
        let g = gcd(u128::from(b), u128::from(x)) as u64;
        waiting.push((g, b_left.add(&in_left), b_right.add(&in_right)));
        waiting.push((b / g, b_left, b_right));
        waiting.push((x / g, in_left, in_right));
    }
    basis.iter().all(|(_, in_left, in_right)| in_left == in_right)
}

const FIXED_BITS: u32 = 57;
/// In units of 2⁻⁵⁷; see [`compute_fixed`].
const FIXED_ERROR: u64 = 5;
/// ⌊ln 2 · 2⁶²⌋.
const LN2_62: u128 = 3_196_577_161_300_663_914;
/// Logarithms below this are kept.
const KEPT: usize = 1 << 14;

/// L with `L ≤ 2⁵⁷·ln x ≤ L + 5`.
fn ln_fixed(x: u64) -> u64 {
    static SMALL: OnceLock<Vec<u64>> = OnceLock::new();
    let small = SMALL.get_or_init(|| (0..KEPT as u64).map(compute_fixed).collect());
    usize::try_from(x).ok().and_then(|i| small.get(i).copied()).unwrap_or_else(|| compute_fixed(x))
}

/// `ln x = k·ln 2 + 2·artanh z` with `2^k ≤ x < 2^(k+1)`, `z = (x−2^k)/(x+2^k) < 1/3`.
///
/// # Proof of the error
/// In units u = 2⁻⁶²; all truncations are downward, so the result is a lower
/// bound. z is short by < 1; each power by < 2 (e ↦ e/9 + 5/9 + 1); each of the 21
/// quotients by < 1 more; what follows term 21 is < 1: less than 21 + 2·2.7 + 1 < 28, doubled
/// 56. k ≤ 63 times ln 2, short by < 1: < 63. Together < 119 < 4·2⁵, and dropping 5 bits
/// loses < 1 unit of 2⁻⁵⁷: less than 5. ∎
fn compute_fixed(x: u64) -> u64 {
    let Some(k) = x.checked_ilog2() else { return 0 };
    let (x, power) = (u128::from(x), 1_u128 << k);
    let z = ((x - power) << 62) / (x + power);
    let square = (z * z) >> 62;
    let (mut term, mut sum, mut odd) = (z, 0_u128, 1_u64);
    for _ in 0..21 {
        sum += u128::from(term as u64 / odd);
        term = (term * square) >> 62;
        odd += 2;
    }
    ((u128::from(k) * LN2_62 + 2 * sum) >> 5) as u64
}

/// (L, E) with `L ≤ 2^bits·ln x ≤ L + E`. The same series and the same proof with
/// T = ⌊bits/3⌋ + 3 terms: an artanh is short by < T + 2·(T) + 2, doubled; ln 2 is one
/// such, k ≤ 63 times; so E = 64·2·(3T + 2).
fn ln_natural(x: u64, bits: u32) -> (Natural, u64) {
    let Some(k) = x.checked_ilog2() else { return (Natural::default(), 0) };
    let (wide, power) = (u128::from(x), 1_u128 << k);
    let terms = bits / 3 + 3;
    let two = artanh(1, 3, bits, terms).shl(1);
    let rest = artanh(wide - power, wide + power, bits, terms).shl(1);
    (two.mul(&Natural::from(u64::from(k))).add(&rest), 128 * (3 * u64::from(terms) + 2))
}

/// Below `artanh(above / below) · 2^bits`, for above/below ≤ 1/3 and below ≤ 2⁶⁵.
fn artanh(above: u128, below: u128, bits: u32, terms: u32) -> Natural {
    let (mut rest, mut quotient) = (above, Natural::default());
    for _ in 0..bits.div_ceil(32) {
        rest <<= 32;
        quotient = quotient.shl(32).add(&Natural::from(rest / below));
        rest %= below;
    }
    let z = quotient.shr(bits.div_ceil(32) * 32 - bits);
    let square = z.mul(&z).shr(bits);
    let (mut term, mut sum) = (z, Natural::default());
    for i in 0..terms {
        sum = sum.add(&term.div_small(u64::from(2 * i + 1)));
        term = term.mul(&square).shr(bits);
    }
    sum
}

#[cfg(test)]
mod tests;
