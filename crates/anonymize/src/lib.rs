//! Anonymized tables: what is published is the data itself, made coarse.
//!
//! | module | what it holds |
//! |---|---|
//! | [`table`] | a table of texts, dictionary-encoded |
//! | [`hierarchy`] | how values become coarser, level by level |
//! | [`class`] | equivalence classes and the histograms of their sensitive values |
//! | [`search`] | optimal full-domain generalization with record suppression |
//! | [`publish`] | a release beside its table: verdicts, the sets behind them, the published table |
//! | [`exact`] | fractions, and logarithms compared: what decides a threshold |
//! | [`model`] | k-anonymity, l-diversity, closeness and the rest, decided class by class |
//! | [`recoding`] | a release described by its classes and their cells |
//! | [`mondrian`], [`local`] | multidimensional releases; [`partition`] is what they share |
//! | [`superset`] | the natural supersets of (n,t)-closeness, class by class |
//! | [`utility`], [`risk`] | what a release is still good for, and whom it still links |
//! | [`population`] | the people the table is a sample of, for k-map |
//! | [`show`] | what was found, in words, fields and a page |
//! | [`check`] | verifies a published table on its own |
//! | [`job`] | all of it by name, as a steward writes it: read the tables, make the promise, search, check |
//! | [`observer`] | what an observer learns at each step, in bits |
//!
//! # What this crate does not do
//! It claims no differential privacy, adds no noise, and cannot see the crate
//! that does. k-anonymity and its relatives bound what a release says to an
//! observer with stated knowledge; they do not compose and do not bound what an
//! observer with other knowledge learns. Say so to whoever publishes.
#![forbid(unsafe_code)]

pub mod check;
pub mod class;
pub mod error;
pub mod exact;
pub mod hierarchy;
pub mod job;
pub mod local;
pub mod model;
pub mod mondrian;
pub mod observer;
pub mod partition;
mod peel;
pub mod population;
pub mod publish;
pub mod recoding;
mod records;
pub mod risk;
pub mod search;
pub mod show;
pub mod superset;
pub mod table;
pub mod utility;

pub use error::{Error, Result};
