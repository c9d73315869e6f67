//! The only source of random bits.
//!
//! ```
//! use demure_core::mechanism::Geometric;
//! use demure_core::random::{SeededForTests, SystemRandom};
//! use demure_core::unit::{Epsilon, Sensitivity};
//!
//! let geometric = Geometric::new(Epsilon::new(1.0)?, Sensitivity::new(1.0)?)?;
//! let private = geometric.release(42, &mut SystemRandom::new()?)?;
//! // In tests only: the same noise every time, which protects no one.
//! let repeatable = geometric.release(42, &mut SeededForTests::insecure(7))?;
//! # Ok::<(), demure_core::Error>(())
//! ```
//!
//! Samplers read from [`Bits`], a buffered ChaCha12 stream. The only way to get it is [`Randomness::bits`], which
//! every public draw calls once before its first bit. That is where a fork is noticed, and where a failure of the
//! operating system's entropy becomes an error instead of weak noise.
//!
//! # Guarantee
//! For [`SystemRandom`]:
//! - **Seeding.** The key is 32 bytes of the operating system's generator. If
//!   that fails, the draw fails with [`Error::NoEntropy`]; nothing falls back.
//! - **Reseeding.** After 1 MiB of output the key is replaced by
//!   `OS bytes ⊕ stream`, so it is secret if *either* is.
//! - **Erasure.** Each refill of 2 KiB draws the next key and the words from
//!   one key and forgets it before a word is handed out, and each word is wiped
//!   as it is: reading the memory later does not reveal noise already drawn.
//! - **Fork.** The process id is compared on every call of `bits`; in a child
//!   the buffer is dropped and a new key drawn, so parent and child never share
//!   noise. (A child whose new PID namespace gives it its parent's number is not
//!   noticed: see `docs/known-limits.md`.)
//! - **Threads.** The generator is owned and not `Clone`; two threads cannot
//!   hold the same stream. Make one per thread.

use crate::error::{Error, Result};
use chacha20::ChaCha12Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use std::fmt;

/// A source of random bits.
///
/// Implemented by [`SystemRandom`] and, in tests, by [`SeededForTests`].
pub trait Randomness {
    /// The stream to draw from, reseeded if the process has forked.
    fn bits(&mut self) -> Result<&mut Bits>;
}

const BUFFER: usize = 256;
const REFILLS_PER_SEED: u32 = 512;

/// A buffered stream of random words.
pub struct Bits {
    buffer: [u64; BUFFER],
    next: usize,
    cipher: ChaCha12Rng,
    refills: u32,
    reseeds: bool,
}

impl Bits {
    fn new(seed: [u8; 32], reseeds: bool) -> Self {
        Self {
            buffer: [0; BUFFER],
            next: BUFFER,
            cipher: ChaCha12Rng::from_seed(seed),
            refills: 0,
            reseeds,
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub(crate) fn word(&mut self) -> Result<u64> {
        if self.next == BUFFER {
            self.refill()?;
        }
        let word = std::mem::take(&mut self.buffer[self.next]);
        self.next += 1;
        Ok(word)
    }

    /// Moves the next `out.len()` words out of the stream.
    pub(crate) fn words(&mut self, mut out: &mut [u64]) -> Result<()> {
        while !out.is_empty() {
            if self.next == BUFFER {
                self.refill()?;
            }
            let count = out.len().min(BUFFER - self.next);
            let (now, later) = out.split_at_mut(count);
            let from = &mut self.buffer[self.next..self.next + count];
            now.copy_from_slice(from);
            from.fill(0);
            self.next += count;
            out = later;
        }
        Ok(())
    }

    /// Draws the next key, then the words, then erases the key they came from: the memory afterwards does not reveal
    /// words handed out before.
    #[cold]
    fn refill(&mut self) -> Result<()> {
        let mut key = [0u8; 32];
        self.cipher.fill_bytes(&mut key);
        if self.reseeds && self.refills >= REFILLS_PER_SEED {
            let mut fresh = system_seed()?;
            for (byte, new) in key.iter_mut().zip(&mut fresh) {
                *byte ^= std::mem::take(new);
            }
            self.refills = 0;
        }
        for word in &mut self.buffer {
            *word = self.cipher.next_u64();
        }
        self.cipher = ChaCha12Rng::from_seed(key);
        key.fill(0);
        std::hint::black_box(&key); // so that the wiping is not optimised away
        self.refills += 1;
        self.next = 0;
        Ok(())
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bits(secret)")
    }
}

fn system_seed() -> Result<[u8; 32]> {
    let mut seed = [0u8; 32];
    getrandom::fill(&mut seed).map_err(|_| Error::NoEntropy)?;
    Ok(seed)
}

/// Randomness for real people's data: ChaCha12 keyed by the operating system.
#[derive(Debug)]
pub struct SystemRandom {
    bits: Bits,
    process: u32,
}

impl SystemRandom {
    /// Draws a key from the operating system.
    pub fn new() -> Result<Self> {
        Ok(Self { bits: Bits::new(system_seed()?, true), process: std::process::id() })
    }
}

impl Randomness for SystemRandom {
    fn bits(&mut self) -> Result<&mut Bits> {
        if self.process != std::process::id() {
            *self = Self::new()?;
        }
        Ok(&mut self.bits)
    }
}

/// **Predictable** randomness, for tests and benchmarks only.
///
/// Anyone who knows the seed can subtract the noise, so a release drawn with this is not private
/// at all. The name is long so that a reader notices it.
#[derive(Debug)]
pub struct SeededForTests {
    bits: Bits,
}

impl SeededForTests {
    /// The stream of this seed, the same on every machine.
    #[must_use]
    pub fn insecure(seed: u64) -> Self {
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { bits: Bits::new(key, false) }
    }
}

impl Randomness for SeededForTests {
    fn bits(&mut self) -> Result<&mut Bits> {
        Ok(&mut self.bits)
    }
}

#[cfg(test)]
mod tests;
