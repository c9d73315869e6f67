//! Tests of whole runs, on made-up tables.
//!
//! | file | what it tests |
//! |---|---|
//! | `made_up.rs` | the tables |
//! | `audit.rs` | what is charged against what moves: every question of a run, on all neighbours |
//! | `tables.rs` | accuracy, rules, public marginals, conditions, saved models, the report, determinism |
//! | `curated.rs` | the whole way under a policy: charges, refusals, failures, small tables |
//! | `extremes.rs` | tables and budgets at the end of what is possible |
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

mod audit;
mod curated;
mod extremes;
mod made_up;
mod tables;
