//! What an adversary learns: attacks on releases, and audits of mechanisms.
//!
//! | module | the attack | what stands against it |
//! |---|---|---|
//! | [`difference`] | knows all rows but one, and subtracts | noise: a guess between neighbours is right at most `e^ε/(1+e^ε)` of the time |
//! | [`average`] | asks again until the noise is gone | an answer bought is the answer; other words cost again |
//! | [`reconstruct`] | asks for random subsets and solves for the rows | noise of √n and more, hence a budget |
//! | [`membership`] | compares many published means with a person's row | the same: true alarms are at most `e^ε`·false + δ |
//! | [`link`] | finds a person's class in an anonymized table | little: k-anonymity alone does not |
//! | [`audit`] | watches a mechanism's outputs on neighbours | nothing needs to: it says what ε is at least |
//!
//! [`curator`] carries out the first four against the real curator, with a ledger in memory. [`findings`] says what was found, for programs and for people. [`bound`] says what differential privacy allows; [`draws`] and [`normal`] are the attacker's own
//! dice and tables.
//!
//! # What this crate does not do
//! It protects nothing and prints nothing. What it finds about a policy's tables is for their steward, who has the data. It
//! touches no ledger but those that it makes in memory.

#![forbid(unsafe_code)]

pub mod audit;
pub mod average;
pub mod bound;
mod chart;
pub mod curator;
pub mod difference;
pub mod draws;
pub mod error;
pub mod findings;
pub mod link;
pub mod membership;
pub mod normal;
pub mod reconstruct;

pub use error::{Error, Result};

/// Called with how much of an attack or an audit is done, and of how much.
pub type Watch<'a> = &'a (dyn Fn(u64, u64) + Sync);
