//! `demure sample …`: more rows of a saved model.

use super::output::{Format, threads};
use crate::Failure;
use crate::input::positive;
use demure_core::random::SystemRandom;
use demure_files as files;
use demure_report::{grouped, progress::Spinner};
use demure_synth::curated::SavedModel;
use std::path::PathBuf;

/// Make more rows from a saved model; it costs nothing, as the model holds released numbers only
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure sample rows.demure --rows 1000 -o more.csv
  demure sample rows.demure --rows 500 --where 'age >= 65 AND smoker' -o smokers.parquet

The model is saved by: demure synthesize … --save rows.demure")]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// How many rows; by default about as many as the source had
    #[arg(long, value_name = "N", value_parser = positive)]
    rows: Option<u32>,

    /// Only rows that meet this condition, as SQL writes it: columns compared with values, joined by AND
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,

    /// Write the rows here: as Parquet if it is called so, else as CSV
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// More rows than this are made only if they are asked for.
const MOST_ROWS: usize = 100_000_000;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let format = Format::of(&args.output)?;
    let unread = |source| Failure::File { what: "reading the model".into(), source };
    let text = std::fs::read_to_string(&args.model).map_err(unread)?;
    let saved = SavedModel::from_text(&text)?;
    let rows = match args.rows {
        Some(rows) => rows as usize,
        None => Some(saved.model().rows()).filter(|rows| *rows <= MOST_ROWS).ok_or_else(|| {
            Failure::usage(
                "the model does not say a number of rows that can be made\nhint: give --rows",
            )
        })?,
    };
    if args.output == args.model {
        return Err(Failure::usage("the output is the model itself\nhint: give it another name"));
    }
    let made = {
        let _spinner = Spinner::new("sampling");
        let mut rng = SystemRandom::new()?;
        saved.sample(rows, args.condition.as_deref(), threads(), &mut rng)?
    };
    files::write(&args.output, |to| format.write(&made, to))?;
    eprintln!("{} rows; this costs nothing", grouped(made.num_rows() as f64));
    Ok(())
}
