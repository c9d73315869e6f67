//! Tests of distributions and of privacy, for the tests of the other crates.
//!
//! | module | question | how |
//! |---|---|---|
//! | [`fit`] | do these samples follow that distribution? | χ² at a false-alarm rate of 1e-6 |
//! | [`distribution`] | how far apart are two output distributions? | hockey stick, largest ratio, Rényi |
//! | [`datasets`] | what are all the small datasets, and their neighbours? | enumeration |
//! | [`neighbours`] | does a mechanism keep its promise on all of them? | the whole distribution, every pair |
//! | [`falsify`] | does a mechanism known only by its samples break its promise? | Clopper–Pearson |
//!
//! A test of a mechanism has two halves. [`neighbours`] checks the *formula*: it needs the probability of every
//! output, and finds any wrong sensitivity, threshold or δ in a small domain. [`fit`] checks the *sampler*: that its
//! draws follow that formula. [`falsify`] does both where there is no formula.
//!
//! ```
//! use demure_testkit::{datasets, distribution::Distribution, neighbours};
//!
//! // Randomized response on one bit: the truth with probability 3/4.
//! let response = |bit: &Vec<u8>| match bit[0] {
//!     0 => Distribution::new([(0, 0.75), (1, 0.25)]),
//!     _ => Distribution::new([(0, 0.25), (1, 0.75)]),
//! };
//! let bits = datasets::rows(&[0, 1], 1..=1);
//! let neighbours_of = |bit: &Vec<u8>| datasets::replace_one(bit, &[0, 1]);
//!
//! let worst = neighbours::check(response, bits.clone(), neighbours_of, 3f64.ln(), 0.0).unwrap();
//! assert!((worst.epsilon - 3f64.ln()).abs() < 1e-12);
//! assert!(neighbours::check(response, bits, neighbours_of, 1.0, 0.0).is_err());
//! ```
//!
//! # What this crate does not do
//!
//! - It certifies nothing. It computes in floating point and allows for the rounding
//!   ([`distribution::ROUNDING`]); a passed check is evidence, and the proof is next to the
//!   mechanism.
//! - It is not for production: malformed tests (probabilities that do not sum to one, no
//!   pair to compare) panic, since a test that cannot fail must not pass.
//! - It sees no mechanism and no type of the other crates, so that all of them, the core
//!   first, can use it. That is why ε and δ are plain numbers here and nowhere else.
//! - It draws nothing: samples come from the caller.

#![forbid(unsafe_code)]

pub mod datasets;
pub mod distribution;
#[cfg(test)]
mod draw;
pub mod falsify;
pub mod fit;
pub mod neighbours;
mod special;
mod sum;
