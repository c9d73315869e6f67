//! A fast generator for choices that protect nobody: which rows to draw, which two to swap.
//!
//! Rows are made from released numbers, so a reader who knew every choice made here would know no more about anyone.
//! What does protect is the noise, and that comes from the core's generator. Here it only gives the seed, so that a
//! run is the same for the same seed.

use crate::error::Result;
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;

/// xoshiro256++ (Blackman & Vigna 2021, arXiv:1805.01407v3, Figure 1).
pub(crate) struct Draws {
    state: [u64; 4],
}

impl Draws {
    /// Seeded from the core's generator.
    pub(crate) fn new(rng: &mut dyn Randomness) -> Result<Self> {
        let mut state = [1; 4]; // not all words may be 0
        for word in &mut state[1..] {
            *word = uniform_below(u64::MAX, rng)?;
        }
        Ok(Self { state })
    }

    /// A generator of its own for another thread.
    pub(crate) fn fork(&mut self) -> Self {
        Self { state: [1, self.word(), self.word(), self.word()] }
    }

    #[inline]
    fn word(&mut self) -> u64 {
        let s = &mut self.state;
        let word = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        word
    }

    /// A number in [0, 1).
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number below n > 0, all as likely to 2⁻⁶⁴·n.
    #[inline]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
