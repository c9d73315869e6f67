//! `demure mechanism tree`: how many values are in each of many ranges.

use super::output::{Common, Spend, calibrated, five_percent, promised};
use crate::Failure;
use crate::input::{Bounds, Data, positive};
use demure_core::mechanism::{Tree, TreeShape};
use demure_core::random::SystemRandom;
use demure_core::utility::Accuracy;
use demure_report::{Report, named, short};
use std::io::Write;
use std::ops::RangeInclusive;

/// More cells than this do not fit a sensible answer.
const MOST_CELLS: u32 = 10_000_000;

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
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let neighbours = args.common.neighbours();
    let cells = Cells::of(args)?;
    let budget = args.spend.budget()?;
    let mechanism = Tree::new(
        budget,
        neighbours,
        TreeShape { cells: cells.number, branching: args.branching },
        args.max_rows,
    )?;
    let ranges: Vec<RangeInclusive<usize>> = match &args.range[..] {
        [] => (0..cells.number as usize).map(|cell| cell..=cell).collect(),
        ranges => ranges.iter().map(|range| cells.touched(range)).collect(),
    };
    let noise = mechanism.calibration();
    let report = Report::default()
        .field("mechanism", "tree of counts, made consistent")
        .field("levels", mechanism.levels())
        .field("noise", noise.family.to_string());
    let report = calibrated(report, noise, "");
    let report = promised(report, mechanism.guarantee(), neighbours);
    let report = error(report, args, &mechanism, &ranges)?;
    let mut counts = vec![0u64; cells.number as usize];
    let values = args.data.read(args.common.explain())?;
    values.iter().filter(|x| !x.is_nan()).for_each(|&x| counts[cells.holding(x)] += 1);
    let draw = |rng: &mut SystemRandom| {
        let all = mechanism.release(&counts, rng)?.into_value();
        Ok(named(ranges.iter().map(|range| (cells.label(range), all.count(range.clone())))))
    };
    args.common.output.finish(&report, draw, out)
}

/// The error of the worst of the ranges asked for, or of any range.
fn error(
    report: Report,
    args: &Args,
    tree: &Tree,
    ranges: &[RangeInclusive<usize>],
) -> Result<Report, Failure> {
    let beta = five_percent()?;
    let (error, what) = if args.range.is_empty() {
        (tree.error(beta)?, "any one range")
    } else {
        let errors: Result<Vec<f64>, _> =
            ranges.iter().map(|range| tree.error_of_range(range.clone(), beta)).collect();
        (errors?.into_iter().fold(0.0, f64::max), "each range")
    };
    let text = format!("± {} on {what}, with 95 % confidence (noise alone)", short(error));
    Ok(report.described("error_95", error, text))
}

/// The public cells.
struct Cells {
    low: f64,
    width: f64,
    number: u32,
    integer: bool,
}

impl Cells {
    fn of(args: &Args) -> Result<Self, Failure> {
        let Bounds { low, high } = args.bounds;
        let too_many = || Failure::usage("cells must be at most 10,000,000");
        if args.integer {
            let whole = |x: f64| x.fract() == 0.0 && x.abs() <= 1e15;
            if !(whole(low) && whole(high)) {
                return Err(Failure::usage("bounds must be whole numbers with --integer"));
            }
            let number = high - low + 1.0;
            if number > f64::from(MOST_CELLS) {
                return Err(too_many());
            }
            return Ok(Self { low, width: 1.0, number: number as u32, integer: true });
        }
        let number = args.cells.unwrap_or(1);
        let width = (high - low) / f64::from(number);
        if number > MOST_CELLS {
            return Err(too_many());
        }
        if !(width.is_finite() && width > 0.0) {
            return Err(Failure::usage(
                "bounds must be low,high, not too far or near for the cells",
            ));
        }
        Ok(Self { low, width, number, integer: false })
    }

    /// The cell of a value; the first or last for one outside.
    fn holding(&self, x: f64) -> usize {
        let x = if self.integer { x.round() } else { x };
        // A cast saturates: below 0 is 0.
        (((x - self.low) / self.width).floor() as usize).min(self.number as usize - 1)
    }

    /// The cells of a range: with whole numbers both ends count, else the upper does not.
    fn touched(&self, range: &Bounds) -> RangeInclusive<usize> {
        let first = self.holding(range.low);
        let last = if self.integer {
            self.holding(range.high.floor())
        } else {
            let cells = ((range.high - self.low) / self.width).ceil();
            ((cells as usize).min(self.number as usize)).saturating_sub(1)
        };
        first..=last.max(first)
    }

    fn label(&self, range: &RangeInclusive<usize>) -> String {
        let edge = |cell: usize| self.low + self.width * cell as f64;
        match (self.integer, range.start() == range.end()) {
            (true, true) => short(edge(*range.start())),
            (true, false) => {
                format!("{}..{}", short(edge(*range.start())), short(edge(*range.end())))
            }
            (false, _) => {
                format!("{}..{}", short(edge(*range.start())), short(edge(*range.end() + 1)))
            }
        }
    }
}
