//! The clustering coefficient, from released counts.

use crate::count::{CountRequest, release};
use crate::error::Result;
use crate::graph::Graph;
use crate::method::{Method, wrong_budget};
use crate::stars::Stars;
use crate::triangles::Triangles;
use demure_core::mechanism::{Guarantee, Release};
use demure_core::random::Randomness;
use demure_core::unit::{Beta, Delta, Epsilon, Rho};

/// `3·triangles / wedges`, the global clustering coefficient (transitivity), from two releases: of
/// [`Triangles`](crate::Triangles) and of 2-stars ([`Stars`](crate::Stars)). Within [0, 1]; 0 where there are no wedges.
///
/// # Guarantee
/// A function of what was released: it costs nothing beyond the two, which compose.
#[must_use]
pub fn clustering(triangles: &Release<f64>, wedges: &Release<f64>) -> f64 {
    let (triangles, wedges) = (*triangles.value(), *wedges.value());
    if wedges <= 0.0 { 0.0 } else { (3.0 * triangles / wedges).clamp(0.0, 1.0) }
}

/// The coefficient, asked for as a count is: half of the budget is for triangles and half for wedges.
#[derive(Clone, Copy, Debug)]
pub struct ClusteringRequest(pub CountRequest);

/// A released coefficient.
#[derive(Clone, Debug)]
pub struct ClusteringRelease {
    /// The coefficient; `None` where one of the counts is.
    pub share: Option<f64>,
    /// The error that is exceeded with probability 5 % at most, where those of both counts may be shown.
    pub error: Option<f64>,
    /// The released counts of triangles and of wedges.
    pub counts: (Option<f64>, Option<f64>),
    /// How each was released.
    pub methods: (Method, Method),
}

impl ClusteringRequest {
    /// What each of the two counts may spend, for one edge more or less.
    pub fn each(&self) -> Result<Guarantee> {
        halved(self.0.step()?)
    }

    /// Releases both counts, and their ratio.
    pub fn release(&self, graph: &Graph, rng: &mut dyn Randomness) -> Result<ClusteringRelease> {
        let (triangles, wedges) = (Triangles::of(graph)?, Stars::of(graph, 2)?);
        // Both within their errors with probability 0.95: each with 0.975.
        let (each, beta) = (self.each()?, Beta::new(0.025)?);
        let first = release(self.0.method, &triangles, each, beta, rng)?;
        let second = release(self.0.method, &wedges, each, beta, rng)?;
        let counts = (*first.value.value(), *second.value.value());
        let methods = (first.method, second.method);
        let errors = first.error.zip(second.error);
        let plain = |release: Release<Option<f64>>| release.map(|x| x.unwrap_or(0.0));
        let share = clustering(&plain(first.value), &plain(second.value));
        let answered = counts.0.zip(counts.1);
        let error = answered
            .zip(errors)
            .map(|((t, w), (t_error, w_error))| farthest(share, (t, t_error), (w, w_error)));
        Ok(ClusteringRelease { share: answered.map(|_| share), error, counts, methods })
    }
}

/// Half of a budget.
fn halved(step: Guarantee) -> Result<Guarantee> {
    let half = |epsilon: Epsilon| Epsilon::new(0.5 * epsilon.get());
    Ok(match step {
        Guarantee::Pure(epsilon) => Guarantee::Pure(half(epsilon)?),
        Guarantee::Approximate(epsilon, delta) => {
            Guarantee::Approximate(half(epsilon)?, Delta::positive(0.5 * delta.get())?)
        }
        Guarantee::Concentrated(rho) => Guarantee::Concentrated(Rho::new(0.5 * rho.get())?),
        _ => return Err(wrong_budget()),
    })
}

/// How far the ratio may be from what is shown, if both counts are within their errors.
fn farthest(shown: f64, (t, t_error): (f64, f64), (w, w_error): (f64, f64)) -> f64 {
    // There may be no wedges at all, and then nothing is known of their share.
    if w - w_error <= 0.0 {
        return shown.max(1.0 - shown);
    }
    let ratio = |t: f64, w: f64| (3.0 * t / w).clamp(0.0, 1.0);
    let (low, high) = (ratio(t - t_error, w + w_error), ratio(t + t_error, w - w_error));
    (high - shown).max(shown - low)
}

#[cfg(test)]
mod tests;
