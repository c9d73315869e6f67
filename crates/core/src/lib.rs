//! Differential privacy: exact noise, mechanisms with proofs, and certified accounting.
//!
//! ```
//! use demure_core::account::Account;
//! use demure_core::mechanism::{BoundedMean, Bounds, Contributions, Histogram, Rows};
//! use demure_core::random::SystemRandom;
//! use demure_core::unit::{Delta, Epsilon, Neighbours};
//!
//! fn main() -> demure_core::Result<()> {
//!     let ages = [34.0, 51.0, 29.0, 62.0, 45.0, 38.0]; // protected: one per person
//!     let (epsilon, neighbours) = (Epsilon::new(0.5)?, Neighbours::AddRemove);
//!     let mut rng = SystemRandom::new()?;
//!
//!     let bounds = Bounds::new(0.0, 120.0)?; // public: chosen without looking at the ages
//!     let mean = BoundedMean::new(epsilon, bounds, neighbours, Rows::AtMost(1))?;
//!     println!("mean: {:.1}", mean.release(&mean.accumulate(ages), &mut rng)?.value());
//!
//!     let histogram = Histogram::new(epsilon, neighbours, Contributions::ONE)?;
//!     let decades = ages.map(|age| age as u32 / 10);
//!     let counts = histogram.release_rows(&[2, 3, 4, 5, 6], decades, &mut rng)?;
//!     println!("by decade: {:?}", counts.value());
//!
//!     let spent = Account::of(&[mean.event(), histogram.event()], neighbours)?;
//!     println!("both together: ε = {}", spent.epsilon(Delta::ZERO)?.upper);
//!     Ok(())
//! }
//! ```
//!
//! Every release has the same four steps:
//! 1. Choose public parameters: a budget ([`unit::Epsilon`] or [`unit::Rho`]), what neighbouring
//!    datasets are ([`unit::Neighbours`]), and how much one person contributes
//!    ([`mechanism::Rows`], [`mechanism::Contributions`]).
//! 2. Make a mechanism from them. It calibrates its noise, and refuses parameters that are
//!    impossible.
//! 3. Give it protected values and a [`random::SystemRandom`], and get a [`mechanism::Release`].
//! 4. Give its `event()` to an [`account::Account`], or ask an [`account::filter::Filter`] before
//!    you release, so that a total budget is never exceeded.
//!
//! | to release | use |
//! |---|---|
//! | a count, sum, mean or variance | [`mechanism::Count`], [`mechanism::BoundedSum`], [`mechanism::BoundedMean`], [`mechanism::BoundedVariance`] |
//! | those of many groups | [`mechanism::Groups`] |
//! | a histogram | [`mechanism::Histogram`]; [`mechanism::ThresholdHistogram`] where the keys are not public |
//! | counts of all ranges | [`mechanism::Tree`] |
//! | a median or another quantile | [`mechanism::Quantile`] |
//! | the best candidate | [`mechanism::PermuteAndFlip`], [`mechanism::Exponential`] |
//! | any number of known sensitivity | [`mechanism::Laplace`], [`mechanism::Gaussian`]; on integers [`mechanism::Geometric`], [`mechanism::DiscreteGaussian`] |
//! | reports from people who trust no one | [`local`] |
//!
//! # Modules
//! | module | what it holds |
//! |---|---|
//! | [`mod@unit`] | ε, δ, ρ, α, sensitivities, neighbour relations: validated types |
//! | `num` | exact rationals, certified intervals, directed rounding (private) |
//! | [`random`] | the only source of random bits |
//! | [`sample`] | exact samplers, one distribution per file |
//! | [`mechanism`] | noise with a guarantee; the only maker of a [`mechanism::Release`] |
//! | [`local`] | randomizers that each person runs on their own value |
//! | [`sensitivity`] | noise that fits the data: smooth bounds, ladders, stable answers, propose-test-release |
//! | [`utility`] | error bounds, and the ε or the number of people for a wanted accuracy |
//! | [`event`] | privacy events: the language between mechanisms, accountants and ledger |
//! | [`account`] | what many events cost together, certified; filters, calibration |
//!
//! # What this crate does not do
//! It performs no I/O (except that it asks the operating system for entropy), reads no clock, starts no thread, logs
//! nothing and contains no `unsafe`. It does not parse queries, remember budgets or decide who may ask.
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
