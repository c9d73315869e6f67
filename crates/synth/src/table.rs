//! A table of codes in memory: protected rows, or released ones.

use crate::error::{Error, Result};
use crate::measure::{Counts, Exact, Unavailable};
use crate::schema::Schema;
use crate::view::View;

/// Rows of codes, kept by column.
///
/// As protected data it implements [`Counts`]. Its `Debug` form shows its size alone, and that too only for
/// whoever holds the table.
#[derive(Clone, PartialEq, Eq)]
pub struct CodedTable {
    rows: usize,
    columns: Vec<Vec<u16>>,
}

impl CodedTable {
    /// A table of these columns, which must have the same length and be as many as the schema's.
    ///
    /// # Special values
    /// A code outside its domain counts as the last code of the column, so that no row can cause an error.
    pub fn new(schema: &Schema, mut columns: Vec<Vec<u16>>) -> Result<Self> {
        if columns.len() != schema.width() {
            return Err(Error::Shape {
                what: "the table has not as many columns as the schema",
                remedy: "give one vector of codes for each column",
            });
        }
        let rows = columns.first().map_or(0, Vec::len);
        if columns.iter().any(|column| column.len() != rows) {
            return Err(Error::Shape {
                what: "the columns have different lengths",
                remedy: "give every column a code for each row",
            });
        }
        for (codes, column) in columns.iter_mut().zip(schema.columns()) {
            let last = (column.codes() - 1) as u16;
            codes.iter_mut().for_each(|code| *code = (*code).min(last));
        }
        Ok(Self { rows, columns })
    }

    pub(crate) fn from_columns(rows: usize, columns: Vec<Vec<u16>>) -> Self {
        Self { rows, columns }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The codes of each column.
    #[must_use]
    pub fn columns(&self) -> &[Vec<u16>] {
        &self.columns
    }

    /// How many rows are in each cell of a view.
    pub(crate) fn tally(&self, view: &View) -> Vec<i64> {
        let mut counts = vec![0i64; view.cells()];
        let bin = |axis: &crate::view::Axis, row: usize| {
            usize::from(axis.bin_of()[usize::from(self.columns[axis.column()][row])])
        };
        match view.axes() {
            [only] => {
                for row in 0..self.rows {
                    counts[bin(only, row)] += 1;
                }
            }
            [first, second] => {
                let (a, b) = (&self.columns[first.column()], &self.columns[second.column()]);
                let (of_a, of_b, width) = (first.bin_of(), second.bin_of(), second.bins());
                for (&x, &y) in a.iter().zip(b) {
                    let (x, y) = (of_a[usize::from(x)], of_b[usize::from(y)]);
                    counts[usize::from(x) * width + usize::from(y)] += 1;
                }
            }
            _ => {
                for row in 0..self.rows {
                    counts[view.cell_of(|column| self.columns[column][row])] += 1;
                }
            }
        }
        counts
    }
}

impl std::fmt::Debug for CodedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CodedTable({} columns)", self.columns.len())
    }
}

impl Counts for CodedTable {
    fn histogram(&self, view: &View) -> std::result::Result<Exact, Unavailable> {
        Ok(Exact::new(self.tally(view)))
    }
}
