//! What is looked at in an output: a number computed from it, as a key that can be put in order.

use super::score::Scores;
use std::fmt;
use std::sync::Arc;

/// What a mechanism gave out in one run: numbers, in an order that does not depend on the
/// data. A missing one (a key that was not released) is NaN; words are numbers that stand for
/// them ([`word`]). The length may vary.
pub type Output = Vec<f64>;

/// A number for a word: a hash, so that the same word is the same number.
#[must_use]
pub fn word(text: &str) -> f64 {
    (hash(text.bytes().map(u64::from)) >> 11) as f64
}

/// Something that can be computed from an output.
#[derive(Clone, Debug)]
pub enum Feature {
    /// The i-th number.
    Value(usize),
    /// The sum of all numbers.
    Sum,
    /// The largest.
    Largest,
    /// The least.
    Least,
    /// The difference of two numbers.
    Difference(usize, usize),
    /// How many numbers there are.
    Length,
    /// How many are missing.
    Missing,
    /// The whole output, bit by bit.
    Exactly,
    /// Which of the numbers are missing.
    Pattern,
    /// The place of the lowest bit set in the i-th number: it is a multiple of 2 to this
    /// power, and of no higher one. Noise that is added in floating point leaves the lattice of
    /// the true answer here.
    LowestBit(usize),
    /// The i-th number's exponent and the place of its lowest bit.
    Lattice(usize),
    /// The lowest 4 bits of the i-th number's mantissa.
    LowBits(usize),
    /// The sum over all numbers of a log-likelihood ratio learnt from other runs.
    Likelihood(Arc<Scores>),
}

/// Numbers looked at one by one, each less the one before, and in likelihoods.
pub(super) const MOST_VALUES: usize = 256;
/// Numbers of which every difference is looked at.
const MOST_DIFFERENCES: usize = 5;

impl Feature {
    /// Everything to look at in outputs of at most `width` numbers.
    pub(super) fn all(width: usize, scores: Option<Arc<Scores>>) -> Vec<Self> {
        let values = || 0..width.min(MOST_VALUES);
        // What is read most easily first: of equals the first is taken.
        let mut features = vec![Self::Length, Self::Missing];
        features.extend(values().map(Self::Value));
        if width > 1 {
            features.extend([Self::Sum, Self::Largest, Self::Least]);
        }
        for i in values().skip(1) {
            let first = if i < MOST_DIFFERENCES { 0 } else { i - 1 };
            features.extend((first..i).map(|j| Self::Difference(j, i)));
        }
        features.extend(scores.map(Self::Likelihood));
        features.extend([Self::Pattern, Self::Exactly]);
        features.extend(
            values().flat_map(|i| [Self::LowestBit(i), Self::Lattice(i), Self::LowBits(i)]),
        );
        features
    }

    /// The feature of an output. Keys are in the order of the numbers they stand for.
    #[must_use]
    pub fn key(&self, output: &[f64]) -> u64 {
        let at = |i: usize| output.get(i).copied().unwrap_or(f64::NAN);
        let there = || output.iter().copied().filter(|x| !x.is_nan());
        match self {
            Self::Value(i) => ordered(at(*i)),
            Self::Sum => ordered(there().sum()),
            Self::Largest => ordered(there().fold(f64::NAN, f64::max)),
            Self::Least => ordered(there().fold(f64::NAN, f64::min)),
            Self::Difference(i, j) => ordered(at(*j) - at(*i)),
            Self::Length => output.len() as u64,
            Self::Missing => output.iter().filter(|x| x.is_nan()).count() as u64,
            Self::Exactly => hash(output.iter().map(|x| canonical(*x).to_bits())),
            Self::Pattern => hash(output.iter().map(|x| u64::from(x.is_nan()))),
            Self::LowestBit(i) => lowest_bit(at(*i)),
            Self::Lattice(i) => (exponent(at(*i)) << 16) | lowest_bit(at(*i)),
            Self::LowBits(i) => canonical(at(*i)).to_bits() & 15,
            Self::Likelihood(scores) => ordered(scores.of(output)),
        }
    }

    /// Whether the order of keys means something, so that half-lines are events.
    pub(super) fn has_order(&self) -> bool {
        !matches!(self, Self::Exactly | Self::Pattern | Self::Lattice(_) | Self::LowBits(_))
    }

    /// Whether one key may tell what its neighbours do not: where noise has few random bits.
    pub(super) fn by_value(&self) -> bool {
        matches!(self, Self::Exactly | Self::Pattern | Self::Value(_))
    }

    /// Whether a key is beyond those of all numbers.
    pub(super) fn beyond(&self, key: u64) -> bool {
        matches!(self, Self::Value(_) | Self::Difference(..)) && key > ordered(f64::INFINITY)
    }

    /// What a key stands for.
    #[must_use]
    pub fn shown(&self, key: u64) -> String {
        match self {
            Self::Length | Self::Missing | Self::LowBits(_) => key.to_string(),
            Self::Exactly | Self::Pattern => format!("#{:06x}", key >> 40),
            Self::LowestBit(_) => power(key),
            Self::Lattice(_) => format!("{} in steps of {}", power(key >> 16), power(key & 0xffff)),
            _ => match number(key) {
                x if x.is_nan() => "missing".to_owned(),
                x => super::short(x),
            },
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(i) => write!(f, "number {}", i + 1),
            Self::Sum => f.write_str("the sum of the numbers"),
            Self::Largest => f.write_str("the largest number"),
            Self::Least => f.write_str("the least number"),
            Self::Difference(i, j) => write!(f, "number {} less number {}", j + 1, i + 1),
            Self::Length => f.write_str("how many numbers there are"),
            Self::Missing => f.write_str("how many numbers are missing"),
            Self::Exactly => f.write_str("the whole output"),
            Self::Pattern => f.write_str("which numbers are missing"),
            Self::LowestBit(i) => write!(f, "the lowest bit set in number {}", i + 1),
            Self::Lattice(i) => write!(f, "the size and the lowest bit of number {}", i + 1),
            Self::LowBits(i) => write!(f, "the last four bits of number {}", i + 1),
            Self::Likelihood(_) => f.write_str("the log-likelihood ratio learnt"),
        }
    }
}

/// One NaN, whatever made it.
fn canonical(x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x }
}

/// A float as an integer, in the order of the reals; −0 below 0, NaN above all.
pub(super) fn ordered(x: f64) -> u64 {
    if x.is_nan() {
        return u64::MAX;
    }
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The float of such an integer.
pub(super) fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Powers of two are stored 2000 up, so that none is negative; 4000 is for 0 and NaN.
const OFFSET: u64 = 2000;

fn exponent(x: f64) -> u64 {
    match (x.to_bits() >> 52) & 0x7ff {
        0x7ff => 2 * OFFSET,
        0 => OFFSET - 1022,
        biased => OFFSET + biased - 1023,
    }
}

fn lowest_bit(x: f64) -> u64 {
    if x == 0.0 || !x.is_finite() {
        return 2 * OFFSET;
    }
    let bits = x.to_bits();
    let zeros = u64::from(bits.trailing_zeros().min(52));
    exponent(x) - 52 + zeros
}

fn power(key: u64) -> String {
    if key >= 2 * OFFSET { "0".to_owned() } else { format!("2^{}", key as i64 - OFFSET as i64) }
}

/// FNV-1a over words, then mixed: a hash that is the same everywhere.
fn hash(words: impl Iterator<Item = u64>) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325u64;
    for word in words {
        state = (state ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        state ^= state >> 29;
    }
    state = (state ^ (state >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    state ^ (state >> 32)
}

#[cfg(test)]
mod tests;
