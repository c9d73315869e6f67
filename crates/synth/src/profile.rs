//! What a released histogram says about one column: its distribution, and nested resolutions of it.
//!
//! Pairs are measured on coarse bins, where there is less noise; the codes of a bin keep the shares that the one-way
//! histogram gives them. The bins come from noised counts, so they cost nothing.

use crate::measure::Noised;
use crate::schema::Column;
use crate::segment::segment;
use crate::simplex::project;
use crate::view::Level;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// How many bins the resolutions of a column have; the finest has all codes.
const SIZES: [usize; 9] = [3, 5, 8, 12, 16, 24, 32, 48, 64];

/// What a new piece of a segmented histogram costs, in nats.
const PENALTY: f64 = 2.0;

/// The least share of a code that may occur, so that every bin can be divided among its codes.
const LEAST: f64 = 1e-12;

/// A histogram of one column: released, or public.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OneWay {
    pub(crate) counts: Vec<f64>,
    /// The variance of each count.
    pub(crate) variance: f64,
}

impl From<Noised> for OneWay {
    fn from(noised: Noised) -> Self {
        Self { counts: noised.counts().to_vec(), variance: noised.variance() }
    }
}

/// A column's estimated distribution and its resolutions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Profile {
    /// The share of each code: positive, but 0 where a rule forbids the code.
    pub(crate) shares: Vec<f64>,
    /// Nested partitions, coarsest first; the last has a bin for each code.
    pub(crate) levels: Vec<Level>,
}

impl Profile {
    /// From a noised histogram and the estimated number of rows. `allowed` says which codes may occur.
    pub(crate) fn of(column: &Column, noised: &OneWay, total: f64, allowed: &[bool]) -> Self {
        let mut counts = noised.counts.clone();
        let apart = column.apart();
        if column.is_ordered() && counts.len() > apart {
            let smooth = segment(&counts[apart..], noised.variance, PENALTY);
            counts[apart..].copy_from_slice(&smooth);
        }
        // Codes that cannot occur are left out of the projection.
        let present: Vec<f64> =
            counts.iter().zip(allowed).filter(|(_, ok)| **ok).map(|(count, _)| *count).collect();
        let mut projected = project(&present, total).into_iter();
        let counts: Vec<f64> = allowed
            .iter()
            .map(|&ok| if ok { projected.next().unwrap_or(0.0) } else { 0.0 })
            .collect();
        Self::from_shares(column, &counts, allowed)
    }

    /// From shares or counts that need not add up to 1.
    pub(crate) fn from_shares(column: &Column, weights: &[f64], allowed: &[bool]) -> Self {
        let sum: f64 = weights.iter().sum();
        let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        let mut shares: Vec<f64> = weights
            .iter()
            .zip(allowed)
            .map(|(weight, &ok)| if ok { (weight * scale).max(LEAST) } else { 0.0 })
            .collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let levels = levels(&shares, column.is_ordered(), column.apart());
        Self { shares, levels }
    }

    /// The finest resolution with at most `bins` bins; the coarsest if there is none.
    pub(crate) fn level_within(&self, bins: usize) -> usize {
        self.levels.iter().rposition(|level| level.bins <= bins).unwrap_or(0)
    }

    pub(crate) fn finest(&self) -> usize {
        self.levels.len() - 1
    }

    /// The share of each bin of a level.
    pub(crate) fn bins(&self, level: usize) -> Vec<f64> {
        self.levels[level].sum(&self.shares)
    }

    /// For each bin of the `fine` level, its share of the bin of the `coarse` level that holds it.
    pub(crate) fn within(&self, fine: usize, coarse: usize) -> Vec<f64> {
        let (mine, theirs) = (self.bins(fine), self.bins(coarse));
        let map = self.levels[fine].down_to(&self.levels[coarse]);
        mine.iter()
            .zip(&map)
            .map(|(share, &bin)| {
                let whole = theirs[usize::from(bin)];
                if whole > 0.0 { share / whole } else { 0.0 }
            })
            .collect()
    }
}

/// Nested partitions by merging the lightest bins: neighbours for an ordered column, any two otherwise. The first
/// `apart` codes of an ordered column are never merged.
fn levels(shares: &[f64], ordered: bool, apart: usize) -> Vec<Level> {
    let codes = shares.len();
    let mut merger = Merger::new(shares, ordered, apart);
    let mut levels = vec![Level::full(codes)];
    for size in SIZES.into_iter().rev().filter(|&size| size < codes) {
        merger.reduce(size);
        levels.push(merger.level());
    }
    // An ordered column whose codes apart cannot merge may stop short of a size.
    levels.dedup();
    levels.reverse();
    levels
}

/// A mass in a heap, by total order.
#[derive(Clone, Copy, PartialEq)]
struct Mass(f64);

impl Eq for Mass {}
impl PartialOrd for Mass {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Mass {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Bins that are merged one pair at a time. A bin is known by its first code, and dies when it is merged into another.
struct Merger {
    ordered: bool,
    apart: usize,
    alive: usize,
    mass: Vec<f64>,
    /// The bin that each bin was merged into, or itself.
    into: Vec<usize>,
    /// The bin after each living bin; `codes` after the last.
    next: Vec<usize>,
    before: Vec<usize>,
    /// How often a bin has changed: older entries of the heap are stale.
    version: Vec<u32>,
    /// Bins (or, if ordered, bins with their next one) by mass; then code, then version of the one or two bins.
    heap: BinaryHeap<Reverse<(Mass, usize, u32, u32)>>,
}

impl Merger {
    fn new(shares: &[f64], ordered: bool, apart: usize) -> Self {
        let codes = shares.len();
        let mut merger = Self {
            ordered,
            apart,
            alive: codes,
            mass: shares.to_vec(),
            into: (0..codes).collect(),
            next: (1..=codes).collect(),
            before: (0..codes).map(|code| code.wrapping_sub(1)).collect(),
            version: vec![0; codes],
            heap: BinaryHeap::new(),
        };
        (0..codes).for_each(|code| merger.offer(code));
        merger
    }

    fn offer(&mut self, bin: usize) {
        let after = self.next[bin];
        if !self.ordered {
            self.heap.push(Reverse((Mass(self.mass[bin]), bin, self.version[bin], 0)));
        } else if bin >= self.apart && after < self.mass.len() {
            let mass = Mass(self.mass[bin] + self.mass[after]);
            self.heap.push(Reverse((mass, bin, self.version[bin], self.version[after])));
        }
    }

    /// The next entry of the heap that is not stale: the bin, and its next one if ordered.
    fn pop(&mut self) -> Option<usize> {
        while let Some(Reverse((_, bin, version, other))) = self.heap.pop() {
            let after = self.next[bin];
            let fresh = self.into[bin] == bin
                && self.version[bin] == version
                && (!self.ordered || (after < self.mass.len() && self.version[after] == other));
            if fresh {
                return Some(bin);
            }
        }
        None
    }

    fn reduce(&mut self, size: usize) {
        while self.alive > size {
            let Some(first) = self.pop() else { return };
            let second = if self.ordered {
                self.next[first]
            } else {
                match self.pop() {
                    Some(second) => second,
                    None => return,
                }
            };
            let (keep, gone) = (first.min(second), first.max(second));
            self.mass[keep] += self.mass[gone];
            self.into[gone] = keep;
            self.version[keep] += 1;
            self.version[gone] += 1;
            self.alive -= 1;
            if self.ordered {
                let after = self.next[gone];
                self.next[keep] = after;
                if after < self.mass.len() {
                    self.before[after] = keep;
                }
                let before = self.before[keep];
                if before < self.mass.len() {
                    self.offer(before);
                }
            }
            self.offer(keep);
        }
    }

    /// The partition as it is, with bins numbered by their first codes.
    fn level(&self) -> Level {
        let mut number = vec![0u16; self.mass.len()];
        let mut bins = 0usize;
        let bin_of = (0..self.mass.len())
            .map(|code| {
                let mut bin = code;
                while self.into[bin] != bin {
                    bin = self.into[bin];
                }
                if bin == code {
                    number[code] = bins as u16;
                    bins += 1;
                }
                number[bin]
            })
            .collect();
        Level { bins, bin_of }
    }
}

#[cfg(test)]
mod tests;
