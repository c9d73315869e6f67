//! Peeling: one full-domain release after another, each for the rows the earlier
//! ones left over.
//!
//! Levels are chosen by hill climbing: a row that a choice publishes gains what its
//! cost (the mean share of leaves its cells lose) stays below a limit, and a class
//! that does not satisfy the models gains nothing. Once no choice gains, the limit
//! rises, so rows that can be published finely are, before coarse classes absorb
//! them. What is left at the end is one class at the top.
//!
//! Every choice looked at is one pass over the rows left.
//!
//! A class takes along every row that is left under its labels, so no later class,
//! nor anything cut from one, carries the same.

use crate::class::Class;
use crate::error::{Error, Result};
use crate::hierarchy::Hierarchy;
use crate::partition::Stop;
use crate::recoding::{Attribute, Cell, Recoding, Scale};
use crate::records::empty;
use crate::table::Column;
use std::collections::HashMap;

/// The limits of the cost, rising. Few are enough: on census data finer steps gave
/// more classes, not less loss.
const LIMITS: [f64; 3] = [0.1, 0.3, 1.0];

/// The rows left over, and how they may be published.
struct Pool<'a> {
    trees: Vec<&'a Hierarchy>,
    columns: Vec<&'a [u32]>,
    sensitive: &'a [&'a Column],
    accepts: &'a dyn Fn(&Class) -> bool,
    /// No smaller class is accepted.
    least: u64,
    /// When to leave the rest as it is.
    stop: Stop<'a>,
    rows: Vec<u32>,
}

/// The pool grouped at some levels.
struct Grouped {
    /// For each row of the pool its group.
    of: Vec<u32>,
    /// For each group, whether the models accept it.
    good: Vec<bool>,
}

/// Peels the table; classes are numbered in the order they left, and the last is
/// what remained, if anything did.
pub(crate) fn peel<'a>(
    attributes: &'a [Attribute<'a>],
    sensitive: &'a [&'a Column],
    least: u64,
    accepts: &'a dyn Fn(&Class) -> bool,
    stop: Stop<'a>,
) -> Result<Recoding> {
    let trees: Option<Vec<&Hierarchy>> = (attributes.iter())
        .map(|a| match &a.scale {
            Scale::Tree(tree) => Some(*tree),
            Scale::Ordered { .. } => None,
        })
        .collect();
    let trees = trees
        .ok_or(Error::OutOfRange { parameter: "the columns", allowed: "given hierarchies" })?;
    let columns: Vec<&[u32]> = attributes.iter().map(|a| a.column.codes.as_slice()).collect();
    let count = columns.first().map_or(0, |c| c.len());
    let rows = (0..count as u32).collect();
    let mut pool = Pool { trees, columns, sensitive, accepts, least, stop, rows };
    let mut release =
        Recoding { class_of: vec![0; count], width: attributes.len(), ..Recoding::default() };
    for limit in LIMITS {
        while pool.rows.len() as u64 >= least {
            let Some(levels) = pool.climb(limit) else { break };
            pool.take(&levels, &mut release);
        }
    }
    if !pool.rows.is_empty() {
        let class = release.sizes.len() as u32;
        release.sizes.push(pool.rows.len() as u64);
        release.cells.extend(attributes.iter().map(Attribute::top));
        pool.rows.iter().for_each(|&row| release.class_of[row as usize] = class);
    }
    Ok(release)
}

impl Pool<'_> {
    /// Groups the rows by their labels at the levels.
    fn group(&self, levels: &[usize]) -> Grouped {
        let mut keys = vec![0_u64; self.rows.len()];
        let mut span = 1_u64;
        for ((tree, column), &level) in self.trees.iter().zip(&self.columns).zip(levels) {
            let at = &tree.levels[level];
            let radix = at.labels.len() as u64;
            if radix < 2 {
                continue;
            }
            // Keys stay distinct: they are renumbered before they could overflow.
            if span.checked_mul(radix).is_none() {
                let (of, sizes) = number(&keys);
                keys = of.into_iter().map(u64::from).collect();
                span = sizes.len() as u64;
            }
            span = span.saturating_mul(radix);
            for (key, &row) in keys.iter_mut().zip(&self.rows) {
                *key = *key * radix + u64::from(at.group[column[row as usize] as usize]);
            }
        }
        let (of, sizes) = number(&keys);
        let good = self.judge(&of, &sizes);
        Grouped { of, good }
    }

    fn judge(&self, of: &[u32], sizes: &[u64]) -> Vec<bool> {
        // Histograms only of groups large enough.
        let mut place = vec![usize::MAX; sizes.len()];
        let mut classes: Vec<Class> = Vec::new();
        for (group, &size) in sizes.iter().enumerate().filter(|&(_, &size)| size >= self.least) {
            place[group] = classes.len();
            classes.push(Class { size, ..empty(self.sensitive) });
        }
        for (at, column) in self.sensitive.iter().enumerate() {
            for (&group, &row) in of.iter().zip(&self.rows) {
                if let Some(class) = classes.get_mut(place[group as usize]) {
                    class.sensitive[at].counts[column.codes[row as usize] as usize] += 1;
                }
            }
        }
        place.iter().map(|&at| classes.get(at).is_some_and(|class| (self.accepts)(class))).collect()
    }

    /// The mean share of leaves a row loses in each attribute, by its code.
    fn costs(&self, levels: &[usize]) -> Vec<Vec<f64>> {
        let mean = 1.0 / levels.len().max(1) as f64;
        let cost = |(tree, &level): (&&Hierarchy, &usize)| {
            let (at, all) = (&tree.levels[level], tree.leaf_count().max(2) - 1);
            let lost =
                |&group: &u32| (at.leaves[group as usize].max(1) - 1) as f64 / all as f64 * mean;
            at.group.iter().map(lost).collect()
        };
        self.trees.iter().zip(levels).map(cost).collect()
    }

    fn gain(&self, levels: &[usize], limit: f64) -> f64 {
        let costs = self.costs(levels);
        let cheapest: f64 = costs.iter().map(|c| c.iter().copied().fold(1.0, f64::min)).sum();
        if cheapest >= limit {
            return 0.0;
        }
        let grouped = self.group(levels);
        let kept =
            self.rows.iter().zip(&grouped.of).filter(|&(_, &group)| grouped.good[group as usize]);
        kept.map(|(&row, _)| {
            let cost = costs
                .iter()
                .zip(&self.columns)
                .map(|(cost, column)| cost[column[row as usize] as usize]);
            limit - cost.sum::<f64>()
        })
        .sum()
    }

    /// From the bottom up: levels no neighbour gains more than, or `None` if nothing is gained.
    fn climb(&self, limit: f64) -> Option<Vec<usize>> {
        let mut known: HashMap<Vec<usize>, f64> = HashMap::new();
        let mut gain = |levels: &[usize]| {
            *known.entry(levels.to_vec()).or_insert_with(|| self.gain(levels, limit))
        };
        let mut at = vec![0; self.trees.len()];
        let mut best = gain(&at);
        loop {
            let mut step = None;
            for attribute in 0..at.len() {
                if self.stop.over() {
                    return None;
                }
                let now = at[attribute];
                let above = (now < self.trees[attribute].height()).then_some(now + 1);
                for next in above.into_iter().chain(now.checked_sub(1)) {
                    let mut levels = at.clone();
                    levels[attribute] = next;
                    let gained = gain(&levels);
                    if gained > best {
                        best = gained;
                        step = Some(levels);
                    }
                }
            }
            match step {
                Some(levels) => at = levels,
                None => return (best > 0.0).then_some(at),
            }
        }
    }

    /// Moves the groups the models accept into the release.
    fn take(&mut self, levels: &[usize], release: &mut Recoding) {
        let grouped = self.group(levels);
        let mut number = vec![u32::MAX; grouped.good.len()];
        let mut left = Vec::new();
        for (&row, &group) in self.rows.iter().zip(&grouped.of) {
            if !grouped.good[group as usize] {
                left.push(row);
                continue;
            }
            let class = &mut number[group as usize];
            if *class == u32::MAX {
                *class = release.sizes.len() as u32;
                release.sizes.push(0);
                for ((tree, column), &level) in self.trees.iter().zip(&self.columns).zip(levels) {
                    let group = tree.levels[level].group[column[row as usize] as usize];
                    release.cells.push(Cell::Group { level: level as u32, group });
                }
            }
            release.sizes[*class as usize] += 1;
            release.class_of[row as usize] = *class;
        }
        self.rows = left;
    }
}

/// Numbers equal keys alike, by first appearance, and counts them.
fn number(keys: &[u64]) -> (Vec<u32>, Vec<u64>) {
    let mut known: HashMap<u64, u32, Mixed> = HashMap::default();
    let mut sizes: Vec<u64> = Vec::new();
    let mut of = Vec::with_capacity(keys.len());
    for &key in keys {
        let group = *known.entry(key).or_insert_with(|| {
            sizes.push(0);
            sizes.len() as u32 - 1
        });
        sizes[group as usize] += 1;
        of.push(group);
    }
    (of, sizes)
}

/// A hash for keys that are numbers already.
#[derive(Clone, Copy, Default)]
struct Mixed;

struct Mixer(u64);

impl std::hash::BuildHasher for Mixed {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(0)
    }
}

impl std::hash::Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}
