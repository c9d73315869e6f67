//! What may be asked: SQL under a privacy budget.
//!
//! An analyst writes ordinary SQL. The curator splits the plan at the private aggregate,
//! bounds each person's contribution, prices it, debits it, runs the bulk on DataFusion, adds
//! exact noise, and runs the rest of the plan on the noised table.
//!
//! `Sql → Plan → PrivatePlan → Quote → Reservation → Exact → Release → Answer`
//!
//! | file | stage |
//! |---|---|
//! | `policy/` | what a steward declares: budget, tables, units, bounds |
//! | `catalog` | the tables, as the planner sees them and as the engine reads them |
//! | `parse` | which statements there are |
//! | `admit`, `total` | which expressions may touch protected rows, made total |
//! | `expression`, `interval`, `domain` | what is known of an expression without looking |
//! | `analyse/` | the plan, split at the private aggregates |
//! | `price/` | mechanisms, scales, errors, the event that is charged |
//! | `least` | the least ε of a new query |
//! | `bound/` | contribution bounding: the native operator, and its form in SQL |
//! | `purchase`, `flight` | known, given by the ledger, or bought; once for equal questions |
//! | `read_all/` | no short cut that depends on rows |
//! | `release` | exact in, noised out |
//! | `released`, `intervals` | the noised table that the rest of the plan reads |
//! | `lasting` | what gives the same whenever it is run |
//! | `explain`, `answer` | what is shown |
//! | `gate` | what a server puts between a statement and its answer |
//! | `cost` | what an expression costs on one row |
//! | `workers` | the threads that read protected rows |
//! | `identity`, `beside`, `spelling` | which ledger is the policy's, and which source is which |
//! | `renew` | another ledger for a policy |
//! | `settings`, `session` | one analyst's conversation |
//! | `refusal`, `error`, `incident` | why there is no answer |
//!
//! # What this crate does not do
//! It draws no noise of its own and proves no mechanism: that is `demure-core`. It keeps no
//! budget: that is `demure-ledger`. It opens no socket: that is the server.

#![forbid(unsafe_code)]

mod admit;
mod analyse;
mod answer;
mod beside;
pub mod bound;
mod catalog;
mod checked;
mod cost;
mod domain;
mod error;
mod explain;
mod expression;
mod extent;
mod flight;
mod functions;
mod gate;
mod identity;
mod incident;
mod interval;
mod intervals;
mod lasting;
mod least;
mod parse;
pub mod policy;
mod price;
#[cfg(test)]
mod property;
mod purchase;
mod read_all;
mod refusal;
mod release;
mod released;
mod remembered;
mod renew;
mod risky;
mod rows;
mod search;
mod session;
mod settings;
mod source;
mod spelling;
mod total;
mod workers;

pub use answer::{Answer, Description};
pub use beside::ledger_path;
pub use error::{Error, Result};
pub use explain::{AggregateExplanation, Explanation, expected, price as price_in_words};
pub use gate::{DEFAULT_ROWS, Gate, Open, Reads};
pub use identity::{
    SHARED_LEDGER, fits, ledger_expecting, ledger_of, record_units, replaced_ledger_of,
};
pub use incident::Incidents;
pub use price::{ColumnQuote, Expected};
pub use refusal::{Refusal, Rule};
pub use renew::{NewLedger, new_ledger};
pub use session::{Curator, Outcome, Session};
pub use settings::{SETTINGS, Settings};
