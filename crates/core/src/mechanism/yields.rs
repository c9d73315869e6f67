//! The [`Event`] of each mechanism, so that releases are never priced by hand.
//!
//! Every `event()` is a *stated guarantee*: it holds for the neighbour relation that the mechanism
//! was calibrated for, so account under that relation. Where a theorem needs the price under the
//! other relation too, the account is refused. An `add_remove_event()` is the noise itself, which
//! has a price under both relations.

use super::{
    AboveThreshold, BoundedMean, BoundedSum, BoundedVariance, Count, DiscreteGaussian, Exponential,
    Gaussian, Geometric, Groups, Guarantee, Histogram, KeySelection, KeyWeights, Laplace, NoisyMax,
    PermuteAndFlip, Quantile, Response, Sizes, ThresholdHistogram, Tree,
};
use crate::error::Result;
use crate::event::{Event, Noise};
use crate::num::directed::down;

impl Guarantee {
    /// The event of a release of which only this guarantee is known.
    #[must_use]
    pub fn event(self) -> Event {
        match self {
            Self::Pure(epsilon) => Event::Pure { epsilon },
            Self::Approximate(epsilon, delta) => Event::Approximate { epsilon, delta },
            Self::Concentrated(rho) => Event::Concentrated { rho },
        }
    }
}

/// Gives mechanisms the event of their guarantee.
macro_rules! yields_event {
    ($($mechanism:ty),+ $(,)?) => { $(
        impl $mechanism {
            /// The privacy event of one release, for an [`Account`](crate::account::Account) or a
            /// [`Filter`](crate::account::filter::Filter). It holds for the neighbour relation that the guarantee is
            /// for.
            #[must_use]
            pub fn event(&self) -> crate::event::Event {
                self.guarantee().event()
            }
        }
    )+ };
}
pub(crate) use yields_event;

yields_event!(
    Laplace,
    Geometric,
    Gaussian,
    DiscreteGaussian,
    PermuteAndFlip,
    NoisyMax,
    Histogram,
    ThresholdHistogram,
    KeySelection,
    KeyWeights,
    Count,
    BoundedSum,
    BoundedMean,
    BoundedVariance,
    Groups,
    Sizes,
    Tree,
    AboveThreshold,
);

impl Exponential {
    /// The privacy event of one choice: a bounded range of ε, which composes better than ε-DP alone.
    #[must_use]
    pub fn event(&self) -> Event {
        Event::Exponential { epsilon: self.epsilon }
    }
}

impl Quantile {
    /// The privacy event of one release: a bounded range of ε, which composes better than ε-DP alone.
    #[must_use]
    pub fn event(&self) -> Event {
        Event::Exponential { epsilon: self.epsilon }
    }
}

impl Response {
    /// The privacy event of one report: the exact law of randomized response.
    ///
    /// # Proof
    /// The event's probability of the truth is `e^ε/(e^ε + k − 1)`, and this mechanism's p is at
    /// most that. A report with less truth is a report with more of it, randomized once more. ∎
    #[must_use]
    pub fn event(&self) -> Event {
        Event::Response { epsilon: self.epsilon, categories: self.categories() }
    }
}

impl Gaussian {
    /// The privacy event of one release if the sensitivity is for *add or remove*: the noise itself, which composes
    /// far better than (ε,δ). Valid for accounts under either relation.
    ///
    /// # Proof
    /// Every pair of neighbours that differ by one unit is at most Δ₂ apart, and the worst pair
    /// is that of a line: Gaussian noise of σ/Δ₂ (rounded down) on a query of sensitivity 1. ∎
    pub fn add_remove_event(&self) -> Result<Event> {
        Ok(Event::Gaussian(Noise::new(down(self.sigma() / self.sensitivity().get()))?))
    }
}

impl DiscreteGaussian {
    /// The privacy event of one release if the sensitivity is for *add or remove*. If calibrated to (ε,δ), it is the
    /// noise on one integer, which composes far better; if calibrated to ρ, it is ρ.
    pub fn add_remove_event(&self) -> Result<Event> {
        match self.guarantee() {
            Guarantee::Approximate(..) => {
                Event::discrete_gaussian(self.sigma(), self.sensitivity().get() as u64)
            }
            guarantee => Ok(guarantee.event()),
        }
    }
}
