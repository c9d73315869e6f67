//! What `mean` and `variance` share: statistics whose error depends on the number of rows.

use super::bounded::{PerUnit, accumulate, error_of_rows};
use super::output::{Common, Spend, five_percent, noised, promised};
use crate::Failure;
use crate::input::{Bounds, Data, whole};
use demure_core::mechanism::{Accumulator, Budget, Calibration, Guarantee, Release, Rows};
use demure_core::random::SystemRandom;
use demure_core::unit::{Beta, Neighbours};
use std::io::Write;

/// The options of a moment of bounded numbers.
#[derive(clap::Args)]
pub(super) struct Moment {
    #[command(flatten)]
    data: Data,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    /// How many rows there are, roughly: for the error shown, not for the answer
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    n: Option<u64>,

    #[command(flatten)]
    spend: Spend,

    #[command(flatten)]
    unit: PerUnit,

    #[command(flatten)]
    common: Common,
}

impl Moment {
    pub(super) fn bounds(&self) -> Result<demure_core::mechanism::Bounds, Failure> {
        self.bounds.on_grid(false)
    }

    pub(super) fn budget(&self) -> Result<Budget, Failure> {
        self.spend.budget()
    }

    pub(super) fn neighbours(&self) -> Neighbours {
        self.common.neighbours()
    }

    pub(super) fn rows(&self) -> Rows {
        self.unit.rows()
    }

    /// Whether the number of rows is public.
    pub(super) fn public(&self) -> bool {
        self.rows().public(self.neighbours())
    }

    /// Explains or draws, given what the mechanism says and does. For so many rows, if that
    /// may be said, `noise` is the mechanism's name, its noise and what that is on.
    pub(super) fn finish(
        &self,
        noise: impl Fn(Option<u64>) -> (&'static str, Calibration, &'static str),
        guarantee: Guarantee,
        error: impl Fn(u64, Beta) -> demure_core::Result<f64>,
        release: impl Fn(&Accumulator, &mut SystemRandom) -> demure_core::Result<Release<f64>>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let public = self.public();
        let (all, rows) = accumulate(&self.data, self.common.explain(), self.bounds()?, public)?;
        // The true number of rows may be used where it is public, and nowhere else.
        let rows = self.n.or(Some(rows).filter(|&rows| public && rows > 0));
        let (mechanism, noise, of) = noise(rows);
        let report = promised(noised(mechanism, noise, of), guarantee, self.neighbours());
        let beta = five_percent()?;
        let report = error_of_rows(report, rows, |rows| error(rows, beta))?;
        let draw = |rng: &mut SystemRandom| Ok(release(&all, rng)?.into_value());
        self.common.output.finish(&report, draw, out)
    }
}
