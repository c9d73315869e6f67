//! The lattice of levels: what each quasi-identifier looks like on each level,
//! packed so that a class is a few machine words.

use super::problem::Problem;
use crate::error::{Error, Result};
use crate::hierarchy::STAR;

/// Levels, one a quasi-identifier.
pub(super) type Node = Box<[u8]>;

/// The lattice of a problem.
pub(super) struct Lattice {
    /// One axis a quasi-identifier.
    pub(super) axes: Vec<Axis>,
    /// How many words a class's key takes.
    pub(super) words: usize,
    /// Rows of the table.
    pub(super) rows: u64,
}

/// One quasi-identifier.
pub(super) struct Axis {
    /// Which word of the key holds its group, and where.
    pub(super) word: usize,
    pub(super) shift: u32,
    pub(super) mask: u64,
    /// The level above all others.
    pub(super) top: u8,
    /// `up[from][to − from][group on from]` is the group on `to`, shifted into place.
    pub(super) up: Vec<Vec<Vec<u64>>>,
    /// Leaves under each group, by level.
    pub(super) leaves: Vec<Vec<u64>>,
    /// All leaves.
    pub(super) size: u64,
    /// `Σ leaves` over the cells of the column, by level.
    pub(super) sums: Vec<u128>,
    /// By level, (leaves under a group, rows in it), most leaves first.
    pub(super) widest: Vec<Vec<(u64, u64)>>,
    /// By level, the group labelled `*`.
    pub(super) star: Vec<Option<u32>>,
}

impl Lattice {
    pub(super) fn new(problem: &Problem<'_>) -> Result<Self> {
        let rows = problem.table.rows as u64;
        if rows >= u64::from(u32::MAX) {
            return Err(Error::OutOfRange {
                parameter: "the number of rows",
                allowed: "below 2³² − 1",
            });
        }
        if problem.quasi.is_empty() {
            return Err(Error::OutOfRange {
                parameter: "the number of quasi-identifiers",
                allowed: "at least 1",
            });
        }
        let mut axes = Vec::with_capacity(problem.quasi.len());
        let (mut word, mut used) = (0, 0);
        for quasi in &problem.quasi {
            let Some(column) = problem.table.columns.get(quasi.column) else {
                return Err(Error::OutOfRange {
                    parameter: "a quasi-identifier",
                    allowed: "a column of the table",
                });
            };
            let levels = &quasi.hierarchy.levels;
            let not_a_tree =
                |level, why| Error::NotATree { column: column.name.clone(), level, why };
            if levels.is_empty() || levels.len() > 255 {
                return Err(not_a_tree(0, "it has no level or more than 255"));
            }
            for (at, level) in levels.iter().enumerate() {
                let groups = level.labels.len();
                let sound = level.leaves.len() == groups
                    && level.group.len() == column.values.len()
                    && level.group.iter().all(|&group| (group as usize) < groups);
                if !sound {
                    return Err(not_a_tree(at, "its lists do not fit together"));
                }
            }
            let widest = levels.iter().map(|level| level.labels.len()).max().unwrap_or(1) as u64;
            let bits = 64 - widest.saturating_sub(1).leading_zeros();
            if used + bits > 64 {
                (word, used) = (word + 1, 0);
            }
            let mut rows_of = vec![0_u64; column.values.len()];
            for &code in &column.codes {
                rows_of[code as usize] += 1;
            }
            let mut axis = Axis {
                word,
                shift: used,
                mask: if bits == 0 { 0 } else { u64::MAX >> (64 - bits) },
                top: (levels.len() - 1) as u8,
                up: Vec::new(),
                leaves: levels.iter().map(|level| level.leaves.clone()).collect(),
                size: quasi.hierarchy.leaf_count(),
                sums: Vec::new(),
                widest: Vec::new(),
                star: Vec::new(),
            };
            used += bits;
            for level in levels {
                let mut rows_in = vec![0_u64; level.labels.len()];
                for (&group, &rows) in level.group.iter().zip(&rows_of) {
                    rows_in[group as usize] += rows;
                }
                let mut widest: Vec<(u64, u64)> =
                    level.leaves.iter().copied().zip(rows_in).filter(|pair| pair.1 > 0).collect();
                widest.sort_unstable_by(|a, b| b.cmp(a));
                axis.sums.push(
                    widest
                        .iter()
                        .map(|&(leaves, rows)| u128::from(leaves) * u128::from(rows))
                        .sum(),
                );
                axis.widest.push(widest);
                axis.star
                    .push(level.labels.iter().position(|label| label == STAR).map(|at| at as u32));
            }
            for (from, fine) in levels.iter().enumerate() {
                let mut ups = Vec::with_capacity(levels.len() - from);
                for (to, coarse) in levels.iter().enumerate().skip(from) {
                    let mut map = vec![u64::MAX; fine.labels.len()];
                    for (&below, &above) in fine.group.iter().zip(&coarse.group) {
                        let placed =
                            if axis.mask == 0 { 0 } else { u64::from(above) << axis.shift };
                        let seen = &mut map[below as usize];
                        if *seen != u64::MAX && *seen != placed {
                            return Err(not_a_tree(to, "a label has two parents"));
                        }
                        *seen = placed;
                    }
                    // Groups without rows are never looked up.
                    map.iter_mut().filter(|group| **group == u64::MAX).for_each(|group| *group = 0);
                    ups.push(map);
                }
                axis.up.push(ups);
            }
            axes.push(axis);
        }
        Ok(Self { axes, words: word + 1, rows })
    }

    /// The finest node.
    pub(super) fn bottom(&self) -> Node {
        vec![0; self.axes.len()].into()
    }

    /// The finest node that may be within a limit of suppressed rows, if classes of fewer than
    /// `least` rows are suppressed: no node that is finer on any axis is.
    /// # Proof
    /// Rows in groups of fewer than `least` on one axis alone are in classes no larger at any node
    /// with that level or a finer one. ∎
    pub(super) fn lowest(&self, least: u64, limit: u64) -> Node {
        let level = |axis: &Axis| {
            let lost = |level: &Vec<(u64, u64)>| -> u64 {
                level.iter().map(|&(_, rows)| rows).filter(|&rows| rows < least).sum()
            };
            let first = axis.widest.iter().position(|level| lost(level) <= limit);
            first.map_or(axis.top, |level| level as u8)
        };
        self.axes.iter().map(level).collect()
    }

    /// The coarsest node.
    pub(super) fn top(&self) -> Node {
        self.axes.iter().map(|axis| axis.top).collect()
    }

    /// How many nodes lie between two, both included.
    pub(super) fn volume(low: &[u8], high: &[u8]) -> f64 {
        low.iter().zip(high).map(|(&low, &high)| f64::from(high - low) + 1.0).product()
    }

    /// The key of the class whose every label is `*`, if the node can have one.
    pub(super) fn all_star<const W: usize>(&self, node: &[u8]) -> Option<[u64; W]> {
        let mut key = [0; W];
        for (axis, &level) in self.axes.iter().zip(node) {
            let group = axis.star[usize::from(level)]?;
            if axis.mask != 0 {
                key[axis.word] |= u64::from(group) << axis.shift;
            }
        }
        Some(key)
    }
}

impl Axis {
    /// The group a key holds.
    pub(super) fn group<const W: usize>(&self, key: &[u64; W]) -> usize {
        if self.mask == 0 { 0 } else { (key[self.word] >> self.shift & self.mask) as usize }
    }

    /// The least by which `Σ leaves` grows on a level if `count` rows, whichever,
    /// are suppressed: those with the most leaves are taken first.
    pub(super) fn least_growth(&self, level: u8, mut count: u64) -> u128 {
        let mut growth = 0;
        for &(leaves, rows) in &self.widest[usize::from(level)] {
            let taken = rows.min(count);
            growth += u128::from(taken) * u128::from(self.size.saturating_sub(leaves));
            count -= taken;
            if count == 0 {
                break;
            }
        }
        growth
    }
}
