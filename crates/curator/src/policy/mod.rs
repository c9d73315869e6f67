//! The policy: one TOML file in which a data steward says what may be asked.
//!
//! ```toml
//! [budget]
//! epsilon = 5.0
//! delta = 1e-6                  # default 0
//! accounting = "pure"           # or "zcdp"
//! neighbours = "add-remove"     # or "replace"
//! per_query = 0.5               # default price of a query; epsilon/10 if left out
//! answers = "personal"          # or "shared": what one analyst bought is free for all
//! min_per_query = 0.005         # the smallest ε of a new query; default epsilon/1000, at most 0.01
//!
//! [tables.patients]
//! source = "patients.csv"       # relative to this file
//! delimiter = ";"               # of a CSV file; a comma if left out
//! decimal = ","                 # how its numbers are written; a point if left out
//! unit = "id"                   # whose row it is; "row" if every row is a different person
//! max_groups = 1
//! max_rows_per_group = 1
//! rows = 250_000                # about how many, if that is public; for the schedule
//! [tables.patients.columns]
//! age = { type = "integer", bounds = [0, 120], nullable = false }
//! sex = { values = ["f", "m"] }
//! cost = { bounds = [0, 5000], grid = 0.01 }   # rounded down to a power of two
//! seen = { type = "date", bounds = [2023-01-01, 2024-12-31] }   # the last day included
//! born = { type = "date", format = "%d.%m.%Y" }   # how its texts are written
//! name = { hidden = true }
//!
//! [timing]
//! schedule = "on"               # or "off": answers leave a server as soon as they are ready
//! step_ms = 100                 # step of the schedule's grid for a million rows
//! new_queries_per_minute = 120  # per analyst, on a server; or "off"
//!
//! [tables.prescriptions]
//! source = "prescriptions.parquet"
//! unit = { column = "visit_id", references = "visits.id" }
//!
//! [tables.regions]
//! source = "regions.csv"
//! public = true                 # no one's data
//! key = "code"                  # unique column(s)
//!
//! [ledger]                      # written by `demure`, with the first ledger
//! id = "0123456789abcdef0123456789abcdef"
//! at = "clinic.ledger"          # relative to this file
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `section` | typed access to one TOML table, with did-you-mean |
//! | `read` | the file, the budget, the tables |
//! | `column` | declared facts about a column |
//! | `time_format` | how dates and times are written in a file |
//! | `ledger` | the ledger that the policy names |
//! | `links` | foreign keys that carry a unit |
//! | `timing` | when answers leave a server |
//! | `name` | names of tables |
//! | `mistake`, `problem` | what can be wrong, and where |
//! | `odds` | ε in plain words |
//! | `describe` | access, units and columns in words |
//! | `template` | a first policy, from a schema alone |
//! | `propose` | the same with a unit, a budget or bounds that are given |
//!
//! # What this module does not do
//! It opens no table: the caller, who knows the schema, checks whether a column exists and has the type that its
//! bounds imply. Nothing is guessed: an unknown key is a mistake, so a misspelt `hidden` is an error and never passes
//! silently.

mod column;
mod describe;
mod ledger;
mod links;
mod mistake;
mod moment;
mod name;
mod odds;
mod problem;
mod propose;
mod read;
mod rewrite;
mod section;
pub(crate) use section::nearest;
mod template;
#[cfg(test)]
mod tests;
mod time_format;
mod timing;

pub(crate) use ledger::lines as ledger_lines;
pub use ledger::{LedgerPolicy, Named, with_ledger, with_ledger_in};
pub use mistake::Mistake;
pub use moment::PointInTime;
pub(crate) use name::made_plain;
pub use odds::odds;
pub use problem::{PolicyError, Problem};
pub use propose::{
    CsvDialect, Declared, FoundBounds, Proposal, SchemaColumn, add_bought, bought_before,
    budget_lines, entry,
};
pub(crate) use rewrite::rewritable;
pub use rewrite::rewrite;
pub(crate) use template::quoted;
pub use template::{ColumnKind, bounds_line, identifies, known_bounds, template, units};
pub use time_format::TimeFormat;

use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_ledger::Answers;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The assumed number of rows of a protected table if the policy does not declare it.
pub const DEFAULT_ROWS: u64 = 1_000_000;

/// A valid policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The budget.
    pub budget: BudgetPolicy,
    /// When answers leave a server.
    pub timing: TimingPolicy,
    /// The tables, in the order of the file.
    pub tables: Vec<TablePolicy>,
    /// Its ledger; `None` until it has had one.
    pub ledger: Option<LedgerPolicy>,
    /// The folder that sources are relative to: the real folder of the file.
    pub folder: PathBuf,
    /// The file's text.
    pub text: String,
    /// Warnings about what is allowed but rarely intended, in plain words, each with its line.
    pub warnings: Vec<String>,
}

/// The budget for all answers together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetPolicy {
    /// The ε of everything that will ever be released.
    pub epsilon: Epsilon,
    /// The δ of everything that will ever be released.
    pub delta: Delta,
    /// How costs compose.
    pub accounting: Accounting,
    /// The neighbour relation of the guarantee.
    pub neighbours: Neighbours,
    /// The default price of a query, in ε; never more than `epsilon`.
    pub per_query: Epsilon,
    /// What an answer that one analyst bought costs the others.
    pub answers: Answers,
    /// The smallest ε of a statement that reads protected rows; never more than `per_query`.
    pub min_per_query: Epsilon,
}

/// When answers leave a server, and how many an analyst may buy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingPolicy {
    /// Whether answers wait for a public schedule.
    pub schedule: bool,
    /// The step of the schedule's grid for a statement that reads a million declared rows.
    pub step: Duration,
    /// New queries per analyst and minute; `None` if they are not limited.
    pub new_queries_per_minute: Option<u32>,
}

/// How the costs of queries compose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounting {
    /// Their ε's are added.
    Pure,
    /// Their ρ's are added and converted to an ε at the budget's δ, which is not 0.
    Zcdp,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePolicy {
    /// A plain identifier, `[a-z_][a-z0-9_]*`, of at most 63 characters.
    pub name: String,
    /// A CSV or Parquet file, a folder or a glob of them, relative to [`Policy::folder`].
    pub source: String,
    /// What separates the cells of a CSV file; a comma if the policy does not say.
    pub delimiter: Option<u8>,
    /// Whose data it is.
    pub access: Access,
}

/// Whose data a table holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// No one's: the table is public.
    Public {
        /// The columns that are unique together; empty if that is not known.
        key: Vec<String>,
    },
    /// People's: the table is protected.
    Protected(Protection),
}

/// How the people in a table are protected.
#[derive(Clone, Debug, PartialEq)]
pub struct Protection {
    /// The privacy unit: whose row a row is.
    pub unit: UnitPolicy,
    /// The contribution bound: groups per unit in one query. 1 to 2²⁰, and 1 for [`UnitPolicy::Row`].
    pub max_groups: u32,
    /// The contribution bound: rows per unit in each group. 1 to 2²⁰, and 1 for [`UnitPolicy::Row`].
    pub max_rows_per_group: u32,
    /// Whether neither bound was declared: then how many rows of a person count in full is learnt from the data.
    pub learnt: bool,
    /// The approximate number of rows, if that is public; the schedule of answers depends on it.
    pub rows: Option<u64>,
    /// The declared columns, in the order of the file. Others are nullable and unbounded.
    pub columns: Vec<ColumnPolicy>,
}

/// The privacy unit of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitPolicy {
    /// The row itself: every row belongs to a different person.
    Row,
    /// A column of the table.
    Column(String),
    /// The row of another table. Following these ends at a [`UnitPolicy::Column`].
    Via {
        /// The foreign key, a column of this table.
        column: String,
        /// The table it refers to, a protected one.
        table: String,
        /// The column of that table it equals.
        key: String,
    },
}

/// Public knowledge about a column, which does not come from the data.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnPolicy {
    /// As the source spells it.
    pub name: String,
    /// The lower first. Numbers are finite and accepted by `demure_core::mechanism::Bounds` on `grid`.
    pub bounds: Option<ColumnBounds>,
    /// The spacing of values, a power of two; only with `bounds` that are numbers.
    pub grid: Option<f64>,
    /// All possible values: 1 to 100,000, all of one kind, without duplicates, all within `bounds`.
    pub values: Option<Vec<Value>>,
    /// The type of its values; for CSV, which has no types, the type that it is read as.
    pub kind: Option<ColumnKind>,
    /// How the texts of a column of dates or times are written; as in `2024-12-31 13:45:00` if that is not said.
    pub format: Option<TimeFormat>,
    /// Whether numbers that are stored as text have a decimal comma, and points between groups of three digits.
    pub decimal_comma: bool,
    /// Whether NULL can occur; true unless the policy says otherwise.
    pub nullable: bool,
    /// Whether no query may use it.
    pub hidden: bool,
}

impl ColumnPolicy {
    /// A column of which nothing is declared but its name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            bounds: None,
            grid: None,
            values: None,
            kind: None,
            format: None,
            decimal_comma: false,
            nullable: true,
            hidden: false,
        }
    }
}

/// The range of a column's values, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnBounds {
    /// Of numbers.
    Numbers(f64, f64),
    /// Of dates, or of times: both ends are of the same kind, and a day as the upper end is the whole day.
    Times(PointInTime, PointInTime),
}

impl ColumnBounds {
    /// The ends, if they are numbers.
    #[must_use]
    pub fn numbers(self) -> Option<(f64, f64)> {
        match self {
            Self::Numbers(low, high) => Some((low, high)),
            Self::Times(..) => None,
        }
    }

    /// The ends, if they are dates or times.
    #[must_use]
    pub fn times(self) -> Option<(PointInTime, PointInTime)> {
        match self {
            Self::Numbers(..) => None,
            Self::Times(low, high) => Some((low, high)),
        }
    }
}

/// A value that a column can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A TOML string.
    Text(String),
    /// A TOML integer.
    Integer(i64),
    /// A TOML float, finite.
    Real(f64),
    /// A TOML boolean.
    Boolean(bool),
    /// A TOML local date, as `1985-06-30`.
    Date(String),
}

impl Value {
    /// The name for a list of such values in messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "texts",
            Self::Integer(_) => "whole numbers",
            Self::Real(_) => "real numbers",
            Self::Boolean(_) => "booleans",
            Self::Date(_) => "dates",
        }
    }
}

impl Policy {
    /// Reads a policy from its file. Sources are relative to the file's folder; if it is a link, to the folder of the
    /// file that it points to.
    ///
    /// # Errors
    /// The file cannot be read, or has mistakes: every one of them, with its line.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| PolicyError::Unreadable { path: path.to_owned(), source })?;
        let real = Self::real_path(path);
        let folder = real.parent().unwrap_or(Path::new(""));
        read::policy(&text, folder, Some(&path.display().to_string()))
    }

    /// The real path of a policy's file: a policy reached through a link is the same policy.
    #[must_use]
    pub fn real_path(path: &Path) -> PathBuf {
        match path.is_symlink() {
            true => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            false => path.to_owned(),
        }
    }

    /// Reads a policy from its text, with sources relative to `folder`.
    ///
    /// # Errors
    /// Every mistake, with its line.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, PolicyError> {
        read::policy(text, folder, None)
    }

    /// The table with that name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TablePolicy> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl TablePolicy {
    /// How its people are protected; `None` for a public table.
    #[must_use]
    pub fn protection(&self) -> Option<&Protection> {
        match &self.access {
            Access::Public { .. } => None,
            Access::Protected(protection) => Some(protection),
        }
    }
}

impl Protection {
    /// The declared column with that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnPolicy> {
        self.columns.iter().find(|column| column.name == name)
    }
}
