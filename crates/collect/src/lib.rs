//! The local model: collecting from people who trust nobody.
//!
//! | module | what | command |
//! |---|---|---|
//! | [`survey`] | the question, as a TOML file that clients and collector share | `collect init` |
//! | [`randomizer`] | which randomizer a survey uses, and which it had best use | |
//! | [`report`] | what a person sends: binary and JSON, checked on arrival | |
//! | [`client`] | answers to reports, on the person's side | `collect randomize` |
//! | [`collector`] | reports to counts: duplicates, malformed ones, streams | |
//! | [`estimate`] | counts to frequencies with intervals; means; distributions | `collect estimate` |
//! | [`numeric`] | means and distributions of numbers | |
//! | [`cross`] | tables of two attributes | |
//! | [`heavy`] | the frequent texts of an unknown domain | |
//! | [`plan`] | ε, n, error: from two the third | |
//! | [`planning`] | what is planned, from options and a survey | `collect plan` |
//! | [`simulate`] | measured error against theory | `collect simulate` |
//! | [`shuffle`] | order, time and sender removed; what that is worth | `collect shuffle` |
//! | [`store`] | reports on disk: acknowledged means durable | |
//! | [`service`] | a store and the counts of what is in it | `collect serve` |
//!
//! # What this crate does not do
//! It proves no privacy: every randomizer, with its proof, is in
//! `demure_core::local`, and what leaves a person's hands is a
//! `Release` of the core. It opens no socket and reads no clock. It does not
//! know who sent a report, and cannot tell a lie from noise: see
//! [`estimate::Poisoning`] for how much liars can do.
#![forbid(unsafe_code)]

#[cfg(test)]
mod accuracy;
pub mod client;
pub mod collector;
pub mod cross;
pub mod error;
pub mod estimate;
pub mod heavy;
mod kernel;
pub mod numeric;
pub mod plan;
pub mod planning;
pub mod randomizer;
pub mod report;
pub mod service;
pub mod shuffle;
pub mod simulate;
pub mod store;
pub mod survey;

pub use error::{Error, Result};
