//! `demure audit command`: any program that reads a dataset and prints numbers.

use super::options::{Effort, Sides};
use super::render::tell;
use crate::Failure;
use crate::input::{Relation, number};
use demure_attack::audit::Claim;
use demure_attack::audit::page::Audit;
use demure_attack::audit::program::{Datasets, audit};
use demure_report::progress::watched;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Any program that reads a dataset and prints numbers: other people's software too
///
/// The program is run again and again on two neighbouring datasets. `{}` in its arguments stands for the dataset's path; without
/// it the dataset comes on standard input. Every line that it prints is one run: numbers, or words, separated by
/// spaces, commas or semicolons. Starting a program takes long, so one that prints many lines, each of an independent run of its mechanism,
/// is audited much faster; `{n}` stands for how many lines are wanted.
///
/// The lines must be independent: a program that draws its noise once and prints it twice is convicted of
/// what it printed, not of what one line gives away.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure audit command --left a.csv --right b.csv --epsilon 1 -- python3 count.py {} {n}
  demure audit command --data people.csv --epsilon 1 --minutes 5 -- ./noisy-mean --file {}
  demure audit command --data people.csv --unit id --epsilon 1 -- sh -c 'wc -l'

Exit code: 0 not refuted, 1 violated, 2 a mistake or a failure.")]
pub(super) struct Args {
    #[command(flatten)]
    sides: Sides,

    /// A CSV file of which neighbours are made, instead of --left and --right
    #[arg(long, value_name = "FILE", conflicts_with_all = ["left", "right"])]
    data: Option<PathBuf>,

    /// The column of --data that says whose row a row is; without it every row is someone else's
    #[arg(long, value_name = "COLUMN", requires = "data")]
    unit: Option<String>,

    /// What neighbours of --data differ in
    #[arg(long, value_enum, default_value = "add-remove")]
    neighbours: Relation,

    /// The ε that the program claims; without it the audit measures only
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,

    /// The δ at which it is claimed
    #[arg(long, value_name = "D", value_parser = number, allow_hyphen_values = true, default_value_t = 0.0)]
    delta: f64,

    #[command(flatten)]
    effort: Effort,

    /// The program and its arguments, after `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let effort = args.effort.checked()?;
    let claim = Claim::new(args.epsilon, args.delta)?;
    let datasets = match (args.sides.given(), &args.data) {
        (Some(given), _) => Datasets::Given(given),
        (None, Some(data)) => Datasets::Made {
            data,
            unit: args.unit.as_deref(),
            relation: args.neighbours.into(),
            pairs: args.sides.pairs,
        },
        (None, None) => {
            return Err(Failure::usage(
                "there is nothing to run it on\nhint: give --left and --right, or --data to make neighbours of",
            ));
        }
    };
    let found = watched(|watch| audit(&args.command, datasets, claim, &effort, watch))?;
    let words: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    let name = words.first().map_or(String::new(), ToString::to_string);
    tell(&[Audit { name, about: words.join(" "), found }], &args.effort, out)
}
