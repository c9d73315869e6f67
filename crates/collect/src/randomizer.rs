//! Which randomizer a survey uses, and which it had best use.

use crate::error::{Error, Result};
use demure_core::local::{
    Hadamard, Hybrid, LocalHash, Rappor, Report, Response, Sign, Subset, Support, Unary, Window,
};
use demure_core::mechanism::Release;
use demure_core::random::Bits;
use demure_core::unit::Epsilon;
use std::fmt;

/// How a person's answer is randomized: the name in a survey's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mechanism {
    /// Randomized response: yes or no, or one of k.
    Response,
    /// Symmetric unary encoding.
    Symmetric,
    /// Optimised unary encoding.
    Optimised,
    /// Optimised local hashing.
    Hashing,
    /// Hadamard response.
    Hadamard,
    /// Subset selection.
    Subset,
    /// Remembered noise, for repeated collection.
    Rappor,
    /// Duchi's sign, for a mean.
    Sign,
    /// The piecewise mechanism, for a mean.
    Piecewise,
    /// The better of the two, for a mean.
    Hybrid,
    /// The square wave, for a distribution.
    SquareWave,
    /// Prefixes of texts, hashed.
    Prefix,
}

/// The names, in the order of the enum.
const NAMES: [(Mechanism, &str); 12] = [
    (Mechanism::Response, "response"),
    (Mechanism::Symmetric, "symmetric-unary"),
    (Mechanism::Optimised, "optimised-unary"),
    (Mechanism::Hashing, "local-hashing"),
    (Mechanism::Hadamard, "hadamard"),
    (Mechanism::Subset, "subset"),
    (Mechanism::Rappor, "rappor"),
    (Mechanism::Sign, "sign"),
    (Mechanism::Piecewise, "piecewise"),
    (Mechanism::Hybrid, "hybrid"),
    (Mechanism::SquareWave, "square-wave"),
    (Mechanism::Prefix, "prefix"),
];

/// The mechanisms for one of k categories that `auto` chooses from.
pub const CATEGORICAL: [Mechanism; 6] = [
    Mechanism::Response,
    Mechanism::Symmetric,
    Mechanism::Optimised,
    Mechanism::Hashing,
    Mechanism::Hadamard,
    Mechanism::Subset,
];

impl Mechanism {
    /// The mechanism of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, n)| *n == name).map(|(m, _)| *m)
    }

    /// Its name in a survey's file.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(m, _)| *m == self).map_or("", |(_, n)| n)
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A randomizer of the core, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Randomizer {
    /// One of k.
    Response(Response),
    /// A bit for each, symmetric or optimised.
    Unary(Unary),
    /// Hashed.
    Hash(LocalHash),
    /// A row and a sign.
    Hadamard(Hadamard),
    /// A set.
    Subset(Subset),
    /// Remembered noise.
    Rappor(Rappor),
    /// A number's sign.
    Sign(Sign),
    /// A number's cell, for a mean.
    Piecewise(Window),
    /// Either.
    Hybrid(Hybrid),
    /// A number's cell, for a distribution.
    SquareWave(Window),
    /// A text's prefix, hashed: the number of characters.
    Prefix(LocalHash),
}

impl Randomizer {
    /// For one of k categories. `Rappor` is made by the survey: it needs two ε.
    pub fn categorical(mechanism: Mechanism, categories: u32, epsilon: Epsilon) -> Result<Self> {
        Ok(match mechanism {
            Mechanism::Response => Self::Response(Response::with_epsilon(categories, epsilon)?),
            Mechanism::Symmetric => Self::Unary(Unary::symmetric(categories, epsilon)?),
            Mechanism::Optimised => Self::Unary(Unary::optimised(categories, epsilon)?),
            Mechanism::Hashing => Self::Hash(LocalHash::new(categories, epsilon)?),
            Mechanism::Hadamard => Self::Hadamard(Hadamard::new(categories, epsilon)?),
            Mechanism::Subset => Self::Subset(Subset::new(categories, epsilon)?),
            _ => {
                return Err(Error::Survey {
                    field: "mechanism",
                    allowed: "one for categories: auto, response, symmetric-unary, \
                              optimised-unary, local-hashing, hadamard, subset, or rappor",
                });
            }
        })
    }

    /// The number of categories, of randomizers for categories.
    #[must_use]
    pub fn categories(&self) -> Option<u32> {
        match self {
            Self::Response(r) => Some(r.categories()),
            Self::Unary(r) => Some(r.categories()),
            Self::Hash(r) => Some(r.categories()),
            Self::Hadamard(r) => Some(r.categories()),
            Self::Subset(r) => Some(r.categories()),
            Self::Rappor(r) => Some(r.categories()),
            _ => None,
        }
    }

    /// p and q, of randomizers for categories and of prefixes.
    pub fn support(&self) -> Result<Support> {
        Ok(match self {
            Self::Response(r) => r.support(),
            Self::Unary(r) => r.support()?,
            Self::Hash(r) | Self::Prefix(r) => r.support()?,
            Self::Hadamard(r) => r.support()?,
            Self::Subset(r) => r.support()?,
            Self::Rappor(r) => r.support()?,
            _ => {
                return Err(Error::Unanswerable {
                    what: "a number has no categories to support",
                    remedy: "ask for its mean or distribution",
                });
            }
        })
    }

    /// One person's report of a category.
    #[inline]
    pub fn category(&self, value: u32, bits: &mut Bits) -> Result<Release<Report>> {
        Ok(match self {
            Self::Response(r) => r.randomize(value, bits)?,
            Self::Unary(r) => r.randomize(value, bits)?,
            Self::Hash(r) | Self::Prefix(r) => r.randomize(value, bits)?,
            Self::Hadamard(r) => r.randomize(value, bits)?,
            Self::Subset(r) => r.randomize(value, bits)?,
            Self::Rappor(_) => {
                return Err(Error::Unanswerable {
                    what: "this survey is collected repeatedly, and the permanent noise is missing",
                    remedy: "give the person's memory (client::Memory)",
                });
            }
            _ => {
                return Err(Error::Unanswerable {
                    what: "this survey asks for a number",
                    remedy: "give a number",
                });
            }
        })
    }

    /// One person's report of a number, as a part of its range in [0, 1].
    pub fn number(&self, part: f64, bits: &mut Bits) -> Result<Release<Report>> {
        Ok(match self {
            Self::Sign(r) => r.randomize(part, bits)?,
            Self::Piecewise(r) => r.randomize(part, bits)?,
            Self::Hybrid(r) => r.randomize(part, bits)?,
            Self::SquareWave(r) => r.randomize_place(r.bin(part)?, bits)?,
            _ => {
                return Err(Error::Unanswerable {
                    what: "this survey asks for a category",
                    remedy: "give one of its values",
                });
            }
        })
    }

    /// The categories that a report supports, in order. Empty for numbers.
    #[must_use]
    pub fn supported(&self, report: &Report) -> Vec<u32> {
        match (self, report) {
            (Self::Response(_), Report::Category(c)) => vec![*c],
            (Self::Unary(_) | Self::Subset(_) | Self::Rappor(_), Report::Bits(words)) => {
                let each = words.iter().zip(0u32..).flat_map(|(&word, i)| {
                    (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * i + b)
                });
                each.collect()
            }
            (Self::Hash(r), Report::Hashed(hash, y)) => {
                (0..r.categories()).filter(|&v| r.bucket(*hash, v) == *y).collect()
            }
            (Self::Hadamard(r), Report::Row(row, sign)) => {
                (0..r.categories()).filter(|&v| Hadamard::entry(*row, v) == *sign).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How many bytes a report has.
    #[must_use]
    pub fn report_bytes(&self) -> usize {
        match self {
            Self::Unary(_) | Self::Subset(_) | Self::Rappor(_) => {
                self.categories().unwrap_or(0).div_ceil(8) as usize
            }
            Self::Hash(r) | Self::Prefix(r) => {
                let number = if r.is_narrow() { 4 } else { 8 };
                2 * number + bytes_below(u64::from(r.buckets()))
            }
            _ => bytes_below(self.outcomes()),
        }
    }

    /// What else than its name makes a randomizer what it is: a size, and p as bits.
    pub(crate) fn shape(&self) -> [u64; 2] {
        let (size, p) = match self {
            Self::Hash(r) | Self::Prefix(r) => (r.buckets(), None),
            Self::Subset(r) => (r.size(), None),
            Self::Piecewise(w) | Self::SquareWave(w) => (w.width(), Some(w.inside().p())),
            Self::Hybrid(r) => match r.parts().1 {
                Some((_, w)) => (w.width(), Some(w.inside().p())),
                None => (0, Some(r.parts().0.gap())),
            },
            Self::Sign(r) => (0, Some(r.gap())),
            _ => (0, None),
        };
        let p = p.or_else(|| self.support().ok().map(|s| s.p())).unwrap_or(0.0);
        [u64::from(size), p.to_bits()]
    }

    /// The number of different reports, of those that are one number.
    #[must_use]
    pub(crate) fn outcomes(&self) -> u64 {
        match self {
            Self::Response(r) => u64::from(r.categories()),
            Self::Hadamard(r) => 2 * u64::from(r.rows()),
            Self::Sign(_) => 2,
            Self::Piecewise(r) | Self::SquareWave(r) => u64::from(r.cells()),
            Self::Hybrid(r) => 2 + r.parts().1.map_or(0, |(_, w)| u64::from(w.cells())),
            _ => 0,
        }
    }
}

/// The fewest bytes that hold the numbers below n.
pub(crate) fn bytes_below(n: u64) -> usize {
    (64 - n.saturating_sub(1).leading_zeros()).div_ceil(8).max(1) as usize
}

/// What `auto` chose, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// It, with its parameters.
    pub randomizer: Randomizer,
    /// All that were looked at, the best first.
    pub candidates: Vec<Candidate>,
    /// In a sentence.
    pub why: String,
}

/// A mechanism that `auto` looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// n times the variance that randomizing adds, on average over the categories.
    pub noise: f64,
    /// The size of a report's content.
    pub bytes: usize,
}

/// Candidates within this of the least noise are as good: the smaller report wins, then the
/// simpler mechanism.
const AS_GOOD: f64 = 1.02;

/// The mechanism of least variance for k categories at ε: averaged over the categories, that is
/// at f = 1/k. n changes no ranking, as all variances are noise/n; it is for the sentence.
pub fn choose(categories: u32, epsilon: Epsilon, people: Option<u64>) -> Result<Choice> {
    let mut found = Vec::new();
    for mechanism in CATEGORICAL {
        if let Ok(randomizer) = Randomizer::categorical(mechanism, categories, epsilon) {
            let noise = randomizer.support()?.noise(1.0 / f64::from(categories));
            let bytes = randomizer.report_bytes();
            found.push((Candidate { mechanism, noise, bytes }, randomizer));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.noise.total_cmp(&b.noise));
    let least = found.first().map_or(f64::INFINITY, |(c, _)| c.noise);
    let chosen = found
        .iter()
        .filter(|(c, _)| c.noise <= least * AS_GOOD)
        .min_by_key(|(c, _)| (c.bytes, CATEGORICAL.iter().position(|m| *m == c.mechanism)))
        .copied();
    let Some((best, randomizer)) = chosen else {
        return Err(Error::Survey {
            field: "values and epsilon",
            allowed: "such that some mechanism can tell the values apart",
        });
    };
    let candidates: Vec<Candidate> = found.into_iter().map(|(c, _)| c).collect();
    let next = candidates.iter().find(|c| c.mechanism != best.mechanism);
    let mut why = format!(
        "{}: n·variance {:.4} for {categories} values at epsilon {epsilon}",
        best.mechanism, best.noise
    );
    if best.noise > least {
        why += &format!(", within 2 % of the least ({least:.4})");
    }
    if let Some(next) = next {
        let bytes = |n| if n == 1 { "1 byte".to_owned() } else { format!("{n} bytes") };
        why += &format!(
            "; a report takes {} ({} has {:.4} and {})",
            bytes(best.bytes),
            next.mechanism,
            next.noise,
            bytes(next.bytes)
        );
    }
    if let Some(n) = people {
        why += &format!("; standard error with {n} people {:.4}", (best.noise / n as f64).sqrt());
    }
    Ok(Choice { mechanism: best.mechanism, randomizer, candidates, why })
}

#[cfg(test)]
mod tests;
