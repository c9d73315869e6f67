//! Mechanisms: the only code that turns a protected value into a release.
//!
//! | file | mechanism | guarantee |
//! |---|---|---|
//! | `laplace` | Laplace noise on reals and on integers | ε |
//! | `gaussian` | Gaussian noise on reals and on integers | (ε,δ) or ρ |
//! | `exponential` | a candidate, with probability exponential in its score | ε, and ε²/8-zCDP |
//! | `permute_and_flip` | a candidate, never worse than `exponential` | ε |
//! | `noisy_max` | the candidate whose score plus Laplace noise is largest | ε |
//! | `quantile` | a quantile of bounded values, on a grid | ε, and ε²/8-zCDP |
//! | `response` | randomized response: each person's own report | ε, local |
//! | `histogram` | counts over public keys | ε or ρ |
//! | `threshold` | counts over unknown keys | (ε,δ) |
//! | `key_selection` | which unknown keys exist, optimally | (ε,δ) |
//! | `bounded` | count and sum of bounded values | ε or ρ |
//! | `moments` | mean and variance of bounded values | ε or ρ |
//! | `tree` | counts of all ranges of an ordered domain | ε or ρ |
//! | `sparse_vector` | which of many queries are above a threshold | ε |
//!
//! Each file states its guarantee for both neighbour relations, proves it, and
//! lists what happens to special values. A [`Release`] can be built nowhere
//! else: holding one *is* the evidence that noise was added.

mod bounded;
mod choice;
mod exponential;
mod gaussian;
mod histogram;
mod key_selection;
mod laplace;
mod moments;
mod noisy_max;
mod permute_and_flip;
mod quantile;
mod response;
mod sparse_vector;
mod threshold;
mod tree;

pub use bounded::{Accumulator, BoundedSum, Bounds, Count, Rows};
pub use exponential::{Change, Exponential, Score, Scores};
pub(crate) use gaussian::gaussian_delta;
pub use gaussian::{DiscreteGaussian, Gaussian};
pub use histogram::{Budget, Contributions, Histogram, non_negative};
pub use key_selection::KeySelection;
pub use laplace::{Geometric, Laplace};
pub use moments::{BoundedMean, BoundedVariance};
pub use noisy_max::NoisyMax;
pub use permute_and_flip::PermuteAndFlip;
pub use quantile::Quantile;
pub use response::{Bound, Response, Target};
pub use sparse_vector::{AboveThreshold, Answer, Asking};
pub use threshold::{Threshold, ThresholdHistogram};
pub use tree::{Ranges, Tree};

use crate::unit::{Delta, Epsilon, Rho};
use std::fmt;

/// What a mechanism promises, for the neighbour relation its sensitivity is for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Guarantee {
    /// ε-differential privacy.
    Pure(Epsilon),
    /// (ε, δ)-differential privacy.
    Approximate(Epsilon, Delta),
    /// ρ-zero-concentrated differential privacy.
    Concentrated(Rho),
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(epsilon) => write!(f, "{epsilon}-DP"),
            Self::Approximate(epsilon, delta) => write!(f, "({epsilon}, {:e})-DP", delta.get()),
            Self::Concentrated(rho) => write!(f, "{rho}-zCDP"),
        }
    }
}

/// A value that went through a mechanism, with what was promised for it.
///
/// There is no public constructor, so a protected value cannot be passed off
/// as a release:
///
/// ```compile_fail
/// use demure_core::mechanism::{Guarantee, Release};
/// use demure_core::unit::Epsilon;
/// let guarantee = Guarantee::Pure(Epsilon::new(1.0).unwrap());
/// let forged = Release { value: 42.0, guarantee };
/// ```
///
/// ```compile_fail
/// use demure_core::mechanism::{Guarantee, Release};
/// use demure_core::unit::Epsilon;
/// let forged = Release::new(42.0, Guarantee::Pure(Epsilon::new(1.0).unwrap()));
/// ```
///
/// [`Release::map`] takes a plain function and not a closure, so that
/// post-processing cannot carry protected data in:
///
/// ```compile_fail
/// # fn release() -> demure_core::mechanism::Release<f64> { unimplemented!() }
/// let secret = 42.0;
/// let forged = release().map(|_| secret);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Release<T> {
    value: T,
    guarantee: Guarantee,
}

impl<T> Release<T> {
    pub(crate) fn new(value: T, guarantee: Guarantee) -> Self {
        Self { value, guarantee }
    }

    /// What was released.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// What was released, by value.
    pub fn into_value(self) -> T {
        self.value
    }

    /// What was promised for it.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Post-processing: any function of a release is as private as the release.
    pub fn map<U>(self, f: fn(T) -> U) -> Release<U> {
        Release { value: f(self.value), guarantee: self.guarantee }
    }
}
