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
pub(crate) mod tests {
    use super::*;
    use crate::graph::tests::{all, flipped, numbered, pairs};
    use demure_core::sensitivity::{ProfileLimits, Smoothness, check_profile, check_smooth};

    /// `(a, b)` of all pairs, by definition.
    fn by_definition(n: u32, number: u32) -> (u64, Vec<(u64, u64)>) {
        let list = pairs(n);
        let has = |x: u32, y: u32| {
            let place = list.iter().position(|&p| p == (x.min(y), x.max(y))).unwrap();
            number >> place & 1 == 1
        };
        let others = |x: u32, y: u32| (0..n).filter(move |&z| z != x && z != y);
        let both = list.iter().map(|&(x, y)| {
            let a = others(x, y).filter(|&z| has(x, z) && has(y, z)).count() as u64;
            let b = others(x, y).filter(|&z| has(x, z) != has(y, z)).count() as u64;
            (a, b, u64::from(has(x, y)))
        });
        let all: Vec<_> = both.collect();
        let corners: u64 = all.iter().map(|&(a, _, joined)| a * joined).sum();
        (corners / 3, all.into_iter().map(|(a, b, _)| (a, b)).collect())
    }

    #[test]
    fn the_profile_is_exact_on_all_graphs_of_at_most_6_vertices() {
        for n in 0..=6 {
            let made: Vec<Triangles> =
                all(n).map(|g| Triangles::of(&numbered(n, g)).unwrap()).collect();
            let most = u64::from(n * n) / 2;
            for (g, made) in all(n).zip(&made) {
                let (count, near) = by_definition(n, g);
                assert_eq!(made.count(), count);
                for s in 0..=most {
                    let formula = |&(a, b): &(u64, u64)| {
                        (a + (s + s.min(b)) / 2).min(u64::from(n).saturating_sub(2))
                    };
                    let slow = near.iter().map(formula).max().unwrap_or(0);
                    assert_eq!(made.at_distance(s), slow, "{n} {g:b} {s}");
                }
            }
            let value = |&g: &u32| made[g as usize].value();
            let profile = |&g: &u32, s| made[g as usize].at_distance(s);
            let empty = Triangles::without_edges(n);
            let limits = ProfileLimits::of(&empty);
            assert!(limits.most.is_some() && limits.growth == Some(1));
            let seen = check_profile(all(n), flipped(n), value, profile, limits, most).unwrap();
            assert!(seen.exact, "{n}");
            assert!((0..=most).all(|s| empty.at_distance(s) == made[0].at_distance(s)), "{n}");
            let t = Smoothness::new(0.2).unwrap();
            let bound = |&g: &u32| made[g as usize].smooth(t).unwrap();
            check_smooth(all(n), flipped(n), value, bound, t).unwrap();
        }
    }

    #[test]
    fn larger_graphs_agree_with_all_pairs() {
        let mut state = 11u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) % n
        };
        for (n, edges) in [(40u32, 90), (60, 400), (30, 300), (80, 120), (50, 0)] {
            for skew in [1, 3] {
                // Skewed ends make hubs.
                let mut end = || (0..skew).map(|_| next(u64::from(n))).min().unwrap_or(0) as u32;
                let list: Vec<(u32, u32)> = (0..edges).map(|_| (end(), end())).collect();
                let graph = Graph::new(n, list).unwrap();
                let made = Triangles::of(&graph).unwrap();
                let joined = |x, y| graph.adjacent(x, y);
                let mut count = 0;
                let mut points = vec![];
                for (x, y) in pairs(n) {
                    let near = |z: &u32| *z != x && *z != y;
                    let a = (0..n).filter(near).filter(|&z| joined(x, z) && joined(y, z)).count();
                    let b = (0..n).filter(near).filter(|&z| joined(x, z) != joined(y, z)).count();
                    count += if joined(x, y) { a as u64 } else { 0 };
                    points.push((a as u64, b as u64));
                }
                assert_eq!(made.count(), count / 3);
                for s in 0..2 * u64::from(n) {
                    let formula =
                        |&(a, b): &(u64, u64)| (a + (s + s.min(b)) / 2).min(u64::from(n) - 2);
                    let slow = points.iter().map(formula).max().unwrap();
                    assert_eq!(made.at_distance(s), slow, "{n} {edges} {s}");
                }
            }
        }
        let text = format!("{:?}", Triangles::of(&numbered(4, 63)).unwrap());
        assert_eq!(text, "Triangles { vertices: 4, .. }");
    }
}
