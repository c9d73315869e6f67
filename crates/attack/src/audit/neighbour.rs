//! Neighbouring tables, made from one: a unit left out, or replaced by a very different one.

use crate::error::{Error, Result};
use demure_core::unit::Neighbours;
use std::collections::BTreeMap;

/// A small table in memory, as text.
#[derive(Clone)]
pub struct Table {
    /// The names of the columns.
    pub header: Vec<String>,
    /// As many cells a row as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The rows of every unit, by the column that says whose they are; each row its own without one.
    fn units(&self, column: Option<usize>) -> Vec<Vec<usize>> {
        let Some(column) = column else { return (0..self.rows.len()).map(|i| vec![i]).collect() };
        let mut units: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, row) in self.rows.iter().enumerate() {
            units.entry(row.get(column).map_or("", String::as_str)).or_default().push(i);
        }
        let mut units: Vec<Vec<usize>> = units.into_values().collect();
        units.sort_unstable();
        units
    }

    fn only(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept = self.rows.iter().enumerate().filter(|(i, _)| keep(*i));
        Self { header: self.header.clone(), rows: kept.map(|(_, row)| row.clone()).collect() }
    }

    /// The rows of `one` replaced by copies of those of `other`, under the id of `one`.
    fn replaced(&self, one: &[usize], other: &[usize], column: Option<usize>) -> Self {
        let mut table = self.only(|i| !one.contains(&i));
        let id = |column: usize| one.first().and_then(|&i| self.rows[i].get(column)).cloned();
        for &i in other {
            let copy = self.rows[i].iter().enumerate().map(|(place, cell)| match column {
                Some(column) if column == place => id(column).unwrap_or_else(|| cell.clone()),
                _ => cell.clone(),
            });
            table.rows.push(copy.collect());
        }
        table
    }

    /// Units that stand out: the first and the last, the one with the most rows, those with the largest and the least
    /// number in each column. None twice.
    fn outstanding(&self, units: &[Vec<usize>]) -> Vec<usize> {
        let mut found = vec![0, units.len() - 1];
        found.extend((0..units.len()).max_by_key(|&unit| units[unit].len()));
        for column in 0..self.header.len() {
            let value = |unit: usize, low: bool| -> Option<f64> {
                let cells = units[unit].iter().filter_map(|&i| self.rows[i].get(column));
                let numbers = cells.filter_map(|cell| cell.trim().parse::<f64>().ok());
                numbers.filter(|x| x.is_finite()).reduce(if low { f64::min } else { f64::max })
            };
            let by = |low: bool| {
                let all = (0..units.len()).filter_map(|unit| Some((unit, value(unit, low)?)));
                all.collect::<Vec<_>>()
            };
            found.extend(by(false).iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|x| x.0));
            found.extend(by(true).iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|x| x.0));
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|unit| seen.insert(*unit));
        found
    }

    /// At most `most` pairs of neighbours, with what they are in words that show no value.
    pub fn neighbours(
        &self,
        unit: Option<&str>,
        relation: Neighbours,
        most: usize,
    ) -> Result<Vec<(String, [Self; 2])>> {
        let column = match unit {
            None => None,
            Some(name) => {
                Some(self.header.iter().position(|known| known == name).ok_or(Error::NoUnit)?)
            }
        };
        let units = self.units(column);
        if units.len() < 2 {
            return Err(Error::TooFewUnits);
        }
        let outstanding = self.outstanding(&units);
        let mut pairs = Vec::new();
        // One place is kept for two units alone, where there is more than one.
        for &unit in outstanding.iter().take(most.saturating_sub(1).max(1)) {
            let own = &units[unit];
            let row = own.first().map_or(0, |i| i + 2);
            // Someone else, as unlike as there is: the next that stands out.
            let other = outstanding.iter().copied().find(|&o| o != unit).unwrap_or(0);
            let (what, right) = match relation {
                Neighbours::AddRemove => (
                    format!("all, and all but the unit of line {row}"),
                    self.only(|i| !own.contains(&i)),
                ),
                Neighbours::Replace => (
                    format!(
                        "all, and all with the unit of line {row} replaced by a copy of another"
                    ),
                    self.replaced(own, &units[other], column),
                ),
            };
            pairs.push((what, [self.clone(), right]));
        }
        // Few rows show more than many, where an answer is a mean or a quantile.
        if let (&[first, second, ..], 2..) = (&outstanding[..], most) {
            let (one, other) = (&units[first], &units[second]);
            let both = self.only(|i| one.contains(&i) || other.contains(&i));
            let small = match relation {
                Neighbours::AddRemove => self.only(|i| other.contains(&i)),
                Neighbours::Replace => {
                    let mut twice = self.only(|i| other.contains(&i));
                    twice.rows.extend(
                        self.replaced(one, other, column)
                            .rows
                            .split_off(self.rows.len() - one.len()),
                    );
                    twice
                }
            };
            pairs.push((
                "two units alone, and one of them left out or replaced".to_owned(),
                [both, small],
            ));
        }
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests;
