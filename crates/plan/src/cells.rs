//! A public range cut into cells.

use crate::error::{Error, Result};
use demure_report::short;
use std::ops::RangeInclusive;

/// More cells than this do not fit a sensible answer.
const MOST_CELLS: u32 = 10_000_000;

/// The public cells.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    low: f64,
    width: f64,
    number: u32,
    integer: bool,
}

impl Cells {
    /// One cell for every whole number within the bounds.
    pub fn integers(bounds: &RangeInclusive<f64>) -> Result<Self> {
        let (low, high) = (*bounds.start(), *bounds.end());
        let whole = |x: f64| x.fract() == 0.0 && x.abs() <= 1e15;
        if !(whole(low) && whole(high)) {
            return Err(Error::BoundsNotWhole);
        }
        let number = high - low + 1.0;
        if number > f64::from(MOST_CELLS) {
            return Err(Error::TooManyCells);
        }
        Ok(Self { low, width: 1.0, number: number as u32, integer: true })
    }

    /// So many cells of equal width.
    pub fn equal(bounds: &RangeInclusive<f64>, number: u32) -> Result<Self> {
        let width = (bounds.end() - bounds.start()) / f64::from(number);
        if number > MOST_CELLS {
            return Err(Error::TooManyCells);
        }
        if !(width.is_finite() && width > 0.0) {
            return Err(Error::BoundsForCells);
        }
        Ok(Self { low: *bounds.start(), width, number, integer: false })
    }

    /// How many there are.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many values are in each cell; those that are no numbers are left out.
    #[must_use]
    pub fn counts(&self, values: &[f64]) -> Vec<u64> {
        let mut counts = vec![0u64; self.number as usize];
        values.iter().filter(|x| !x.is_nan()).for_each(|&x| counts[self.holding(x)] += 1);
        counts
    }

    /// The cell of a value; the first or last for one outside.
    fn holding(&self, x: f64) -> usize {
        let x = if self.integer { x.round() } else { x };
        // A cast saturates: below 0 is 0.
        (((x - self.low) / self.width).floor() as usize).min(self.number as usize - 1)
    }

    /// Each cell by itself.
    #[must_use]
    pub fn each(&self) -> Vec<RangeInclusive<usize>> {
        (0..self.number as usize).map(|cell| cell..=cell).collect()
    }

    /// The cells of a range: with whole numbers both ends count, else the upper does not.
    #[must_use]
    pub fn touched(&self, range: &RangeInclusive<f64>) -> RangeInclusive<usize> {
        let first = self.holding(*range.start());
        let last = if self.integer {
            self.holding(range.end().floor())
        } else {
            let cells = ((range.end() - self.low) / self.width).ceil();
            ((cells as usize).min(self.number as usize)).saturating_sub(1)
        };
        first..=last.max(first)
    }

    /// The values that a range of cells holds: `3`, `3..7`.
    #[must_use]
    pub fn label(&self, range: &RangeInclusive<usize>) -> String {
        let edge = |cell: usize| short(self.low + self.width * cell as f64);
        match (self.integer, range.start() == range.end()) {
            (true, true) => edge(*range.start()),
            (true, false) => format!("{}..{}", edge(*range.start()), edge(*range.end())),
            (false, _) => format!("{}..{}", edge(*range.start()), edge(*range.end() + 1)),
        }
    }
}

#[cfg(test)]
mod tests;
