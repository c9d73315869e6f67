//! The local model: each person randomizes their own value before sending it.
//!
//! ```
//! use demure_core::local::{Report, Unary};
//! use demure_core::random::{Randomness, SystemRandom};
//! use demure_core::unit::Epsilon;
//!
//! // 10,000 people, each with one of 12 favourite fruits; 3,000 like the one of index 5.
//! let mut rng = SystemRandom::new()?;
//! let unary = Unary::optimised(12, Epsilon::new(1.0)?)?;
//! let mut supporting = 0;
//! for person in 0..10_000 {
//!     let fruit = if person < 3_000 { 5 } else { person % 5 };
//!     if let Report::Bits(words) = unary.randomize(fruit, rng.bits()?)?.into_value() {
//!         supporting += words[0] >> 5 & 1; // the collector sees this, and no fruit
//!     }
//! }
//! println!("about {:.0} %", 100.0 * unary.support()?.estimate(supporting, 10_000)?);
//! # Ok::<(), demure_core::Error>(())
//! ```
//!
//! | randomizer | of | a report is |
//! |---|---|---|
//! | [`Response`] | yes or no, or one of k categories | a category |
//! | [`Unary`] | one of k: a bit for each, flipped (symmetric, optimised) | k bits |
//! | [`Rappor`] | one of k, again and again: noise drawn once and kept, and noise for each report | k bits |
//! | [`Subset`] | one of k: a set that probably has it | k bits, ω of them set |
//! | [`LocalHash`] | one of k: hashed to few buckets, then one of those | a hash function, a bucket |
//! | [`Hadamard`] | one of k: one entry of a matrix column | a row, a sign |
//! | [`Window`] | a number: a cell near it (piecewise, square wave) | a cell |
//! | [`Sign`], [`Hybrid`] | a number: the sign of a coin (Duchi); or either | a sign, or a cell |
//!
//! [`Support`] holds the two probabilities that estimation needs; [`Coin`] is exact.
//!
//! # What ε means here
//! Every randomizer R is ε-*locally* private: `P[R(x) = r] ≤ e^ε·P[R(x′) = r]` for
//! all values x, x′ and all reports r. Nobody has to be trusted. For the collection
//! of all reports that is ε-DP under replace; that someone reported at all is
//! seen, so under add or remove there is no guarantee: account under replace. A person who reports twice
//! has spent 2ε, unless the randomizer remembers ([`Rappor`]).
//!
//! # One lemma
//! Most randomizers choose between two sets and then uniformly in the set:
//!
//! *Two levels.* Let every value x have a set S(x) of w out of M reports. With probability
//! p draw uniformly from S(x), else uniformly from the rest. That is ε-private if
//! `p/(1−p) · (M−w)/w ≤ e^ε`: a report has probability `p/w` or `(1−p)/(M−w)`,
//! whatever x. A mixture over a set chosen at random from x keeps ε, as
//! `Σ μᵢaᵢ ≤ e^ε·b` where each `aᵢ ≤ e^ε·b`; so does a choice, independent of
//! x, between ε-private randomizers, whether the report says which it was or not.
//!
//! The coin p is a multiple of 2⁻⁵³ rounded towards more privacy, the uniform draw
//! is exact, so the realised ε is at most the one claimed. The tests evaluate
//! the whole output matrix in rational arithmetic.
//!
//! # Work
//! Every randomizer does the same work for every value. How many random words a
//! draw takes depends on the words alone.

mod coin;
mod hadamard;
mod hashing;
mod rappor;
mod sign;
mod subset;
mod support;
#[cfg(test)]
mod tests;
mod unary;
mod window;

pub use crate::mechanism::Response;
pub use coin::Coin;
pub use hadamard::Hadamard;
pub use hashing::{HashFunction, LocalHash};
pub use rappor::{Permanent, Rappor};
pub use sign::{Hybrid, Sign};
pub use subset::Subset;
pub use support::{ErrorBound, Support, Target, binomial_tail, lower_limit};
pub use unary::Unary;
pub use window::Window;

use crate::error::{Error, Result};
use crate::mechanism::{Release, yields_event};
use crate::random::Bits;

yields_event!(Unary, Subset, LocalHash, Hadamard, Window, Sign, Hybrid);

/// The largest number of categories of a randomizer that reports one bit for each.
pub const MOST_BITS: u32 = 1 << 20;

/// A randomized report: all that a person sends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Report {
    /// The category reported.
    Category(u32),
    /// One bit for each category, 64 to a word, the first category in the lowest bit.
    Bits(Vec<u64>),
    /// A hash function and a bucket.
    Hashed(HashFunction, u32),
    /// A row of the Hadamard matrix, and the entry: true for +1.
    Row(u32, bool),
    /// A cell of a [`Window`].
    Cell(u32),
    /// A sign: true for +1.
    Sign(bool),
}

impl Response {
    /// Draws one person's report.
    #[inline]
    pub fn randomize(&self, value: u32, bits: &mut Bits) -> Result<Release<Report>> {
        Ok(Release::new(Report::Category(self.draw(value, bits)?), self.guarantee()))
    }
}

/// A one-time token for a report: 128 random bits that depend on nothing.
pub fn token(bits: &mut Bits) -> Result<u128> {
    Ok(u128::from(bits.word()?) << 64 | u128::from(bits.word()?))
}

/// Refuses a category beyond k, without naming it.
#[inline]
fn require_category(value: u32, categories: u32) -> Result<()> {
    if value < categories {
        return Ok(());
    }
    Err(Error::OutOfRange { parameter: "category", allowed: "less than the number of categories" })
}

/// Refuses fewer than 2 categories, and more than `most`.
fn require_categories(categories: u32, most: u32) -> Result<()> {
    if (2..=most).contains(&categories) {
        return Ok(());
    }
    let allowed = "at least 2, and at most 2^20 where a report has a bit for each";
    Err(Error::OutOfRange { parameter: "categories", allowed })
}
