//! `demure init …`: a first policy for a table, from its schema alone.

use crate::Failure;
use crate::curator::runtime;
use crate::input::number;
use demure_core::unit::Epsilon;
use demure_curator::{ProposeError, ProposeOptions, propose};
use demure_report::short;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Write a first policy for a table, without reading its values
///
/// Of a CSV file only the heading is read, of a Parquet file only the schema. What a steward
/// must decide stands in comments. With --spend-epsilon, bounds of numeric columns are found
/// privately and paid for: that reads the values, and what it finds is noised.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure init people.csv
  demure init people.csv --output people.toml --force
  demure init people.csv --unit city --numeric age,income --spend-epsilon 0.5

Without --output the cost of --spend-epsilon is noted nowhere: count it yourself.")]
pub(crate) struct Args {
    /// The table: a CSV file with a heading, or a Parquet file
    #[arg(value_name = "FILE")]
    data: PathBuf,
    /// Write the policy to FILE instead of stdout
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite FILE if it is there; its budget and its ledger stay
    #[arg(long, requires = "output")]
    force: bool,
    /// What queries will call the table; by default the file's name
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// The column that says whose row it is, or `row` if every row is someone else
    #[arg(long, value_name = "COLUMN")]
    unit: Option<String>,
    /// Columns of a CSV file that hold numbers
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    numeric: Vec<String>,
    /// Find bounds of the numeric columns privately, for this ε in all
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true, requires = "unit")]
    spend_epsilon: Option<f64>,
}

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    if args.output.as_ref().is_some_and(|path| path.exists()) && !args.force {
        return Err(Failure::usage(
            "the policy is there already\nhint: --force overwrites it; its [budget] and its ledger stay",
        ));
    }
    let options = ProposeOptions {
        data: &args.data,
        output: args.output.as_deref(),
        table: args.table.as_deref(),
        unit: args.unit.as_deref(),
        numeric: &args.numeric,
        spend: args.spend_epsilon.map(Epsilon::new).transpose()?,
    };
    let note = &mut |line: &str| note!("{line}");
    let proposed = runtime()?.block_on(propose(&options, note))?;
    if json {
        let object = json!({
            "policy": args.output.as_ref().map(|path| path.display().to_string()),
            "text": proposed.text,
            "bounds": proposed.bounds.iter().map(|found| (found.name.clone(), json!(found.bounds)))
                .collect::<serde_json::Map<_, _>>(),
        });
        writeln!(out, "{object}").map_err(Failure::writing)?;
    } else if args.output.is_none() {
        out.write_all(proposed.text.as_bytes()).map_err(Failure::writing)?;
        out.flush().map_err(Failure::writing)?;
    }
    for column in proposed.bounds.iter().filter(|column| column.bounds.is_none()) {
        eprintln!(
            "{}: no bounds found\nhint: too few people, or too small an ε, to tell them from noise",
            column.name
        );
    }
    if let Some(epsilon) = options.spend {
        let noted = match &args.output {
            Some(_) => "debited in the policy's ledger",
            None => "noted nowhere: count it against the budget yourself",
        };
        note!("cost ε {}, {noted}", short(epsilon.get()));
    }
    Ok(())
}

impl From<ProposeError> for Failure {
    fn from(error: ProposeError) -> Self {
        match error {
            ProposeError::Curator(error) => Self::Curator(error),
            ProposeError::Files(error) => Self::Files(error),
            ProposeError::Io { what, source } => Self::File { what, source },
            error @ ProposeError::UnknownColumn { .. } => Self::usage(format!("--{error}")),
            error => Self::usage(error.to_string()),
        }
    }
}
