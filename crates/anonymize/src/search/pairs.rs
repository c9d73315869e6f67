//! What two quasi-identifiers say about all: which levels are too fine for the others.
//!
//! Rows in cells of fewer than `least` rows, of two columns alone, are in classes no larger once
//! the other columns are looked at, or these two are made finer. If at levels (i, j) of columns
//! (a, b) there are more of them than may be suppressed, no node with a at i or below and
//! b at j or below is within the limit. So within a box whose b ends at j, a begins above i.
//!
//! A table of two columns is small and counted once, where a node is grouped anew each time.

use super::check::Setting;
use super::group::Grouping;
use super::lattice::{Axis, Lattice};

/// Tables of more cells are not looked at.
const CELLS: usize = 1 << 18;

/// For axes a ≠ b and each level j of b, the finest level of a that may be within the limit.
pub(super) struct Pairs {
    /// `finest[a][b][j]`; empty where nothing is known.
    finest: Vec<Vec<Vec<u8>>>,
}

impl Pairs {
    /// From the classes of the finest node that may be within the limit.
    pub(super) fn new<const W: usize>(setting: &Setting<'_>, source: &Grouping<W>) -> Self {
        let Setting { lattice, least, limit, .. } = setting;
        let axes = lattice.axes.len();
        let mut finest = vec![vec![Vec::new(); axes]; axes];
        if *least < 2 || *limit >= lattice.rows {
            return Self { finest };
        }
        let all = (0..axes).flat_map(|b| (0..b).map(move |a| (a, b)));
        for (a, b) in all {
            let Some(table) = Table::new(lattice, source, a, b) else { continue };
            let (first, second) = (&lattice.axes[a], &lattice.axes[b]);
            let feasible = |i: u8, j: u8| table.lost(first, second, i, j, *least) <= *limit;
            let levels = |axis: usize| source.node[axis]..=lattice.axes[axis].top;
            let mut of_first = vec![0; usize::from(second.top) + 1];
            let mut of_second = vec![u8::MAX; usize::from(first.top) + 1];
            // Coarser on one axis never needs to be coarser on the other: down a staircase.
            let mut i = first.top;
            for j in levels(b) {
                while i > source.node[a] && feasible(i - 1, j) {
                    i -= 1;
                }
                // Where even the top fails, the box does; checking it will say so.
                of_first[usize::from(j)] = i;
                for level in i..=first.top {
                    let known = &mut of_second[usize::from(level)];
                    *known = (*known).min(j);
                }
            }
            for level in &mut of_second {
                *level = (*level).min(second.top);
            }
            finest[a][b] = of_first;
            finest[b][a] = of_second;
        }
        Self { finest }
    }

    /// Raises `low` to the finest levels that may be within the limit in a box that ends at
    /// `high`; whether any node is left.
    pub(super) fn raise(&self, low: &mut [u8], high: &[u8]) -> bool {
        for (level, others) in low.iter_mut().zip(&self.finest) {
            let finest = others.iter().zip(high).filter_map(|(of, &j)| of.get(usize::from(j)));
            *level = finest.copied().fold(*level, u8::max);
        }
        low.iter().zip(high).all(|(low, high)| low <= high)
    }
}

/// How many rows each pair of groups has, at the finest node's levels.
struct Table {
    from: (u8, u8),
    width: usize,
    rows: Vec<u64>,
}

impl Table {
    fn new<const W: usize>(
        lattice: &Lattice,
        source: &Grouping<W>,
        a: usize,
        b: usize,
    ) -> Option<Self> {
        let (first, second) = (&lattice.axes[a], &lattice.axes[b]);
        let from = (source.node[a], source.node[b]);
        let groups = |axis: &Axis, level: u8| axis.leaves[usize::from(level)].len();
        let (height, width) = (groups(first, from.0), groups(second, from.1));
        let cells = height.checked_mul(width).filter(|&cells| cells <= CELLS)?;
        let mut rows = vec![0; cells];
        for (key, &size) in source.keys.iter().zip(&source.sizes) {
            rows[first.group(key) * width + second.group(key)] += u64::from(size);
        }
        Some(Self { from, width, rows })
    }

    /// How many rows are in cells of fewer than `least`, at these levels.
    fn lost(&self, first: &Axis, second: &Axis, i: u8, j: u8, least: u64) -> u64 {
        let map = |axis: &Axis, from: u8, to: u8| -> Vec<usize> {
            let up = &axis.up[usize::from(from)][usize::from(to - from)];
            let placed = |&group: &u64| if axis.mask == 0 { 0 } else { group >> axis.shift };
            up.iter().map(|group| placed(group) as usize).collect()
        };
        let (rows_to, columns_to) = (map(first, self.from.0, i), map(second, self.from.1, j));
        let width = second.leaves[usize::from(j)].len();
        let mut coarse = vec![0_u64; first.leaves[usize::from(i)].len() * width];
        for (line, &row) in self.rows.chunks_exact(self.width).zip(&rows_to) {
            for (&count, &column) in line.iter().zip(&columns_to) {
                coarse[row * width + column] += count;
            }
        }
        coarse.into_iter().filter(|&count| count < least).sum()
    }
}

#[cfg(test)]
mod tests;
