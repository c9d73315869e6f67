//! A simple undirected graph in compressed rows.

use crate::error::{Error, Result};
use std::fmt;

/// A simple undirected graph on n public vertices, renumbered by falling degree: 4 bytes for each end of an edge, 8 for a vertex.
///
/// Protected: `Debug` shows n alone.
#[derive(Clone)]
pub struct Graph {
    /// Row v is `targets[starts[v]..starts[v+1]]`, rising.
    starts: Vec<u32>,
    targets: Vec<u32>,
    /// How many of a row come before its own vertex: neighbours of higher degree.
    ahead: Vec<u32>,
}

impl Graph {
    /// From edges between vertices below `vertices`. Self-loops are dropped, duplicates and directions ignored.
    pub fn new(vertices: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Result<Self> {
        let declared = u64::from(vertices);
        let mut packed = Vec::new();
        for (a, b) in edges {
            if a.max(b) >= vertices {
                return Err(Error::TooManyVertices { declared });
            }
            if a != b {
                packed.push(u64::from(a.min(b)) << 32 | u64::from(a.max(b)));
            }
        }
        Self::from_packed(vertices, packed)
    }

    /// From edges packed as `smaller << 32 | larger`.
    pub(crate) fn from_packed(vertices: u32, mut edges: Vec<u64>) -> Result<Self> {
        edges.sort_unstable();
        edges.dedup();
        if edges.len() >= 1 << 31 {
            return Err(Error::TooManyEdges);
        }
        let ends = |edge: u64| ((edge >> 32) as usize, (edge & 0xffff_ffff) as usize);
        let n = vertices as usize;
        let mut degrees = vec![0u32; n];
        for &edge in &edges {
            let (a, b) = ends(edge);
            degrees[a] += 1;
            degrees[b] += 1;
        }
        // Highest degree first; equal ones by their old number.
        let mut order: Vec<u32> = (0..vertices).collect();
        order.sort_unstable_by_key(|&v| (std::cmp::Reverse(degrees[v as usize]), v));
        let mut rank = vec![0u32; n];
        let mut starts = Vec::with_capacity(n + 1);
        let mut start = 0u32;
        for (new, &old) in order.iter().enumerate() {
            rank[old as usize] = new as u32;
            starts.push(start);
            start += degrees[old as usize];
        }
        starts.push(start);
        drop(order);
        // `degrees` becomes the next free place of each row.
        let mut next = degrees;
        next.copy_from_slice(&starts[..n]);
        let mut targets = vec![0u32; start as usize];
        for &edge in &edges {
            let (a, b) = ends(edge);
            let (a, b) = (rank[a], rank[b]);
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut next[from as usize];
                targets[*place as usize] = to;
                *place += 1;
            }
        }
        drop(edges);
        let mut ahead = next;
        for v in 0..n {
            let row = &mut targets[starts[v] as usize..starts[v + 1] as usize];
            row.sort_unstable();
            ahead[v] = row.partition_point(|&u| (u as usize) < v) as u32;
        }
        Ok(Self { starts, targets, ahead })
    }

    /// n, which is public.
    #[must_use]
    pub fn vertices(&self) -> u32 {
        self.ahead.len() as u32
    }

    /// The number of edges. Protected.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.targets.len() as u64 / 2
    }

    /// The degree of the v-th vertex by falling degree. Protected.
    #[inline]
    pub(crate) fn degree(&self, v: u32) -> u32 {
        self.starts[v as usize + 1] - self.starts[v as usize]
    }

    #[inline]
    pub(crate) fn row(&self, v: u32) -> &[u32] {
        &self.targets[self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize]
    }

    /// The neighbours of higher degree.
    #[inline]
    pub(crate) fn ahead(&self, v: u32) -> &[u32] {
        let start = self.starts[v as usize] as usize;
        &self.targets[start..start + self.ahead[v as usize] as usize]
    }

    pub(crate) fn adjacent(&self, a: u32, b: u32) -> bool {
        let (few, other) = if self.degree(a) < self.degree(b) { (a, b) } else { (b, a) };
        self.row(few).binary_search(&other).is_ok()
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("vertices", &self.vertices()).finish_non_exhaustive()
    }
}

/// All graphs on few vertices, for brute force.
#[cfg(test)]
pub(crate) mod tests;
