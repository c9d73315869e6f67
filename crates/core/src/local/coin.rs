//! Exact coins.

use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::random::Bits;
use crate::unit::Epsilon;

const ONE: u64 = 1 << 53;

/// A coin whose probability of heads is a multiple of 2⁻⁵³ strictly between 0 and 1, so that it
/// is exact as a float and as a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coin(u64);

impl Coin {
    /// A fair coin.
    pub const FAIR: Self = Self(ONE / 2);

    /// The largest coin that is at most `p`.
    pub(crate) fn at_most(p: f64) -> Result<Self> {
        // A product with a power of two is exact; the conversion truncates and saturates.
        let heads = (p * ONE as f64) as u64;
        if heads > 0 && heads < ONE {
            return Ok(Self(heads));
        }
        let allowed = "such that a report says something, and not everything";
        Err(Error::OutOfRange { parameter: "epsilon", allowed })
    }

    /// The p of two levels, `p/(1−p) · outside/inside = e^ε`, rounded down.
    ///
    /// # Proof
    /// `p = 1/(1 + (outside/inside)·e^−ε)` falls in the quotient, which every step rounds up. ∎
    ///
    /// Where p would round to 1 it is 1 − 2⁻⁵³, which is less.
    pub(crate) fn two_levels(epsilon: Epsilon, inside: u32, outside: u32) -> Result<Self> {
        let quotient = up(f64::from(outside) / f64::from(inside));
        let (_, lie) = directed::exp_neg(epsilon.get())?;
        let p = down(1.0 / up(1.0 + up(quotient * lie)));
        Self::at_most(p.min(1.0 - f64::EPSILON / 2.0))
    }

    /// The other side: `1 − p`, exactly.
    #[must_use]
    pub fn tails(self) -> Self {
        Self(ONE - self.0)
    }

    /// The probability of heads, exactly.
    #[must_use]
    pub fn p(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// Flips the coin; true for heads.
    #[inline]
    pub(crate) fn flip(self, bits: &mut Bits) -> Result<bool> {
        Ok(bits.word()? >> 11 < self.0)
    }

    /// 64 independent coins, a bit each.
    ///
    /// # Proof
    /// In each of the 64 places, the words give the binary digits of a uniform U,
    /// most significant first. The first digit that differs from p's decides `U < p`. If
    /// p's digits end before one does, `U ≥ p`. ∎
    #[inline]
    pub(crate) fn flip_64(self, bits: &mut Bits) -> Result<u64> {
        let (mut heads, mut undecided, mut digits) = (0, u64::MAX, self.0 << 11);
        while undecided != 0 && digits != 0 {
            let word = bits.word()?;
            if digits >> 63 == 1 {
                heads |= undecided & !word;
                undecided &= word;
            } else {
                undecided &= !word;
            }
            digits <<= 1;
        }
        Ok(heads)
    }
}
