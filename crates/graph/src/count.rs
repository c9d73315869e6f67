//! A count under a budget: what may be known of it before it is released, and with it.
//!
//! # Errors that may be shown
//! An error here is computed from n, the budget and what was released. The noise of a ladder or of a smooth bound follows
//! the graph, so its size is as protected as the graph: then there is none.

use crate::error::Result;
use crate::method::{Method, approximate, epsilon_of};
use crate::relation;
use demure_core::mechanism::{DiscreteGaussian, Geometric, Guarantee, Release};
use demure_core::random::Randomness;
use demure_core::sensitivity::{
    Ladder, NoiseFamily, PrivateBound, Proposals, ProposeTestRelease, SmoothNoise, Statistic,
};
use demure_core::unit::{Beta, L1, L2, Neighbours, Sensitivity};
use demure_core::utility::Accuracy;

/// How a count is asked for.
#[derive(Clone, Copy, Debug)]
pub struct CountRequest {
    /// How it is released.
    pub method: Method,
    /// What may be promised, for `relation`.
    pub budget: Guarantee,
    /// Which graphs are neighbours.
    pub relation: Neighbours,
}

/// A released count.
#[derive(Clone, Debug)]
pub struct CountRelease {
    /// The count; `None` only from [`Method::Propose`], where it is an answer.
    pub value: Release<Option<f64>>,
    /// What [`Method::Auto`] stood for.
    pub method: Method,
    /// The bound on the local sensitivity that was released with it.
    pub bound: Option<u64>,
    /// The error that is exceeded with probability β at most, where it may be shown.
    pub error: Option<f64>,
}

/// What is public of a count before it is released: from n and the budget alone.
#[derive(Clone, Debug)]
pub struct CountForecast {
    /// What [`Method::Auto`] stands for.
    pub method: Method,
    /// The global sensitivity.
    pub global: u64,
    /// A guess of the local sensitivity: the root of the global one.
    pub local: f64,
    /// By that guess, how far the ladder is off, and noise of the global sensitivity.
    pub ladder: f64,
    /// See `ladder`.
    pub naive: f64,
    /// By that guess, how far the method is off.
    pub expected: f64,
    /// The error that is exceeded with probability 5 % at most, where it is public.
    pub error: Option<f64>,
    /// What else is public of the method.
    pub facts: MethodFacts,
    /// What a release will promise, for the request's relation.
    pub promised: Guarantee,
}

/// What is public of a method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MethodFacts {
    /// Nothing more.
    None,
    /// Of the ladder: the least width of a rung; none if it would not help.
    Floor(Option<u64>),
    /// Of smooth noise: its family, and t of the smooth bound.
    Smooth(NoiseFamily, f64),
    /// Of a private bound: how far it is above the local sensitivity.
    Margin(u64),
    /// Of one proposed bound: how many edges it must take to make the local sensitivity exceed it.
    Threshold {
        /// The bound.
        bound: u64,
        /// Edges.
        edges: u64,
    },
    /// Of a search over bounds: the same for each.
    Search(i128),
}

impl CountRequest {
    /// What may be spent for one edge more or less.
    pub fn step(&self) -> Result<Guarantee> {
        relation::step(self.budget, self.relation)
    }

    /// What is promised for the relation by what spends this for one edge more or less.
    pub fn promised(&self, spent: Guarantee) -> Result<Guarantee> {
        relation::promised(spent, self.budget, self.relation)
    }

    /// Releases a count, with its error at 95 %.
    pub fn release(
        &self,
        statistic: &dyn Statistic,
        rng: &mut dyn Randomness,
    ) -> Result<CountRelease> {
        release(self.method, statistic, self.step()?, five_percent()?, rng)
    }

    /// What a method that was not chosen yet will promise.
    pub fn forecast_promise(&self) -> Result<Guarantee> {
        self.promised(spent(self.method, self.step()?))
    }

    /// What a release would do. `statistic` may be that of a graph of the same size without edges.
    pub fn forecast(&self, statistic: &dyn Statistic) -> Result<CountForecast> {
        let step = self.step()?;
        let method = self.method.chosen(statistic, step)?;
        let epsilon = epsilon_of(step)?;
        let global = statistic.most().unwrap_or(u64::MAX);
        let local = (global as f64).sqrt();
        let naive = global as f64 / epsilon.get();
        let ladder = Ladder::for_statistic(epsilon, statistic)?;
        let ladder_error = ladder.expected_error(statistic)?;
        let beta = five_percent()?;
        let (expected, facts, error) = match method {
            Method::Smooth { t } => {
                let noise = SmoothNoise::new(step, t)?;
                let facts = MethodFacts::Smooth(noise.family(), noise.t().get());
                (local * noise.deviation(), facts, None)
            }
            Method::PrivateBound => {
                let (epsilon, delta) = approximate(step)?;
                let mechanism = PrivateBound::for_statistic(epsilon, delta, statistic)?;
                let margin = mechanism.margin(statistic.growth().unwrap_or(1))?;
                let bound = (local as u64).saturating_add(margin).min(global);
                (mechanism.error(bound, beta)? / 3.0, MethodFacts::Margin(margin), None)
            }
            Method::Propose { bound: Some(bound) } => {
                let (epsilon, delta) = approximate(step)?;
                let mechanism = ProposeTestRelease::new(epsilon, delta, bound)?;
                let error = mechanism.error(beta)?;
                let facts = MethodFacts::Threshold { bound, edges: mechanism.threshold() };
                (error / 3.0, facts, Some(error))
            }
            Method::Propose { bound: None } => {
                let (epsilon, delta) = approximate(step)?;
                let mechanism = Proposals::for_statistic(epsilon, delta, statistic)?;
                let expected = mechanism.error((2.0 * local) as u64 + 1, beta)? / 3.0;
                (expected, MethodFacts::Search(mechanism.threshold()), None)
            }
            Method::Naive => (naive, MethodFacts::None, Some(naive_error(statistic, step, beta)?)),
            Method::ClassicLadder => {
                (Ladder::classic(epsilon).expected_error(statistic)?, MethodFacts::None, None)
            }
            Method::Auto | Method::Ladder => {
                (ladder_error, MethodFacts::Floor(ladder.floor()), None)
            }
        };
        let (ladder, promised) = (ladder_error, self.promised(spent(method, step))?);
        Ok(CountForecast { method, global, local, ladder, naive, expected, error, facts, promised })
    }
}

fn five_percent() -> Result<Beta> {
    Ok(Beta::new(0.05)?)
}

/// Releases a count for one edge more or less; its error is exceeded with probability β at most.
///
/// As [`Method::release`], but it keeps the bound that two of the methods release with the value: their error is known.
pub(crate) fn release(
    method: Method,
    statistic: &dyn Statistic,
    step: Guarantee,
    beta: Beta,
    rng: &mut dyn Randomness,
) -> Result<CountRelease> {
    let method = method.chosen(statistic, step)?;
    let (value, bound, error) = match method {
        Method::PrivateBound => {
            let (epsilon, delta) = approximate(step)?;
            let mechanism = PrivateBound::for_statistic(epsilon, delta, statistic)?;
            let release = mechanism.release(statistic, rng)?;
            let bound = release.value().1;
            (release.map(|(x, _)| Some(x)), Some(bound), Some(mechanism.error(bound, beta)?))
        }
        Method::Propose { bound: None } => {
            let (epsilon, delta) = approximate(step)?;
            let mechanism = Proposals::for_statistic(epsilon, delta, statistic)?;
            let release = mechanism.release(statistic, rng)?;
            let bound = release.value().map(|(_, bound)| bound);
            let error = bound.map(|bound| mechanism.error(bound, beta)).transpose()?;
            (release.map(|found| found.map(|(x, _)| x)), bound, error)
        }
        Method::Propose { bound: Some(bound) } => {
            let (epsilon, delta) = approximate(step)?;
            let mechanism = ProposeTestRelease::new(epsilon, delta, bound)?;
            let release = mechanism.release(statistic, rng)?;
            let error = release.value().map(|_| mechanism.error(beta)).transpose()?;
            (release, Some(bound), error)
        }
        Method::Naive => {
            let error = naive_error(statistic, step, beta)?;
            (method.release(statistic, step, rng)?, None, Some(error))
        }
        _ => (method.release(statistic, step, rng)?, None, None),
    };
    Ok(CountRelease { value, method, bound, error })
}

/// The error of the global sensitivity's noise, exceeded with probability β at most.
fn naive_error(statistic: &dyn Statistic, step: Guarantee, beta: Beta) -> Result<f64> {
    let most = (statistic.most().unwrap_or(u64::MAX).max(1) as f64).next_up();
    Ok(match step {
        Guarantee::Concentrated(rho) => {
            DiscreteGaussian::concentrated(rho, Sensitivity::<L2>::new(most)?)?.error(beta)?
        }
        _ => Geometric::new(epsilon_of(step)?, Sensitivity::<L1>::new(most)?)?.error(beta)?,
    })
}

/// What a method spends of a budget for one edge.
fn spent(method: Method, step: Guarantee) -> Guarantee {
    match (method, step) {
        (Method::Ladder | Method::ClassicLadder | Method::Naive, Guarantee::Approximate(e, _)) => {
            Guarantee::Pure(e)
        }
        (_, step) => step,
    }
}

#[cfg(test)]
mod tests;
