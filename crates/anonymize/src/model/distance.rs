//! How far a class's distribution is from a reference that contains it.
//!
//! With counts c_v of m rows in the class and q_v of N in the reference, every
//! distance is a quotient of integers (or a root or logarithm of such), and the
//! question `≤ t` is decided on them.

use super::{Counts, Measure, Pair, counts};
use crate::class::{Class, Histogram};
use crate::error::{Error, Result};
use crate::exact::fraction::product;
use crate::exact::{Fraction, LogSum, Natural, Sum};
use crate::hierarchy::Hierarchy;
use std::cmp::Ordering;

/// A distance between distributions.
///
/// All of them are convex in the class's distribution, so a union of two classes
/// is no farther from the reference than the farther of the two.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Distance {
    /// `½·Σ|p_v − q_v|`, in [0, 1].
    Variational,
    /// `√Σ(p_v − q_v)²`, in [0, √2].
    L2,
    /// `Σ p_v·log₂(p_v/q_v)` in bits: class relative to reference, which covers
    /// it, so it is finite. The reverse would be infinite wherever the class
    /// misses a value.
    KullbackLeibler,
    /// Earth mover's with values in a row at equal steps, the whole row being 1:
    /// `(1/(d−1))·Σ_{i<d}|Σ_{j≤i}(p_j − q_j)|`. Built by [`Distance::ordered`].
    Ordered(Order),
    /// Earth mover's with values at the leaves of a tree: moving between two
    /// costs the height of their lowest common ancestor over the tree's. Built
    /// by [`Distance::hierarchical`].
    Hierarchical(Tree),
}

/// The values of a column from first to last.
#[derive(Clone, Debug)]
pub struct Order {
    codes: Vec<usize>,
}

/// The parents of a hierarchy's groups.
#[derive(Clone, Debug)]
pub struct Tree {
    values: usize,
    /// `parents[h][g]`: the group of level h + 1 above group g of level h. The last has one group.
    parents: Vec<Vec<usize>>,
    /// Groups at each level above the leaves.
    widths: Vec<usize>,
}

impl Distance {
    /// The ordered earth mover's distance; `order` lists every code of the column
    /// once. (Codes are in order of first appearance, which means nothing.)
    pub fn ordered(order: &[u32]) -> Result<Self> {
        let mut seen = vec![false; order.len()];
        for &code in order {
            match seen.get_mut(code as usize) {
                Some(place) if !*place => *place = true,
                _ => {
                    let allowed = "every value of the column exactly once";
                    return Err(Error::OutOfRange {
                        parameter: "the order of the sensitive values",
                        allowed,
                    });
                }
            }
        }
        Ok(Self::Ordered(Order { codes: order.iter().map(|&code| code as usize).collect() }))
    }

    /// The hierarchical earth mover's distance. Where the highest level has
    /// several groups, a root is added above it.
    pub fn hierarchical(hierarchy: &Hierarchy) -> Result<Self> {
        let refuse =
            |level, why| Error::NotATree { column: "the sensitive column".to_owned(), level, why };
        let values = hierarchy.levels.first().map_or(0, |level| level.group.len());
        let (mut parents, mut widths) = (Vec::new(), Vec::new());
        // The leaves are the values by code. Level 0 only renames them, unless it merges some.
        let mut below: Vec<usize> = (0..values).collect();
        let mut width = values;
        for (h, level) in hierarchy.levels.iter().enumerate() {
            let above: Vec<usize> = level.group.iter().map(|&group| group as usize).collect();
            let groups = above.iter().map(|group| group + 1).max().unwrap_or(0);
            if above.len() != values {
                return Err(refuse(h, "a level does not cover every value"));
            }
            if h == 0 && all_different(&above) {
                continue;
            }
            let mut parent = vec![None; width];
            for (&child, &group) in below.iter().zip(&above) {
                match parent.get_mut(child) {
                    Some(place) if place.is_none_or(|known| known == group) => *place = Some(group),
                    _ => {
                        return Err(refuse(
                            h,
                            "values that share a group are apart on a higher level",
                        ));
                    }
                }
            }
            // A group no value of the column is in has no mass: any parent will do.
            parents.push(parent.into_iter().map(|group| group.unwrap_or(0)).collect());
            widths.push(groups);
            (below, width) = (above, groups);
        }
        if below.iter().any(|group| Some(group) != below.first()) {
            parents.push(vec![0; width]);
            widths.push(1);
        }
        Ok(Self::Hierarchical(Tree { values, parents, widths }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Variational => "variational",
            Self::L2 => "L2",
            Self::KullbackLeibler => "KL in bits",
            Self::Ordered(_) => "ordered earth mover's",
            Self::Hierarchical(_) => "hierarchical earth mover's",
        }
    }

    /// The distance of a histogram from one that contains it; `None` where it does
    /// not, or where the class is empty.
    #[must_use]
    pub fn between(&self, class: &Histogram, reference: &Histogram) -> Option<Measure> {
        let whole = |histogram: &Histogram| Class {
            size: histogram.total(),
            sensitive: vec![histogram.clone()],
        };
        match counts(&whole(class), &whole(reference), 0) {
            Counts::Both(pair) => self.value(pair),
            Counts::Empty | Counts::Missing => None,
        }
    }

    /// Whether the distance is at most t, exactly. Both parts of t are below 2⁶⁴.
    pub(crate) fn at_most(&self, pair: Pair<'_>, t: Fraction) -> bool {
        match self {
            Self::Variational => variational(pair).at_most((pair.area(), 1), t),
            Self::L2 => l2_at_most(pair, t),
            Self::KullbackLeibler => kl_at_most(pair, t),
            Self::Ordered(order) => {
                order.work(pair).is_some_and(|(work, steps)| work.at_most((pair.area(), steps), t))
            }
            Self::Hierarchical(tree) => {
                tree.work(pair).is_some_and(|(work, height)| work.at_most((pair.area(), height), t))
            }
        }
    }

    /// The distance.
    pub(crate) fn value(&self, pair: Pair<'_>) -> Option<Measure> {
        let quotient = |sum: Sum, below: u64| {
            let denominator = (pair.area(), below);
            sum.over(denominator)
                .map_or_else(|| Measure::Near(sum.over_f64(denominator)), Measure::Exact)
        };
        Some(match self {
            Self::Variational => quotient(variational(pair), 1),
            Self::L2 => l2(pair),
            Self::KullbackLeibler => Measure::Near(kl_bits(pair)),
            Self::Ordered(order) => order.work(pair).map(|(work, steps)| quotient(work, steps))?,
            Self::Hierarchical(tree) => {
                tree.work(pair).map(|(work, height)| quotient(work, height))?
            }
        })
    }
}

fn all_different(groups: &[usize]) -> bool {
    let mut sorted = groups.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

/// `|c_v·N − q_v·m|` and whether the class has the larger share.
fn gap(c: u64, q: u64, pair: Pair<'_>) -> (u128, bool) {
    let (class, reference) =
        (u128::from(c) * u128::from(pair.n), u128::from(q) * u128::from(pair.m));
    (class.abs_diff(reference), class > reference)
}

/// `m·N` times the distance. Both distributions sum to 1, so half the sum of
/// absolute differences is the sum of the positive ones.
fn variational(pair: Pair<'_>) -> Sum {
    let mut sum = Sum::default();
    for (c, q) in pair.each() {
        if let (gap, true) = gap(c, q, pair) {
            sum.add(gap);
        }
    }
    sum
}

/// Squares compared: `Σ(c·N − q·m)²·b² ≤ a²·(m·N)²`.
fn l2_at_most(pair: Pair<'_>, t: Fraction) -> bool {
    let (a, b) = (t.numerator(), t.denominator());
    if pair.area() < 1 << 63 && a.max(b) <= u64::MAX.into() {
        // Σ(p−q)² ≤ 2, so the sum is at most 2·(mN)² < 2¹²⁷.
        let squares: u128 = pair.each().map(|(c, q)| gap(c, q, pair).0.pow(2)).sum();
        return product(squares, b * b) <= product(a * a, pair.area().pow(2));
    }
    let square = |x: u128| Natural::from(x).mul(&Natural::from(x));
    squares(pair).mul(&square(b)) <= square(a).mul(&square(pair.area()))
}

fn squares(pair: Pair<'_>) -> Natural {
    pair.each()
        .map(|(c, q)| Natural::from(gap(c, q, pair).0))
        .fold(Natural::default(), |sum, gap| sum.add(&gap.mul(&gap)))
}

fn l2(pair: Pair<'_>) -> Measure {
    if pair.area() < 1 << 63 {
        let squares: u128 = pair.each().map(|(c, q)| gap(c, q, pair).0.pow(2)).sum();
        if let Some(square) = Fraction::new(squares, pair.area().pow(2)) {
            return Measure::Root(square);
        }
    }
    Measure::Near(squares(pair).to_f64().sqrt() / pair.area() as f64)
}

/// With t = a/b: `b·(Σ c·ln c + m·ln N) ≤ b·(Σ c·ln q + m·ln m) + a·m·ln 2`.
fn kl_at_most(pair: Pair<'_>, t: Fraction) -> bool {
    let (Ok(a), Ok(b)) = (u64::try_from(t.numerator()), u64::try_from(t.denominator())) else {
        return false;
    };
    let times = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let (mut left, mut right) = (LogSum::new(), LogSum::new());
    for (c, q) in pair.each() {
        left.add(c, times(b, c));
        right.add(q, times(b, c));
    }
    left.add(pair.n, times(b, pair.m));
    right.add(pair.m, times(b, pair.m));
    right.add(2, times(a, pair.m));
    left.compare(&right) != Ordering::Greater
}

/// For show.
pub(crate) fn kl_bits(pair: Pair<'_>) -> f64 {
    let (m, n) = (pair.m as f64, pair.n as f64);
    let term = |(c, q): (u64, u64)| {
        if c == 0 { 0.0 } else { c as f64 / m * ((c as f64 / m) / (q as f64 / n)).log2() }
    };
    pair.each().map(term).sum::<f64>().max(0.0)
}

impl Order {
    /// `m·N·(d−1)` times the distance, and d − 1.
    fn work(&self, pair: Pair<'_>) -> Option<(Sum, u64)> {
        if self.codes.len() != pair.c.len() {
            return None;
        }
        let (mut class, mut reference, mut sum) = (0_u64, 0_u64, Sum::default());
        for &code in &self.codes {
            class += pair.c.get(code)?;
            reference += pair.q.get(code)?;
            sum.add(gap(class, reference, pair).0);
        }
        Some((sum, (self.codes.len() as u64).saturating_sub(1).max(1)))
    }
}

impl Tree {
    /// `m·N·H` times the distance, and H: at each inner node of height h, what
    /// can be matched among its children and not below costs h.
    fn work(&self, pair: Pair<'_>) -> Option<(Sum, u64)> {
        if self.values != pair.c.len() {
            return None;
        }
        let mut sum = Sum::default();
        let mut mass: Vec<(u64, u64)> = pair.each().collect();
        for ((parents, &width), height) in self.parents.iter().zip(&self.widths).zip(1..) {
            let mut above = vec![(0_u64, 0_u64); width];
            let mut extra = vec![(0_u128, 0_u128); width];
            for (&(c, q), &parent) in mass.iter().zip(parents) {
                let (total, extra) = (above.get_mut(parent)?, extra.get_mut(parent)?);
                *total = (total.0 + c, total.1 + q);
                match gap(c, q, pair) {
                    (gap, true) => extra.0 += gap,
                    (gap, false) => extra.1 += gap,
                }
            }
            for (positive, negative) in extra {
                sum.add_product(positive.min(negative), height);
            }
            mass = above;
        }
        Some((sum, (self.parents.len() as u64).max(1)))
    }
}

#[cfg(test)]
#[path = "distance_tests.rs"]
mod tests;
