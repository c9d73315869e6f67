//! Before a release: which mechanism fits, what it costs, and how wrong it may be.
//!
//! | module | what it holds |
//! |---|---|
//! | [`explain`] | what a mechanism promises and how wrong it may be, as fields for people and programs |
//! | [`budget`] | a budget in another currency: the ε or ρ that is within it |
//! | [`number`] | noise on one number |
//! | [`graph`] | counts in graphs: what is known of a release, and what a method would do |
//! | [`moment`] | means and variances of bounded numbers |
//! | [`candidates`] | the best of several candidates, by three methods |
//! | [`response`] | randomized response by any of its parameters; estimates from answers |
//! | [`smooth`] | which noise goes on a smooth bound |
//! | [`compare`](mod@compare) | the error of every method for a median or a trimmed mean, on a public sample |
//! | [`keys`] | which protected keys come back, and with which counts |
//! | [`votes`] | the most frequent keys, where they are far from changing |
//! | [`cells`] | a public range cut into cells |
//! | [`solve`] | any two of n, ε and error give the third |
//! | [`batch`] | many releases together: read, priced, drawn against δ or their number |
//!
//! # What this crate does not do
//! It proves nothing and draws no noise of its own: every guarantee and every draw is `demure-core`'s.
//! It keeps no account of what was spent, reads no files and prints nothing.
//!
//! # Example
//! How many people does a count within 1 % need at ε = 0.1?
//! ```
//! use demure_core::unit::{Beta, Epsilon, Neighbours};
//! use demure_plan::solve::{Asked, Requirements, Statistic, ErrorTarget};
//!
//! let given = Requirements { error: Some(ErrorTarget::Share(0.01)), n: None, epsilon: Some(Epsilon::new(0.1)?) };
//! let found = given.solve(&Statistic::count(1, Neighbours::AddRemove), Beta::new(0.05)?)?;
//! assert_eq!(found.asked, Asked::People);
//! assert!(found.n.is_some_and(|n| (2_900..3_100).contains(&n)));
//! # Ok::<(), demure_plan::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod batch;
pub mod budget;
pub mod candidates;
pub mod cells;
pub mod compare;
pub mod error;
pub mod explain;
pub mod graph;
pub mod keys;
pub mod moment;
pub mod number;
pub mod response;
pub mod smooth;
pub mod solve;
pub mod votes;

pub use error::{Error, Result};

/// What can be chosen: the name, what it means in a line, and the choice.
pub type Choices<T> = &'static [(&'static str, &'static str, T)];
