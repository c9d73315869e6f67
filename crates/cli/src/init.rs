//! `demure init …`: a first policy for a table, from its schema and what its steward says.

use crate::Failure;
use crate::curator::runtime;
use crate::input::number;
use demure_core::unit::Epsilon;
use demure_curator::policy::TimeFormat;
use demure_curator::{Choices, ProposeError, ProposeOptions, interview, propose};
use demure_files::delimiter;
use demure_report::short;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// Write a first policy for a table, without reading its values
///
/// Of a CSV file only the heading is read, of a Parquet file only the schema. On a terminal it asks
/// what matters: whose row it is, how much privacy, and what columns hold. With --yes, or without
/// a terminal, it asks nothing. With --spend-epsilon, bounds of numeric columns are found
/// privately and paid for: that reads the values, and what it finds is noised.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure init people.csv
  demure init people.csv --yes --unit city --output people.toml --force
  demure init people.csv --unit city --numeric age,income --spend-epsilon 0.5

Columns are found whatever their case. Without --output the cost of --spend-epsilon is noted
nowhere: count it yourself.")]
pub(crate) struct Args {
    /// The table: a CSV file with a heading, a Parquet file, or a folder of them
    #[arg(value_name = "FILE")]
    data: PathBuf,
    /// Write the policy to FILE instead of stdout
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite FILE if it is there; its budget, its ledger and bounds that were bought stay
    #[arg(long, requires = "output")]
    force: bool,
    /// Ask nothing: what the names of columns suggest is declared, so that the policy answers at once
    #[arg(long)]
    yes: bool,
    /// What queries will call the table; by default the file's name
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// The column that says whose row it is, or `row` if every row is someone else
    #[arg(long, value_name = "COLUMN")]
    unit: Option<String>,
    /// The ε of all answers together
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// Columns of a CSV file that hold numbers
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    numeric: Vec<String>,
    /// Columns of a CSV file that hold dates
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    date: Vec<String>,
    /// How dates are written: %Y-%m-%d, %d.%m.%Y, %m/%d/%Y %H:%M, …
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    date_format: Option<TimeFormat>,
    /// A column to group by, and its values if everybody may know them: `size=S|M|L`
    #[arg(long, value_name = "COLUMN[=A|B]", value_parser = category)]
    category: Vec<(String, Vec<String>)>,
    /// What separates decimals in a CSV file: `.` or `,`
    #[arg(long, value_name = "SIGN", value_parser = [",", "."])]
    decimal: Option<String>,
    /// What separates the cells of a CSV file, or `tab`; by default seen from its first line
    #[arg(long, value_name = "SIGN", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// Take types, ranges and labels of columns from a data dictionary, a CSV or a JSON file
    #[arg(long, value_name = "FILE")]
    dictionary: Option<PathBuf>,
    /// Find bounds of the numeric columns privately, for this ε in all
    #[arg(long, value_name = "E", value_parser = number, allow_hyphen_values = true, requires = "unit")]
    spend_epsilon: Option<f64>,
}

fn format(text: &str) -> Result<TimeFormat, String> {
    TimeFormat::parse(text).map_err(|fault| format!("the format {fault}"))
}

fn category(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = text.split_once('=').unwrap_or((text, ""));
    let values = values.split('|').map(str::to_owned).filter(|value| !value.is_empty());
    Ok((name.to_owned(), values.collect()))
}

pub(crate) fn run(args: &Args, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut output = args.output.clone();
    let mut choices = Choices {
        unit: args.unit.clone(),
        epsilon: args.epsilon.map(Epsilon::new).transpose()?,
        delimiter: args.delimiter,
        decimal_comma: args.decimal.as_deref().map(|sign| sign == ","),
        numeric: args.numeric.clone(),
        dates: args.date.clone(),
        date_format: args.date_format.clone(),
        categories: args.category.clone(),
    };
    let asks = !args.yes && !json && io::stdin().is_terminal() && io::stderr().is_terminal();
    check_free(args, output.as_ref())?;
    if asks {
        choices = interview(&options(args, &choices, output.as_ref(), asks)?, &mut ask)?;
        if output.is_none() {
            let suggested = format!("{}.toml", options(args, &choices, None, asks)?.table_name());
            let said = ask("Where shall the policy be written? - for the screen", &suggested);
            let said = said.map_err(Failure::writing)?.unwrap_or_default();
            output = match said.trim() {
                "-" => None,
                "" => Some(suggested.into()),
                said => Some(said.into()),
            };
            check_free(args, output.as_ref())?;
        }
    }
    let note = &mut |line: &str| note!("{line}");
    let options = options(args, &choices, output.as_ref(), asks)?;
    let proposed = runtime()?.block_on(propose(&options, note))?;
    if json {
        let object = json!({
            "policy": output.as_ref().map(|path| path.display().to_string()),
            "text": proposed.text,
            "bounds": proposed.bounds.iter().map(|found| (found.name.clone(), json!(found.bounds)))
                .collect::<serde_json::Map<_, _>>(),
        });
        writeln!(out, "{object}").map_err(Failure::writing)?;
    }
    match &output {
        None if json => {}
        None => {
            out.write_all(proposed.text.as_bytes()).map_err(Failure::writing)?;
            out.flush().map_err(Failure::writing)?;
        }
        Some(path) => {
            let path = path.display();
            note!("wrote {path}\nhint: demure check {path} opens it and shows questions to ask");
        }
    }
    for column in proposed.bounds.iter().filter(|column| column.bounds.is_none()) {
        eprintln!(
            "{}: no bounds found\nhint: too few people, or too small an ε, to tell them from noise",
            column.name
        );
    }
    if let Some(epsilon) = options.spend {
        let noted = match &output {
            Some(_) => "debited in the policy's ledger",
            None => "noted nowhere: count it against the budget yourself",
        };
        note!("cost ε {}, {noted}", short(epsilon.get()));
    }
    Ok(())
}

fn options<'a>(
    args: &'a Args,
    choices: &'a Choices,
    output: Option<&'a PathBuf>,
    asks: bool,
) -> Result<ProposeOptions<'a>, Failure> {
    Ok(ProposeOptions {
        data: &args.data,
        output: output.map(PathBuf::as_path),
        table: args.table.as_deref(),
        choices,
        dictionary: args.dictionary.as_deref(),
        ready: args.yes || asks,
        spend: args.spend_epsilon.map(Epsilon::new).transpose()?,
    })
}

/// Refuses to overwrite a policy.
fn check_free(args: &Args, output: Option<&PathBuf>) -> Result<(), Failure> {
    if output.is_some_and(|path| path.exists()) && !args.force {
        return Err(Failure::usage(
            "the policy is there already\nhint: --force overwrites it; its [budget] and its ledger stay",
        ));
    }
    Ok(())
}

/// Asks on the terminal. An empty line is the answer in brackets.
fn ask(question: &str, default: &str) -> io::Result<Option<String>> {
    eprint!("{question}\n  [{default}]: ");
    let mut line = String::new();
    Ok((io::stdin().read_line(&mut line)? > 0).then_some(line))
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
