//! SQL under a privacy budget.
//!
//! An analyst writes ordinary SQL. The curator splits the plan at the private aggregate, bounds each person's
//! contribution, prices it, debits it, runs the bulk on DataFusion, adds exact noise, and runs the rest of the plan on
//! the noised table.
//!
//! Rows for a synthetic table leave it as public codes, bounded by person and paid for; what is released of them is made
//! elsewhere (`pipeline/whole.rs`).
//!
//! `Planned → Quoted → Reserved → Measured → Noised → Released → Answer`: the stages of a question are types
//! (`pipeline/`), and each consumes the one before.
//!
//! | room | what |
//! |---|---|
//! | `curator`, `session` | policy, tables, engine and ledger; one analyst's conversation with them |
//! | `statement/` | which statements are allowed, how large they may be, settings |
//! | `policy/` | what a steward declares: budget, tables, units, bounds |
//! | `identity/` | which ledger belongs to the policy, and which sources are the same |
//! | `tables/` | the tables, as the planner sees them and as the engine reads them: no shortcut that depends on rows |
//! | `rows/` | which expressions may touch protected rows, made total; their ranges and their costs |
//! | `plan/` | the plan, cut at the private aggregates |
//! | `aggregate/` | a file for each family of aggregates: mechanism, event, error, release |
//! | `bound/` | contribution bounding: the native operator, and its form in SQL |
//! | `pipeline/` | the stages |
//! | `answer/` | the answer, deferred tables, intervals, the cache, explanations |
//! | `first_policy/` | a first policy for a table, from its schema or with bounds that are bought privately |
//! | `check` | what a policy comes to: its tables, and questions to ask of them |
//! | `clinic/` | a made-up clinic to try things on |
//! | `outside` | releases that other code makes, on a policy's budget |
//! | `refusal`, `error`, `incident` | why there is no answer |
//! | `calendar` | days and the calendar |
//!
//! Rooms import one way: `cargo xtask layers` checks it, in the order of `xtask/src/layers/rooms.rs`.
//!
//! # What this crate does not do
//! It implements and proves no mechanism: that is `demure-core`. It keeps no budget: that is `demure-ledger`. It opens
//! no socket: that is the server.

#![forbid(unsafe_code)]

mod aggregate;
mod answer;
pub mod bound;
mod calendar;
mod check;
pub mod clinic;
mod curator;
mod error;
mod first_policy;
mod identity;
mod incident;
mod outside;
mod pipeline;
mod plan;
pub mod policy;
#[cfg(test)]
#[path = "../tests/property/mod.rs"]
mod property;
mod refusal;
mod rows;
mod session;
mod statement;
mod tables;
mod words;

pub use aggregate::{ColumnQuote, Expected};
pub use answer::cells::{AnswerCell, AnswerColumn};
pub use answer::explain::{AggregateExplanation, Explanation, expected};
pub use answer::{Answer, Description};
pub use check::{Checked, CheckedColumn, CheckedTable, Example, check};
pub use curator::Curator;
pub use error::{Error, Result};
pub use first_policy::{
    Ask, Choices, Note, ProposeError, ProposeOptions, Proposed, interview, propose,
};
pub use identity::beside::{is_needed, ledger_path};
pub use identity::renew::{NewLedger, new_ledger};
pub use identity::{
    SHARED_LEDGER, fits, ledger_expecting, ledger_of, record_units, replaced_ledger_of,
};
pub use incident::Incidents;
pub use outside::Outside;
pub use pipeline::gate::{Gate, Open, Reads};
pub use pipeline::whole::{
    ExactCodes, KnownValues, TableColumn, TableQuestion, TableRead, TableReserved,
};
pub use policy::DEFAULT_ROWS;
pub use refusal::{Refusal, Rule};
pub use rows::coding::{Codes, Coding};
pub use session::{Outcome, Session};
pub use statement::settings::{SETTINGS, Settings};
pub use statement::split::{split_statement, statements};
pub use statement::suggest::Suggestions;
pub use words::{
    entry as entry_in_words, left as left_in_words, price as price_in_words,
    question as question_in_words,
};
