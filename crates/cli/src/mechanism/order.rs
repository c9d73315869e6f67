//! `demure mechanism median`, `trimmed-mean`: noise in proportion to a smooth bound on the local sensitivity.

use super::numbers::on_grid;
use super::output::{Loss, Output};
use crate::Failure;
use crate::input::{Bounds, Data, Relation, choice, number, positive};
use demure_core::mechanism::Guarantee;
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{Smoothness, Values};
use demure_core::unit::Neighbours;
use demure_plan::compare::{Reference, as_json, as_text, compare};
use demure_plan::smooth::{Noise, Order, explain, values};
use std::io::Write;

/// The median, with noise that fits the data.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism median --values 31,45,28,60,52 --bounds 0,100 --epsilon 1
  demure mechanism median people.csv --column age --bounds 0,120 --rho 0.5 --noise lln
  demure mechanism median people.csv --column age --bounds 0,120 --epsilon 1 --delta 1e-6 \\
      --neighbours add-remove --size 100
  demure mechanism median --bounds 0,100 --epsilon 1 --compare --n 101

Values outside the bounds count at the bound. Under `replace`, the default here, the number of rows is public and a cell
that is no number counts as 0, within the bounds; under add-remove it is left out. Of an even number of values the
median is the lower of the two in the middle. `demure mechanism quantile` has the exponential mechanism.
--compare spends nothing because it looks at no data: its errors are those on a made-up public sample.")]
pub(super) struct Median {
    #[command(flatten)]
    of: Smooth,

    /// For --neighbours add-remove: the rows are filled up to this public number, half at either
    /// bound; rows beyond it are left out
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    size: Option<u32>,
}

impl Median {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        self.of.run(Order::Median, self.size, out)
    }
}

/// The mean without the least and the greatest values, with noise that fits the data.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism trimmed-mean --values 31,45,28,60,52 --trim 0.2 --bounds 0,100 --epsilon 1
  demure mechanism trimmed-mean people.csv --column age --bounds 0,120 --rho 0.5 --noise lln
  demure mechanism trimmed-mean --bounds 0,100 --epsilon 1 --compare --n 101

Values outside the bounds count at the bound; a cell that is no number counts as 0, within the bounds. The number of rows
is public. --compare spends nothing because it looks at no data: its errors are those on a made-up public sample.")]
pub(super) struct Trimmed {
    #[command(flatten)]
    of: Smooth,

    /// Which share of the values is left out at either end
    #[arg(long, value_name = "SHARE", value_parser = number, default_value = "0.1", allow_hyphen_values = true)]
    trim: f64,
}

impl Trimmed {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        if !(0.0..0.5).contains(&self.trim) {
            return Err(Failure::usage("--trim must be at least 0 and below 0.5, e.g. 0.1"));
        }
        if self.of.neighbours() == Neighbours::AddRemove {
            return Err(Failure::usage(
                "a trimmed mean is offered under --neighbours replace only\n\
                 hint: `demure mechanism median --size N` knows add-remove, and so does `demure mechanism mean`",
            ));
        }
        self.of.run(Order::TrimmedMean(self.trim), None, out)
    }
}

/// Options of a statistic of order.
#[derive(clap::Args)]
pub(super) struct Smooth {
    #[command(flatten)]
    data: Data,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    #[command(flatten)]
    loss: Loss,

    /// Which noise is put on the smooth bound
    #[arg(long, value_parser = choice(Noise::ALL), default_value = "auto")]
    noise: Noise,

    /// Degrees of freedom of --noise student: 1 (Cauchy) or even
    #[arg(long, value_name = "D", value_parser = positive, default_value = "4", allow_hyphen_values = true)]
    degrees: u32,

    /// t of the smooth bound, chosen without looking at the data; a tenth of ε unless given
    #[arg(long, value_name = "T", value_parser = number, allow_hyphen_values = true)]
    smoothness: Option<f64>,

    /// Which datasets count as neighbours; the number of rows is public under `replace`
    #[arg(long, value_enum, default_value = "replace")]
    neighbours: Relation,

    /// Show the expected error of every method at this budget, on a public sample; no data are read,
    /// so that nothing is spent
    #[arg(long, conflicts_with = "policy")]
    compare: bool,

    /// The sample of --compare, over the bounds
    #[arg(long, value_parser = choice(Reference::ALL), default_value = "uniform", requires = "compare")]
    reference: Reference,

    /// How many values the sample of --compare has
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1000", requires = "compare", allow_hyphen_values = true)]
    n: u32,

    #[command(flatten)]
    output: Output,
}

impl Smooth {
    fn neighbours(&self) -> Neighbours {
        self.neighbours.into()
    }

    /// Explains, compares or draws; `size` is a public number to fill values up to.
    fn run(&self, order: Order, size: Option<u32>, out: &mut impl Write) -> Result<(), Failure> {
        let (budget, t, neighbours) =
            (self.loss.guarantee()?, self.smoothness()?, self.neighbours());
        let (bounds, width) = (on_grid(self.bounds, false)?, self.bounds.high - self.bounds.low);
        if self.compare {
            let text = self.compared(order, budget, t)?;
            return out.write_all(text.as_bytes()).map_err(Failure::writing);
        }
        let noise = self.noise.within(budget, self.degrees, t)?;
        let report = explain(order, width, &noise, neighbours);
        if self.output.explain {
            return Ok(report.print(self.output.json, out)?);
        }
        self.data.check(false)?;
        if neighbours == Neighbours::AddRemove && size.is_none() {
            return Err(demure_plan::Error::NoSize.into());
        }
        let paid = self.output.pay(order.name(), noise.guarantee(), neighbours)?;
        let values = values(bounds, self.data.read(false)?, neighbours, size)?;
        let statistic = order.of(&values)?;
        let draw =
            |rng: &mut SystemRandom| Ok(noise.release(statistic.as_ref(), rng)?.into_value());
        self.output.finish(paid, report, draw, out)
    }

    /// The comparison, on a public sample: no data are read.
    fn compared(
        &self,
        order: Order,
        budget: Guarantee,
        t: Option<Smoothness>,
    ) -> Result<String, Failure> {
        let range = self.bounds.range();
        let sample = self.reference.sample(&range, self.n);
        let values = Values::new(on_grid(self.bounds, false)?, sample.iter().copied());
        let statistic = order.of(&values)?;
        let median = (order == Order::Median).then_some((range, sample.as_slice()));
        let rows = compare(statistic.as_ref(), budget, t, median, &mut SystemRandom::new()?)?;
        let (name, words) = (order.name(), self.reference.words());
        let about = format!("{name} of {} values, {words} over the bounds", self.n);
        Ok(match self.output.json {
            true => as_json(&about, &rows),
            false => as_text(&about, &rows),
        })
    }

    fn smoothness(&self) -> Result<Option<Smoothness>, Failure> {
        Ok(self.smoothness.map(Smoothness::new).transpose()?)
    }
}
