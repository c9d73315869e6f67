//! Which columns a histogram is of, and at which resolution.

use std::sync::Arc;

/// One column at a public resolution: the bin of each of its codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    column: usize,
    bins: usize,
    bin_of: Arc<[u16]>,
}

impl Axis {
    pub(crate) fn new(column: usize, level: &Level) -> Self {
        Self { column, bins: level.bins, bin_of: Arc::clone(&level.bin_of) }
    }

    /// The position of the column.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// How many bins there are.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// The bin of each code. A code beyond its end belongs to the last code's bin.
    #[must_use]
    pub fn bin_of(&self) -> &[u16] {
        &self.bin_of
    }
}

/// The axes of a histogram. Cells are numbered with the last axis fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    axes: Vec<Axis>,
}

impl View {
    pub(crate) fn new(axes: Vec<Axis>) -> Self {
        Self { axes }
    }

    /// The axes.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// How many cells the histogram has.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.axes.iter().map(Axis::bins).product()
    }

    /// The cell of a row, given the code of each column of the table.
    #[must_use]
    pub fn cell_of(&self, codes: impl Fn(usize) -> u16) -> usize {
        self.axes.iter().fold(0, |cell, axis| {
            let last = axis.bin_of.len() - 1;
            let code = usize::from(codes(axis.column)).min(last);
            cell * axis.bins + usize::from(axis.bin_of[code])
        })
    }
}

/// A partition of a column's codes into bins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) bins: usize,
    pub(crate) bin_of: Arc<[u16]>,
}

impl Level {
    /// Every code its own bin.
    pub(crate) fn full(codes: usize) -> Self {
        Self { bins: codes, bin_of: (0..codes).map(|code| code as u16).collect() }
    }

    pub(crate) fn codes(&self) -> usize {
        self.bin_of.len()
    }

    /// For each bin of this level, the bin of the `coarser` level that holds it.
    pub(crate) fn down_to(&self, coarser: &Self) -> Vec<u16> {
        let mut map = vec![0; self.bins];
        for (mine, theirs) in self.bin_of.iter().zip(coarser.bin_of.iter()) {
            map[usize::from(*mine)] = *theirs;
        }
        map
    }

    /// Sums values of codes to bins.
    pub(crate) fn sum(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.bins];
        for (bin, value) in self.bin_of.iter().zip(values) {
            sums[usize::from(*bin)] += value;
        }
        sums
    }
}

/// Sums the cells of a two-way table to coarser bins on both sides.
pub(crate) fn coarsen<T: Copy + Default + std::ops::AddAssign>(
    table: &[T],
    rows: (&[u16], usize),
    columns: (&[u16], usize),
) -> Vec<T> {
    let mut coarse = vec![T::default(); rows.1 * columns.1];
    for (row, &r) in table.chunks(columns.0.len().max(1)).zip(rows.0) {
        let out = &mut coarse[usize::from(r) * columns.1..][..columns.1];
        for (&value, &c) in row.iter().zip(columns.0) {
            out[usize::from(c)] += value;
        }
    }
    coarse
}
