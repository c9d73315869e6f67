//! All the small datasets, and the neighbours of each.
//!
//! A guarantee that holds for all datasets holds for the small ones, and a wrong
//! sensitivity shows there: two or three rows over two or three values are nearly always
//! enough, and few enough to try them all.
//!
//! Rows are in order, since a mechanism may depend on it by mistake. No dataset is its own
//! neighbour, and every relation here is symmetric.

use std::ops::RangeInclusive;

/// All vectors over `domain` with a number of rows in `sizes`, the shorter first.
pub fn rows<T: Clone>(domain: &[T], sizes: RangeInclusive<usize>) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    let mut level = vec![Vec::new()];
    for size in 0..=*sizes.end() {
        if sizes.contains(&size) {
            all.extend(level.iter().cloned());
        }
        level = level
            .iter()
            .flat_map(|row| domain.iter().map(|value| with(row, row.len(), value)))
            .collect();
    }
    all
}

/// The datasets that differ from `dataset` in exactly one row: *replace one*.
pub fn replace_one<T: Clone + PartialEq>(dataset: &[T], domain: &[T]) -> Vec<Vec<T>> {
    (0..dataset.len())
        .flat_map(|i| {
            let others = domain.iter().filter(move |value| **value != dataset[i]);
            others.map(move |value| {
                let mut neighbour = dataset.to_vec();
                neighbour[i] = value.clone();
                neighbour
            })
        })
        .collect()
}

/// The datasets with one row less or one row more, at any place: *add or remove one*.
pub fn add_or_remove_one<T: Clone + Ord>(dataset: &[T], domain: &[T]) -> Vec<Vec<T>> {
    let removed = (0..dataset.len()).map(|i| {
        let mut neighbour = dataset.to_vec();
        neighbour.remove(i);
        neighbour
    });
    let added =
        (0..=dataset.len()).flat_map(|i| domain.iter().map(move |value| with(dataset, i, value)));
    distinct(removed.chain(added).collect())
}

/// All histograms of `cells` counts with at most `total` rows in all.
pub fn histograms(cells: usize, total: u64) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for _ in 0..cells {
        all = all
            .iter()
            .flat_map(|counts: &Vec<u64>| {
                let left = total - counts.iter().sum::<u64>();
                (0..=left).map(|count| with(counts, counts.len(), &count))
            })
            .collect();
    }
    all
}

/// The histograms after one row has moved from one cell to another: *replace one*.
pub fn histogram_replace_one(counts: &[u64]) -> Vec<Vec<u64>> {
    let cells = 0..counts.len();
    cells
        .clone()
        .flat_map(|from| cells.clone().map(move |to| (from, to)))
        .filter(|&(from, to)| from != to && counts[from] > 0)
        .map(|(from, to)| {
            let mut neighbour = counts.to_vec();
            neighbour[from] -= 1;
            neighbour[to] += 1;
            neighbour
        })
        .collect()
}

/// The histograms with one row less or one row more: *add or remove one*.
pub fn histogram_add_or_remove_one(counts: &[u64]) -> Vec<Vec<u64>> {
    let moved = |i: usize, count: u64| {
        let mut neighbour = counts.to_vec();
        neighbour[i] = count;
        neighbour
    };
    (0..counts.len())
        .flat_map(|i| {
            let less = counts[i].checked_sub(1).map(|count| moved(i, count));
            less.into_iter().chain([moved(i, counts[i] + 1)])
        })
        .collect()
}

/// `row` with `value` inserted before place `i`.
fn with<T: Clone>(row: &[T], i: usize, value: &T) -> Vec<T> {
    let mut longer = row.to_vec();
    longer.insert(i, value.clone());
    longer
}

fn distinct<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
