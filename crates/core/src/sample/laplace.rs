//! Laplace noise: on the integers, and as a real rounded to the grid.

use super::geometric::{Boundary, Steps};
use super::{Centre, Scale};
use crate::error::Result;
use crate::num::directed;
use crate::random::{Bits, Randomness};
use crate::unit::Grid;

/// The discrete Laplace (two-sided geometric) distribution:
/// `P[k] = (1−a)/(1+a) · a^|k|`, `a = e^(−1/s)`.
///
/// # Guarantee
/// Draws have exactly that distribution.
/// # Proof
/// `P[|Z| ≥ k] = 2a^k/(1+a)` for k ≥ 1, which is how the magnitude is drawn
/// (from 63 bits of a uniform and more when needed), and the sign is a fair bit
/// that nothing else looks at. Wide scales draw a sign and a geometric
/// magnitude and reject minus zero: `½(1−a)a^k` on both sides, normalised. ∎
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    steps: Steps,
    shift: f64,
}

impl DiscreteLaplace {
    /// The distribution whose ratio of neighbouring probabilities is `e^(1/scale)`.
    pub fn new(scale: &Scale) -> Result<Self> {
        let s = scale.get();
        // s·ln(2/(1+a)): a is enclosed to a unit in the last place or two, the
        // logarithm to 2⁻⁵⁰ around its middle.
        let (low, high) = directed::exp_neg((1.0 / s).min(1e9))?;
        let (below, above) = directed::ln(0.5 + 0.25 * (low + high))?;
        Ok(Self { steps: Steps::new(scale)?, shift: -s * (0.5 * (below + above)) })
    }

    /// One draw.
    pub fn draw(&self, rng: &mut dyn Randomness) -> Result<i128> {
        self.next(rng.bits()?)
    }

    /// Fills `out` with independent draws.
    pub fn fill(&self, out: &mut [i128], rng: &mut dyn Randomness) -> Result<()> {
        let bits = rng.bits()?;
        if self.steps.is_wide() {
            for value in out {
                *value = self.wide(bits)?;
            }
            return Ok(());
        }
        let mut words = [0u64; 256];
        for chunk in out.chunks_mut(words.len()) {
            bits.words(&mut words[..chunk.len()])?;
            for (value, &word) in chunk.iter_mut().zip(&words) {
                *value = match self.steps.surely(word, self.shift) {
                    Some(magnitude) => i128::from(signed(magnitude, word)),
                    None => self.doubtful(word, bits)?,
                };
            }
        }
        words.fill(0);
        std::hint::black_box(&words); // so that the wiping is not optimised away
        Ok(())
    }

    pub(crate) fn next(&self, bits: &mut Bits) -> Result<i128> {
        if self.steps.is_wide() {
            return self.wide(bits);
        }
        let word = bits.word()?;
        match self.steps.surely(word, self.shift) {
            Some(magnitude) => Ok(i128::from(signed(magnitude, word))),
            None => self.doubtful(word, bits),
        }
    }

    #[cold]
    fn doubtful(&self, word: u64, bits: &mut Bits) -> Result<i128> {
        let magnitude = self.steps.doubtful(word, Boundary::Symmetric(self.shift), bits)?;
        Ok(if word & 1 == 1 { -magnitude } else { magnitude })
    }

    #[cold]
    fn wide(&self, bits: &mut Bits) -> Result<i128> {
        loop {
            let negative = bits.word()? & 1 == 1;
            let magnitude = self.steps.geometric(bits)?;
            if !(negative && magnitude == 0) {
                return Ok(if negative { -magnitude } else { magnitude });
            }
        }
    }
}

/// `magnitude` with the sign of the word's lowest bit, without a branch:
/// −m = (m ⊕ −1) + 1.
#[inline]
fn signed(magnitude: i64, word: u64) -> i64 {
    let sign = (word & 1) as i64;
    (magnitude ^ -sign) + sign
}

/// A real Laplace variable of scale s, rounded to the nearest step of a grid.
///
/// # Guarantee
/// The result is `⌊c + sX + ½⌋` for an ideal real X ~ Lap(1) and the exact
/// centre c, all counted in steps: a post-processing of `c + sX`.
#[derive(Clone, Debug)]
pub struct RoundedLaplace {
    steps: Steps,
    grid: Grid,
}

impl RoundedLaplace {
    /// Noise of scale `scale` (in the units of the value), released as multiples of `grid`.
    pub fn new(scale: &Scale, grid: Grid) -> Result<Self> {
        Ok(Self { steps: Steps::new(&scale.on(grid)?)?, grid })
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

    pub(crate) fn next(&self, centre: &Centre, bits: &mut Bits) -> Result<i128> {
        let word = bits.word()?;
        let negative = word & 1 == 1;
        let offset = centre.offset(negative);
        let steps = if self.steps.is_wide() {
            self.steps.shifted(offset, bits)?
        } else {
            self.steps.narrow(word, Boundary::Shift(offset), bits)?
        };
        Ok(centre.place(negative, steps))
    }
}

#[cfg(test)]
mod tests;
