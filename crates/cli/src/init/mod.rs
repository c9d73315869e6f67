//! `demure init …`: a first policy for a table, from its schema alone.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | the command |
//! | `previous.rs` | a policy that is overwritten, and its ledger, which stays |
//! | `schema.rs` | names and types: a CSV file's heading, a Parquet file's footer |
//! | `bounds.rs` | `--spend-epsilon`: private bounds for numeric columns |

mod bounds;
mod previous;
mod schema;

use crate::Failure;
use crate::curator::runtime;
use crate::input::number;
use bounds::{Found, Search};
use demure_core::event::Event;
use demure_core::unit::Epsilon;
use demure_curator::Curator;
use demure_curator::policy::{
    ColumnKind, Policy, bounds_line, rewrite, template, with_ledger, with_ledger_in,
};
use demure_files as files;
use demure_ledger::Request;
use demure_report::short;
use previous::Previous;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

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

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.output.as_ref().is_some_and(|path| path.exists()) && !args.force {
        return Err(Failure::usage(
            "the policy is there already\nhint: --force overwrites it; its [budget] and its ledger stay",
        ));
    }
    let previous = Previous::read(args.output.as_deref())?;
    let columns = schema::read(&args.data, &args.numeric)?;
    if let Some(unit) = args.unit.as_deref().filter(|unit| *unit != "row") {
        known(&columns, unit, "--unit")?;
    }
    let stem = args.data.file_stem().unwrap_or_default().to_string_lossy();
    let table = args.table.as_deref().unwrap_or(&stem);
    let source = source(&args.data, args.output.as_deref())?;
    let budget = previous::budget(args.output.as_deref());
    let mut text = previous::with_budget(&template(table, &source, &columns), &budget);
    if !budget.is_empty() {
        eprintln!(
            "note: [budget] stays as it was in the policy that is overwritten: {}",
            budget.join(", ")
        );
    }
    if let Some(unit) = &args.unit {
        text = with_unit(&text, unit);
    }
    if schema::is_csv(&args.data) {
        text.push_str(CSV);
    }
    let Some(epsilon) = args.spend_epsilon else {
        return finish(args, &text, previous.as_ref(), out);
    };

    let epsilon = Epsilon::new(epsilon)?;
    let real = args.output.as_deref().map(Policy::real_path);
    let folder = real.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let policy = Policy::parse(&text, folder).map_err(demure_curator::Error::from)?;
    let limit = policy.budget.epsilon;
    if epsilon > limit {
        return Err(Failure::usage(format!(
            "--spend-epsilon must be at most {limit}, the budget of the policy"
        )));
    }
    let numeric: Vec<(String, ColumnKind)> = columns
        .iter()
        .filter(|(name, kind, _)| {
            matches!(kind, ColumnKind::Integer | ColumnKind::Real)
                && Some(name) != args.unit.as_ref()
                && (!schema::is_csv(&args.data) || args.numeric.contains(name))
        })
        .map(|(name, kind, _)| (name.clone(), *kind))
        .collect();
    if numeric.is_empty() {
        return Err(Failure::usage(
            "there is no numeric column to find bounds for\n\
             hint: a CSV file does not say; name them with --numeric COLUMN,COLUMN",
        ));
    }
    let unit = args.unit.as_deref().unwrap_or("row");
    let search = Search { data: &args.data, unit, columns: &numeric, epsilon };
    let runtime = runtime()?;
    let found = match &args.output {
        None => runtime.block_on(search.run())?,
        Some(path) => {
            // The debit is on disk before the first value is read, and before a policy that is
            // there is overwritten. What is wrong with the table is found before both.
            let debited = match &previous {
                Some(Previous { ledger: Some(ledger), .. }) => {
                    demure_curator::fits(&policy, ledger)?;
                    let opened = runtime.block_on(Curator::in_memory(policy))?;
                    demure_curator::record_units(opened.policy(), ledger)?;
                    ledger.clone()
                }
                Some(Previous { ledger: None, .. }) => {
                    return Err(Failure::usage(
                        "the policy that is there names its ledger and has mistakes, so nothing \
                         can be paid for from it\nhint: correct it first, or leave out \
                         --spend-epsilon",
                    ));
                }
                None => {
                    write(args, &text, out)?;
                    runtime.block_on(Curator::open(path))?.ledger().clone()
                }
            };
            let ledger = |error: demure_ledger::Error| Failure::Curator(error.into());
            let request = Request {
                who: "init".to_owned(),
                key: "init: private bounds".to_owned(),
                query: "private bounds of numeric columns, by demure init".to_owned(),
                event: Event::pure(epsilon.get())?,
            };
            let reading = debited.reserve(&request).map_err(ledger)?;
            let reading = reading.begin().map_err(ledger)?;
            let found = runtime.block_on(search.run())?;
            reading.settle(format!("{found:?}").as_bytes()).map_err(ledger)?;
            found
        }
    };
    finish(args, &with_bounds(&text, &found, epsilon), previous.as_ref(), out)?;
    out.flush().map_err(Failure::writing)?;
    for column in found.iter().filter(|column| column.bounds.is_none()) {
        eprintln!(
            "{}: no bounds found\nhint: too few people, or too small an ε, to tell them from noise",
            column.name
        );
    }
    let noted = match &args.output {
        Some(_) => "debited in the policy's ledger",
        None => "noted nowhere: count it against the budget yourself",
    };
    eprintln!("cost ε {}, {noted}", short(epsilon.get()));
    Ok(())
}

const CSV: &str = r#"
# A CSV file does not say what its columns hold: a column with bounds is read as real numbers,
# one with values as what they are, any other as text. To say more, write for instance
#   age = { type = "integer", bounds = [0, 120] }
# with "integer", "real", "text", "boolean", "date" or "time".
"#;

fn write(args: &Args, text: &str, out: &mut impl Write) -> Result<(), Failure> {
    match &args.output {
        // A device or a pipe (`/dev/stdout`) cannot be replaced, only written to.
        Some(path) if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) => {
            Ok(files::write_text(path, text)?)
        }
        Some(path) => rewrite(path, text).map_err(|source| Failure::File {
            what: format!("writing {}", path.display()),
            source,
        }),
        None => out.write_all(text.as_bytes()).map_err(Failure::writing),
    }
}

/// Writes the policy, which names its ledger: the one that it had, or its first.
fn finish(
    args: &Args,
    text: &str,
    previous: Option<&Previous>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Some(path) = &args.output else { return write(args, text, out) };
    // With bounds that were bought for it, it has had its first.
    let named = match previous {
        Some(previous) => Some(previous.named.clone()),
        None if path.is_file() => previous::named(path)?,
        None => None,
    };
    let real = Policy::real_path(path);
    match (named, Policy::parse(text, real.parent().unwrap_or(Path::new("")))) {
        (Some((id, at)), Ok(policy)) => {
            let named = with_ledger(&policy, &id, &at);
            write(args, &named.unwrap_or_else(|| with_ledger_in(text, &id, &at)), out)?;
            let ledger = previous.and_then(|previous| previous.ledger.as_ref());
            if let Some(Err(error)) = ledger.map(|it| demure_curator::fits(&policy, it)) {
                eprintln!("warning: nothing will be answered under this policy: {error}");
            }
            Ok(())
        }
        (None, Ok(_)) => {
            write(args, text, out)?;
            if path.is_file() {
                demure_curator::ledger_of(path)?;
            }
            Ok(())
        }
        // A policy that a steward must complete first. Its ledger stays the one that it had.
        (Some((id, at)), Err(_)) => write(args, &with_ledger_in(text, &id, &at), out),
        (None, Err(_)) => write(args, text, out),
    }
}

fn known(columns: &[schema::Field], name: &str, option: &str) -> Result<(), Failure> {
    if columns.iter().any(|(column, _, _)| column == name) {
        return Ok(());
    }
    let names: Vec<&str> = columns.iter().map(|(name, _, _)| name.as_str()).collect();
    Err(Failure::usage(format!(
        "{option} names a column that is not there\nhint: there are {}",
        names.join(", ")
    )))
}

/// How the policy calls the table's file: by its name if they are in one folder.
fn source(data: &Path, output: Option<&Path>) -> Result<String, Failure> {
    let failed = |source| Failure::File { what: "the table".into(), source };
    let Some(output) = output else { return Ok(data.display().to_string()) };
    let folder = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize()
    };
    let here = folder(&Policy::real_path(output)).ok();
    let there = folder(data).map_err(failed)?;
    let name = data.file_name().unwrap_or_default();
    match here == Some(there.clone()) {
        true => Ok(name.to_string_lossy().into_owned()),
        false => Ok(there.join(name).display().to_string()),
    }
}

/// The policy with another unit than the one that was guessed.
fn with_unit(text: &str, unit: &str) -> String {
    let mut changed = String::new();
    for line in text.lines() {
        let guessed = line == "# This one was guessed from its name:"
            || line == "# No column has a name that suggests a person:";
        match line {
            _ if guessed => {}
            line if line.starts_with("unit = ") => {
                let _ = writeln!(changed, "unit = {}", serde_json::Value::from(unit));
            }
            line => changed.extend([line, "\n"]),
        }
    }
    changed
}

/// The policy with the bounds that were bought.
fn with_bounds(text: &str, found: &[Found], epsilon: Epsilon) -> String {
    let each = short(epsilon.get() / found.len() as f64);
    let mut changed = String::new();
    let no_more =
        "# Written from the names and types of columns alone; no value was read. Check every line.";
    let text = text.replace(
        no_more,
        &format!(
            "# Written from the names and types of columns, and from bounds that were bought from the\n\
             # data for ε {} in all. Check every line.",
            short(epsilon.get())
        ),
    );
    for line in text.lines() {
        let bought = found.iter().find_map(|column| {
            let (low, high) = column.bounds?;
            let written = bounds_line(&column.name, low, high);
            let (key, _) = written.split_once(" = ")?;
            let same = line.strip_prefix("# ").unwrap_or(line).strip_prefix(key);
            same.is_some_and(|rest| rest.starts_with(" = ")).then_some(written)
        });
        match bought {
            Some(written) => {
                let _ = writeln!(
                    changed,
                    "# Bought from the data for ε {each}: powers of two; the tails may be cut.\n{written}"
                );
            }
            None => changed.extend([line, "\n"]),
        }
    }
    changed
}
