//! What `count`, `sum`, `mean` and `variance` share: rows per unit, the rows added up, an error.

use crate::Failure;
use crate::input::{Bounds, Data, positive};
use demure_core::mechanism::{Accumulator, Rows};
use demure_core::unit::Grid;
use demure_report::{Report, short};

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
