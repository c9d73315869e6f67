//! GROUPING SETS, ROLLUP and CUBE as totals over the cells of one release.
//!
//! The cells are the combinations of all keys. Their noised numbers are released once, and every grouping set adds up
//! cells. That is post-processing: it costs nothing more, and totals agree with their parts. It needs public keys, since
//! a sum over the keys that were selected would leave out the others; and numbers that add up. All other grouping sets
//! are releases of their own, between which the query's budget is divided (`plan/rollup.rs`).
//!
//! Totals are sums of the noised numbers as they were drawn. Counts are shown as at least 0, so a total can be less than
//! the sum of the cells that are shown: where many cells are empty, that sum would be too large.

use super::numbers::{Numbers, adds_up};
use super::{Measure, ReleasedColumns, internal};
use crate::error::Result;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use std::any::Any;
use std::collections::HashMap;

/// The grouping sets of one release.
#[derive(Clone, Debug)]
pub(crate) struct Rollup {
    pub(crate) sets: Vec<GroupingSet>,
    /// Why one release was chosen, in words.
    pub(crate) why: String,
}

/// One grouping set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupingSet {
    /// Whether each key is in it.
    pub(crate) with: Vec<bool>,
    /// Its id, as the engine numbers it: [`Aggregate::INTERNAL_GROUPING_ID`](datafusion::logical_expr::Aggregate).
    pub(crate) id: u64,
}

/// Whether totals of a measure are sums of its cells.
pub(crate) fn summable(measure: &Measure) -> bool {
    (*measure.family).type_id() == Any::type_id(&Numbers) && adds_up(measure.code)
}

/// The groups of one set.
pub(super) struct Merged {
    pub(super) id: u64,
    /// The key of each group, NULL for keys that are not in the set.
    pub(super) keys: Vec<Vec<ScalarValue>>,
    /// The cells that each group consists of.
    cells: Vec<Vec<usize>>,
}

impl Rollup {
    /// The groups of each set, in the order of their first cells.
    pub(super) fn merged(&self, cells: &[Vec<ScalarValue>]) -> Result<Vec<Merged>> {
        let null = |value: &ScalarValue| {
            ScalarValue::try_from(value.data_type()).map_err(|_| internal("a key's type"))
        };
        let mut all = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            let mut found: HashMap<Vec<ScalarValue>, usize> = HashMap::new();
            let mut merged = Merged { id: set.id, keys: Vec::new(), cells: Vec::new() };
            for (cell, key) in cells.iter().enumerate() {
                let shown = key.iter().zip(&set.with);
                let shown = shown.map(|(k, with)| if *with { Ok(k.clone()) } else { null(k) });
                let shown: Vec<ScalarValue> = shown.collect::<Result<_>>()?;
                // NULL may be a key: keys that are not in the set are equal in all cells.
                let place = *found.entry(shown.clone()).or_insert_with(|| {
                    merged.keys.push(shown);
                    merged.cells.push(Vec::new());
                    merged.keys.len() - 1
                });
                merged.cells[place].push(cell);
            }
            all.push(merged);
        }
        Ok(all)
    }
}

impl Merged {
    /// The numbers of a block's groups, taken together.
    pub(super) fn of(&self, block: &dyn ReleasedColumns) -> Result<Box<dyn ReleasedColumns>> {
        block.together(&self.cells)
    }

    /// The id in the type of its column.
    pub(super) fn id(&self, data_type: &DataType) -> Result<ScalarValue> {
        ScalarValue::UInt64(Some(self.id)).cast_to(data_type).map_err(|_| internal("a set's id"))
    }
}

/// The released columns of every block, for each part of the table: the groups themselves, or those of every set.
pub(super) fn parts(
    made: Vec<Box<dyn ReleasedColumns>>,
    merged: &[Merged],
) -> Result<Vec<Vec<Box<dyn ReleasedColumns>>>> {
    if merged.is_empty() {
        return Ok(vec![made]);
    }
    merged.iter().map(|set| made.iter().map(|block| set.of(&**block)).collect()).collect()
}

#[cfg(test)]
mod tests;
