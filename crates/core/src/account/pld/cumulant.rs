//! `K = ln M`, K′ and K″ on the real line, as estimates that guide the search.
//!
//! They are good to about twelve digits if the platform's library is sane. Nothing certified depends on them, except
//! that `ln M` from [`cumulants`] is good to 10⁻⁶ if its nodes are (its logarithm and exponential have stated errors).

use super::law::{Direction, Law};
use super::rule::{NODES, Panels, Rule};
use crate::num::ball::exp;
use crate::num::fast;

/// The cumulants of a law with weights e^w at its losses: `(ln Σe^w, mean, variance)` for
/// pairs `(loss, w)`.
pub(super) fn cumulants(nodes: impl Iterator<Item = (f64, f64)>) -> (f64, f64, f64) {
    let nodes: Vec<(f64, f64)> = nodes.collect();
    let top = nodes.iter().fold(f64::NEG_INFINITY, |m, n| m.max(n.1));
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    // Losses relative to that of the heaviest node, for a precise variance.
    let pivot = nodes.iter().find(|n| n.1 == top).map_or(0.0, |n| n.0);
    for (loss, log) in &nodes {
        let (weight, x) = (exp(log - top), loss - pivot);
        total += weight;
        first += weight * x;
        second += weight * x * x;
    }
    let mean = first / total;
    (top + fast::ln(total), pivot + mean, (second / total - mean * mean).max(0.0))
}

impl Law {
    /// About the share of the tilted law that is not atoms on the grid.
    pub(super) fn smooth(&self, s: f64) -> f64 {
        match self {
            Self::Atoms(_) => 0.0,
            Self::Laplace { a } => {
                let w = s + 0.5;
                let t = (w * a).tanh() / (2.0 * w);
                t / (1.0 + t)
            }
            _ => 1.0,
        }
    }

    /// About `(K, K′, K″)` at a real s.
    pub(super) fn cumulants(&self, s: f64) -> (f64, f64, f64) {
        match self {
            Self::Gaussian { mu2, .. } => (0.5 * mu2 * s * (s + 1.0), mu2 * (s + 0.5), *mu2),
            Self::Laplace { a } => {
                // K = ln(cosh wa + sinh wa/(2w)) − a/2, w = s + ½, without overflow.
                let at = |w: f64| {
                    let e = (-2.0 * w * a).exp();
                    w * a - 0.5 * a + (0.5 * (1.0 + e) + 0.25 * (1.0 - e) / w).ln()
                };
                let w = s + 0.5;
                let d = 1e-3 * w;
                let (below, here, above) = (at(w - d), at(w), at(w + d));
                let second = (above - 2.0 * here + below) / (d * d);
                (here, (above - below) / (2.0 * d), second.max(0.0))
            }
            Self::Atoms(atoms) => cumulants((0..atoms.mass.len()).map(|j| {
                let loss = atoms.loss(j);
                (loss, s * loss + atoms.mass[j].ln())
            })),
            Self::SampledGaussian { q, sigma, direction, cut } if *cut < f64::INFINITY => {
                let rule = Panels::gaussian(*q, *sigma, *direction, s, 0.0, *cut).coarse();
                cumulants(rule.weighted().into_iter())
            }
            Self::SampledGaussian { q, sigma, direction, .. } => {
                let rule = Rule::new(*q, *sigma, *direction, s, 0.0, 24.0);
                if rule.count() > NODES {
                    // Far out the law is that of the noise itself.
                    let z = s + 1.0;
                    let v = sigma * sigma;
                    return (0.5 * z * s / v + z * q.ln(), (z - 0.5) / v, 1.0 / v);
                }
                let (k0, k1, k2) = cumulants((0..rule.count()).map(|j| rule.node(j)));
                (k0 + rule.log_factor(), k1, k2)
            }
            Self::Band { q, sigma, between } => {
                let rule = Panels::band(*q, *sigma, Direction::Remove, s, 0.0, *between).coarse();
                cumulants(rule.weighted().into_iter())
            }
            Self::SampledLaplace { q, a, direction } => {
                let rule = Panels::laplace(*q, *a, *direction, s, 0.0).coarse();
                cumulants(rule.weighted().into_iter())
            }
        }
    }
}
