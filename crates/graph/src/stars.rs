//! The number of k-stars, and how far an edge can move it near this graph.

use crate::error::Result;
use crate::graph::Graph;
use crate::pairs::Frontier;
use demure_core::Error;
use demure_core::sensitivity::Statistic;
use std::fmt;

/// The number of k-stars, `Σ_v C(d_v, k)`: a vertex and k of its neighbours. 2-stars are paths of length two (wedges).
///
/// # Local sensitivity
/// With p ≥ q the degrees of a pair, not counting the edge between them: put s on p up to n−2 and what is left on q up to n−2; `LS⁽ˢ⁾` is the largest
/// `C(p, k−1) + C(q, k−1)`. Exact.
/// # Proof
/// The edge ij adds `C(d_i, k−1) + C(d_j, k−1)`, degrees without it. One further edge raises one of the two by 1 (an edge between them is not counted).
/// C is convex, so the larger one takes all it can; a vertex has n−2 others. The result rises with p and with q: only pairs that are best in both matter. ∎
/// # Special values
/// k is at least 2 (1-stars are twice the edges). Refused where a step could pass 2⁶⁰, by n and k alone.
/// # References
/// Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011 (VLDB).
#[derive(Clone)]
pub struct Stars {
    k: u32,
    count: i128,
    vertices: u64,
    most: u64,
    growth: u64,
    frontier: Frontier,
}

impl Stars {
    /// Counts k-stars, and finds the profile.
    pub fn of(graph: &Graph, k: u32) -> Result<Self> {
        let empty = Self::without_edges(graph.vertices(), k)?;
        let stars = |v| choose(u64::from(graph.degree(v)), k).ok_or_else(too_many);
        let stars = (0..graph.vertices()).map(stars);
        let count = stars.sum::<std::result::Result<u128, Error>>()?;
        Ok(Self { count: count as i128, frontier: frontier(graph), ..empty })
    }

    /// Of a graph without edges, which takes no memory. What is public of the statistic is the same for all
    /// graphs of this size.
    pub fn without_edges(vertices: u32, k: u32) -> Result<Self> {
        if k < 2 {
            return Err(Error::OutOfRange { parameter: "k", allowed: "at least 2" }.into());
        }
        let vertices = u64::from(vertices);
        let others = vertices.saturating_sub(2);
        // Then C(d, k) ≤ C(n−1, k) = C(n−2, k−1)·(n−1)/k < 2⁹¹, and n of them fit.
        let most = choose_small(others, k - 1).and_then(|c| c.checked_mul(2));
        let most = most.filter(|&c| c <= 1 << 60).ok_or_else(too_many)?;
        // C(x+1, k−1) − C(x, k−1) = C(x, k−2), x < n−2.
        let growth = if others == 0 { 0 } else { choose_small(others - 1, k - 2).unwrap_or(most) };
        let mut frontier = Frontier::default();
        if vertices > 1 {
            frontier.insert((0, 0));
        }
        Ok(Self { k, count: 0, vertices, most, growth, frontier })
    }

    /// The number of k-stars. Protected.
    #[must_use]
    pub fn count(&self) -> i128 {
        self.count
    }

    /// k.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }
}

impl Statistic for Stars {
    fn value(&self) -> i128 {
        self.count
    }

    fn at_distance(&self, s: u64) -> u64 {
        let others = self.vertices.saturating_sub(2);
        let reached = |&(p, q): &(u64, u64)| {
            let high = p.saturating_add(s).min(others);
            let low = q.saturating_add(s - (high - p)).min(others);
            let of = |d| choose_small(d, self.k - 1).unwrap_or(self.most);
            of(high).saturating_add(of(low)).min(self.most)
        };
        self.frontier.points().iter().map(reached).max().unwrap_or(0)
    }

    fn most(&self) -> Option<u64> {
        Some(self.most)
    }

    fn growth(&self) -> Option<u64> {
        Some(self.growth)
    }
}

impl fmt::Debug for Stars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stars")
            .field("k", &self.k)
            .field("vertices", &self.vertices)
            .finish_non_exhaustive()
    }
}

fn too_many() -> Error {
    Error::OutOfRange {
        parameter: "k",
        allowed: "small enough that an edge is in fewer than 2^60 stars",
    }
}

fn choose_small(n: u64, k: u32) -> Option<u64> {
    choose(n, k).and_then(|c| u64::try_from(c).ok())
}

/// `C(n, k)`; `None` if it, times k, does not fit.
fn choose(n: u64, k: u32) -> Option<u128> {
    let k = u64::from(k);
    if k > n {
        return Some(0);
    }
    let k = k.min(n - k);
    (1..=k).try_fold(1, |c: u128, i| Some(c.checked_mul(u128::from(n - k + i))? / u128::from(i)))
}

/// The pairs whose degrees, without the edge between them, are best.
fn frontier(graph: &Graph) -> Frontier {
    let n = graph.vertices();
    let mut frontier = Frontier::default();
    let degree = |v: u32| u64::from(graph.degree(v));
    'all: for i in 0..n {
        for j in i + 1..n {
            // d_i ≥ d_j: a later j is no better, and a later i with its own next neither.
            if frontier.covers((degree(i), degree(j))) {
                if j == i + 1 {
                    break 'all;
                }
                break;
            }
            let joined = u64::from(graph.adjacent(i, j));
            frontier.insert((degree(i) - joined, degree(j) - joined));
        }
    }
    frontier
}

#[cfg(test)]
mod tests;
