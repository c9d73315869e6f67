//! Coins whose probability is a rational or an exponential.

use super::{LazyUniform, Scale, uniform};
use crate::error::{Error, Result};
use crate::num::{Enclosure, Ratio, fast};
use crate::random::{Bits, Randomness};

/// True with probability exactly `numerator / denominator`.
///
/// # Special values
/// A denominator of 0, or a numerator above it, is refused.
pub fn bernoulli(numerator: u64, denominator: u64, rng: &mut dyn Randomness) -> Result<bool> {
    if denominator == 0 || numerator > denominator {
        return Err(Error::OutOfRange {
            parameter: "probability",
            allowed: "a fraction between 0 and 1",
        });
    }
    Ok(uniform::below(denominator, rng.bits()?)? < numerator)
}

/// True with probability exactly `e^(−1/scale)`.
pub fn bernoulli_exp(scale: &Scale, rng: &mut dyn Randomness) -> Result<bool> {
    let x = Ratio::new(1u64, 1u64).div(&scale.exact);
    exp_neg(&x, 1.0 / scale.approximate, rng.bits()?)
}

/// True with probability exactly `e^−x`, where `near` is within a relative
/// 2⁻⁵⁰ of x.
pub(crate) fn exp_neg(x: &Ratio, near: f64, bits: &mut Bits) -> Result<bool> {
    accept(near, near * (1.0 / (1u64 << 50) as f64), bits, |b| Enclosure::exp_neg(x, b))
}

/// True with probability exactly p, where p is enclosed by `exact` to any
/// precision and is within `e^±slack` of `e^−near`.
///
/// # Proof
/// With V uniform, the answer is `[V < p]`: by floats where they are sure of
/// it, else by certified comparison with the same V. ∎
#[inline]
pub(crate) fn accept(
    near: f64,
    slack: f64,
    bits: &mut Bits,
    exact: impl Fn(u32) -> Enclosure,
) -> Result<bool> {
    let word = bits.word()?;
    match surely(word, near, slack) {
        Some(decided) => Ok(decided),
        None => LazyUniform::starting(word, 64).below(bits, exact),
    }
}

/// Whether `V < p`, if V's first 64 bits and floats can decide it, for a p within `e^±slack` of `e^−near`.
///
/// # Proof
/// `e^−d ≥ 1 − d` settles the common case without an exponential. Otherwise p
/// is computed to a relative 2⁻⁴⁸, and as p ≤ 1 a relative error of
/// `e^slack − 1 ≤ 2·slack` (slack ≤ 1) is at most that absolutely. ∎
#[inline]
pub(crate) fn surely(word: u64, near: f64, slack: f64) -> Option<bool> {
    // Covers V's bits beyond the 53rd and every rounding below.
    const MARGIN: f64 = 1.0 / (1u64 << 46) as f64;
    let v = (word >> 11) as i64 as f64 * (1.0 / (1u64 << 53) as f64);
    let margin = slack + MARGIN;
    if v < 1.0 - near - margin {
        return Some(true);
    }
    let p = fast::exp_neg(near.max(0.0));
    if v < p - 2.0 * margin {
        Some(true)
    } else if v > p + 2.0 * margin {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
