//! What privacy means: the audited heart of Demure.
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@unit`] | ε, δ, ρ, α, sensitivities, neighbour relations: validated types |
//! | `num` | exact rationals, certified intervals, directed rounding (private) |
//! | [`random`] | the only source of bits |
//! | [`sample`] | exact samplers, one distribution per file |
//! | [`mechanism`] | noise with a guarantee; the only maker of a [`mechanism::Release`] |
//! | [`local`] | randomizers for people who trust nobody |
//! | [`sensitivity`] | noise that fits the data: smooth bounds, ladders, stable answers, propose-test-release |
//! | [`utility`] | error bars, and what a wanted accuracy costs |
//! | [`event`] | what was done: the language between mechanisms, accountants and ledger |
//! | [`account`] | what many events cost together, certified; filters, calibration |
//!
//! # What this crate does not do
//! It performs no I/O (but for asking the operating system for entropy), reads
//! no clock, starts no thread, logs nothing and contains no `unsafe`. It does
//! not parse queries, remember budgets or decide who may ask.
#![forbid(unsafe_code)]

pub mod account;
pub mod error;
pub mod event;
pub mod local;
pub mod mechanism;
pub(crate) mod num;
pub mod random;
pub mod sample;
pub mod sensitivity;
pub mod unit;
pub mod utility;

pub use error::{Error, Result};
