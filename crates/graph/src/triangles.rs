//! The number of triangles, and how far an edge can move it near this graph.

use crate::error::Result;
use crate::graph::Graph;
use crate::pairs::Frontier;
use demure_core::sensitivity::Statistic;
use std::fmt;

/// The number of triangles of a graph, with its local sensitivity at every distance.
///
/// # Local sensitivity
/// `LS⁽ˢ⁾ = max_{ij} min(a + ⌊(s + min(s, b))/2⌋, n−2)` over all pairs of vertices, adjacent or not: a is the number of common
/// neighbours, b the number of vertices adjacent to exactly one of the two. Exact, and it grows by at most 1 with s.
/// # Proof
/// Adding or removing the edge ij changes the number by a. With s further edges, each of b half-joined vertices needs
/// one to become a common neighbour and every other vertex two. There are n−2. As `b = D − 2a` with `D = d_i + d_j − 2[ij is an edge]`, the
/// bracket is `min(a + s, ⌊(s + D)/2⌋)`: only pairs that are best in (a, D) matter. ∎
/// # Work
/// A count as fast as any: every edge points to its end of higher degree, so that no vertex points to more than √(2m). For the
/// pairs, vertices j are taken by falling degree. A pair (i, j) with i before j has `a ≤ d_j` and `D ≤ d_i + d_j`, so only those i are of interest whose degree
/// is above `D* − d_j`, D* being the best D seen with `a ≥ d_j`: a few hubs, which are first in every row. It ends when none is left.
/// # Special values
/// With fewer than 3 vertices there are no triangles and nothing can move.
/// # References
/// Nissim, Raskhodnikova, Smith 2007 (STOC), Section 3.2.
#[derive(Clone)]
pub struct Triangles {
    count: u64,
    vertices: u64,
    frontier: Frontier,
}

impl Triangles {
    /// Counts, and finds the profile.
    pub fn of(graph: &Graph) -> Result<Self> {
        Ok(Self {
            count: count(graph),
            vertices: u64::from(graph.vertices()),
            frontier: frontier(graph),
        })
    }

    /// Of a graph without edges, which takes no memory. What is public of the statistic is the same for all
    /// graphs of this size.
    #[must_use]
    pub fn without_edges(vertices: u32) -> Self {
        let mut frontier = Frontier::default();
        if vertices > 1 {
            frontier.insert((0, 0));
        }
        Self { count: 0, vertices: u64::from(vertices), frontier }
    }

    /// Counts alone: what the profile is measured against.
    #[must_use]
    pub fn count_only(graph: &Graph) -> u64 {
        count(graph)
    }

    /// The number of triangles. Protected.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

impl Statistic for Triangles {
    fn value(&self) -> i128 {
        i128::from(self.count)
    }

    fn at_distance(&self, s: u64) -> u64 {
        let reached = |&(a, d): &(u64, u64)| a.saturating_add(s).min(s.saturating_add(d) / 2);
        let best = self.frontier.points().iter().map(reached).max().unwrap_or(0);
        best.min(self.vertices.saturating_sub(2))
    }

    fn most(&self) -> Option<u64> {
        Some(self.vertices.saturating_sub(2))
    }

    fn growth(&self) -> Option<u64> {
        Some(1)
    }
}

impl fmt::Debug for Triangles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Triangles").field("vertices", &self.vertices).finish_non_exhaustive()
    }
}

fn count(graph: &Graph) -> u64 {
    let n = graph.vertices();
    let mut mark = vec![u32::MAX; n as usize];
    let mut count = 0;
    for v in 0..n {
        let ahead = graph.ahead(v);
        if ahead.len() < 2 {
            continue;
        }
        for &u in ahead {
            mark[u as usize] = v;
        }
        for &u in ahead {
            let closed = graph.ahead(u).iter().filter(|&&w| mark[w as usize] == v).count();
            count += closed as u64;
        }
    }
    count
}

/// The pairs that are best in (a, D).
fn frontier(graph: &Graph) -> Frontier {
    let n = graph.vertices();
    let mut frontier = Frontier::default();
    let degree = |v: u32| u64::from(graph.degree(v));
    // The largest D, with or without common neighbours: pairs with none are then covered.
    let mut widest: Option<(u64, u32, u32)> = None;
    'all: for i in 0..n {
        for j in i + 1..n {
            if widest.is_some_and(|(d, ..)| d >= degree(i) + degree(j)) {
                if j == i + 1 {
                    break 'all;
                }
                break;
            }
            let d = degree(i) + degree(j) - 2 * u64::from(graph.adjacent(i, j));
            if widest.is_none_or(|(best, ..)| d > best) {
                widest = Some((d, i, j));
            }
        }
    }
    let Some((d, i, j)) = widest else { return frontier };
    let common = graph.row(i).iter().filter(|u| graph.row(j).binary_search(u).is_ok()).count();
    frontier.insert((common as u64, d));

    let mut shared = vec![0u32; n as usize];
    let mut touched = Vec::new();
    let mut beside = vec![u32::MAX; n as usize];
    for j in 1..n {
        let own = degree(j);
        // Only i with d_i > D* − d_j: they are the first few.
        let needed = frontier.best(own).map_or(0, |best| (best + 1).saturating_sub(own));
        if degree(0) < needed {
            break;
        }
        let cut = first_below(graph, needed).min(j);
        for &u in graph.row(j) {
            beside[u as usize] = j;
            for &i in graph.row(u).iter().take_while(|&&i| i < cut) {
                if shared[i as usize] == 0 {
                    touched.push(i);
                }
                shared[i as usize] += 1;
            }
        }
        for i in touched.drain(..) {
            let a = u64::from(std::mem::take(&mut shared[i as usize]));
            let d = degree(i) + own - 2 * u64::from(beside[i as usize] == j);
            frontier.insert((a, d));
        }
    }
    frontier
}

/// The first vertex, by falling degree, whose degree is below `needed`.
fn first_below(graph: &Graph, needed: u64) -> u32 {
    let (mut low, mut high) = (0, graph.vertices());
    while low < high {
        let middle = low + (high - low) / 2;
        if u64::from(graph.degree(middle)) >= needed { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
pub(crate) mod tests;
