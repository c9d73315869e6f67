//! Mechanisms: the only code that turns a protected value into a release.
//!
//! Make a mechanism from public parameters, give it protected values and randomness, and get a
//! [`Release`]. Its `event()` says what the release costs, for an [`Account`](crate::account::Account).
//!
//! | mechanism | releases | guarantee |
//! |---|---|---|
//! | [`Count`], [`BoundedSum`] | a count, the sum of bounded values | ε or ρ |
//! | [`BoundedMean`], [`BoundedVariance`] | the mean, the variance of bounded values | ε or ρ |
//! | [`Groups`] | count, sum, mean and variance of each of many groups | ε or ρ |
//! | [`Sizes`] | how much units contribute, to choose a bound by ([`Ladder`], [`Norms`]) | ε or ρ |
//! | [`Histogram`] | counts over public keys | ε or ρ |
//! | [`ThresholdHistogram`] | counts over unknown keys | (ε,δ) |
//! | [`KeySelection`] | which unknown keys exist, optimally | (ε,δ) |
//! | [`KeyWeights`] | which unknown keys exist, where a unit may have any number of them | (ε,δ) |
//! | [`Tree`] | counts of all ranges of an ordered domain | ε or ρ |
//! | [`Quantile`] | a quantile of bounded values, on a grid | ε, and ε²/8-zCDP |
//! | [`Exponential`] | a candidate, with a probability exponential in its score | ε, and ε²/8-zCDP |
//! | [`PermuteAndFlip`] | a candidate, never worse than [`Exponential`] | ε |
//! | [`NoisyMax`] | the candidate whose score plus Laplace noise is largest | ε |
//! | [`AboveThreshold`] | which of many queries are above a threshold | ε |
//! | [`Laplace`], [`Geometric`] | Laplace noise on reals, on integers | ε |
//! | [`Gaussian`], [`DiscreteGaussian`] | Gaussian noise on reals, on integers | (ε,δ) or ρ |
//! | [`Response`] | randomized response: each person's own report | ε, local |
//!
//! Each type states its guarantee for both neighbour relations, proves it, and lists what happens
//! to special values. Nothing outside this crate can build a [`Release`], so a `Release` is
//! evidence that noise was added.

mod bounded;
pub(crate) mod choice;
mod exponential;
mod gaussian;
mod groups;
mod histogram;
mod key_selection;
mod key_weights;
mod laplace;
mod moments;
mod noisy_max;
mod norm;
mod permute_and_flip;
mod quantile;
mod response;
mod sparse_vector;
mod threshold;
mod tree;
mod weight;
mod yields;

pub use crate::local::{ErrorBound, Target};
pub use bounded::{Accumulator, BoundedSum, Bounds, Count, Rows};
pub use exponential::{Change, Exponential, Score, Scores};
pub(crate) use gaussian::gaussian_delta;
pub use gaussian::{DiscreteGaussian, Gaussian};
pub use groups::{GroupSummary, GroupTotals, Groups, GroupsBuilder, Statistics};
pub use histogram::{Budget, Contributions, Histogram, non_negative};
pub use key_selection::KeySelection;
pub use key_weights::KeyWeights;
pub use laplace::{Geometric, Laplace};
pub use moments::{BoundedMean, BoundedVariance};
pub use noisy_max::NoisyMax;
pub use norm::{NormUnit, Norms};
pub use permute_and_flip::PermuteAndFlip;
pub use quantile::Quantile;
pub use response::Response;
pub use sparse_vector::{AboveThreshold, Answer, EpsilonSplit, Transcript};
pub use threshold::{Threshold, ThresholdHistogram};
pub use tree::{Ranges, Tree, TreeShape};
pub use weight::{Bounded, Contribution, Ladder, Learnt, Sizes, Unit};
pub(crate) use yields::yields_event;

use crate::unit::{Delta, Epsilon, Rho};
use std::fmt;

/// The guarantee of a mechanism, for the neighbour relation that its sensitivity is for.
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

/// The integer noise that a mechanism adds to each number, in the units of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// The kind of noise.
    pub family: Family,
    /// Δ₁ of Laplace, Δ₂ of Gaussian noise, rounded up to a float.
    pub sensitivity: f64,
    /// σ of Gaussian noise; `Δ₁/ε` of Laplace noise, to the nearest float (draws use the
    /// quotient itself).
    pub scale: f64,
}

impl Calibration {
    /// In steps of another size: a power of two, so exactly.
    fn times(self, step: f64) -> Self {
        Self { sensitivity: self.sensitivity * step, scale: self.scale * step, ..self }
    }
}

/// The kind of integer noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Two-sided geometric: [`Geometric`].
    Laplace,
    /// [`DiscreteGaussian`].
    Gaussian,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Laplace => "discrete Laplace",
            Self::Gaussian => "discrete Gaussian",
        })
    }
}

/// A value that went through a mechanism, with its guarantee.
///
/// ```
/// use demure_core::mechanism::{Count, Rows};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours};
///
/// let count = Count::new(Epsilon::new(0.5)?, Neighbours::AddRemove, Rows::AtMost(1))?;
/// let release = count.release(1_204, &mut SystemRandom::new()?)?;
/// assert_eq!(release.guarantee().to_string(), "0.5-DP");
/// let published: i128 = release.map(|count| count.max(0)).into_value();
/// # Ok::<(), demure_core::Error>(())
/// ```
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

    /// The released value.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// The released value, by value.
    pub fn into_value(self) -> T {
        self.value
    }

    /// The guarantee that the mechanism gave.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Applies a function to the value: any function of a release is as private as the release.
    pub fn map<U>(self, f: fn(T) -> U) -> Release<U> {
        Release { value: f(self.value), guarantee: self.guarantee }
    }
}

#[cfg(test)]
mod tests;
