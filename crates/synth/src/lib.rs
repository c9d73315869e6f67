//! Private synthetic tables: rows that look like a protected table's, made from noised histograms of it.
//!
//! ```
//! use demure_core::mechanism::Guarantee;
//! use demure_core::random::SystemRandom;
//! use demure_core::unit::{Delta, Epsilon, Neighbours};
//! use demure_synth::{CodedTable, Column, Condition, Price, Rule, Schema, Synthesizer};
//!
//! fn main() -> demure_synth::Result<()> {
//!     // Public: which columns there are, and which codes they may hold.
//!     let schema = Schema::new(vec![
//!         Column::ordered("age", 100)?,
//!         Column::categorical("ward", 4)?,
//!         Column::categorical("smokes", 2)?,
//!     ])?;
//!     // Protected: one row for each patient, as codes.
//!     let patients = CodedTable::new(&schema, vec![
//!         (0..3000).map(|i| 20 + i % 60).collect(),
//!         (0..3000).map(|i| (20 + i % 60) / 25).collect(),
//!         (0..3000).map(|i| u16::from(i % 5 == 0)).collect(),
//!     ])?;
//!
//!     // The whole run costs ε = 1 at δ = 10⁻⁹, known before anything is read.
//!     let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-9)?);
//!     let price = Price::new(Guarantee::Approximate(epsilon, delta), Neighbours::AddRemove)?;
//!     println!("for the ledger: {}", price.event());
//!
//!     let children: Vec<usize> = (0..16).collect();
//!     let made = Synthesizer::new(schema.clone(), price)
//!         .rule(Rule::forbid(&schema, &[("age", &children), ("smokes", &[1])])?)
//!         .run(&patients, &mut SystemRandom::new()?)?;
//!     println!("{} rows of {} columns", made.rows.rows(), made.rows.columns().len());
//!     if let Some(report) = &made.report {
//!         let (mean, deviation) = report.mean();
//!         println!("mean error of a pair of columns: {mean:.3} ± {deviation:.3}");
//!     }
//!
//!     // The model holds released numbers only: more rows cost nothing.
//!     let smokers = Condition::of(&schema).is("smokes", &[1])?;
//!     let rows = made.model.sample_where(&smokers, 500, 1, &mut SystemRandom::new()?)?;
//!     assert!(rows.columns()[2].iter().all(|code| *code == 1));
//!     Ok(())
//! }
//! ```
//!
//! A run has five steps, of which three read the table (`run.rs`):
//! 1. Measure every column. Take bins from the noised histograms.
//! 2. Score all pairs of columns against a model, measure those where it is furthest off, and fit it again: three
//!    rounds.
//! 3. Draw rows from the model, and swap values until their two-way counts are what the model expects.
//! 4. Measure how far the rows are from the table, pair by pair.
//! 5. Hand out rows, model and report.
//!
//! # Modules
//! | file | what it holds |
//! |---|---|
//! | `schema.rs`, `table.rs`, `view.rs` | columns and their codes; rows of codes; which histogram, at which resolution |
//! | [`budget`] | what a run costs, and the proof |
//! | `measure.rs` | **the only file that sees exact counts**: [`Counts`], the seam to protected data, and noise |
//! | `run.rs` | the steps, and how the budget is divided among them: [`Synthesizer`] |
//! | `profile.rs`, `segment.rs`, `simplex.rs` | from a noised histogram: a column's distribution, and nested resolutions of it |
//! | `candidates.rs`, `choose.rs` | pairs of columns at several resolutions, their scores, and which to measure |
//! | `fit.rs`, `lbfgs.rs`, `junction/` | the model: a product of small factors, fitted by its dual over a junction tree |
//! | `estimate.rs` | a fitted model and the two-way tables that it expects |
//! | `rows/`, `rules.rs` | rows from a model: sampling, polishing, rules |
//! | `known.rs` | public histograms |
//! | `report.rs` | the noised error of the rows: [`QualityReport`] |
//! | `model.rs`, `format.rs` | a model that can be saved, and sampled under a [`Condition`] |
//! | `observe.rs` | progress, stopping, and the transcript that the audit in `tests/synth/audit.rs` replays |
//! | `threads.rs` | the same work on several threads |
//! | [`curated`] | the whole way: a `SELECT` under a policy, its debit, rows with the source's types, files, pages |
//!
//! # What to use it for, and what not
//! Counts, shares, cross tables and models of a few columns are close. Not close, however large ε is: standard errors
//! and tests computed as if the rows were people; groups of a few rows; dependencies among three and more columns
//! that no pair shows; sequences of rows of one person. See `docs/synthetic.md`.
//!
//! # What this crate does not do
//! It opens no files, keeps no budget and logs nothing: in [`curated`] the curator does, whose ledger makes the debit
//! before a row is read, and which bounds how many rows a person has. Elsewhere, whoever implements [`Counts`] does. It
//! takes domains from public knowledge alone: codes and bins are never read off the rows. It does not hide how long a run takes. It makes no noise of its own: every number that leaves
//! `measure.rs` has been through a mechanism of `demure-core`.
#![forbid(unsafe_code)]

pub mod budget;
mod candidates;
mod choose;
pub mod curated;
mod error;
mod estimate;
mod fit;
mod format;
mod junction;
mod known;
mod lbfgs;
mod measure;
mod model;
mod observe;
mod profile;
mod report;
mod rows;
mod rules;
mod run;
mod schema;
mod segment;
mod simplex;
mod table;
mod threads;
mod view;

pub use budget::Price;
pub use error::{Error, Result};
pub use measure::{Counts, Exact, Unavailable};
pub use model::{Condition, Model};
pub use observe::{Observer, Question, Stage};
pub use report::{PairError, QualityReport};
pub use rules::Rule;
pub use run::{Synthesis, Synthesizer};
pub use schema::{Column, MOST_CODES, MOST_COLUMNS, Schema};
pub use table::CodedTable;
pub use view::{Axis, View};
