//! The only file that touches the curator's exact rows: it counts them.
//!
//! What it counts goes into an [`Exact`], which nothing but `measure.rs` can look into.

use crate::measure::{Counts, Exact, Unavailable};
use crate::view::View;
use demure_curator::ExactCodes;

/// The rows that the curator has read, bounded by unit.
pub(super) struct Protected<'a>(pub(super) &'a ExactCodes);

impl Counts for Protected<'_> {
    fn histogram(&self, view: &View) -> Result<Exact, Unavailable> {
        let (columns, counts) = (self.0.columns(), self.0.counts());
        let mut cells = vec![0i64; view.cells()];
        let axes = view.axes();
        if axes.iter().any(|axis| axis.column() >= columns.len()) {
            return Err(Unavailable);
        }
        let bin = |axis: &crate::view::Axis, code: u16| {
            let bins = axis.bin_of();
            usize::from(bins[usize::from(code).min(bins.len() - 1)])
        };
        let add = |cell: &mut i64, count: u64| {
            *cell = cell.saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        };
        match axes {
            [only] => {
                for (&code, &count) in columns[only.column()].iter().zip(counts) {
                    add(&mut cells[bin(only, code)], count);
                }
            }
            [first, second] => {
                let (a, b) = (&columns[first.column()], &columns[second.column()]);
                for ((&x, &y), &count) in a.iter().zip(b).zip(counts) {
                    add(&mut cells[bin(first, x) * second.bins() + bin(second, y)], count);
                }
            }
            _ => {
                for (row, &count) in counts.iter().enumerate() {
                    add(&mut cells[view.cell_of(|column| columns[column][row])], count);
                }
            }
        }
        Ok(Exact::new(cells))
    }
}
