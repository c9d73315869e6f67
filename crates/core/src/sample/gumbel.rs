//! Gumbel noise as a real rounded to the grid: with it, taking the largest is the exponential mechanism.

use super::{Centre, LazyUniform, Scale, rounding};
use crate::error::Result;
use crate::num::{Enclosure, Ratio, fast};
use crate::random::{Bits, Randomness};
use crate::unit::Grid;

/// A real standard Gumbel variable times s, rounded to the nearest step of a
/// grid: `P[X ≤ x] = exp(−e^(−x/s))`.
///
/// # Guarantee
/// The result is `⌊c + sX + ½⌋` for an ideal real Gumbel X and the exact centre
/// c, all counted in steps: a post-processing of `c + sX`.
/// # Proof
/// `X = −ln(−ln U)` for U uniform. With `t = c + ½`, the result is at least k iff
/// `−ln U ≤ e^((t−k)/s)` iff `U ≥ exp(−e^((t−k)/s))`. Two float logarithms of
/// known error bracket the result; a bracket that holds more than one integer
/// is settled by that comparison in certified arithmetic. ∎
#[derive(Clone, Debug)]
pub struct RoundedGumbel {
    rate: Ratio,
    scale: f64,
    grid: Grid,
}

impl RoundedGumbel {
    /// Noise of scale `scale` (in the units of the value), released as multiples of `grid`.
    pub fn new(scale: &Scale, grid: Grid) -> Result<Self> {
        let on_grid = scale.on(grid)?;
        on_grid.in_steps()?;
        let rate = Ratio::new(1u64, 1u64).div(&on_grid.exact);
        Ok(Self { rate, scale: on_grid.approximate, grid })
    }

    /// `value` plus noise, in steps of the grid.
    pub fn draw(&self, value: f64, rng: &mut dyn Randomness) -> Result<i128> {
        self.next(&Centre::rounding(value, self.grid)?, rng.bits()?)
    }

    /// Fills `out` with independent draws of the noise alone.
    pub fn fill(&self, out: &mut [i128], rng: &mut dyn Randomness) -> Result<()> {
        let (centre, bits) = (Centre::zero(), rng.bits()?);
        for value in out {
            *value = self.next(&centre, bits)?;
        }
        Ok(())
    }

    fn next(&self, centre: &Centre, bits: &mut Bits) -> Result<i128> {
        let word = bits.word()?;
        let mut uniform = LazyUniform::starting(word, 64);
        let certain = self.bracket(word, centre.offset(false).near());
        let (mut low, mut high) = match certain {
            Some((low, high)) if low == high => return Ok(centre.place(false, low)),
            Some((low, high)) => (low, high),
            None => self.gallop(&mut uniform, centre, bits)?,
        };
        // The result is in low..=high.
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if self.reaches(&mut uniform, centre, middle, bits)? {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok(centre.place(false, low))
    }

    /// The steps that U's first 64 bits allow, if floats can tell.
    #[inline]
    fn bracket(&self, word: u64, t: f64) -> Option<(i128, i128)> {
        // Near 0 and near 1 the unknown bits of U move the result too much.
        if !(1 << 20..=u64::MAX - (1 << 20)).contains(&word) {
            return None;
        }
        // E = −ln U, by the complement near 1, where −ln(1−v) ≥ v loses nothing.
        let v = (u64::MAX - word) as f64 * (1.0 / 18_446_744_073_709_551_616.0);
        let (e, error) = if v < 1.0 / 1024.0 {
            // −ln(1−v) = v + v²/2 + … ; eight terms leave a relative 2⁻⁸⁰.
            let series = 1.0
                + v * (1.0 / 2.0
                    + v * (1.0 / 3.0
                        + v * (0.25 + v * (0.2 + v * (1.0 / 6.0 + v * (1.0 / 7.0 + v / 8.0))))));
            (v * series, 1.0 / (1u64 << 48) as f64 + 1.0 / (v * 18_446_744_073_709_551_616.0))
        } else {
            let e = fast::neg_ln_bits(word >> 1);
            (e, (fast::LN_ERROR + 2.0 / word as f64) / e)
        };
        // `error` is relative, so the second logarithm moves by 2·error at most.
        let y = t - self.scale * fast::ln(e);
        let w =
            self.scale * (2.0 * error + 2.0 * fast::LN_ERROR) + rounding(self.scale * 45.0 + 1.0);
        if w.is_nan() || y.abs() + w > 1e30 {
            return None;
        }
        Some(((y - w).floor() as i128, (y + w).floor() as i128))
    }

    /// Whether the result, relative to the centre's whole part, is at least k.
    fn reaches(
        &self,
        uniform: &mut LazyUniform,
        centre: &Centre,
        k: i128,
        bits: &mut Bits,
    ) -> Result<bool> {
        // (t − k)/s, in absolute value and sign.
        let t = &centre.offset(false).exact();
        let steps = Ratio::new(k.unsigned_abs(), 1u64);
        let (exponent, positive) = if k <= 0 {
            (steps.add(t), true)
        } else if *t >= steps {
            (t.saturating_sub(&steps), true)
        } else {
            (steps.saturating_sub(t), false)
        };
        let exponent = exponent.mul(&self.rate);
        let below = uniform.below(bits, |b| {
            let inner = if positive {
                // e^−e^x < 2^−b once e^x ≥ b; for x ≥ b it certainly is.
                let beyond = exponent.fixed(0).0.to_u128().is_none_or(|w| w >= u128::from(b));
                match Enclosure::exp(&exponent, b + 8) {
                    Some(inner) if !beyond => inner,
                    _ => return Enclosure::exp_neg(&Ratio::new(u64::from(b) + 2, 1u64), b),
                }
            } else {
                Enclosure::exp_neg(&exponent, b + 8)
            };
            Enclosure::exp_neg_of(&inner).truncate(b)
        })?;
        Ok(!below)
    }

    /// A bracket for the extreme words, by doubling from 0.
    #[cold]
    fn gallop(
        &self,
        uniform: &mut LazyUniform,
        centre: &Centre,
        bits: &mut Bits,
    ) -> Result<(i128, i128)> {
        let mut stride = (self.scale.min(1e30) as i128).max(1);
        if self.reaches(uniform, centre, 0, bits)? {
            let mut low = 0;
            while self.reaches(uniform, centre, low + stride, bits)? {
                low += stride;
                stride = stride.saturating_mul(2).min(1 << 100);
            }
            Ok((low, low + stride - 1))
        } else {
            let mut high = -1;
            while !self.reaches(uniform, centre, high - stride, bits)? {
                high -= stride;
                stride = stride.saturating_mul(2).min(1 << 100);
            }
            Ok((high - stride, high))
        }
    }
}

#[cfg(test)]
mod tests;
