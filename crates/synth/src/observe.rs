//! Watching a run: what is asked of the protected table, and how far it has come.

use crate::view::View;
use std::ops::ControlFlow;

/// A stage of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Each column by itself is measured.
    Columns,
    /// Pairs are scored, chosen and measured: round 1, 2 or 3.
    Round(usize),
    /// Rows are drawn.
    Rows,
    /// The rows are compared with the table.
    Report,
}

/// What was asked of the protected table. It holds no answer, so it is as public as the releases before it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Question<'a> {
    /// A histogram: noise on every cell.
    Histogram(&'a View),
    /// The ℓ₁ distance between a histogram and a public table, for several resolutions of both.
    Distances {
        /// The finest resolution.
        view: &'a View,
        /// The public table, in steps of 2⁻¹⁶ rows.
        expected: &'a [i64],
        /// The coarser bins of each resolution: for each axis, the bin of each of the view's bins, and how many bins
        /// there are.
        resolutions: &'a [[(Vec<u16>, usize); 2]],
    },
}

/// Told what a run does. The unit type watches nothing.
pub trait Observer {
    /// A stage begins. [`ControlFlow::Break`] stops the run, whose budget stays spent.
    fn stage(&mut self, stage: Stage) -> ControlFlow<()> {
        let _ = stage;
        ControlFlow::Continue(())
    }

    /// A question was asked, and each of its numbers answered with noise of standard deviation `sigma`, in rows.
    fn asked(&mut self, question: Question<'_>, sigma: f64) {
        let _ = (question, sigma);
    }
}

impl Observer for () {}
