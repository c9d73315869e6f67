//! The secret key of one query's choices, and the hashes it keys.
//!
//! The hashes decide *which* contributions stay, never *whose row is whose*: identity is always compared exactly. So
//! privacy does not depend on their quality. A good and secret key makes the choice even and unpredictable, which
//! keeps the answers unbiased.

use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use std::fmt;

/// An odd number with evenly spread bits (2⁶⁴ divided by the golden ratio).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A fresh 256-bit key for one query. It is never reused and never shown.
#[derive(Clone)]
pub struct Key {
    words: [u64; 4],
}

impl Key {
    /// Draws a key.
    pub fn draw(rng: &mut dyn Randomness) -> demure_core::Result<Self> {
        let mut words = [0; 4];
        for word in &mut words {
            let (high, low) = (uniform_below(1 << 32, rng)?, uniform_below(1 << 32, rng)?);
            *word = high << 32 | low;
        }
        Ok(Self { words })
    }

    /// A keyed bijection of the integers below 2⁶⁴: different ids stay different.
    ///
    /// # Proof
    /// Adding a constant modulo 2, multiplying by an odd number modulo 2⁶⁴ and
    /// `x ⊕ (x >> k)` with k ≥ 1 each have an inverse. ∎
    #[inline]
    pub(super) fn permute(&self, id: u64) -> u64 {
        let mut x = (id ^ self.words[0]).wrapping_mul(self.words[1] | 1);
        x ^= x >> 32;
        x = x.wrapping_mul(GOLDEN);
        x ^ (x >> 29)
    }

    /// A keyed hash of two words.
    #[inline]
    pub(super) fn pair(&self, a: u64, b: u64) -> u64 {
        fold(a ^ self.words[2], b ^ self.words[3])
    }

    /// A keyed hash of some bytes.
    pub(super) fn bytes(&self, bytes: &[u8]) -> u64 {
        let mut state = self.words[1] ^ (bytes.len() as u64).wrapping_mul(GOLDEN);
        let mut chunks = bytes.chunks_exact(16);
        for chunk in &mut chunks {
            state = self.absorb(state, chunk);
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut padded = [0; 16];
            padded[..rest.len()].copy_from_slice(rest);
            state = self.absorb(state, &padded);
        }
        self.pair(state, bytes.len() as u64)
    }

    #[inline]
    fn absorb(&self, state: u64, chunk: &[u8]) -> u64 {
        let (low, high) = word128(chunk);
        fold(low ^ self.words[0], high ^ state)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

/// The first sixteen bytes as two words; missing bytes are 0.
#[inline]
fn word128(bytes: &[u8]) -> (u64, u64) {
    let mut all = [0; 16];
    let count = bytes.len().min(16);
    all[..count].copy_from_slice(&bytes[..count]);
    let word = u128::from_le_bytes(all);
    (word as u64, (word >> 64) as u64)
}

/// Folds both halves of a product: every input bit reaches every output bit.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests;
