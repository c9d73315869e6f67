//! How a count is released, and which way is best.

use crate::error::Result;
use demure_core::Error;
use demure_core::mechanism::{DiscreteGaussian, Geometric, Guarantee, Release};
use demure_core::random::Randomness;
use demure_core::sensitivity::{
    Ladder, PrivateBound, Proposals, ProposeTestRelease, SmoothNoise, Smoothness, Statistic,
};
use demure_core::unit::{Delta, Epsilon, L1, L2, Sensitivity};
use std::fmt;

/// A way to release a count under a budget.
///
/// | method | pure ε | (ε,δ) | ρ-zCDP |
/// |---|---|---|---|
/// | `Naive` | geometric noise of the global sensitivity | the same | discrete Gaussian |
/// | `Ladder` | yes | the same, δ unused | at ε = √(2ρ) |
/// | `Smooth` | Laplace-Pareto | Laplace | Laplace-log-normal |
/// | `PrivateBound` | refused | yes | refused |
/// | `Propose` | refused | yes | refused |
///
/// The guarantee on the release is what was really spent, never more than asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// The one of least expected error, by public facts alone: [`Method::chosen`].
    Auto,
    /// Noise of the global sensitivity.
    Naive,
    /// The [`Ladder`], with a floor where that is expected to help.
    Ladder,
    /// The ladder without a floor, as published.
    ClassicLadder,
    /// Noise in proportion to a smooth bound, at `t` or at a t that suits most data.
    Smooth {
        /// Chosen without looking at the data.
        t: Option<Smoothness>,
    },
    /// [`PrivateBound`], split by public facts.
    PrivateBound,
    /// [`ProposeTestRelease`] of one bound, or a search over doubling bounds up to the largest there is: [`Proposals`], with 3/10 of ε for
    /// the search.
    Propose {
        /// β; `None` searches.
        bound: Option<u64>,
    },
}

impl Method {
    /// The name that [`Method::parse`] reads.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Naive => "naive",
            Self::Ladder => "ladder",
            Self::ClassicLadder => "classic-ladder",
            Self::Smooth { .. } => "smooth",
            Self::PrivateBound => "private-bound",
            Self::Propose { .. } => "propose",
        }
    }

    /// The method of a name, with nothing chosen that can be left open.
    pub fn parse(name: &str) -> Result<Self> {
        let all = [
            Self::Auto,
            Self::Naive,
            Self::Ladder,
            Self::ClassicLadder,
            Self::Smooth { t: None },
            Self::PrivateBound,
            Self::Propose { bound: None },
        ];
        all.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            Error::OutOfRange {
                parameter: "method",
                allowed: "one of auto, naive, ladder, classic-ladder, smooth, private-bound, propose",
            }
            .into()
        })
    }

    /// What `Auto` stands for: the ladder, or naive noise where the largest step is so small that it is expected to do better. It looks at the
    /// largest step and the budget, which are public, and at no data: [`Ladder::expected_error`].
    pub fn chosen(&self, statistic: &(impl Statistic + ?Sized), budget: Guarantee) -> Result<Self> {
        if *self != Self::Auto {
            return Ok(*self);
        }
        let Some(most) = statistic.most() else { return Ok(Self::Propose { bound: None }) };
        let epsilon = epsilon_of(budget)?;
        let ladder = Ladder::for_statistic(epsilon, statistic)?.expected_error(statistic)?;
        let naive = most as f64 / epsilon.get();
        Ok(if naive <= ladder { Self::Naive } else { Self::Ladder })
    }

    /// Releases a count; `None` only from `Propose`, where it is an answer.
    pub fn release(
        &self,
        statistic: &(impl Statistic + ?Sized),
        budget: Guarantee,
        rng: &mut dyn Randomness,
    ) -> Result<Release<Option<f64>>> {
        let released = match self.chosen(statistic, budget)? {
            Self::Auto | Self::Naive => naive(statistic, budget, rng)?.map(Some),
            Self::Ladder => {
                let ladder = Ladder::for_statistic(epsilon_of(budget)?, statistic)?;
                ladder.release(statistic, rng)?.map(Some)
            }
            Self::ClassicLadder => {
                Ladder::classic(epsilon_of(budget)?).release(statistic, rng)?.map(Some)
            }
            Self::Smooth { t } => SmoothNoise::new(budget, t)?.release(statistic, rng)?.map(Some),
            Self::PrivateBound => {
                let (epsilon, delta) = approximate(budget)?;
                let bound = PrivateBound::for_statistic(epsilon, delta, statistic)?;
                bound.release(statistic, rng)?.map(|(value, _)| Some(value))
            }
            Self::Propose { bound: Some(bound) } => {
                let (epsilon, delta) = approximate(budget)?;
                ProposeTestRelease::new(epsilon, delta, bound)?.release(statistic, rng)?
            }
            Self::Propose { bound: None } => {
                let (epsilon, delta) = approximate(budget)?;
                let search = Proposals::for_statistic(epsilon, delta, statistic)?;
                search.release(statistic, rng)?.map(|found| found.map(|(value, _)| value))
            }
        };
        Ok(released)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Noise of the global sensitivity, [`Statistic::most`].
fn naive(
    statistic: &(impl Statistic + ?Sized),
    budget: Guarantee,
    rng: &mut dyn Randomness,
) -> Result<Release<f64>> {
    let most = statistic.most().ok_or(Error::Infeasible {
        what: "this statistic has no global sensitivity",
        remedy: "use propose-test-release",
    })?;
    // Rounded up to a float; at least 1, so that there is some noise.
    let most = (most.max(1) as f64).next_up();
    let noised = match budget {
        Guarantee::Concentrated(rho) => {
            let noise = DiscreteGaussian::concentrated(rho, Sensitivity::<L2>::new(most)?)?;
            noise.release(statistic.value(), rng)?
        }
        _ => {
            let noise = Geometric::new(epsilon_of(budget)?, Sensitivity::<L1>::new(most)?)?;
            noise.release(statistic.value(), rng)?
        }
    };
    Ok(noised.map(|noised| noised as f64))
}

/// The ε of a pure mechanism within the budget: `√(2ρ)` for ρ, rounded down.
pub(crate) fn epsilon_of(budget: Guarantee) -> Result<Epsilon> {
    match budget {
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => Ok(epsilon),
        Guarantee::Concentrated(rho) => {
            Ok(Epsilon::new((2.0 * rho.get()).sqrt().next_down().next_down())?)
        }
        _ => Err(wrong_budget()),
    }
}

pub(crate) fn approximate(budget: Guarantee) -> Result<(Epsilon, Delta)> {
    match budget {
        Guarantee::Approximate(epsilon, delta) if delta.get() > 0.0 => Ok((epsilon, delta)),
        _ => Err(wrong_budget()),
    }
}

pub(crate) fn wrong_budget() -> crate::Error {
    Error::Infeasible {
        what: "this method needs an epsilon and a delta above 0",
        remedy: "give a delta, or use the ladder, which needs none",
    }
    .into()
}

#[cfg(test)]
mod tests;
