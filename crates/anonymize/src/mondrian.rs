//! Mondrian: the table cut along one quasi-identifier at a time, each part on
//! its own, as long as every part still satisfies the models.
//!
//! Strict: rows with equal values are never parted, so the classes are disjoint
//! boxes. An ordered column is cut next to its median; a column with a hierarchy
//! into all the groups one level down. The widest column is tried first, by its
//! share of the leaves; ties go to the column listed first. Nothing is random:
//! the same table gives the same release on any number of threads.
//!
//! # Guarantee
//! Every class satisfies every model, and no part can be cut further by these
//! cuts, unless it was stopped. Where no cut leaves all parts satisfied, one is taken whose
//! failing parts may be suppressed. A model with natural supersets is asked with the parts a class was cut
//! from, which stay in [`Partition::nodes`].
//!
//! # Cost
//! A cut at the median halves a part, and a hierarchy is descended once, so n rows
//! of d columns take O(d·n·(log n + heights)) steps.
//!
//! # References
//! LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006.

use crate::class::Class;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::model::Model;
use crate::partition::{Cut, Judge, Options, Partition, Rule, Stop, Work, run};
use crate::recoding::{Attribute, Cell, Scale};
use crate::records::{Key, Records};
use crate::table::Column;

/// Cuts the table.
///
/// `sensitive` lists the columns in the order the models count them. The answer
/// is `None` if the whole table, as one class, does not satisfy the models.
pub fn mondrian(
    attributes: &[Attribute<'_>],
    sensitive: &[&Column],
    models: &[Box<dyn Model>],
    options: &Options<'_>,
) -> Result<Option<Partition>> {
    run(attributes, sensitive, models, &Widest, options, Stop::new(options))
}

struct Widest;

impl Rule for Widest {
    fn cut<'l>(
        &self,
        judge: &Judge<'_>,
        work: &mut Work,
        records: Records<'l, '_>,
    ) -> Option<Cut<'l>> {
        tighten(&mut work.cells, records);
        let needed = judge.least.saturating_mul(if work.budget == 0 { 2 } else { 1 });
        if (records.len() as u64) < needed {
            return None;
        }
        let mut widest: Vec<(f64, usize)> = Vec::new();
        for (at, (attribute, &cell)) in
            records.layout.attributes.iter().zip(&work.cells).enumerate()
        {
            let all = attribute.leaf_count().max(2) - 1;
            let width = (attribute.leaves(cell).max(1) - 1) as f64 / all as f64;
            let fixed = matches!(cell, Cell::Group { level: 0, .. })
                || matches!(cell, Cell::Range { low, high } if low == high);
            if !fixed {
                widest.push((width, at));
            }
        }
        widest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let cut =
            |at: usize, budget: u64| match (&records.layout.attributes[at].scale, work.cells[at]) {
                (Scale::Ordered { .. }, Cell::Range { low, high }) => {
                    halves(judge, work, records, at, (low, high), budget)
                }
                (Scale::Tree(hierarchy), Cell::Group { level, .. }) => {
                    groups(judge, work, records, at, (hierarchy, level.checked_sub(1)?), budget)
                }
                _ => None,
            };
        let free = widest.iter().find_map(|&(_, at)| cut(at, 0));
        match work.budget {
            0 => free,
            budget => free.or_else(|| widest.iter().find_map(|&(_, at)| cut(at, budget))),
        }
    }
}

/// Makes every cell as small as the records allow: ranges shrink, and a hierarchy
/// is descended while all records share a group.
pub(crate) fn tighten(cells: &mut [Cell], records: Records<'_, '_>) {
    for (at, (attribute, cell)) in records.layout.attributes.iter().zip(cells).enumerate() {
        match (&attribute.scale, &mut *cell) {
            (Scale::Ordered { .. }, Cell::Range { low, high }) if *low < *high => {
                let bounds =
                    records.values(at).fold((u32::MAX, 0), |(l, h), v| (l.min(v), h.max(v)));
                (*low, *high) = bounds;
            }
            (Scale::Tree(hierarchy), Cell::Group { level, group }) => {
                for next in (0..*level).rev() {
                    let of = &hierarchy.levels[next as usize].group;
                    let mut values = records.values(at).map(|code| of[code as usize]);
                    let Some(first) = values.next() else { break };
                    if values.any(|g| g != first) {
                        break;
                    }
                    (*level, *group) = (next, first);
                }
            }
            _ => {}
        }
    }
}

/// Two parts, cut just below or just above the median, whichever is the more even. One of them
/// may be suppressed if it is not larger than the budget.
pub(crate) fn halves<'l>(
    judge: &Judge<'_>,
    work: &Work,
    records: Records<'l, '_>,
    at: usize,
    (low, high): (u32, u32),
    budget: u64,
) -> Option<Cut<'l>> {
    let rows = records.len();
    let (median, below, upto) = median(records, at, low, high);
    let mut cuts = [(median, below), (median.saturating_add(1), upto)];
    cuts.sort_by_key(|&(_, left)| (2 * left).abs_diff(rows));
    cuts.into_iter().find_map(|(first, left)| {
        let smaller = left.min(rows - left) as u64;
        if smaller == 0 || (smaller < judge.least && smaller > budget) {
            return None;
        }
        let key = Key::From { at, first };
        let classes = records.classes(2, &key);
        let ranges = [Cell::Range { low, high: first - 1 }, Cell::Range { low: first, high }];
        let children = accepted(judge, work, at, ranges.into_iter().zip(classes), budget)?;
        Some(Cut { children, key })
    })
}

/// The parts with their cells, those that fail without; `None` if these are larger than the
/// budget together, or all there are.
fn accepted(
    judge: &Judge<'_>,
    work: &Work,
    at: usize,
    parts: impl Iterator<Item = (Cell, Class)>,
    budget: u64,
) -> Option<Vec<(Vec<Cell>, Class)>> {
    let (mut children, mut lost, mut stay) = (Vec::new(), 0, false);
    for (cell, class) in parts {
        let cells = match judge.accepts(&class, Some(&work.path)) {
            true => {
                stay = true;
                with(work, at, cell)
            }
            false => {
                lost += class.size;
                Vec::new()
            }
        };
        if lost > budget {
            return None;
        }
        children.push((cells, class));
    }
    stay.then_some(children)
}

/// The median value, how many are below it, and how many are not above it.
fn median(records: Records<'_, '_>, at: usize, low: u32, high: u32) -> (u32, usize, usize) {
    let rows = records.len();
    let span = (high - low) as usize + 1;
    if span <= rows.saturating_mul(2) {
        let mut counts = vec![0_usize; span];
        for value in records.values(at) {
            counts[(value - low) as usize] += 1;
        }
        let mut below = 0;
        for (offset, count) in counts.into_iter().enumerate() {
            if below + count > rows / 2 {
                return (low + offset as u32, below, below + count);
            }
            below += count;
        }
        return (high, below, below);
    }
    let mut values: Vec<u32> = records.values(at).collect();
    let median = *values.select_nth_unstable(rows / 2).1;
    let below = values.iter().filter(|&&v| v < median).count();
    let upto = values.iter().filter(|&&v| v <= median).count();
    (median, below, upto)
}

/// One part for each group of the level below.
fn groups<'l>(
    judge: &Judge<'_>,
    work: &Work,
    records: Records<'l, '_>,
    at: usize,
    (hierarchy, level): (&'l Hierarchy, u32),
    budget: u64,
) -> Option<Cut<'l>> {
    let below = &hierarchy.levels[level as usize];
    let counts = tally(records, at, &below.group, below.labels.len());
    let small = counts.iter().map(|&(_, count)| count).filter(|&count| count < judge.least);
    if counts.len() < 2 || small.sum::<u64>() > budget {
        return None;
    }
    let named: Vec<u32> = counts.iter().map(|&(group, _)| group).collect();
    let part = (0..named.len()).collect();
    let key = Key::Groups { at, of: &below.group, named: named.clone(), part };
    let classes = records.classes(named.len(), &key);
    let cells = named.into_iter().map(|group| Cell::Group { level, group });
    let children = accepted(judge, work, at, cells.zip(classes), budget)?;
    Some(Cut { children, key })
}

/// The groups that occur, in order, with how many records each has.
pub(crate) fn tally(
    records: Records<'_, '_>,
    at: usize,
    of: &[u32],
    groups: usize,
) -> Vec<(u32, u64)> {
    let values = records.values(at).map(|code| of[code as usize]);
    if groups <= records.len().saturating_mul(2) {
        let mut counts = vec![0_u64; groups];
        values.for_each(|group| counts[group as usize] += 1);
        let counts = (0_u32..).zip(counts);
        return counts.filter(|&(_, count)| count > 0).collect();
    }
    let mut sorted: Vec<u32> = values.collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect()
}

/// The part's cells with one replaced.
pub(crate) fn with(work: &Work, at: usize, cell: Cell) -> Vec<Cell> {
    let mut cells = work.cells.clone();
    cells[at] = cell;
    cells
}
