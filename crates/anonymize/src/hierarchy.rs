//! How values become coarser, level by level.
//!
//! A hierarchy is read from a file ([`Hierarchy::read`], one line a leaf, from
//! fine to coarse, as ARX writes them) or built from the column
//! ([`intervals`], [`masking`], [`prefixes`], [`dates`], [`ordered_groups`],
//! [`tree`]). Every way goes through [`Hierarchy::from_paths`], which refuses
//! what is not a tree and counts, never names, the values it does not cover.

mod build;

pub use build::{dates, intervals, masking, ordered_groups, prefixes, tree};

use crate::error::{Error, Result};
use crate::table::Column;
use std::collections::HashMap;
use std::io::Read;

/// The label that says nothing: the root of most hierarchies, and every
/// quasi-identifier of a suppressed row.
pub const STAR: &str = "*";

/// The generalization hierarchy of one column. Level 0 is the values
/// themselves; each further level maps every value to a coarser label, and
/// values that share a label share it on all further levels.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// From the finest to the coarsest; at least one.
    pub levels: Vec<Level>,
}

/// One level of a hierarchy.
#[derive(Clone, Debug)]
pub struct Level {
    /// The texts of this level's groups.
    pub labels: Vec<String>,
    /// For each value of the column (by its code in [`crate::table::Column`]), its group.
    pub group: Vec<u32>,
    /// For each group, how many leaves of the *whole hierarchy* (not only values
    /// that occur) lie under it.
    pub leaves: Vec<u64>,
}

impl Hierarchy {
    /// How many leaves the hierarchy has.
    #[must_use]
    pub fn leaf_count(&self) -> u64 {
        self.levels.first().map_or(0, |level| level.leaves.iter().sum())
    }

    /// The highest level.
    #[must_use]
    pub fn height(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// A hierarchy of one level: the column is published as it is.
    #[must_use]
    pub fn flat(column: &Column) -> Self {
        let count = column.values.len();
        let group = (0..count as u32).collect();
        Self {
            levels: vec![Level { labels: column.values.clone(), group, leaves: vec![1; count] }],
        }
    }

    /// A hierarchy of two levels: the value, then `*`.
    #[must_use]
    pub fn suppress(column: &Column) -> Self {
        let mut hierarchy = Self::flat(column);
        let count = column.values.len();
        let labels = vec![STAR.to_owned()];
        hierarchy.levels.push(Level { labels, group: vec![0; count], leaves: vec![count as u64] });
        hierarchy
    }

    /// Reads a file without a header, one line a leaf: `leaf;level1;level2;…`.
    pub fn read(column: &Column, input: impl Read, delimiter: u8) -> Result<Self> {
        let what = || format!("the hierarchy of `{}`", column.name);
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(input);
        let mut paths: Vec<Vec<String>> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(0, csv::Position::line);
                match error.into_kind() {
                    csv::ErrorKind::Io(source) => {
                        Error::File { what: format!("reading {}", what()), source }
                    }
                    csv::ErrorKind::Utf8 { .. } => {
                        Error::Malformed { what: what(), line, why: "not valid UTF-8" }
                    }
                    _ => Error::Malformed { what: what(), line, why: "not well-formed CSV" },
                }
            })?;
            if paths.first().is_some_and(|first| first.len() != record.len()) {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(Error::Malformed {
                    what: what(),
                    line,
                    why: "not as many levels as the first line",
                });
            }
            paths.push(record.iter().map(str::to_owned).collect());
        }
        Self::from_paths(column, &paths)
    }

    /// From one path a leaf, each from the leaf to the coarsest label, all of
    /// the same length. Leaves that do not occur in the column count as leaves.
    pub fn from_paths<S: AsRef<str>>(column: &Column, paths: &[Vec<S>]) -> Result<Self> {
        let not_a_tree = |level, why| Error::NotATree { column: column.name.clone(), level, why };
        let height = paths.first().map_or(0, Vec::len);
        if height == 0 {
            return Err(not_a_tree(0, "it is empty"));
        }
        if paths.iter().any(|path| path.len() != height) {
            return Err(not_a_tree(0, "its leaves are not all equally deep"));
        }
        // Leaf by leaf, the group on the level below and on this one.
        let mut below: Vec<u32> = Vec::new();
        let mut parents: Vec<u32> = Vec::new();
        let mut levels = Vec::with_capacity(height);
        let mut leaf_of: HashMap<&str, u32> = HashMap::with_capacity(paths.len());
        for depth in 0..height {
            let mut known: HashMap<&str, u32> = HashMap::new();
            let mut labels: Vec<String> = Vec::new();
            let mut leaves: Vec<u64> = Vec::new();
            let mut here: Vec<u32> = Vec::with_capacity(paths.len());
            for path in paths {
                let label = path[depth].as_ref();
                let group = *known.entry(label).or_insert_with(|| {
                    labels.push(label.to_owned());
                    leaves.push(0);
                    labels.len() as u32 - 1
                });
                leaves[group as usize] += 1;
                here.push(group);
            }
            if depth == 0 {
                if labels.len() != paths.len() {
                    return Err(not_a_tree(0, "a leaf is listed twice"));
                }
                leaf_of = known;
            } else {
                parents.clear();
                parents
                    .resize(levels.last().map_or(0, |level: &Level| level.labels.len()), u32::MAX);
                for (&child, &parent) in below.iter().zip(&here) {
                    let seen = &mut parents[child as usize];
                    if *seen != u32::MAX && *seen != parent {
                        return Err(not_a_tree(depth, "a label has two parents"));
                    }
                    *seen = parent;
                }
            }
            levels.push(Level { labels, group: here.clone(), leaves });
            below = here;
        }
        // So far `group` is by leaf; by the column's codes from here on.
        let codes: Vec<Option<u32>> =
            column.values.iter().map(|value| leaf_of.get(value.as_str()).copied()).collect();
        refuse_missing(column, &codes)?;
        for level in &mut levels {
            level.group = codes.iter().flatten().map(|&leaf| level.group[leaf as usize]).collect();
        }
        Ok(Self { levels })
    }
}

/// Counts the rows whose value has no leaf.
fn refuse_missing(column: &Column, codes: &[Option<u32>]) -> Result<()> {
    let values = codes.iter().filter(|leaf| leaf.is_none()).count() as u64;
    if values == 0 {
        return Ok(());
    }
    let rows = column.codes.iter().filter(|&&code| codes[code as usize].is_none()).count() as u64;
    Err(Error::NotInHierarchy { column: column.name.clone(), rows, values })
}

#[cfg(test)]
mod tests;
