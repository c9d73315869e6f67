//! What `count`, `sum`, `mean` and `variance` share: rows per unit, noise, their report.

use super::output::{Spend, promised};
use crate::Failure;
use crate::input::{Bounds, Data, positive};
use crate::report::{Report, short};
use demure_core::mechanism::{Accumulator, Budget, Guarantee, Rows};
use demure_core::unit::{Grid, Neighbours};

/// How many rows one unit has.
#[derive(clap::Args)]
pub(super) struct PerUnit {
    /// Every unit has exactly this many rows (1 unless given)
    #[arg(
        long,
        value_name = "N",
        value_parser = positive,
        allow_hyphen_values = true,
        conflicts_with = "max_rows"
    )]
    rows: Option<u32>,

    /// A unit has between none and this many rows
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    max_rows: Option<u32>,
}

impl PerUnit {
    pub(super) fn rows(&self) -> Rows {
        match self.max_rows {
            Some(most) => Rows::AtMost(most),
            None => Rows::Exactly(self.rows.unwrap_or(1)),
        }
    }

    /// The most rows of one unit.
    pub(super) fn most(&self) -> f64 {
        f64::from(self.max_rows.or(self.rows).unwrap_or(1))
    }

    /// Whether the number of rows is public.
    pub(super) fn public(&self, neighbours: Neighbours) -> bool {
        self.max_rows.is_none() && neighbours == Neighbours::Replace
    }
}

impl Bounds {
    /// The bounds on their own grid, or on the integers.
    pub(crate) fn on_grid(self, integer: bool) -> Result<demure_core::mechanism::Bounds, Failure> {
        use demure_core::mechanism::Bounds as OnGrid;
        Ok(if integer {
            OnGrid::on(self.low, self.high, Grid::ONE)?
        } else {
            OnGrid::new(self.low, self.high)?
        })
    }
}

/// Adds up the rows. One that is no number is left out, as SQL leaves out NULL;
/// where the number of rows is public it must count, and the core's rule for NaN holds.
pub(super) fn accumulate(
    data: &Data,
    explain: bool,
    bounds: demure_core::mechanism::Bounds,
    public: bool,
) -> Result<(Accumulator, u64), Failure> {
    let values = data.read(explain)?;
    let rows = values.len() as u64;
    let mut all = Accumulator::new(bounds);
    all.extend(values.into_iter().filter(|value| public || !value.is_nan()));
    Ok((all, rows))
}

/// What a sensitivity in ℓ₁ (and in ℓ₂) means for the noise, for showing.
pub(super) struct Shown {
    pub(super) mechanism: &'static str,
    pub(super) l1: f64,
    pub(super) l2: f64,
    /// What the sensitivity is of, where that is not the answer itself.
    pub(super) of: &'static str,
    /// The part of the budget that this noise has.
    pub(super) share: f64,
}

impl Shown {
    pub(super) fn report(
        &self,
        spend: &Spend,
        guarantee: Guarantee,
        neighbours: Neighbours,
    ) -> Result<Report, Failure> {
        let of = |x: f64| format!("{}{}", short(x), self.of);
        let report = Report::default().field("mechanism", self.mechanism);
        let report = match spend.budget()? {
            Budget::Pure(epsilon) => {
                let scale = self.l1 / (self.share * epsilon.get());
                report
                    .field("noise", "discrete Laplace")
                    .described("sensitivity", self.l1, of(self.l1))
                    .described("scale", scale, of(scale))
            }
            Budget::Concentrated(rho) => {
                let sigma = self.l2 / (2.0 * self.share * rho.get()).sqrt();
                report
                    .field("noise", "discrete Gaussian")
                    .described("sensitivity", self.l2, of(self.l2))
                    .described("sigma", sigma, of(sigma))
            }
        };
        Ok(promised(report, guarantee, neighbours))
    }
}

/// `error_95` of a statistic whose error depends on how many rows there are: for
/// `rows` of them, if that may be said, else for none, where it is largest.
pub(super) fn error_of_rows(
    report: Report,
    rows: Option<u64>,
    error: impl Fn(u64) -> demure_core::Result<f64>,
) -> Result<Report, Failure> {
    let bound = error(rows.unwrap_or(0))?;
    let text = match rows {
        Some(rows) => {
            format!("± {} with 95 % confidence for {rows} rows (noise alone)", short(bound))
        }
        None => format!(
            "± {} at worst (the number of rows is protected; --n N says how much for N rows)",
            short(bound)
        ),
    };
    Ok(report.described("error_95", bound, text))
}
