//! A first policy for a table: from its schema alone, or with bounds that are bought privately.
//!
//! | file | what |
//! |---|---|
//! | `schema.rs` | names and types: a CSV file's heading, a Parquet file's footer |
//! | `previous.rs` | a policy that is overwritten, and its ledger, which stays |
//! | `bounds.rs` | private bounds for numeric columns |
//!
//! The text itself is `policy/propose.rs`'s.

mod bounds;
mod previous;
mod schema;

use crate::curator::Curator;
use crate::identity::{fits, ledger_of, record_units};
use crate::policy::{
    ColumnKind, FoundBounds, Policy, Proposal, SchemaColumn, budget_lines, rewrite, with_bounds,
    with_ledger, with_ledger_in,
};
use bounds::Search;
use demure_core::event::Event;
use demure_core::unit::Epsilon;
use demure_ledger::{Ledger, Request};
use previous::Previous;
use std::io;
use std::path::Path;

/// What a first policy is made from.
#[derive(Clone, Copy, Debug)]
pub struct ProposeOptions<'a> {
    /// The table: a CSV file with a heading, or a Parquet file.
    pub data: &'a Path,
    /// Where the policy is written; the budget and the ledger of one that is there stay.
    pub output: Option<&'a Path>,
    /// What queries will call the table; the file's name unless given.
    pub table: Option<&'a str>,
    /// The column that says whose row it is, or `row`; guessed unless given.
    pub unit: Option<&'a str>,
    /// Columns of a CSV file that hold numbers.
    pub numeric: &'a [String],
    /// Find bounds of the numeric columns privately, for this ε in all: debited in the policy's ledger, or nowhere
    /// if there is no output.
    pub spend: Option<Epsilon>,
}

/// A first policy.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// As it was written, but for the ledger that it names.
    pub text: String,
    /// What was bought.
    pub bounds: Vec<FoundBounds>,
}

/// Why there is no first policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The options do not fit the table, or the policy that is there.
    #[error("{0}")]
    Options(String),
    /// An option names a column that is not there.
    #[error("{option} names a column that is not there\nhint: there are {columns}")]
    UnknownColumn {
        /// `unit` or `numeric`.
        option: &'static str,
        /// The columns.
        columns: String,
    },
    /// The table or the policy cannot be read or written.
    #[error(transparent)]
    Files(#[from] demure_files::Error),
    /// The system refused.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The curator or the ledger refused or failed.
    #[error(transparent)]
    Curator(#[from] crate::Error),
}

impl ProposeError {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }
}

impl From<demure_ledger::Error> for ProposeError {
    fn from(error: demure_ledger::Error) -> Self {
        Self::Curator(error.into())
    }
}

/// Is given what a steward should know, as it is found: lines that begin with `note:` or `warning:`.
pub type Note<'a> = &'a mut (dyn FnMut(&str) + Send);

/// Makes a first policy, and writes it to the output if there is one.
///
/// # Guarantee
/// Without `spend`, of the data only names and types of columns are read. With it, all that is read of the values is
/// ε-DP for units, and the debit is on disk before the first is read and before a policy that is there is
/// overwritten.
pub async fn propose(
    options: &ProposeOptions<'_>,
    note: Note<'_>,
) -> Result<Proposed, ProposeError> {
    let ProposeOptions { data, output, numeric, .. } = *options;
    let previous = Previous::read(output, note)?;
    let columns = schema::read(data, numeric)?;
    if let Some(unit) = options.unit.filter(|unit| *unit != "row") {
        schema::known(&columns, unit, "unit")?;
    }
    let stem = data.file_stem().unwrap_or_default().to_string_lossy();
    let there = output.filter(|path| path.is_file()).map(std::fs::read_to_string);
    let budget = there.map_or_else(Vec::new, |text| budget_lines(&text.unwrap_or_default()));
    if !budget.is_empty() {
        note(&format!(
            "note: [budget] stays as it was in the policy that is overwritten: {}",
            budget.join(", ")
        ));
    }
    let text = Proposal {
        table: options.table.unwrap_or(&stem),
        source: &source(data, output)?,
        columns: &columns,
        csv: schema::is_csv(data),
        unit: options.unit,
        budget: &budget,
    }
    .text();
    let Some(epsilon) = options.spend else {
        finish(output, &text, previous.as_ref(), note)?;
        return Ok(Proposed { text, bounds: Vec::new() });
    };
    let policy = Policy::parse(&text, folder(output).as_ref()).map_err(crate::Error::from)?;
    if epsilon > policy.budget.epsilon {
        return Err(ProposeError::Options(format!(
            "the ε to spend must be at most {}, the budget of the policy",
            policy.budget.epsilon
        )));
    }
    let columns = numeric_columns(options, &columns)?;
    let unit = options.unit.unwrap_or("row");
    let search = Search { data, unit, columns: &columns, epsilon };
    let bounds = match output {
        None => search.run().await?,
        Some(path) => {
            // What is wrong with the table is found before the debit.
            let ledger = match &previous {
                None => {
                    write(path, &text)?;
                    Curator::open(path).await?.ledger().clone()
                }
                Some(previous) => paying(policy, previous).await?,
            };
            let request = Request {
                who: "init".to_owned(),
                key: "init: private bounds".to_owned(),
                query: "private bounds of numeric columns, by demure init".to_owned(),
                event: Event::pure(epsilon.get()).map_err(crate::Error::from)?,
            };
            let reading = ledger.reserve(&request)?.begin()?;
            let bounds = search.run().await?;
            reading.settle(format!("{bounds:?}").as_bytes())?;
            bounds
        }
    };
    let text = with_bounds(&text, &bounds, epsilon);
    finish(output, &text, previous.as_ref(), note)?;
    Ok(Proposed { text, bounds })
}

/// The ledger of the policy that is overwritten, if the new one may spend from it.
async fn paying(policy: Policy, previous: &Previous) -> Result<Ledger, ProposeError> {
    let Some(ledger) = &previous.ledger else {
        return Err(ProposeError::Options(
            "the policy that is there names its ledger and has mistakes, so nothing can be paid for \
             from it\nhint: correct it first, or leave out --spend-epsilon"
                .to_owned(),
        ));
    };
    fits(&policy, ledger)?;
    let opened = Curator::in_memory(policy).await?;
    record_units(opened.policy(), ledger)?;
    Ok(ledger.clone())
}

/// The columns that bounds are found for.
fn numeric_columns(
    options: &ProposeOptions<'_>,
    columns: &[SchemaColumn],
) -> Result<Vec<(String, ColumnKind)>, ProposeError> {
    let csv = schema::is_csv(options.data);
    let wanted = |name: &String, kind: ColumnKind| {
        matches!(kind, ColumnKind::Integer | ColumnKind::Real)
            && Some(name.as_str()) != options.unit
            && (!csv || options.numeric.contains(name))
    };
    let numeric = columns.iter().filter(|(name, kind, _)| wanted(name, *kind));
    let numeric: Vec<_> = numeric.map(|(name, kind, _)| (name.clone(), *kind)).collect();
    if numeric.is_empty() {
        return Err(ProposeError::Options(
            "there is no numeric column to find bounds for\n\
             hint: a CSV file does not say; name them with --numeric COLUMN,COLUMN"
                .to_owned(),
        ));
    }
    Ok(numeric)
}

/// The folder that a policy's sources are relative to.
fn folder(output: Option<&Path>) -> std::path::PathBuf {
    let real = output.map(Policy::real_path);
    real.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_path_buf()
}

fn write(path: &Path, text: &str) -> Result<(), ProposeError> {
    // A device or a pipe (`/dev/stdout`) cannot be replaced, only written to.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(demure_files::write_text(path, text)?);
    }
    rewrite(path, text).map_err(ProposeError::io(format!("writing {}", path.display())))
}

/// Writes the policy, which names its ledger: the one that it had, or its first.
fn finish(
    output: Option<&Path>,
    text: &str,
    previous: Option<&Previous>,
    note: Note<'_>,
) -> Result<(), ProposeError> {
    let Some(path) = output else { return Ok(()) };
    // With bounds that were bought for it, it has had its first.
    let named = match previous {
        Some(previous) => Some(previous.named.clone()),
        None if path.is_file() => previous::named(path)?,
        None => None,
    };
    match (named, Policy::parse(text, &folder(output))) {
        (Some((id, at)), Ok(policy)) => {
            let named = with_ledger(&policy, &id, &at);
            write(path, &named.unwrap_or_else(|| with_ledger_in(text, &id, &at)))?;
            let ledger = previous.and_then(|previous| previous.ledger.as_ref());
            if let Some(Err(error)) = ledger.map(|it| fits(&policy, it)) {
                note(&format!("warning: nothing will be answered under this policy: {error}"));
            }
        }
        (None, Ok(_)) => {
            write(path, text)?;
            if path.is_file() {
                ledger_of(path)?;
            }
        }
        // A policy that a steward must complete first. Its ledger stays the one that it had.
        (Some((id, at)), Err(_)) => write(path, &with_ledger_in(text, &id, &at))?,
        (None, Err(_)) => write(path, text)?,
    }
    Ok(())
}

/// How the policy calls the table's file: by its name if they are in one folder.
fn source(data: &Path, output: Option<&Path>) -> Result<String, ProposeError> {
    let Some(output) = output else { return Ok(data.display().to_string()) };
    let folder = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).canonicalize()
    };
    let here = folder(&Policy::real_path(output)).ok();
    let there = folder(data).map_err(ProposeError::io("the table"))?;
    let name = data.file_name().unwrap_or_default();
    match here.as_ref() == Some(&there) {
        true => Ok(name.to_string_lossy().into_owned()),
        false => Ok(there.join(name).display().to_string()),
    }
}
