//! `⌊sE + g⌋` for a standard exponential E: the engine of the geometric, the
//! Laplace and the exponential samplers.

use super::bernoulli;
use super::centre::Offset;
use super::{LazyUniform, Scale, rounding};
use crate::error::Result;
use crate::num::{Enclosure, Ratio, fast};
use crate::random::{Bits, Randomness};

/// Beyond this scale the low digits are drawn apart from the high ones.
const WIDE: f64 = 268_435_456.0; // 2²⁸

/// Draws `⌊sE + g⌋`, E standard exponential, s the scale, 0 ≤ g ≤ 1.
///
/// # Guarantee
/// `P[result ≥ k] = min(1, e^(−(k−g)/s))` for every integer k, exactly.
/// # Proof
/// E = −ln U for U uniform, so `sE + g ≥ k` iff `U ≤ e^(−(k−g)/s)`. Up to scale
/// 2²⁸ U's first bits and a float logarithm of known error bracket the result;
/// if the bracket holds one integer, that is it, else the same U is compared
/// with the certified `e^(−(k−g)/s)`. Beyond, write the geometric variable
/// (g = 0) as `2^b·Q + R`: `e^(−(2^b q + r)/s)` factorises, so Q is geometric at
/// scale s/2^b and R has weight `e^(−r/s)` on 0..2^b, which is drawn by
/// rejection from the uniform; and `⌊sE + g⌋` is 0 with probability
/// `1 − e^(−(1−g)/s)`, otherwise 1 plus a geometric (memorylessness). ∎
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    rate: Ratio,
    scale: f64,
    /// Bounds the error of `scale·E + g` in floats when U ≥ 2⁻¹⁴.
    margin: f64,
    wide: Option<Box<(u32, Steps)>>,
}

/// The bound that a uniform must not exceed for the result to be at least k ≥ 1.
#[derive(Clone, Copy)]
pub(crate) enum Boundary<'a> {
    /// `e^(−(k−g)/s)`: the floor of a shifted exponential.
    Shift(Offset<'a>),
    /// `2e^(−k/s)/(1+e^(−1/s))`: the magnitude of a discrete Laplace; the
    /// float is `s·ln(2/(1+e^(−1/s)))`, within `s·2⁻⁵⁰`.
    Symmetric(f64),
}

impl Boundary<'_> {
    fn approximate(&self) -> f64 {
        match self {
            Self::Shift(offset) => offset.near(),
            Self::Symmetric(g) => *g,
        }
    }

    /// The probability that the result is at least k ≥ 1.
    fn probability(&self, rate: &Ratio, k: i128, bits: u32) -> Enclosure {
        let k = Ratio::new(k.unsigned_abs(), 1u64);
        match self {
            Self::Shift(offset) => {
                Enclosure::exp_neg(&k.saturating_sub(&offset.exact()).mul(rate), bits)
            }
            Self::Symmetric(_) => {
                let work = bits + 8;
                let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), work);
                let normaliser = one.add(&Enclosure::exp_neg(rate, work));
                let twice = Ratio::new(2u64, 1u64);
                let top = Enclosure::exp_neg(&k.mul(rate), work).mul_ratio(&twice);
                match top.div(&normaliser) {
                    Some(p) => p.truncate(bits),
                    None => top.truncate(bits), // never: the normaliser is at least 1
                }
            }
        }
    }
}

impl Steps {
    pub(crate) fn new(scale: &Scale) -> Result<Self> {
        Ok(Self::of(&scale.in_steps()?.exact))
    }

    fn of(scale: &Ratio) -> Self {
        let rate = Ratio::new(1u64, 1u64).div(scale);
        let approximate = scale.to_f64();
        let wide = (approximate > WIDE).then(|| {
            let low_bits = approximate.log2() as u32 - 20;
            Box::new((low_bits, Self::of(&scale.scale(-(low_bits as i32)))))
        });
        // The logarithm, the boundary's own error, U's unknown bits (1/2⁴⁹), and
        // the roundings of numbers below scale·46 + 1.
        let unknown = 2.0 * fast::LN_ERROR + 1.0 / (1u64 << 49) as f64;
        let margin = approximate * unknown + rounding(approximate * 46.0 + 1.0);
        Self { rate, scale: approximate, margin, wide }
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.wide.is_some()
    }

    /// The result for the uniform whose first 63 bits are the top of `word`
    /// (the lowest bit is left to the caller, for a sign). Not for wide scales.
    #[inline]
    pub(crate) fn narrow(
        &self,
        word: u64,
        boundary: Boundary<'_>,
        bits: &mut Bits,
    ) -> Result<i128> {
        match self.surely(word, boundary.approximate()) {
            Some(steps) => Ok(i128::from(steps)),
            None => self.doubtful(word, boundary, bits),
        }
    }

    /// The result, if the first 63 bits of U and floats can decide it.
    #[inline]
    pub(crate) fn surely(&self, word: u64, g: f64) -> Option<i64> {
        let known = word >> 1; // U·2⁶³ is in [known, known + 1)
        let y = self.scale * fast::neg_ln_bits(known) + g;
        // The result is never negative, so truncation is as good as the floor.
        let low = ((y - self.margin) as i64).max(0);
        (y + self.margin < (low + 1) as f64 && known >= 1 << 49).then_some(low)
    }

    #[cold]
    pub(crate) fn doubtful(
        &self,
        word: u64,
        boundary: Boundary<'_>,
        bits: &mut Bits,
    ) -> Result<i128> {
        let known = word >> 1;
        if known == 0 {
            return self.refine(LazyUniform::starting(0, 63), boundary, 0, bits);
        }
        let y = self.scale * fast::neg_ln_bits(known) + boundary.approximate();
        // |ln U − ln(known/2⁶³)| ≤ 1/known.
        let w = self.margin + self.scale / known as f64;
        let (low, high) = ((y - w) as i64, (y + w) as i64);
        let low = i128::from(low.max(0));
        if low == i128::from(high) {
            return Ok(low);
        }
        self.refine(LazyUniform::starting(known, 63), boundary, low, bits)
    }

    /// The largest k with `U ≤ P[result ≥ k]`, which is at least `certain`.
    #[cold]
    fn refine(
        &self,
        mut uniform: LazyUniform,
        boundary: Boundary<'_>,
        certain: i128,
        bits: &mut Bits,
    ) -> Result<i128> {
        let mut reaches = |k: i128, bits: &mut Bits| {
            uniform.below(bits, |b| boundary.probability(&self.rate, k, b))
        };
        // Gallop up to the first k that is not reached, then halve.
        let (mut low, mut stride) = (certain, 1i128);
        while reaches(low + stride, bits)? {
            low += stride;
            stride = stride.saturating_mul(2).min(1 << 100);
        }
        let mut high = low + stride;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if reaches(middle, bits)? { low = middle } else { high = middle }
        }
        Ok(low)
    }

    /// `⌊sE⌋` at any scale.
    pub(crate) fn geometric(&self, bits: &mut Bits) -> Result<i128> {
        match self.wide.as_deref() {
            None => {
                let word = bits.word()?;
                self.narrow(word, Boundary::Shift(Offset::Zero), bits)
            }
            Some((low_bits, high)) => {
                let quotient = high.geometric(bits)?;
                loop {
                    let remainder = bits.word()? >> (64 - low_bits);
                    let near = remainder as f64 / self.scale;
                    let accepted = bernoulli::accept(near, rounding(near), bits, |b| {
                        Enclosure::exp_neg(&Ratio::new(remainder, 1u64).mul(&self.rate), b)
                    })?;
                    if accepted {
                        return Ok((quotient << low_bits) + i128::from(remainder));
                    }
                }
            }
        }
    }

    /// `⌊sE + g⌋` at any scale.
    pub(crate) fn shifted(&self, g: Offset<'_>, bits: &mut Bits) -> Result<i128> {
        if !self.is_wide() {
            let word = bits.word()?;
            return self.narrow(word, Boundary::Shift(g), bits);
        }
        let x = Ratio::new(1u64, 1u64).saturating_sub(&g.exact()).mul(&self.rate);
        if bernoulli::exp_neg(&x, x.to_f64(), bits)? {
            Ok(1 + self.geometric(bits)?)
        } else {
            Ok(0)
        }
    }
}

/// The geometric distribution: `P[k] = (1−a)·a^k` for k ≥ 0, `a = e^(−1/s)`.
#[derive(Clone, Debug)]
pub struct Geometric {
    steps: Steps,
}

impl Geometric {
    /// The distribution whose ratio of successive probabilities is `e^(−1/scale)`.
    pub fn new(scale: &Scale) -> Result<Self> {
        Ok(Self { steps: Steps::new(scale)? })
    }

    /// One draw.
    pub fn draw(&self, rng: &mut dyn Randomness) -> Result<i128> {
        self.steps.geometric(rng.bits()?)
    }

    /// Fills `out` with independent draws.
    pub fn fill(&self, out: &mut [i128], rng: &mut dyn Randomness) -> Result<()> {
        let bits = rng.bits()?;
        for value in out {
            *value = self.steps.geometric(bits)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
