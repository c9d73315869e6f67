//! A first policy for a table: from its schema and what its steward says, or with bounds that are bought privately.
//!
//! | file | what |
//! |---|---|
//! | `schema.rs` | names and types: a CSV file's heading, a Parquet file's footer |
//! | `choices.rs` | what the steward says of columns, in options |
//! | `interview.rs` | the same, in answers to a few questions |
//! | `dictionary.rs` | the same, in a data dictionary |
//! | `previous.rs` | a policy that is overwritten, its ledger, and the bounds that were bought for it, which stay |
//! | `bounds.rs` | private bounds for numeric columns |
//!
//! The text itself is `policy/propose.rs`'s.

mod bounds;
mod choices;
mod dictionary;
mod interview;
mod previous;
mod schema;

pub use choices::Choices;
pub use interview::{Ask, interview};

use crate::curator::Curator;
use crate::identity::{fits, ledger_of, record_units};
use crate::policy::{
    ColumnKind, CsvDialect, Declared, FoundBounds, Policy, Proposal, add_bought, budget_lines,
    entry, made_plain, rewrite, with_ledger, with_ledger_in,
};
use crate::words::short;
use bounds::Search;
use demure_core::event::Event;
use demure_core::unit::Epsilon;
use demure_ledger::{Ledger, Request};
use previous::Previous;
use schema::TableSchema;
use std::io;
use std::path::{Path, PathBuf};

/// What a first policy is made from.
#[derive(Clone, Copy, Debug)]
pub struct ProposeOptions<'a> {
    /// The table: a CSV file with a heading, a Parquet file, or a folder of them.
    pub data: &'a Path,
    /// Where the policy is written; the budget and the ledger of one that is there stay.
    pub output: Option<&'a Path>,
    /// What queries will call the table; the file's name unless given.
    pub table: Option<&'a str>,
    /// What the steward says.
    pub choices: &'a Choices,
    /// A data dictionary.
    pub dictionary: Option<&'a Path>,
    /// Whether the policy is to answer at once: what names suggest is declared, and groups that are not listed may be
    /// asked for. Otherwise that stands in comments.
    pub ready: bool,
    /// Find bounds of the numeric columns privately, for this ε in all: debited in the policy's ledger, or nowhere
    /// if there is no output.
    pub spend: Option<Epsilon>,
}

impl ProposeOptions<'_> {
    /// What queries will call the table.
    #[must_use]
    pub fn table_name(&self) -> String {
        made_plain(&self.table.map_or_else(|| table_name(self.data), str::to_owned))
    }

    /// Whether no `[budget]` is there that stays.
    fn budget_is_new(&self) -> bool {
        self.previous_budget().is_empty()
    }

    fn previous_budget(&self) -> Vec<String> {
        let there = self.output.filter(|path| path.is_file()).map(std::fs::read_to_string);
        there.map_or_else(Vec::new, |text| budget_lines(&text.unwrap_or_default()))
    }
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
        /// `unit`, `numeric`, `date` or `category`.
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
/// Without `spend`, of the data only names and types of columns reach the policy. With it, all that reaches it of the
/// values is ε-DP for units, and the debit is on disk before the first is read and before a policy that is there is
/// overwritten.
pub async fn propose(
    options: &ProposeOptions<'_>,
    note: Note<'_>,
) -> Result<Proposed, ProposeError> {
    let ProposeOptions { output, .. } = *options;
    let previous = Previous::read(output, note)?;
    let mut draft = Draft::new(options, previous.as_ref(), note)?;
    let bare = draft.text();
    let Some(epsilon) = options.spend else {
        if previous.is_some() {
            draft.opens(&bare).await?;
        }
        finish(output, &bare, previous.as_ref(), note)?;
        return Ok(Proposed { text: bare, bounds: Vec::new() });
    };
    let policy = Policy::parse(&bare, folder(output).as_ref()).map_err(crate::Error::from)?;
    if epsilon > policy.budget.epsilon {
        return Err(ProposeError::Options(format!(
            "the ε to spend must be at most {}, the budget of the policy",
            policy.budget.epsilon
        )));
    }
    let columns = draft.without_bounds()?;
    let unit = draft.unit();
    let search = Search { data: options.data, csv: draft.csv, unit, columns: &columns, epsilon };
    let bounds = match output {
        None => search.run().await?,
        Some(path) => {
            // What is wrong with the table is found before the debit.
            let ledger = match &previous {
                None => {
                    draft.opens(&bare).await?;
                    write(path, &bare)?;
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
    draft.bought(&bounds, epsilon);
    let text = draft.text();
    finish(output, &text, previous.as_ref(), note)?;
    Ok(Proposed { text, bounds })
}

/// Where bounds come from that an earlier policy had.
const BEFORE: &str = "bounds that were bought before";

/// A policy before it is a text.
struct Draft<'a> {
    options: &'a ProposeOptions<'a>,
    table: String,
    source: String,
    schema: TableSchema,
    choices: Choices,
    csv: Option<CsvDialect>,
    budget: Vec<String>,
    declared: Vec<Declared>,
    /// Bounds that were bought for the policy that is overwritten.
    before: Vec<Declared>,
    /// Where it comes from, besides names and types.
    from: Vec<String>,
}

impl<'a> Draft<'a> {
    fn new(
        options: &'a ProposeOptions<'a>,
        previous: Option<&Previous>,
        note: Note<'_>,
    ) -> Result<Self, ProposeError> {
        let schema = schema::read(options.data, options.choices)?;
        let choices = options.choices.spelled(&schema.columns)?;
        let decimal_comma = choices.decimal_comma == Some(true);
        let csv = schema.csv.map(|delimiter| CsvDialect { delimiter, decimal_comma });
        let budget = options.previous_budget();
        if !budget.is_empty() {
            note(&format!(
                "note: [budget] stays as it was in the policy that is overwritten: {}",
                budget.join(", ")
            ));
        }
        let columns = &schema.columns;
        // What was bought is not lost with the policy that it was bought for, unless it is bought anew.
        let before = previous.map_or(&[][..], |previous| &previous.bought);
        let anew = |name: &String| {
            options.spend.is_some()
                && (choices.numeric.is_empty() || choices.numeric.contains(name))
        };
        let kept = before.iter().filter(|column| !anew(&column.name));
        let kept: Vec<Declared> = kept.cloned().collect();
        let mut declared =
            choices::declared(columns, &choices, schema.csv, options.ready, &kept, note);
        let mut from = Vec::new();
        if declared.iter().any(|column| column.note.is_some()) {
            from.push(BEFORE.to_owned());
        }
        if let Some(path) = options.dictionary {
            dictionary::import(path, columns, &mut declared, note)?;
            from.push("a dictionary".to_owned());
        }
        let before = before.to_vec();
        Ok(Self {
            table: options.table_name(),
            source: source(options.data, options.output)?,
            options,
            csv,
            budget,
            declared,
            before,
            from,
            choices,
            schema,
        })
    }

    fn text(&self) -> String {
        Proposal {
            table: &self.table,
            source: &self.source,
            columns: &self.schema.columns,
            csv: self.csv,
            unit: self.choices.unit.as_deref(),
            budget: &self.budget,
            epsilon: self.choices.epsilon,
            groups: self.options.ready,
            declared: &self.declared,
            from: &self.from,
        }
        .text()
    }

    fn unit(&self) -> &str {
        self.choices.unit.as_deref().unwrap_or("row")
    }

    /// Checks that a policy can take the place of another one: that its tables open.
    async fn opens(&self, text: &str) -> Result<(), ProposeError> {
        let folder = folder(self.options.output);
        let policy = Policy::parse(text, &folder).map_err(crate::Error::from)?;
        Ok(Curator::in_memory(policy).await.map(drop)?)
    }

    /// Adds bounds that were bought.
    fn bought(&mut self, found: &[FoundBounds], epsilon: Epsilon) {
        add_bought(&mut self.declared, found, epsilon);
        // Where nothing was found, what was bought before stays.
        let nothing = found.iter().filter(|column| column.bounds.is_none());
        for FoundBounds { name, .. } in nothing {
            if let Some(column) = self.before.iter().find(|column| column.name == *name) {
                let own = entry(&mut self.declared, name);
                (own.bounds, own.note) = (column.bounds.clone(), column.note.clone());
                self.from.push(BEFORE.to_owned());
            }
        }
        self.from.dedup();
        let spent = short(epsilon.get());
        self.from.push(format!("bounds that were bought from the data for ε {spent} in all"));
    }

    /// The numeric columns without bounds, for which they are found.
    fn without_bounds(&self) -> Result<Vec<(String, ColumnKind)>, ProposeError> {
        let declared = |name: &str| self.declared.iter().find(|column| column.name == name);
        let kind = |name: &str, stored: ColumnKind| match declared(name) {
            Some(column) if column.bounds.is_some() || !column.values.is_empty() => None,
            Some(column) => Some(column.kind.unwrap_or(stored)),
            // A CSV file does not say it, and a name is only a guess.
            None => Some(stored).filter(|_| self.csv.is_none()),
        };
        let named = |name: &String| self.choices.numeric.contains(name);
        let columns = self.schema.columns.iter();
        let columns =
            columns.filter(|(name, ..)| Some(name.as_str()) != self.choices.unit.as_deref());
        let numeric: Vec<_> = columns
            .filter_map(|(name, stored, _)| Some((name.clone(), kind(name, *stored)?)))
            .filter(|(_, kind)| matches!(kind, ColumnKind::Integer | ColumnKind::Real))
            // If columns are named, it is for them.
            .filter(|(name, _)| self.choices.numeric.is_empty() || named(name))
            .collect();
        if numeric.is_empty() {
            return Err(ProposeError::Options(
                "there is no numeric column to find bounds for\n\
                 hint: a CSV file does not say; name them with --numeric COLUMN,COLUMN"
                    .to_owned(),
            ));
        }
        Ok(numeric)
    }
}

/// What queries call a table: the name of its file or folder, without endings.
fn table_name(data: &Path) -> String {
    let folder = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = folder(data);
    if data.is_dir() {
        return match name.is_empty() {
            true => data.canonicalize().map_or(name, |real| folder(&real)),
            false => name,
        };
    }
    if name.contains('*') {
        return data.parent().map_or(name.clone(), folder);
    }
    let lower = name.to_lowercase();
    let end = if lower.ends_with(".gz") { 3 } else { 0 };
    let name = &name[..name.len() - end];
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
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

/// The folder that a policy's sources are relative to.
fn folder(output: Option<&Path>) -> PathBuf {
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
    // `.` and `..` have no name.
    let real = data.file_name().is_none().then(|| data.canonicalize()).transpose();
    let real = real.map_err(ProposeError::io("the table"))?;
    let data = real.as_deref().unwrap_or(data);
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
