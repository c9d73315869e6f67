//! Tabulated output distributions, and the distances between two of them by which privacy is defined.
//!
//! With `P` and `Q` the outputs on two neighbouring datasets:
//!
//! | distance | formula | promise |
//! |---|---|---|
//! | [`Distribution::hockey_stick`] | `δ(ε) = Σ max(0, P(o) − e^ε Q(o))` | (ε, δ)-DP: `δ(ε) ≤ δ` both ways |
//! | [`Distribution::max_divergence`] | `max ln(P(o)/Q(o))` | ε-DP: `≤ ε` both ways |
//! | [`Distribution::renyi`] | `ln(Σ P(o)^α Q(o)^(1−α)) / (α−1)` | ρ-zCDP: `≤ ρα` both ways, all α > 1 |
//!
//! # Rounding
//! The probabilities are floating-point numbers, assumed to have a relative error of at most [`ROUNDING`]. The three
//! methods return the plain value of the formula; the checks of [`crate::neighbours`] allow for the rounding.

use crate::sum::compensated;
use std::collections::BTreeMap;

/// The relative error that each tabulated probability may have.
pub const ROUNDING: f64 = 1e-12;

/// Outputs less likely than this are not compared: the other side may have underflowed.
pub const LEAST: f64 = 1e-290;

/// The largest deviation of the sum of probabilities from one.
const TOTAL: f64 = 1e-9;

/// The probability of every output, or of all but a tail of bounded mass.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution<O> {
    mass: BTreeMap<O, f64>,
    tail: f64,
}

impl<O: Ord> Distribution<O> {
    /// A distribution all of whose outputs are listed. An output listed twice has the sum.
    ///
    /// # Panics
    /// If an entry is not in [0, 1], or the sum is not 1 to within 1e-9.
    pub fn new(mass: impl IntoIterator<Item = (O, f64)>) -> Self {
        Self::with_tail(mass, 0.0)
    }

    /// A distribution whose unlisted outputs have together at most the probability `tail`.
    ///
    /// Tabulate both sides of a pair over the *same* outputs: one that is listed for `P`
    /// and not for `Q` counts as impossible under `Q`, whatever the tail of `Q`. Better than a tail,
    /// where the far outputs have a common ratio, is to fold them into one last output
    /// `≥ K`, which is then compared like the others.
    ///
    /// # Panics
    /// If an entry or the tail is not in [0, 1], or the sum is not within `[1 − tail, 1]`,
    /// give or take 1e-9.
    pub fn with_tail(mass: impl IntoIterator<Item = (O, f64)>, tail: f64) -> Self {
        let mut table = BTreeMap::new();
        for (output, p) in mass {
            assert!((0.0..=1.0).contains(&p), "{p} is no probability");
            *table.entry(output).or_insert(0.0) += p;
        }
        assert!((0.0..=1.0).contains(&tail), "{tail} is no probability");
        let total = compensated(table.values().copied());
        assert!(
            total <= 1.0 + TOTAL && total + tail >= 1.0 - TOTAL,
            "the probabilities sum to {total}, with at most {tail} in the tail"
        );
        Self { mass: table, tail }
    }

    /// The probability of `output`; 0 if it is not listed.
    pub fn probability(&self, output: &O) -> f64 {
        self.mass.get(output).copied().unwrap_or(0.0)
    }

    /// The listed outputs and their probabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&O, f64)> {
        self.mass.iter().map(|(output, &p)| (output, p))
    }

    /// The bound on the probability of the outputs that are not listed.
    pub fn tail(&self) -> f64 {
        self.tail
    }

    /// The distribution of `f(output)`: post-processing.
    pub fn map<R: Ord>(self, f: impl Fn(O) -> R) -> Distribution<R> {
        let mapped = self.mass.into_iter().map(|(output, p)| (f(output), p));
        Distribution::with_tail(mapped, self.tail)
    }

    /// The joint distribution of this and an independent `other`.
    pub fn and<R: Ord + Clone>(&self, other: &Distribution<R>) -> Distribution<(O, R)>
    where
        O: Clone,
    {
        let joint = self.iter().flat_map(|(a, p)| {
            let row = other.iter();
            row.map(move |(b, q)| ((a.clone(), b.clone()), p * q))
        });
        // 1 − (1−s)(1−t) ≤ s + t
        Distribution::with_tail(joint, (self.tail + other.tail).min(1.0))
    }

    /// `δ(ε) = Σ max(0, P(o) − e^ε Q(o))`, plus the tail of `P`: the least δ for which
    /// `P(S) ≤ e^ε Q(S) + δ` for every event `S`. Exact if nothing is in a tail, otherwise
    /// too large by at most `P`'s tail plus `e^ε` times `Q`'s. One direction; try both.
    pub fn hockey_stick(&self, other: &Self, epsilon: f64) -> f64 {
        self.excess(other, epsilon, 0.0) + self.tail
    }

    /// The hockey stick over the listed outputs, each probability moved by the relative
    /// `rounding` against finding an excess.
    pub(crate) fn excess(&self, other: &Self, epsilon: f64, rounding: f64) -> f64 {
        let growth = epsilon.exp();
        compensated(self.compared(other).map(|(_, p, q)| {
            // At ε = ∞ the product with q = 0 would be NaN; an impossible output stays one.
            let covered = if q == 0.0 { 0.0 } else { growth * q };
            (p * (1.0 - rounding) - covered * (1.0 + rounding)).max(0.0)
        }))
    }

    /// `max_o ln(P(o)/Q(o))`, the least ε with `P(S) ≤ e^ε Q(S)` for every event of listed
    /// outputs; ∞ if one of them is impossible under `Q`. One direction; see [`worst_epsilon`].
    pub fn max_divergence(&self, other: &Self) -> f64 {
        self.largest_loss(other).map_or(0.0, |(_, loss)| loss)
    }

    /// The output with the largest `ln(P(o)/Q(o))`, and that.
    pub(crate) fn largest_loss<'a>(&'a self, other: &'a Self) -> Option<(&'a O, f64)> {
        let losses = self.compared(other).map(|(o, p, q)| (o, (p / q).ln()));
        losses.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Rényi divergence of order `alpha` > 1, `D_α(P‖Q) = ln(Σ P(o)^α Q(o)^(1−α)) / (α−1)`,
    /// over the listed outputs; ∞ if one of them is impossible under `Q`. One direction.
    ///
    /// # Panics
    /// If `alpha` is not a finite number above one.
    pub fn renyi(&self, other: &Self, alpha: f64) -> f64 {
        assert!(alpha > 1.0 && alpha.is_finite(), "the order {alpha} is not above one");
        let exponents: Vec<f64> =
            self.compared(other).map(|(_, p, q)| alpha * p.ln() - (alpha - 1.0) * q.ln()).collect();
        // Scaled by the largest term: P^α alone under- or overflows at large orders.
        let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::INFINITY {
            return f64::INFINITY;
        }
        let sum = compensated(exponents.iter().map(|e| (e - largest).exp()));
        (largest + sum.ln()) / (alpha - 1.0)
    }

    /// `(o, P(o), Q(o))` for the listed outputs that are likely enough to compare.
    fn compared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a O, f64, f64)> {
        self.iter()
            .filter(|(_, p)| *p >= LEAST)
            .map(|(output, p)| (output, p, other.probability(output)))
    }
}

/// `max |ln(P(o)/Q(o))|`: the least ε for which this pair is pure-DP on its listed outputs.
pub fn worst_epsilon<O: Ord>(p: &Distribution<O>, q: &Distribution<O>) -> f64 {
    p.max_divergence(q).max(q.max_divergence(p))
}

/// The larger of the two hockey-stick divergences: the least δ for this pair at `epsilon`.
pub fn worst_delta<O: Ord>(p: &Distribution<O>, q: &Distribution<O>, epsilon: f64) -> f64 {
    p.hockey_stick(q, epsilon).max(q.hockey_stick(p, epsilon))
}

/// A table of `center + Z` over `outputs`, for integer noise with the law `pmf`: all that
/// most additive mechanisms need. `tail` bounds the probability of every other output.
///
/// # Panics
/// As [`Distribution::with_tail`].
pub fn shifted(
    center: i128,
    pmf: impl Fn(i128) -> f64,
    outputs: impl IntoIterator<Item = i128>,
    tail: f64,
) -> Distribution<i128> {
    let table = outputs.into_iter().map(|o| (o, pmf(o - center)));
    Distribution::with_tail(table, tail)
}

#[cfg(test)]
mod tests;
