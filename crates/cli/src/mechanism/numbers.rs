//! `demure mechanism count`, `sum`, `mean`, `variance`, `quantile` of a column.

use super::output::{Common, Spend};
use crate::Failure;
use crate::input::{Bounds, Data, number, positive, whole};
use demure_core::mechanism::{self as core, BoundedSum, Budget, Rows};
use demure_core::random::SystemRandom;
use demure_core::unit::{Epsilon, Grid, Neighbours};
use demure_plan::explain::{self, error_95, noised};
use demure_plan::moment::{self, accumulate};
use demure_report::{Report, integer};
use std::io::Write;

/// How many rows there are, or how many are within bounds.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism count --values 31,45,28 --epsilon 1
  demure mechanism count people.csv --column age --bounds 65,120 --epsilon 0.5
  demure mechanism count --epsilon 1 --explain")]
pub(super) struct Count {
    #[command(flatten)]
    data: Data,

    /// Count only rows with a number within these bounds
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Option<Bounds>,

    #[command(flatten)]
    spend: Spend,

    /// The most rows of one unit
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    common: Common,
}

impl Count {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let most = Rows::AtMost(self.max_rows);
        let mechanism = core::Count::new(self.spend.budget()?, self.common.neighbours(), most)?;
        let counts = |x: &&f64| self.bounds.is_none_or(|b| b.low <= **x && **x <= b.high);
        self.data.check(self.common.explain())?;
        let paid = self.common.pay("count", mechanism.guarantee())?;
        let rows = self.data.read(self.common.explain())?.iter().filter(counts).count() as u64;
        self.common.release(
            paid,
            noised("count", mechanism.calibration(), ""),
            mechanism.guarantee(),
            error_95(&mechanism)?,
            |rng| Ok(integer(mechanism.release(rows, rng)?.into_value())),
            out,
        )
    }
}

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
    fn rows(&self) -> Rows {
        match self.max_rows {
            Some(most) => Rows::AtMost(most),
            None => Rows::Exactly(self.rows.unwrap_or(1)),
        }
    }
}

/// The bounds on their own grid, or on the integers.
pub(super) fn on_grid(bounds: Bounds, integer: bool) -> Result<core::Bounds, Failure> {
    Ok(match integer {
        true => core::Bounds::on(bounds.low, bounds.high, Grid::ONE)?,
        false => core::Bounds::new(bounds.low, bounds.high)?,
    })
}

/// The sum of bounded numbers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism sum --values 12,7,30 --bounds 0,50 --epsilon 1
  demure mechanism sum people.csv --column income --bounds 0,200000 --epsilon 1
  demure mechanism sum --bounds 0,50 --epsilon 1 --explain

Values outside the bounds count as the bound. Cells that are no numbers are left out; under
`--neighbours replace`, where the number of rows is public, they count as 0, within the bounds.")]
pub(super) struct Sum {
    #[command(flatten)]
    data: Data,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    /// The values are whole numbers, and so is the sum
    #[arg(long)]
    integer: bool,

    #[command(flatten)]
    spend: Spend,

    #[command(flatten)]
    unit: PerUnit,

    #[command(flatten)]
    common: Common,
}

impl Sum {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (bounds, rows) = (on_grid(self.bounds, self.integer)?, self.unit.rows());
        let neighbours = self.common.neighbours();
        let mechanism = BoundedSum::new(self.spend.budget()?, bounds, neighbours, rows)?;
        let grid = Report::default().field("grid", bounds.grid().spacing());
        self.data.check(self.common.explain())?;
        let paid = self.common.pay("sum", mechanism.guarantee())?;
        let values = self.data.read(self.common.explain())?;
        let all = accumulate(&values, bounds, rows.public(neighbours));
        self.common.release(
            paid,
            noised("bounded sum", mechanism.calibration(), ""),
            mechanism.guarantee(),
            grid.append(error_95(&mechanism)?),
            |rng| Ok(mechanism.release(&all, rng)?.into_value()),
            out,
        )
    }
}

/// A statistic of bounded numbers whose error depends on the number of rows.
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
    /// Explains or draws what `of` makes of the budget, the bounds and the unit.
    fn run(&self, name: &str, of: New, out: &mut impl Write) -> Result<(), Failure> {
        let (bounds, rows) = (on_grid(self.bounds, false)?, self.unit.rows());
        let moment = of(self.spend.budget()?, bounds, self.common.neighbours(), rows)?;
        self.data.check(self.common.explain())?;
        let paid = self.common.pay(name, moment.guarantee())?;
        let values = self.data.read(self.common.explain())?;
        let (report, all) = (moment.explain(self.n, values.len())?, moment.accumulate(&values));
        self.common.output.finish(paid, report, |rng| Ok(moment.release(&all, rng)?), out)
    }
}

/// A mean or a variance.
type New = fn(Budget, core::Bounds, Neighbours, Rows) -> demure_plan::Result<moment::Moment>;

/// The mean of bounded numbers
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism mean --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism mean people.csv --column age --bounds 0,120 --epsilon 0.5
  demure mechanism mean --bounds 0,100 --epsilon 1 --n 1000 --explain

Values outside the bounds count as the bound. Cells that are no numbers are left out; under
`--neighbours replace`, where the number of rows is public, they count as 0, within the bounds.")]
pub(super) struct Mean {
    #[command(flatten)]
    of: Moment,
}

impl Mean {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        self.of.run("mean", moment::Moment::mean, out)
    }
}

/// The variance of bounded numbers
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism variance --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism variance people.csv --column age --bounds 0,120 --epsilon 0.5
  demure mechanism variance --bounds 0,100 --epsilon 1 --n 1000 --explain

Values outside the bounds count as the bound. Cells that are no numbers are left out; under
`--neighbours replace`, where the number of rows is public, they count as 0, within the bounds.")]
pub(super) struct Variance {
    #[command(flatten)]
    of: Moment,
}

impl Variance {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        self.of.run("variance", moment::Moment::variance, out)
    }
}

/// The median or any quantile of bounded numbers.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism quantile --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism quantile people.csv --column age --bounds 0,120 --integer \\
      --q 0.9 --epsilon 0.5

Values outside the bounds count at the bound. Cells that are no numbers are left out.")]
pub(super) struct Quantile {
    #[command(flatten)]
    data: Data,

    /// Which quantile: 0.5 is the median
    #[arg(long, value_parser = number, allow_hyphen_values = true, default_value = "0.5")]
    q: f64,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    /// Release a whole number
    #[arg(long)]
    integer: bool,

    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true)]
    epsilon: f64,

    #[command(flatten)]
    common: Common,
}

impl Quantile {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (epsilon, neighbours) = (Epsilon::new(self.epsilon)?, self.common.neighbours());
        if !(self.q > 0.0 && self.q < 1.0) {
            return Err(Failure::usage("q must be a number strictly between 0 and 1"));
        }
        let range = self.bounds.range();
        let mechanism = match self.integer {
            true => core::Quantile::with_grid(epsilon, neighbours, self.q, range, Grid::ONE)?,
            false => core::Quantile::between(epsilon, neighbours, self.q, range)?,
        };
        let report = explain::quantile(&mechanism, self.q, neighbours)?;
        self.data.check(self.common.explain())?;
        let paid = self.common.pay("quantile", mechanism.guarantee())?;
        let values = self.data.read(self.common.explain())?;
        let draw = |rng: &mut SystemRandom| Ok(mechanism.release(&values, rng)?.into_value());
        self.common.output.finish(paid, report, draw, out)
    }
}
