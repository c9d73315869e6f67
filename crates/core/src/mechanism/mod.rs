//! Mechanisms: the only code that turns a protected value into a release.
//!
//! | file | mechanism | guarantee |
//! |---|---|---|
//! | `laplace` | Laplace noise on reals and on integers | ε |
//!
//! Each file states its guarantee for both neighbour relations, proves it, and
//! lists what happens to special values. A [`Release`] can be built nowhere
//! else: holding one *is* the evidence that noise was added.

mod laplace;

pub use laplace::{Geometric, Laplace};

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
            Self::Pure(epsilon) => write!(f, "({epsilon})-DP"),
            Self::Approximate(epsilon, delta) => write!(f, "({epsilon}, {delta})-DP"),
            Self::Concentrated(rho) => write!(f, "({rho})-zCDP"),
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
