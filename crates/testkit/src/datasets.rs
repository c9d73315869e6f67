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
mod tests {
    use super::*;

    #[test]
    fn rows_are_all_of_them_once() {
        assert_eq!(
            rows(&['a', 'b'], 0..=2),
            ["", "a", "b", "aa", "ab", "ba", "bb"].map(|s| s.chars().collect::<Vec<_>>())
        );
        assert_eq!(rows(&[0, 1, 2], 4..=4).len(), 81);
        assert_eq!(distinct(rows(&[0, 1, 2], 0..=4)).len(), 1 + 3 + 9 + 27 + 81);
    }

    #[test]
    fn neighbours_are_exactly_those_of_the_definition() {
        let domain = [0, 1, 2];
        let all = rows(&domain, 0..=3);
        let larger = rows(&domain, 0..=4);
        for x in &all {
            let differing = |y: &&Vec<i32>| {
                y.len() == x.len() && y.iter().zip(x).filter(|(a, b)| a != b).count() == 1
            };
            let expected: Vec<_> = all.iter().filter(differing).cloned().collect();
            assert_eq!(distinct(replace_one(x, &domain)), distinct(expected));

            let without = |y: &[i32], i: usize| [&y[..i], &y[i + 1..]].concat();
            let one_less =
                |long: &[i32], short: &[i32]| (0..long.len()).any(|i| without(long, i) == short);
            let near = |y: &&Vec<i32>| one_less(y, x) || one_less(x, y);
            let expected: Vec<_> = larger.iter().filter(near).cloned().collect();
            assert_eq!(add_or_remove_one(x, &domain), distinct(expected));
        }
    }

    #[test]
    fn histograms_are_all_of_them_once() {
        // C(total + cells, cells) histograms.
        assert_eq!(distinct(histograms(3, 4)).len(), 35);
        assert_eq!(histograms(3, 4).len(), 35);
        assert_eq!(histograms(0, 4), [Vec::<u64>::new()]);
        for h in histograms(3, 3) {
            for n in histogram_replace_one(&h) {
                assert_eq!(n.iter().sum::<u64>(), h.iter().sum::<u64>());
                assert_eq!(distance(&h, &n), 2);
                assert!(histogram_replace_one(&n).contains(&h));
            }
            let adds = histogram_add_or_remove_one(&h);
            assert_eq!(adds.len(), 3 + h.iter().filter(|c| **c > 0).count());
            for n in adds {
                assert_eq!(distance(&h, &n), 1);
                assert!(histogram_add_or_remove_one(&n).contains(&h));
            }
        }
        assert_eq!(histogram_replace_one(&[1, 0, 2]).len(), 4);
    }

    fn distance(a: &[u64], b: &[u64]) -> u64 {
        a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).sum()
    }
}
