//! Rows from an estimate: post-processing of released numbers.
//!
//! | file | what it holds |
//! |---|---|
//! | `draws.rs` | a fast generator for choices that protect nobody |
//! | `sample.rs` | rows down the tree, by systematic sampling |
//! | `polish.rs` | swaps that bring the rows' two-way counts to the expected ones |
//! | `repair.rs` | rows that a rule forbids are changed |
//!
//! A sample of n rows misses the expected count of a cell by about its square root. Rounding alone would miss it by
//! less than one: most of that gap is what polishing closes.

mod draws;
mod polish;
mod repair;
mod sample;

use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::rules::Rules;
use crate::table::CodedTable;
use crate::threads;
use demure_core::random::Randomness;
pub(crate) use draws::Draws;

/// The most cells of all pairs' expected tables together; with more, polishing sees coarser bins.
const MOST_CELLS: usize = 20_000_000;
/// The most cells if columns in rules, which keep all codes, need more than [`MOST_CELLS`].
const HARD_LIMIT: usize = 80_000_000;
/// The most rows of a table.
pub(crate) const MOST_ROWS: usize = 100_000_000;

/// Draws `rows` rows that obey the rules.
pub(crate) fn rows(
    estimate: &Estimate,
    rules: &Rules,
    rows: usize,
    threads: usize,
    rng: &mut dyn Randomness,
) -> Result<CodedTable> {
    if rows > MOST_ROWS {
        return Err(Error::OutOfRange {
            parameter: "the number of rows",
            allowed: "at most 100 million",
        });
    }
    let mut draws = Draws::new(rng)?;
    let width = estimate.profiles.len();
    let valid = rules.some_row(&estimate.profiles)?;
    if rows == 0 {
        return Ok(CodedTable::from_columns(0, vec![Vec::new(); width]));
    }
    let work = resolution(estimate, rules)?;
    let mut columns = sample::sample(estimate, rows, &mut draws);
    for (column, values) in columns.iter_mut().enumerate() {
        let profile = &estimate.profiles[column];
        sample::refine(profile, estimate.resolution[column], work[column], values, &mut draws);
    }
    if rules.combine() {
        repair::repair(estimate, rules, &valid, &mut columns, &mut draws);
    }
    let targets = targets(estimate, rules, &work, rows, threads);
    polish::polish(&targets, rules, &mut columns, threads, &mut draws);
    for (column, values) in columns.iter_mut().enumerate() {
        let profile = &estimate.profiles[column];
        sample::refine(profile, work[column], profile.finest(), values, &mut draws);
    }
    Ok(CodedTable::from_columns(rows, columns))
}

/// The level of each column at which rows are polished: all codes, or as many bins as keep the tables within
/// [`MOST_CELLS`]. Columns in rules keep all codes, and none is coarser than in the tree.
fn resolution(estimate: &Estimate, rules: &Rules) -> Result<Vec<usize>> {
    let levels = |most: usize| -> Vec<usize> {
        let own = estimate.resolution.iter().zip(&estimate.profiles).enumerate();
        own.map(|(column, (&own, profile))| match rules.concern(column) {
            true => profile.finest(),
            false => profile.level_within(most).max(own),
        })
        .collect()
    };
    let cells = |levels: &[usize]| -> usize {
        let bins =
            |(profile, &level): (&crate::profile::Profile, &usize)| profile.levels[level].bins;
        let sizes: Vec<usize> = estimate.profiles.iter().zip(levels).map(bins).collect();
        let (sum, squares): (usize, usize) =
            (sizes.iter().sum(), sizes.iter().map(|size| size * size).sum());
        (sum * sum - squares) / 2
    };
    let mut most = usize::MAX;
    loop {
        let found = levels(most);
        if cells(&found) <= MOST_CELLS || (most < 3 && cells(&found) <= HARD_LIMIT) {
            return Ok(found);
        }
        if most < 3 {
            return Err(Error::TooLarge {
                what: "the tables of all pairs",
                cells: cells(&found) as f64,
                most: HARD_LIMIT as f64,
                remedy: "give columns in rules fewer codes",
            });
        }
        most = if most == usize::MAX { 4096 } else { most * 3 / 4 };
    }
}

/// The expected two-way counts of all pairs.
pub(crate) struct Targets {
    /// How many bins each column has.
    sizes: Vec<usize>,
    /// The table of columns a < b is at `a·width + b`.
    tables: Vec<Vec<f32>>,
}

fn targets(
    estimate: &Estimate,
    rules: &Rules,
    work: &[usize],
    rows: usize,
    threads: usize,
) -> Targets {
    let width = estimate.profiles.len();
    let passages = estimate.passages();
    let firsts: Vec<usize> = (0..width).collect();
    let found = threads::map(threads, &firsts, |&a| {
        let narrow = |(b, table): (usize, Vec<f64>)| -> Vec<f32> {
            let mut table = estimate.table([a, b], [work[a], work[b]], &table, rows as f64);
            let size = estimate.profiles[b].levels[work[b]].bins;
            for (first, second) in rules.of_pair(a, b) {
                for (row, _) in
                    table.chunks_mut(size).zip(first).filter(|(_, forbidden)| **forbidden)
                {
                    let cells = row.iter_mut().zip(second).filter(|(_, forbidden)| **forbidden);
                    cells.for_each(|(cell, _)| *cell = 0.0);
                }
            }
            table.iter().map(|&count| count as f32).collect()
        };
        passages.from(a).into_iter().map(narrow).collect::<Vec<_>>()
    });
    let mut tables = vec![Vec::new(); width * width];
    for (a, row) in found.into_iter().enumerate() {
        for (i, table) in row.into_iter().enumerate() {
            tables[a * width + a + 1 + i] = table;
        }
    }
    let sizes =
        estimate.profiles.iter().zip(work).map(|(profile, &level)| profile.levels[level].bins);
    Targets { sizes: sizes.collect(), tables }
}
