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
/// How many people there are of each age from 0 to 119.
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
mod tests {
    use super::*;
    use crate::random::SeededForTests;
    use crate::unit::{Epsilon, Rho};
    use Neighbours::{AddRemove, Replace};
    use demure_testkit::datasets::{add_or_remove_one, replace_one, rows};
    use demure_testkit::distribution::{Distribution, shifted};
    use demure_testkit::neighbours::check;

    fn epsilon(x: f64) -> Epsilon {
        Epsilon::new(x).unwrap()
    }

    fn tree(domain: u32, branching: u32, neighbours: Neighbours) -> Tree {
        Tree::new(epsilon(1.0), neighbours, TreeShape { cells: domain, branching }, 1).unwrap()
    }

    fn counts(dataset: &[Vec<u8>], domain: u32) -> Vec<u64> {
        let rows = || dataset.iter().flatten();
        (0..domain)
            .map(|cell| rows().filter(|&&row| u32::from(row) == cell).count() as u64)
            .collect()
    }

    #[test]
    fn both_sensitivities_are_exact_on_all_small_datasets_in_both_relations() {
        for (domain, branching, k) in [
            (1, 2, 1),
            (1, 2, 2),
            (2, 2, 2),
            (5, 2, 1),
            (8, 2, 2),
            (9, 3, 1),
            (7, 3, 2),
            (10, 4, 1),
        ] {
            // A unit is a list of at most k rows, each a cell.
            let cells: Vec<u8> = (0..domain as u8).collect();
            let units = rows(&cells, 0..=k as usize);
            for relation in [AddRemove, Replace] {
                let tree = tree(domain, branching, relation);
                let (mut l1, mut l2_squared) = (0, 0);
                let all = match relation {
                    AddRemove => vec![vec![]],
                    Replace => rows(&units, 1..=1),
                };
                for x in all {
                    let near = match relation {
                        AddRemove => add_or_remove_one(&x, &units),
                        Replace => replace_one(&x, &units),
                    };
                    let at_x = tree.nodes(&counts(&x, domain)).concat();
                    for y in near {
                        let at_y = tree.nodes(&counts(&y, domain)).concat();
                        let moved = || at_x.iter().zip(&at_y).map(|(p, q)| p.abs_diff(*q));
                        l1 = l1.max(moved().sum());
                        l2_squared = l2_squared.max(moved().map(|d| d * d).sum());
                    }
                }
                let stated = sensitivity(tree.levels(), relation, k);
                assert_eq!((l1, l2_squared), stated, "{domain} {branching} {k} {relation}");
            }
        }
        // A peer's case: two rows on five levels are √20 = 4.472 apart, not 4.
        assert_eq!(sensitivity(5, AddRemove, 2), (10, 20));
        // And the noise is scaled to exactly that.
        let half = Rho::new(0.5).unwrap();
        let sigma = Tree::new(half, AddRemove, TreeShape { cells: 16, branching: 2 }, 2)
            .unwrap()
            .calibration()
            .scale;
        assert!((sigma - 20f64.sqrt()).abs() < 1e-12);
        assert_eq!(tree(16, 2, Replace).calibration().scale, 8.0);
    }

    #[test]
    fn a_small_tree_is_private_by_brute_force_and_forgotten_levels_are_caught() {
        for relation in [AddRemove, Replace] {
            let tree =
                Tree::new(epsilon(4.0), relation, TreeShape { cells: 2, branching: 2 }, 1).unwrap();
            let units: Vec<Vec<u8>> = vec![vec![0], vec![1]];
            let near = |x: &Vec<Vec<u8>>| match relation {
                AddRemove => add_or_remove_one(x, &units),
                Replace => replace_one(x, &units),
            };
            let run = |scale: f64| {
                let pmf = |k: i128| (0.5 / scale).tanh() * (-(k.abs() as f64) / scale).exp();
                let released = |x: &Vec<Vec<u8>>| {
                    let nodes = tree.nodes(&counts(x, 2)).concat();
                    let node = |i: usize| shifted(nodes[i], pmf, -6..=8, 1e-2);
                    let pair: Distribution<(i128, i128)> = node(0).and(&node(1));
                    pair.and(&node(2))
                };
                check(released, rows(&units, 0..=2), near, 4.0, 0.0)
            };
            let scale = tree.calibration().scale;
            let worst = run(scale).unwrap();
            assert!((worst.epsilon - 4.0).abs() < 1e-9);
            assert!(run(scale / tree.levels() as f64).is_err());
        }
    }

    /// The estimate of each cell by solving the normal equations.
    fn least_squares(tree: &Tree, noised: &[Vec<f64>]) -> Vec<f64> {
        let n = tree.levels[0];
        let mut system = vec![vec![0.0; n + 1]; n];
        for (level, nodes) in noised.iter().enumerate() {
            let width = tree.branching.pow(level as u32);
            for (i, y) in nodes.iter().enumerate() {
                let cells = i * width..((i + 1) * width).min(n);
                for row in &mut system[cells.clone()] {
                    row[cells.clone()].iter_mut().for_each(|x| *x += 1.0);
                    row[n] += y;
                }
            }
        }
        for pivot in 0..n {
            let row = system[pivot].clone();
            for other in (0..n).filter(|&other| other != pivot) {
                let factor = system[other][pivot] / row[pivot];
                system[other].iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            }
        }
        (0..n).map(|i| system[i][n] / system[i][i]).collect()
    }

    #[test]
    fn consistency_is_least_squares_with_weights_within_one() {
        for (domain, branching) in [(1, 2), (4, 2), (7, 2), (9, 3), (11, 3), (13, 4)] {
            let tree = tree(domain, branching, AddRemove);
            let empty: Vec<Vec<f64>> = tree.levels.iter().map(|&size| vec![0.0; size]).collect();
            let mut noised = empty.clone();
            for (i, node) in noised.iter_mut().flatten().enumerate() {
                *node = ((i * i * 37 + 11) % 23) as f64;
            }
            let (fast, slow) = (tree.consistent(noised.clone()), least_squares(&tree, &noised));
            for (cell, truth) in slow.iter().enumerate() {
                assert!((fast.count(cell..=cell) - truth).abs() < 1e-9);
            }
            // The weight of each node in each range: feed one node at a time.
            let size = domain as usize;
            let nodes = |level: usize| (0..tree.levels[level]).map(move |i| (level, i));
            let effects: Vec<Ranges> = (0..tree.levels())
                .flat_map(nodes)
                .map(|(level, i)| {
                    let mut one = empty.clone();
                    one[level][i] = 1.0;
                    tree.consistent(one)
                })
                .collect();
            for low in 0..size {
                for high in low..size {
                    let weights = effects.iter().map(|effect| effect.count(low..=high));
                    let energy: f64 = weights.clone().map(|w| w * w).sum();
                    assert!(weights.clone().all(|w| w.abs() <= 1.0 + 1e-12));
                    let rest = 1 + tree.pieces(0, low) + tree.pieces(high + 1, size);
                    let pieces = tree.pieces(low, high + 1).min(rest);
                    assert!(energy <= pieces as f64 + 1e-9, "{domain} {branching} {low} {high}");
                    let most = 2 * (u64::from(branching) - 1) * (tree.levels() as u64 - 1);
                    assert!(pieces <= most.max(1));
                }
            }
        }
    }

    #[test]
    fn ranges_and_quantiles_are_near_the_truth() {
        let counts: Vec<u64> = (0..1_000).map(|i| 50 + i % 7).collect();
        let mut rng = SeededForTests::insecure(41);
        let beta = Beta::new(1e-4).unwrap();
        for budget in [Budget::from(epsilon(1.0)), Budget::from(Rho::new(0.1).unwrap())] {
            let tree =
                Tree::new(budget, Replace, TreeShape { cells: 1_000, branching: 16 }, 1).unwrap();
            assert_eq!((tree.levels(), tree.guarantee()), (4, budget.guarantee()));
            let release = tree.release(&counts, &mut rng).unwrap();
            let ranges = release.value();
            let any = tree.error(beta).unwrap();
            for (low, high) in [(0, 999), (0, 0), (17, 17), (3, 800), (250, 749), (15, 32)] {
                let truth = counts[low..=high].iter().sum::<u64>() as f64;
                let bound = tree.error_of_range(low..=high, beta).unwrap();
                assert!((ranges.count(low..=high) - truth).abs() <= bound && bound <= any);
            }
            assert_eq!(ranges.count(0..=usize::MAX), ranges.total());
            assert!(ranges.quantile(0.5).unwrap().abs_diff(500) <= 5);
            assert!(ranges.quantile(0.0).unwrap() == 0 && ranges.quantile(1.0).unwrap() > 980);
            assert!(ranges.quantile(f64::NAN).is_err());
        }
        // A long range of single cells would have √800·√2/ε as its error; the tree does better.
        let plain = 800f64.sqrt() * 2f64.sqrt();
        let mut squares = 0.0;
        let tree = Tree::new(epsilon(1.0), AddRemove, TreeShape { cells: 1_000, branching: 16 }, 1)
            .unwrap();
        for _ in 0..50 {
            let release = tree.release(&[0; 1_000], &mut rng).unwrap();
            squares += release.value().count(100..=899).powi(2);
        }
        assert!((squares / 50.0).sqrt() < 0.7 * plain);
    }

    #[test]
    fn special_values() {
        let e = epsilon(1.0);
        assert!(
            Tree::new(e, Replace, TreeShape { cells: 0, branching: 2 }, 1).is_err()
                && Tree::new(e, Replace, TreeShape { cells: 2, branching: 1 }, 1).is_err()
        );
        assert!(Tree::new(e, Replace, TreeShape { cells: 2, branching: 2 }, 0).is_err());
        let mut rng = SeededForTests::insecure(1);
        let tree = tree(3, 2, Replace);
        assert!(tree.release(&[1, 2], &mut rng).is_err());
        let release = tree.release(&[1, u64::MAX, 3], &mut rng).unwrap();
        let ranges = release.value();
        assert_eq!((ranges.count(RangeInclusive::new(2, 1)), ranges.count(7..=9)), (0.0, 0.0));
        let beta = Beta::new(0.1).unwrap();
        assert_eq!(tree.error_of_range(5..=9, beta).unwrap(), 0.0);
    }
}
