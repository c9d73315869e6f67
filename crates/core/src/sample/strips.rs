//! An exact envelope of the half bell curve by strips of equal width, for
//! rejection sampling.
//!
//! The curve `e^(−x²/2)`, x ≥ 0, is covered by strips `[j/c, (j+1)/c)` up to
//! about x = 8.5, each with an integer weight `W_j ≥ S·e^(−(j/c)²/2)`, and one
//! entry for everything beyond. The weights add up to exactly 2⁶³, so an alias
//! table picks a strip with probability exactly `W_j/2⁶³` from one random word.
//! *Any* weights that cover the curve give the right distribution: what they
//! cover too much is rejected. So nothing below needs to be accurate, only
//! high enough, and `S` is whatever float was used.

use crate::error::{Error, Result};
use crate::num::{Enclosure, Natural, Ratio, fast};
use crate::random::Bits;
use crate::sample::bernoulli;

/// Where the strips end and the tail begins, in standard deviations.
const REACH: f64 = 8.5;
/// Successive unit-wide pieces of the tail are at most 2⁻¹¹ as heavy:
/// `((x+1)² − x²)/2 ≥ 8.5 > 11 ln 2`.
const TAIL_BITS: u32 = 11;
const TOTAL: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, Default)]
struct Column {
    /// Below this, the column's own strip is picked, otherwise the alias.
    threshold: u64,
    alias: u32,
}

/// The strips' weights and the alias table that picks among them.
#[derive(Clone, Debug)]
pub(crate) struct Strips {
    columns: Vec<Column>,
    column_bits: u32,
    /// `ln(W_j/S)`, within [`fast::LN_ERROR`].
    logs: Vec<f64>,
    weights: Vec<u64>,
    height: f64,
}

impl Strips {
    /// Strips of width `1/per_unit`; `half_first` halves the first one's
    /// curve (for a 0 that both signs share).
    ///
    /// # Proof of cover
    /// `fast::exp_neg` is within a relative 2⁻⁴⁸ and its argument within
    /// 2⁻⁵⁰·37, so its value times `1 + 2⁻⁴⁰`, rounded up, is above the curve.
    pub(crate) fn new(per_unit: f64, half_first: bool) -> Result<Self> {
        let fail = Error::Precision { what: "the Gaussian sampler's table" };
        let count = (REACH * per_unit).ceil() as usize + 1;
        let curve = |j: usize| {
            let x = j as f64 / per_unit;
            let half = if j == 0 && half_first { 0.5 } else { 1.0 };
            half * fast::exp_neg(0.5 * x * x)
        };
        let area: f64 = (0..count).map(curve).sum();
        // Leave 2⁻³⁰ of the total for the tail, which needs less than 2⁻⁴⁰.
        let height = (TOTAL as f64 * (1.0 - 1.0 / (1u64 << 30) as f64) / area).floor();
        let inflate = 1.0 + 1.0 / (1u64 << 40) as f64;
        let mut weights: Vec<u64> =
            (0..count).map(|j| (height * curve(j) * inflate).ceil() as u64 + 1).collect();
        let strips: u64 = weights.iter().sum();
        let tail = TOTAL.checked_sub(strips).filter(|&t| t > TOTAL >> 32).ok_or(fail)?;
        let logs = weights.iter().map(|&w| fast::ln(w as f64 / height)).collect();
        weights.push(tail);
        let column_bits = weights.len().next_power_of_two().trailing_zeros().max(1);
        let columns = alias(&weights, column_bits);
        Ok(Self { columns, column_bits, logs, weights, height })
    }

    /// The number of strips: the tail starts at `count / per_unit`.
    pub(crate) fn count(&self) -> usize {
        self.logs.len()
    }

    #[cfg(test)]
    pub(crate) fn weight(&self, index: usize) -> u64 {
        self.weights[index]
    }

    /// The strip of a uniform word, j with probability `W_j/2⁶³` (the tail is the strip after the last), and a fair
    /// sign bit.
    #[inline]
    pub(crate) fn pick(&self, word: u64) -> (usize, bool) {
        let column = (word >> (64 - self.column_bits)) as usize;
        let rest = (word << self.column_bits) >> (self.column_bits + 1);
        let Column { threshold, alias } = self.columns[column];
        // Chosen without a branch: it would be mispredicted half the time.
        let own = usize::from(rest < threshold).wrapping_neg();
        (alias as usize ^ (column ^ alias as usize) & own, word & 1 == 1)
    }

    /// The piece of the tail: t with probability `(1 − 2⁻¹¹)·2^(−11t)`.
    #[cold]
    pub(crate) fn piece(bits: &mut Bits) -> Result<u32> {
        let mut piece = 0;
        while bits.word()? >> (64 - TAIL_BITS) == 0 {
            piece += 1;
        }
        Ok(piece)
    }

    /// Whether a point of strip j is accepted, which has probability
    /// `S·e^(−h)/W_j`, if the uniform V that starts with `word` and floats can
    /// tell; `near` is within 2⁻⁴³ of h, or above 700 with it.
    #[inline]
    pub(crate) fn surely(&self, strip: usize, near: f64, word: u64) -> Option<bool> {
        const SLACK: f64 = 1.0 / (1u64 << 42) as f64;
        bernoulli::surely(word, near + self.logs[strip], SLACK)
    }

    /// Encloses `S·e^(−h)/W_j`, given an enclosure of `e^−h` to any precision.
    pub(crate) fn strip(
        &self,
        strip: usize,
        curve: impl Fn(u32) -> Enclosure,
        bits: u32,
    ) -> Enclosure {
        self.scaled(curve, &Ratio::new(self.weights[strip], 1u64), bits)
    }

    /// Encloses the probability of accepting a point in the t-th piece of the
    /// tail, `S·e^(−h)·w·2^(11t) / (W_tail·(1−2⁻¹¹))`, where w is the width of a
    /// piece in strips.
    pub(crate) fn tail(
        &self,
        piece: u32,
        width: &Ratio,
        curve: impl Fn(u32) -> Enclosure,
        bits: u32,
    ) -> Enclosure {
        let weight = Ratio::new(self.weights[self.count()], 1u64);
        let share = Ratio::new((1u64 << TAIL_BITS) - 1, 1u64 << TAIL_BITS);
        let density = weight.mul(&share).div(width).scale(-((TAIL_BITS * piece) as i32));
        self.scaled(curve, &density, bits)
    }

    /// Encloses `S·e^(−h)/weight`, which is at most 1 by the cover.
    fn scaled(&self, curve: impl Fn(u32) -> Enclosure, weight: &Ratio, bits: u32) -> Enclosure {
        let unit = Ratio::new(1u64, 1u64);
        let factor = Ratio::from_f64(self.height).unwrap_or(unit).div(weight);
        // The factor costs as many bits as it has before the point.
        let work = bits + factor.fixed(0).0.bits() + 4;
        let mut p = curve(work).mul_ratio(&factor).truncate(bits);
        let one = Natural::power_of_two(bits);
        if p.upper > one {
            p.upper = one;
        }
        p
    }
}

/// An exact alias table (Walker; Vose's construction) in integers.
///
/// # Proof
/// There are `2^b` columns of capacity `2^(63−b)`, together `2⁶³ = ΣW`. Each step
/// fills one column: with all that is left of an entry that no longer fills
/// a column by itself, topped up by one that does. Integer subtraction only,
/// so each entry ends with exactly its weight.
fn alias(weights: &[u64], column_bits: u32) -> Vec<Column> {
    let capacity = TOTAL >> column_bits;
    let mut left = weights.to_vec();
    left.resize(1 << column_bits, 0);
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..left.len()).partition(|&j| left[j] < capacity);
    let mut columns = vec![Column::default(); left.len()];
    while let Some(low) = small.pop() {
        let Some(&high) = large.last() else { break };
        columns[low] = Column { threshold: left[low], alias: high as u32 };
        left[high] -= capacity - left[low];
        if left[high] < capacity {
            large.pop();
            small.push(high);
        }
    }
    // What remains is exactly full: the weights add up to the capacity.
    for full in large {
        columns[full] = Column { threshold: capacity, alias: full as u32 };
    }
    columns
}

#[cfg(test)]
mod tests;
