//! Keys cut into cells: each value its own where there are few, quantiles where there are many.

/// Cells of a feature's keys: cell i holds the keys above the previous edge, up to and with the i-th.
/// The last has no upper edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    edges: Vec<u64>,
    /// Whether every cell but the last is one key.
    pub(super) single: bool,
}

/// So many values have a cell each.
const MOST_VALUES: usize = 512;
/// Else so many quantiles.
const QUANTILES: usize = 64;
/// A value with more than one in so many of the keys has a cell of its own all the same.
const HEAVY: usize = 500;

impl Cells {
    /// Cells for these keys, from both sides together.
    pub(super) fn of(left: &[u64], right: &[u64]) -> Self {
        let mut all: Vec<u64> = left.iter().chain(right).copied().collect();
        all.sort_unstable();
        let mut values = all.clone();
        values.dedup();
        if values.len() <= MOST_VALUES {
            // Each value, and a cell of what lies between it and the one before.
            let mut edges: Vec<u64> =
                values.iter().flat_map(|&v| [v.saturating_sub(1), v]).collect();
            edges.dedup();
            return Self { edges, single: true };
        }
        let mut edges: Vec<u64> =
            (1..QUANTILES).filter_map(|i| all.get(all.len() * i / QUANTILES).copied()).collect();
        for run in all.chunk_by(|a, b| a == b).filter(|run| run.len() * HEAVY >= all.len()) {
            edges.extend(run.first().into_iter().flat_map(|&v| [v.saturating_sub(1), v]));
        }
        edges.sort_unstable();
        edges.dedup();
        Self { edges, single: false }
    }

    /// The number of the cell that a key is in.
    pub(super) fn place(&self, key: u64) -> usize {
        self.edges.partition_point(|&edge| edge < key)
    }

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.edges.len() + 1
    }

    /// The upper edges.
    pub(super) fn edges(&self) -> &[u64] {
        &self.edges
    }

    /// Whether a half-line up to this edge ends at a value that was seen, and not between two.
    pub(super) fn ends(&self, edge: u64) -> bool {
        !self.single
            || edge == 0
            || edge == u64::MAX - 1
            || self.edges.binary_search(&(edge - 1)).is_ok()
    }

    /// Whether a half-line from this key on begins at one.
    pub(super) fn begins(&self, key: u64) -> bool {
        !self.single || self.edges.binary_search(&key).is_ok()
    }

    /// How many of the keys are in each cell.
    pub(super) fn counts(&self, keys: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; self.len()];
        for &key in keys {
            if let Some(count) = counts.get_mut(self.place(key)) {
                *count += 1;
            }
        }
        counts
    }

    /// `ln((l + ½)/(r + ½))` of each cell's share.
    pub(super) fn ratios(&self, left: &[u64], right: &[u64]) -> Vec<f64> {
        let (sizes, counts) =
            ((left.len().max(1), right.len().max(1)), (self.counts(left), self.counts(right)));
        let share = |count: u64, size: usize| (count as f64 + 0.5) / size as f64;
        let pairs = counts.0.iter().zip(&counts.1);
        pairs.map(|(&l, &r)| (share(l, sizes.0) / share(r, sizes.1)).ln()).collect()
    }
}

#[cfg(test)]
mod tests;
