//! A population: the people among whom those of the table are.
//!
//! Its rows are counted beside the table's, never published: [`KMap`](crate::model::KMap) asks how
//! many of them look like a class.

use crate::check::Groups;
use crate::error::Result;
use crate::hierarchy::{Hierarchy, STAR};
use crate::table::{Column, Table};
use std::collections::HashMap;

/// The quasi-identifiers of a population's rows.
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// For each quasi-identifier, in the problem's order, a code a row: those of the table's column.
    pub codes: Vec<Vec<u32>>,
    /// How many rows.
    pub rows: usize,
}

impl Population {
    /// Takes the columns of these names from a table of the population. Values that `table` does
    /// not have are added to the values of its column, so that a hierarchy covers them too.
    pub fn join(table: &mut Table, names: &[String], population: &Table) -> Result<Self> {
        let mut codes = Vec::with_capacity(names.len());
        for name in names {
            let theirs = &population.columns[population.position(name)?];
            let at = table.position(name)?;
            let Column { values, .. } = &mut table.columns[at];
            let mut known: HashMap<String, u32> = values.iter().cloned().zip(0..).collect();
            let new = theirs.values.iter().map(|text| {
                *known.entry(text.clone()).or_insert_with(|| {
                    values.push(text.clone());
                    values.len() as u32 - 1
                })
            });
            let new: Vec<u32> = new.collect();
            codes.push(theirs.codes.iter().map(|&code| new[code as usize]).collect());
        }
        Ok(Self { codes, rows: population.rows })
    }
}

/// A population beside a published table, whose cells are labels.
#[derive(Clone, Copy, Debug)]
pub struct Matching<'a> {
    /// The population's table.
    pub table: &'a Table,
    /// For each quasi-identifier how its values become coarser, over the codes of `table`; without
    /// one a value matches itself and `*`.
    pub hierarchies: &'a [Option<Hierarchy>],
}

impl Matching<'_> {
    /// For each group of the published rows, how many rows of the population its labels cover.
    /// A label that several levels have is taken on the finest of them: no more rows match.
    pub(crate) fn count(&self, quasi: &[&Column], groups: &Groups) -> Result<Vec<u64>> {
        let mut columns = Vec::with_capacity(quasi.len());
        for (at, published) in quasi.iter().enumerate() {
            let column = &self.table.columns[self.table.position(&published.name)?];
            let hierarchy = self.hierarchies.get(at).and_then(Option::as_ref);
            columns.push(Labels::new(column, published, hierarchy));
        }
        // Classes by the levels of their labels: one pass over the population for each.
        let mut by_levels: HashMap<Vec<u32>, HashMap<Vec<u32>, usize>> = HashMap::new();
        for (group, &row) in groups.first.iter().enumerate() {
            let cells = columns.iter().zip(quasi);
            let cells = cells.map(|(labels, column)| labels.of[column.codes[row] as usize]);
            let cells: Option<Vec<(u32, u32)>> = cells.collect();
            if let Some(cells) = cells {
                let (levels, labels) = cells.into_iter().unzip();
                by_levels.entry(levels).or_default().insert(labels, group);
            }
        }
        let mut counts = vec![0; groups.first.len()];
        for (levels, known) in by_levels {
            let mut key = Vec::with_capacity(levels.len());
            for row in 0..self.table.rows {
                key.clear();
                let each = columns.iter().zip(&levels);
                key.extend(each.map(|(c, &level)| c.at[level as usize][c.codes[row] as usize]));
                if let Some(&group) = known.get(&key) {
                    counts[group] += 1;
                }
            }
        }
        Ok(counts)
    }
}

/// The labels of one column.
struct Labels<'a> {
    /// The population's codes.
    codes: &'a [u32],
    /// For each level, for each code of the population the label's number there.
    at: Vec<Vec<u32>>,
    /// For each code of the published column, the level and the number of its label there.
    of: Vec<Option<(u32, u32)>>,
}

impl<'a> Labels<'a> {
    fn new(column: &'a Column, published: &Column, hierarchy: Option<&Hierarchy>) -> Self {
        let plain;
        let levels = match hierarchy {
            Some(hierarchy) => &hierarchy.levels,
            None => {
                plain = Hierarchy::flat(column);
                &plain.levels
            }
        };
        let mut at: Vec<Vec<u32>> = levels.iter().map(|level| level.group.clone()).collect();
        let mut known: HashMap<&str, (u32, u32)> = HashMap::new();
        for (number, level) in levels.iter().enumerate() {
            for (label, text) in level.labels.iter().enumerate() {
                known.entry(text).or_insert((number as u32, label as u32));
            }
        }
        // Whatever the hierarchy says, `*` covers everything.
        known.insert(STAR, (at.len() as u32, 0));
        at.push(vec![0; column.values.len()]);
        let of = published.values.iter().map(|text| known.get(text.as_str()).copied()).collect();
        Self { codes: &column.codes, at, of }
    }
}
