//! Range queries over an ordered public domain, by a tree of noised counts.

use super::histogram::{Budget, Noise};
use super::{Calibration, Guarantee, Release};
use crate::error::{Error, Result};
use crate::random::Randomness;
use crate::unit::{Beta, Neighbours};
use crate::utility::Accuracy;
use std::ops::RangeInclusive;

/// Releases the counts of all ranges of an ordered domain at once.
///
/// The cells `0..cells` of the domain are the leaves of a b-ary tree. The count of each node gets
/// independent integer noise, and the counts are then made consistent.
///
/// ```
/// use demure_core::mechanism::{Tree, TreeShape};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// // How many people there are of each age from 0 to 119.
/// let ages: Vec<u64> = (0..120).map(|age| 120 - age).collect();
/// let shape = TreeShape { cells: 120, branching: 16 };
/// let tree = Tree::new(Epsilon::new(1.0)?, Neighbours::AddRemove, shape, 1)?;
/// let ranges = tree.release(&ages, &mut SystemRandom::new()?)?;
/// println!("{:.0} aged 18 to 64", ranges.value().count(18..=64));
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// Level 0 is the cells; a node of the next level is the sum of b nodes (fewer at
/// the right edge); the last of the L levels is one node. A range is a sum of
/// few nodes, so its error grows with the logarithm of its length. About 16
/// children are best for long ranges.
///
/// With at most k rows per unit:
///
/// | | add or remove | replace |
/// |---|---|---|
/// | Δ₁ | kL | 2k(L−1) |
/// | Δ₂ | k√L | k√(2(L−1)) |
///
/// (for L ≥ 2; with L = 1 both are k.)
///
/// # Guarantee
/// ε-DP with geometric noise of scale Δ₁/ε, or ρ-zCDP with the discrete Gaussian
/// of σ = Δ₂/√(2ρ); for all ranges together.
/// # Proof
/// A row is 1 in one node of each level: its vector of nodes has Δ₁ = L and Δ₂² = L.
/// Moving a row from one cell to another changes two nodes by 1 in each level where
/// their ancestors differ, which is never the last. By the triangle inequality
/// r rows less and s more, r, s ≤ k, are worst when each lot is in one cell, under
/// different children of the root: then `(r+s)(L−1) + |r−s|` in ℓ₁ and `(r²+s²)(L−1) + (r−s)²` in ℓ₂²,
/// both largest at r = s = k when L ≥ 2. Then [`Geometric`](super::Geometric) or
/// [`DiscreteGaussian`](super::DiscreteGaussian). What follows is post-processing. ∎
///
/// # Consistency
/// The least-squares estimate given all nodes, in two passes. Upwards: a node's
/// own count y (variance 1, in units of the noise's) and the sum of its children's
/// estimates (variance v) combine to `(v·y + Σz)/(v + 1)`, of variance `v/(v+1)`.
/// Downwards: what a parent's estimate has over its children's sum goes to the
/// children in proportion to their variances. (This is Gaussian elimination on a tree.)
/// # Special values
/// Estimates are floats: where counts exceed 2⁵³ they are off by their last
/// digit too, which the error bound does not include.
/// # References
/// Hay, Rastogi, Miklau, Suciu 2010 (arXiv:0904.0942v5); Qardaji, Yang,
/// Li 2013 (PVLDB 6:14), for the number of children.
#[derive(Clone, Debug)]
pub struct Tree {
    branching: usize,
    /// The number of nodes of each level, the cells first.
    levels: Vec<usize>,
    noise: Noise,
}

/// The public shape of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// The number of cells: the values of the domain, in order. At least 1.
    pub cells: u32,
    /// The children of a node, at least 2. About 16 is best for long ranges.
    pub branching: u32,
}

impl Tree {
    /// Calibrates the noise to a budget: an [`Epsilon`](crate::unit::Epsilon) or a
    /// [`Rho`](crate::unit::Rho). A unit has at most `max_rows` rows.
    pub fn new(
        budget: impl Into<Budget>,
        neighbours: Neighbours,
        shape: TreeShape,
        max_rows: u32,
    ) -> Result<Self> {
        let TreeShape { cells, branching } = shape;
        let at_least = |parameter, allowed| Err(Error::OutOfRange { parameter, allowed });
        if cells == 0 || max_rows == 0 {
            return at_least("the domain and the rows per unit", "at least 1");
        }
        if branching < 2 {
            return at_least("branching", "at least 2");
        }
        let branching = branching as usize;
        let mut levels = vec![cells as usize];
        while let Some(&size) = levels.last().filter(|&&size| size > 1) {
            levels.push(size.div_ceil(branching));
        }
        let (l1, l2_squared) = sensitivity(levels.len(), neighbours, max_rows);
        Ok(Self { branching, levels, noise: Noise::new(budget.into(), l1, l2_squared)? })
    }

    /// The number of levels, L.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The noise on every node.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.noise.calibration()
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.noise.guarantee()
    }

    /// Releases all ranges, given the count of each cell.
    pub fn release(&self, counts: &[u64], rng: &mut dyn Randomness) -> Result<Release<Ranges>> {
        if counts.len() != self.levels[0] {
            let allowed = "one for each cell of the domain";
            return Err(Error::OutOfRange { parameter: "counts", allowed });
        }
        let noised: Result<Vec<Vec<f64>>> = self
            .nodes(counts)
            .iter()
            .map(|level| Ok(self.noise.add(level, rng)?.iter().map(|&y| y as f64).collect()))
            .collect();
        Ok(Release::new(self.consistent(noised?), self.guarantee()))
    }

    /// The exact count of every node, level by level.
    fn nodes(&self, counts: &[u64]) -> Vec<Vec<i128>> {
        let mut nodes = vec![counts.iter().map(|&count| i128::from(count)).collect::<Vec<_>>()];
        for level in 1..self.levels.len() {
            nodes.push(nodes[level - 1].chunks(self.branching).map(|c| c.iter().sum()).collect());
        }
        nodes
    }

    /// Least squares, upwards and downwards.
    fn consistent(&self, mut z: Vec<Vec<f64>>) -> Ranges {
        let mut variance = vec![vec![1.0; self.levels[0]]];
        for level in 1..z.len() {
            let (below, here) = z.split_at_mut(level);
            let mut mixed = Vec::with_capacity(self.levels[level]);
            let children = below[level - 1].chunks(self.branching);
            let variances = variance[level - 1].chunks(self.branching);
            for ((y, children), variances) in here[0].iter_mut().zip(children).zip(variances) {
                let (sum, v) = (children.iter().sum::<f64>(), variances.iter().sum::<f64>());
                *y = (v * *y + sum) / (v + 1.0);
                mixed.push(v / (v + 1.0));
            }
            variance.push(mixed);
        }
        for level in (1..z.len()).rev() {
            let (below, here) = z.split_at_mut(level);
            let children = below[level - 1].chunks_mut(self.branching);
            let variances = variance[level - 1].chunks(self.branching);
            for ((parent, children), variances) in here[0].iter().zip(children).zip(variances) {
                let excess = parent - children.iter().sum::<f64>();
                let v = variances.iter().sum::<f64>();
                for (child, own) in children.iter_mut().zip(variances) {
                    *child += excess * own / v;
                }
            }
        }
        let mut before = vec![0.0];
        before.extend(z[0].iter().scan(0.0, |sum, cell| {
            *sum += cell;
            Some(*sum)
        }));
        Ranges { before }
    }

    /// The number of nodes that add up to the cells `low..high`.
    fn pieces(&self, mut low: usize, mut high: usize) -> u64 {
        let (b, mut count) = (self.branching, 0);
        for (level, &size) in self.levels.iter().enumerate() {
            let inner_low = low.next_multiple_of(b);
            let inner_high = if high == size { high.next_multiple_of(b) } else { high - high % b };
            if level + 1 == self.levels.len() || inner_low >= inner_high {
                count += high.saturating_sub(low);
                break;
            }
            count += (inner_low - low) + high.saturating_sub(inner_high);
            (low, high) = (inner_low / b, inner_high / b);
        }
        count as u64
    }

    /// An error that the count of the cells of `range` exceeds with probability
    /// at most β, over the noise alone.
    ///
    /// # Proof
    /// The estimate of a range is `Σ wᵢyᵢ` over the nodes. Least squares has the least
    /// `Σwᵢ²` of all unbiased weights, so at most the number of nodes that add up to
    /// the range, or to all less the rest. And |wᵢ| ≤ 1: unbiased means that the
    /// weights from the root to a cell add up to 1 in the range and to 0 outside.
    /// With W the sums along these paths, `Σwᵢ²` is the energy of W on the tree; the least
    /// has every inner W equal to the average of its neighbours (with a 0 above the
    /// root), so all of them lie between the boundary's 0 and 1, and their differences within ±1. Then the bound on
    /// sums of the noise. ∎
    pub fn error_of_range(&self, range: RangeInclusive<usize>, beta: Beta) -> Result<f64> {
        let size = self.levels[0];
        let (low, high) = (*range.start(), range.end().saturating_add(1).min(size));
        if low >= high {
            return Ok(0.0);
        }
        let rest = 1 + self.pieces(0, low) + self.pieces(high, size);
        self.noise.error_of_sum(self.pieces(low, high).min(rest), beta)
    }
}

impl Accuracy for Tree {
    /// The error of any one range: as [`Tree::error_of_range`], with the most nodes that a range
    /// can take, 2(b−1) of each level but the last.
    fn error(&self, beta: Beta) -> Result<f64> {
        let most = 2 * (self.branching as u64 - 1) * (self.levels.len() as u64 - 1);
        self.noise.error_of_sum(most.max(1), beta)
    }
}

/// `(Δ₁, Δ₂²)`.
fn sensitivity(levels: usize, neighbours: Neighbours, max_rows: u32) -> (u128, u128) {
    let (levels, k) = (levels as u128, u128::from(max_rows));
    let changed = match neighbours {
        Neighbours::AddRemove => levels,
        Neighbours::Replace => levels.max(2 * (levels - 1)),
    };
    (k * changed, k * k * changed)
}

/// Consistent estimates of the counts of all ranges. Already released: every use
/// of it is post-processing.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranges {
    /// The count before each cell, and the total.
    before: Vec<f64>,
}

impl Ranges {
    /// The number of rows in the cells of `range`, clipped to the domain. May be negative where
    /// there are few.
    #[must_use]
    pub fn count(&self, range: RangeInclusive<usize>) -> f64 {
        let last = self.before.len() - 1;
        let (low, high) = ((*range.start()).min(last), range.end().saturating_add(1).min(last));
        if low < high { self.before[high] - self.before[low] } else { 0.0 }
    }

    /// The number of all rows.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.before[self.before.len() - 1]
    }

    /// The first cell at which the cells so far hold at least a share q of the rows.
    pub fn quantile(&self, q: f64) -> Result<usize> {
        if !(0.0..=1.0).contains(&q) {
            return Err(Error::OutOfRange { parameter: "q", allowed: "between 0 and 1" });
        }
        let reaches = |upto: &f64| *upto >= q * self.total();
        let cells = &self.before[1..];
        Ok(cells.iter().position(reaches).unwrap_or(cells.len() - 1))
    }
}

#[cfg(test)]
mod tests;
