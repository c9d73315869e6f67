//! What is public about a table before a run: histograms of one or two columns, and the number of rows.

use crate::candidates::MOST_CELLS;
use crate::error::{Error, Result};
use crate::fit::Observation;
use crate::profile::{OneWay, Profile};
use crate::schema::Schema;
use crate::view::coarsen;

/// The variance of a public count: none, but the fit keeps it above a floor of its own.
const VARIANCE: f64 = 1e-2;

/// Public knowledge. It costs nothing.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) total: Option<f64>,
    columns: Vec<Option<Vec<f64>>>,
    pairs: Vec<([usize; 2], Vec<f64>)>,
}

impl Known {
    pub(crate) fn nothing(width: usize) -> Self {
        Self { total: None, columns: vec![None; width], pairs: Vec::new() }
    }

    /// Adds a histogram; its weights become shares.
    pub(crate) fn add(&mut self, schema: &Schema, names: &[&str], weights: &[f64]) -> Result<()> {
        let positions: Vec<usize> =
            names.iter().map(|name| schema.position(name)).collect::<Result<_>>()?;
        let codes = |position: usize| schema.columns()[position].codes();
        let cells: usize = positions.iter().map(|&position| codes(position)).product();
        let sum: f64 = weights.iter().sum();
        let valid = weights.iter().all(|weight| *weight >= 0.0) && sum > 0.0 && sum.is_finite();
        if cells != weights.len() || !valid {
            return Err(Error::Shape {
                what: "a public histogram needs a finite number of at least 0 for each cell, and not zeros alone",
                remedy: "give a number for each combination of codes, the last column's fastest",
            });
        }
        let shares: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        match positions[..] {
            [column] => self.columns[column] = Some(shares),
            [a, b] if a < b => self.pairs.push(([a, b], shares)),
            [a, b] if a > b => {
                let width = codes(b);
                let turned =
                    (0..cells).map(|cell| shares[cell % codes(a) * width + cell / codes(a)]);
                self.pairs.push(([b, a], turned.collect()));
            }
            _ => {
                return Err(Error::Shape {
                    what: "a public histogram is of one column, or of two different ones",
                    remedy: "give the histograms of pairs of its columns instead",
                });
            }
        }
        Ok(())
    }

    /// Whether a histogram is public.
    pub(crate) fn any(&self) -> bool {
        !self.pairs.is_empty() || self.columns.iter().any(Option::is_some)
    }

    /// The public shares of a column's codes.
    pub(crate) fn shares(&self, column: usize) -> Option<&[f64]> {
        self.columns[column].as_deref()
    }

    /// A public histogram as the fit takes it.
    pub(crate) fn one_way(profile: &Profile, total: f64) -> OneWay {
        let counts = profile.shares.iter().map(|share| share * total).collect();
        OneWay { counts, variance: VARIANCE }
    }

    /// The public pairs, at the finest resolution that may be measured.
    pub(crate) fn pairs(&self, profiles: &[Profile], total: f64) -> Vec<Observation> {
        let observation = |(columns, shares): &([usize; 2], Vec<f64>)| {
            let [a, b] = columns.map(|column| &profiles[column]);
            let (mut x, mut y) = (a.finest(), b.finest());
            while a.levels[x].bins * b.levels[y].bins > MOST_CELLS && x + y > 0 {
                if y == 0 || (x > 0 && a.levels[x].bins >= b.levels[y].bins) {
                    x -= 1
                } else {
                    y -= 1
                }
            }
            let (rows, other) = (&a.levels[x], &b.levels[y]);
            let table = coarsen(shares, (&rows.bin_of, rows.bins), (&other.bin_of, other.bins));
            let counts = table.iter().map(|share| share * total).collect();
            Observation::new(columns.to_vec(), vec![x, y], counts, VARIANCE)
        };
        self.pairs.iter().map(observation).collect()
    }
}

#[cfg(test)]
mod tests;
