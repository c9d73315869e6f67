//! `demure mechanism tree`: how many values are in each of many ranges.

use super::output::{Common, Spend};
use crate::Failure;
use crate::input::{Bounds, Data, positive};
use demure_core::mechanism::{Tree, TreeShape};
use demure_core::random::SystemRandom;
use demure_plan::cells::Cells;
use demure_plan::explain;
use demure_report::named;
use std::io::Write;

/// How many values are in each of many ranges, for one price
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism tree --values 31,45,28,60 --bounds 0,99 --integer \\
      --range 0,49 --range 50,99 --epsilon 1
  demure mechanism tree people.csv --column income --bounds 0,200000 \\
      --cells 100 --epsilon 1

Values outside the bounds count in the first or last cell; cells of a file that are no numbers are
left out. A range takes in every cell that it touches. Without --range, every cell is shown.")]
pub(super) struct Args {
    #[command(flatten)]
    data: Data,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    bounds: Bounds,

    /// Into how many cells of equal width the bounds are cut
    #[arg(
        long,
        value_name = "N",
        value_parser = positive,
        allow_hyphen_values = true,
        required_unless_present = "integer",
        conflicts_with = "integer"
    )]
    cells: Option<u32>,

    /// One cell for every whole number within the bounds
    #[arg(long)]
    integer: bool,

    /// A range to count in (may be given many times)
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    range: Vec<Bounds>,

    #[command(flatten)]
    spend: Spend,

    /// How many children a node of the tree has
    #[arg(long, value_name = "N", value_parser = positive, default_value = "16", allow_hyphen_values = true)]
    branching: u32,

    /// The most rows of one unit
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1", allow_hyphen_values = true)]
    max_rows: u32,

    #[command(flatten)]
    common: Common,
}

impl Args {
    pub(super) fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let bounds = self.bounds.range();
        let cells = match self.integer {
            true => Cells::integers(&bounds)?,
            false => Cells::equal(&bounds, self.cells.unwrap_or(1))?,
        };
        let shape = TreeShape { cells: cells.number(), branching: self.branching };
        let (budget, neighbours) = (self.spend.budget()?, self.common.neighbours());
        let mechanism = Tree::new(budget, neighbours, shape, self.max_rows)?;
        let ranges = match &self.range[..] {
            [] => cells.each(),
            ranges => ranges.iter().map(|range| cells.touched(&range.range())).collect(),
        };
        let asked = (!self.range.is_empty()).then_some(ranges.as_slice());
        let report = explain::tree(&mechanism, asked, neighbours)?;
        self.data.check(self.common.explain())?;
        let paid = self.common.pay("tree", mechanism.guarantee())?;
        let counts = cells.counts(&self.data.read(self.common.explain())?);
        let draw = |rng: &mut SystemRandom| {
            let all = mechanism.release(&counts, rng)?.into_value();
            Ok(named(ranges.iter().map(|range| (cells.label(range), all.count(range.clone())))))
        };
        self.common.output.finish(paid, report, draw, out)
    }
}
