//! What the models' tests share: the lecture's nine rows and all small histograms.

use super::Model;
use crate::class::{Class, Histogram};

pub(crate) fn class(counts: &[u64]) -> Class {
    Class { size: counts.iter().sum(), sensitive: vec![Histogram { counts: counts.to_vec() }] }
}

pub(crate) fn two_columns(first: &[u64], second: &[u64]) -> Class {
    let histogram = |counts: &[u64]| Histogram { counts: counts.to_vec() };
    Class { size: first.iter().sum(), sensitive: vec![histogram(first), histogram(second)] }
}

/// Q and the three classes; values in the order iOS, Android, MacOS, Windows, Linux.
pub(crate) fn lecture() -> (Class, [Class; 3]) {
    let classes = [class(&[1, 1, 1, 0, 0]), class(&[0, 0, 0, 2, 1]), class(&[0, 1, 1, 1, 0])];
    (class(&[1, 2, 2, 3, 1]), classes)
}

/// All histograms of `values` counts, each at most `most`, except the empty one.
pub(crate) fn histograms(values: usize, most: u64) -> Vec<Vec<u64>> {
    below(&vec![most; values]).into_iter().filter(|counts| counts.iter().any(|&c| c > 0)).collect()
}

/// All count vectors of which no count exceeds its limit.
pub(crate) fn below(limits: &[u64]) -> Vec<Vec<u64>> {
    limits.iter().fold(vec![Vec::new()], |all, &limit| {
        all.iter()
            .flat_map(|counts| {
                (0..=limit).map(move |c| counts.iter().copied().chain([c]).collect())
            })
            .collect()
    })
}

/// A union of two classes that pass always passes, for all small pairs in a table
/// that has one row of each value more.
pub(crate) fn check_monotone(model: &dyn Model, values: usize, most: u64) {
    assert!(model.monotone());
    if let Some(pair) = broken_union(model, values, most) {
        panic!("{}: {pair:?}", model.name());
    }
}

/// Two classes that pass in a table where their union does not.
pub(crate) fn broken_union(
    model: &dyn Model,
    values: usize,
    most: u64,
) -> Option<(Vec<u64>, Vec<u64>)> {
    let all = histograms(values, most);
    for a in &all {
        for b in &all {
            let union: Vec<u64> = a.iter().zip(b).map(|(x, y)| x + y).collect();
            let table = class(&union.iter().map(|c| c + 1).collect::<Vec<_>>());
            let holds = |counts: &[u64]| model.holds(&class(counts), &table);
            if holds(a) && holds(b) && !holds(&union) {
                return Some((a.clone(), b.clone()));
            }
        }
    }
    None
}
