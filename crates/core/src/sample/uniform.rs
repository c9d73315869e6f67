//! Uniform integers, and a uniform real that reveals its bits on demand.

use crate::error::{Error, Result};
use crate::num::{Enclosure, Natural};
use crate::random::{Bits, Randomness};

/// A uniform integer in `0..n`.
///
/// # Guarantee
/// Every value has probability exactly 1/n.
/// # Proof
/// `⌊w·n/2⁶⁴⌋` for a uniform word w takes each value for ⌊2⁶⁴/n⌋ or one more
/// words; words whose low product falls below `2⁶⁴ mod n` are rejected, which
/// leaves exactly ⌊2⁶⁴/n⌋ words for each value (Lemire 2019). ∎
/// # Special values
/// n = 0 is refused.
pub fn uniform_below(n: u64, rng: &mut dyn Randomness) -> Result<u64> {
    if n == 0 {
        return Err(Error::OutOfRange { parameter: "n", allowed: "at least 1" });
    }
    below(n, rng.bits()?)
}

/// [`uniform_below`] for n ≥ 1.
#[inline]
pub(crate) fn below(n: u64, bits: &mut Bits) -> Result<u64> {
    let word = bits.word()?;
    below_from(word, n, bits)
}

/// [`below`], starting with a word already drawn.
#[inline]
pub(crate) fn below_from(mut word: u64, n: u64, bits: &mut Bits) -> Result<u64> {
    loop {
        let product = u128::from(word) * u128::from(n);
        let low = product as u64;
        // 2⁶⁴ mod n < n: only a low part below n needs the division.
        if low >= n || low >= n.wrapping_neg() % n {
            return Ok((product >> 64) as u64);
        }
        word = bits.word()?;
    }
}

/// A uniform real in [0, 1) of which finitely many bits have been drawn.
#[derive(Clone, Debug)]
pub(crate) struct LazyUniform {
    known: Natural,
    bits: u32,
}

impl LazyUniform {
    /// The real whose first `bits` bits are those of `word`.
    pub(crate) fn starting(word: u64, bits: u32) -> Self {
        Self { known: Natural::from(word), bits }
    }

    pub(crate) fn draw(bits: &mut Bits) -> Result<Self> {
        Ok(Self::starting(bits.word()?, 64))
    }

    pub(crate) fn extend(&mut self, bits: &mut Bits) -> Result<()> {
        self.known = self.known.shl(64).add(&Natural::from(bits.word()?));
        self.bits += 64;
        Ok(())
    }

    /// The interval in which the real is known to lie.
    pub(crate) fn enclosure(&self) -> Enclosure {
        let upper = self.known.add(&Natural::one());
        Enclosure { lower: self.known.clone(), upper, bits: self.bits }
    }

    /// Decides `U < p` for a p that can be enclosed to any number of bits.
    ///
    /// # Proof
    /// The answer is returned only when the intervals of U and p do not
    /// overlap. Each extension shrinks both, by 2⁶⁴ and to a few units, so the
    /// chance of going on is a few times 2⁻⁶⁴ each time: it ends almost
    /// surely. `U = p` has probability 0. ∎
    pub(crate) fn below(&mut self, bits: &mut Bits, p: impl Fn(u32) -> Enclosure) -> Result<bool> {
        loop {
            let p = p(self.bits);
            let (lower, upper) = (&self.known, self.known.add(&Natural::one()));
            if upper <= p.lower {
                return Ok(true);
            }
            if *lower >= p.upper {
                return Ok(false);
            }
            self.extend(bits)?;
        }
    }
}

#[cfg(test)]
mod tests;
