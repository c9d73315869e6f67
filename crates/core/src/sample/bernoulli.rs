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
mod tests {
    use super::*;
    use crate::random::SeededForTests;

    fn frequency(mut coin: impl FnMut() -> bool) -> f64 {
        f64::from((0..400_000).map(|_| u32::from(coin())).sum::<u32>()) / 400_000.0
    }

    #[test]
    fn coins_have_their_probability_and_the_test_has_power() {
        // False alarm 1e-6: 4.9 standard deviations of at most 0.5/√400000.
        let band = 4.9 * 0.5 / 400_000f64.sqrt();
        let mut rng = SeededForTests::insecure(11);
        for (p, q) in [(0, 5), (1, 3), (2, 3), (7, 7), (1, 1000)] {
            let measured = frequency(|| bernoulli(p, q, &mut rng).unwrap());
            assert!((measured - p as f64 / q as f64).abs() < band);
        }
        for scale in [0.05, 0.5, 1.0, 3.0, 1e9] {
            let exact = Scale::new(scale).unwrap();
            let measured = frequency(|| bernoulli_exp(&exact, &mut rng).unwrap());
            assert!((measured - (-1.0 / scale).exp()).abs() < band, "{scale}");
            if scale == 1.0 {
                assert!((measured - (-1.0 / (1.05 * scale)).exp()).abs() > band);
            }
        }
        assert!(bernoulli(2, 1, &mut rng).is_err() && bernoulli(0, 0, &mut rng).is_err());
    }

    #[test]
    fn the_slow_path_has_the_same_distribution() {
        // A slack of 1 sends every doubtful draw to the certified comparison.
        let mut rng = SeededForTests::insecure(12);
        let x = Ratio::new(3u64, 4u64);
        let measured = frequency(|| {
            let bits = rng.bits().unwrap();
            accept(0.75, 1.0, bits, |b| Enclosure::exp_neg(&x, b)).unwrap()
        });
        assert!((measured - (-0.75f64).exp()).abs() < 4.9 * 0.5 / 400_000f64.sqrt());
    }
}
