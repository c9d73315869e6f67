//! How likely it is that a row is linked to a person by its quasi-identifiers.
//!
//! | observer | knows | chance for a row of class E |
//! |---|---|---|
//! | prosecutor | that the person is in the table | 1/\|E\| |
//! | journalist | only that the person is in the population | 1/\|F\|, F the rows of the population that look like E |
//! | marketer | as the other two, but wants as many rows as possible | the mean over the rows |
//!
//! Suppressed rows match no one and are left out; how many there are is reported.
//!
//! # What it does not say
//! Nothing about what is learned of a sensitive value without linking a row, and
//! nothing about observers who know more than the quasi-identifiers.

use crate::check::group;
use crate::error::{Error, Result};
use crate::recoding::{Attribute, Cell, Recoding, Scale};
use crate::table::{Column, Table};
use std::collections::HashMap;

/// The chance of one observer over all published rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// The highest chance of any row is one in this many; 0 if nothing is published.
    pub highest_one_in: u64,
    /// The mean over the rows: the marketer's share of rows linked.
    pub average: f64,
    /// How many rows have a chance above the threshold; decided in integers.
    pub rows_at_risk: u64,
    /// The same as a share of the published rows.
    pub share_at_risk: f64,
}

impl Chance {
    /// The highest chance of any row.
    #[must_use]
    pub fn highest(&self) -> f64 {
        if self.highest_one_in == 0 { 0.0 } else { 1.0 / self.highest_one_in as f64 }
    }
}

/// The risks of one release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// The observer who knows the person is in the table.
    pub prosecutor: Chance,
    /// The observer who does not. Without a population table the table stands in
    /// for it, and the two agree.
    pub journalist: Chance,
    /// The mean share of rows linked, by whoever holds the population table
    /// if one was given, else the table's own identities.
    pub marketer: f64,
    /// Rows alone in their class.
    pub unique: u64,
    /// The same as a share of the published rows.
    pub unique_share: f64,
    /// How many rows are published.
    pub published: u64,
    /// How many are suppressed.
    pub suppressed: u64,
}

/// A threshold `numerator/denominator` above which a row counts as at risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    numerator: u64,
    denominator: u64,
}

impl Threshold {
    /// A share from 0 to 1.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self> {
        if denominator == 0 || numerator > denominator {
            return Err(Error::OutOfRange { parameter: "the threshold", allowed: "from 0 to 1" });
        }
        Ok(Self { numerator, denominator })
    }

    /// Whether `1/size` is above it.
    fn passed_by(self, size: u64) -> bool {
        u128::from(self.numerator) * u128::from(size) < u128::from(self.denominator)
    }
}

/// The risks of a release; `population`, if known, holds for each class how many
/// rows of the population look like it.
pub fn risk(release: &Recoding, population: Option<&[u64]>, threshold: Threshold) -> Result<Risk> {
    of_sizes(&release.sizes, release.suppressed(), population, threshold)
}

/// The same from the sizes of the classes alone.
pub fn of_sizes(
    sizes: &[u64],
    suppressed: u64,
    population: Option<&[u64]>,
    threshold: Threshold,
) -> Result<Risk> {
    let around = population.unwrap_or(sizes);
    if around.len() != sizes.len() || around.iter().zip(sizes).any(|(f, e)| f < e) {
        return Err(Error::OutOfRange {
            parameter: "the population",
            allowed: "a table that holds at least the rows of every class",
        });
    }
    let published: u64 = sizes.iter().sum();
    let unique = sizes.iter().filter(|&&size| size == 1).count() as u64;
    let journalist = chance(sizes, around, published, threshold);
    Ok(Risk {
        prosecutor: chance(sizes, sizes, published, threshold),
        journalist,
        marketer: journalist.average,
        unique,
        unique_share: share(unique, published),
        published,
        suppressed,
    })
}

/// Rows of class i have the chance `1/around[i]`.
fn chance(sizes: &[u64], around: &[u64], published: u64, threshold: Threshold) -> Chance {
    let occupied = || sizes.iter().zip(around).filter(|&(&size, _)| size > 0);
    let rows_at_risk =
        occupied().filter(|&(_, &f)| threshold.passed_by(f)).map(|(&size, _)| size).sum();
    // Whole classes are counted as integers, so that without a population the
    // mean is classes/N to the last bit.
    let whole = occupied().filter(|(size, f)| size == f).count() as f64;
    let part: f64 =
        occupied().filter(|(size, f)| size != f).map(|(&size, &f)| size as f64 / f as f64).sum();
    Chance {
        highest_one_in: occupied().map(|(_, &f)| f).min().unwrap_or(0),
        average: if published == 0 { 0.0 } else { (whole + part) / published as f64 },
        rows_at_risk,
        share_at_risk: share(rows_at_risk, published),
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// The risks of the table as it is, grouped by the texts of its columns.
pub fn before(quasi: &[&Column], threshold: Threshold) -> Result<Risk> {
    let rows = quasi.first().map_or(0, |c| c.codes.len());
    let groups = group(quasi, rows);
    let mut sizes = vec![0; groups.first.len()];
    for &class in &groups.of {
        sizes[class as usize] += 1;
    }
    of_sizes(&sizes, 0, None, threshold)
}

/// For each class of a release, how many rows of the population look like it: its
/// cells cover them. Values of the population that the table does not have
/// match only cells that cover everything.
///
/// # Cost
/// One pass over the population for every distinct combination of levels among
/// the classes, so one pass for a full-domain release. Ranges are not supported.
pub fn population_sizes(
    attributes: &[Attribute<'_>],
    release: &Recoding,
    population: &Table,
) -> Result<Vec<u64>> {
    let mut codes: Vec<Vec<Option<u32>>> = Vec::new();
    for attribute in attributes {
        let column = &population.columns[population.position(&attribute.column.name)?];
        let values = attribute.column.values.iter().map(String::as_str);
        let known: HashMap<&str, u32> = values.zip(0..).collect();
        let code: Vec<Option<u32>> =
            column.values.iter().map(|v| known.get(v.as_str()).copied()).collect();
        codes.push(column.codes.iter().map(|&c| code[c as usize]).collect());
    }
    let mut by_levels: HashMap<Vec<u32>, HashMap<Vec<u32>, usize>> = HashMap::new();
    for class in 0..release.sizes.len() {
        let parts: Option<Vec<(u32, u32)>> = (release.cells_of(class).iter())
            .map(|cell| match *cell {
                Cell::Group { level, group } => Some((level, group)),
                Cell::Range { .. } => None,
            })
            .collect();
        let (levels, groups) = parts.map(|p| p.into_iter().unzip()).ok_or(Error::OutOfRange {
            parameter: "the release",
            allowed: "made with hierarchies, for risks against a population",
        })?;
        let known: &mut HashMap<Vec<u32>, usize> = by_levels.entry(levels).or_default();
        known.insert(groups, class);
    }
    let mut sizes = vec![0; release.sizes.len()];
    for (levels, known) in by_levels {
        let of = |row: usize| {
            let each = attributes.iter().zip(&levels).zip(&codes);
            each.map(move |((attribute, &level), codes)| group_of(attribute, level, codes[row]))
        };
        let mut key = Vec::with_capacity(levels.len());
        for row in 0..population.rows {
            key.clear();
            key.extend(of(row));
            if let Some(&class) = known.get(&key) {
                sizes[class] += 1;
            }
        }
    }
    Ok(sizes)
}

/// The group of a value at a level; `u32::MAX` where the value is unknown there.
fn group_of(attribute: &Attribute<'_>, level: u32, code: Option<u32>) -> u32 {
    let Scale::Tree(hierarchy) = &attribute.scale else { return u32::MAX };
    match (hierarchy.levels.get(level as usize), code) {
        (None, _) => 0,
        (Some(at), _) if at.labels.len() == 1 => 0,
        (Some(at), Some(code)) => at.group[code as usize],
        (Some(_), None) => u32::MAX,
    }
}

#[cfg(test)]
mod tests;
