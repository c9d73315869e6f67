//! A job as its steward writes it: tables, columns, promises and a search by name, and what comes of them.
//!
//! | file | what |
//! |---|---|
//! | `source` | the tables, and the part their columns play |
//! | `hierarchies`, `order` | how columns become coarser and how their values are ordered, as texts such as `age=intervals:5,10` |
//! | `promise` | what every class must satisfy, and the models that stand for it |
//! | `find` | the search for a release, by any method |
//! | `alternatives` | what a little more or less of k or suppression would give |
//! | `check` | whether a published table keeps a promise, and how easily its rows are found |
//! | `proof` | the sets M of a release as JSON, written by [`classes_json`] and verified by [`check()`] |
//! | `file` | a job from a TOML file, as the arguments of a call |
//! | `mistake` | what is wrong with a job |
//!
//! What a steward chooses from has a name and a meaning in one line: see [`Choices`].
//!
//! ```
//! use demure_anonymize::job::{Columns, SearchResult, Promise, Search, Source, Watch, release};
//! use demure_anonymize::table::Table;
//!
//! let table = Table::from_csv(&b"age,city\n31,A\n33,A\n58,B\n57,B\n"[..], b',')?;
//! let age = vec!["age".to_owned()];
//! let hierarchies = vec!["age=intervals:10,100".to_owned()];
//! let source = Source { quasi: age, hierarchies, ..Source::default() };
//! let columns = Columns::new(&source, &table, None)?;
//! let promised = Promise { k: Some(2), ..Promise::default() }.models(&source, &columns)?;
//! let search = Search::default();
//! let attributes = columns.attributes(search.method)?;
//! let SearchResult::Release(made) = release(&search, &columns, &attributes, promised, Watch::default())? else {
//!     unreachable!("ages in tens are 2-anonymous");
//! };
//! assert_eq!(made.release.labels(0), ["[30, 40)"]);
//! # Ok::<(), demure_anonymize::Error>(())
//! ```

mod alternatives;
mod check;
mod file;
mod find;
mod hierarchies;
mod mistake;
mod order;
mod promise;
mod proof;
mod source;

pub use alternatives::{Alternative, Answer, Gain, Job, alternatives, gain};
pub use check::{Checked, ONE_IN, TableRisk, check, risk, risk_of_sizes};
pub use file::arguments;
pub use find::{
    CheckedRelease, METRICS, Method, Nearest, Progress, SUPPRESS, Search, SearchResult, Watch,
    metric_name, release,
};
pub use hierarchies::Hierarchies;
pub use mistake::Mistake;
pub use promise::{DistanceKind, Diversity, Promise, Promised, Subset};
pub use proof::{classes_json, shared_json};
pub use source::{Columns, Source, read_table};

/// What can be chosen: the name, what it means in a line, and the choice.
pub type Choices<T> = &'static [(&'static str, &'static str, T)];
