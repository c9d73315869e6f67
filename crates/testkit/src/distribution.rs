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
mod tests {
    use super::*;
    use crate::draw::laplace_pmf;

    fn bit(p: f64) -> Distribution<u8> {
        Distribution::new([(0, 1.0 - p), (1, p)])
    }

    #[track_caller]
    fn near(found: f64, truth: f64) {
        assert!((found - truth).abs() < 1e-12, "found {found:e}, the truth is {truth:e}");
    }

    #[test]
    fn hockey_stick_of_randomized_response_is_known() {
        // P = (3/4, 1/4), Q = (1/4, 3/4): δ(ε) = max(0, 3/4 − e^ε/4).
        let (p, q) = (bit(0.25), bit(0.75));
        near(p.hockey_stick(&q, 0.0), 0.5); // total variation
        near(p.hockey_stick(&q, 2f64.ln()), 0.25);
        near(p.hockey_stick(&q, 3f64.ln()), 0.0);
        near(worst_epsilon(&p, &q), 3f64.ln());
    }

    #[test]
    fn the_two_directions_differ_and_the_worst_is_taken() {
        let (p, q) = (bit(0.0), bit(0.1));
        near(p.hockey_stick(&q, 0.5), 1.0 - 0.9 * 0.5f64.exp().min(1.0 / 0.9));
        near(q.hockey_stick(&p, 0.5), 0.1);
        near(worst_delta(&p, &q, 0.5), 0.1);
        near(p.max_divergence(&q), -(0.9f64.ln()));
        assert_eq!(q.max_divergence(&p), f64::INFINITY);
        assert_eq!(worst_epsilon(&p, &q), f64::INFINITY);
        near(q.hockey_stick(&p, f64::INFINITY), 0.1);
    }

    #[test]
    fn hockey_stick_is_the_best_event() {
        // Against the definition, on all 2⁴ events.
        let p = Distribution::new([(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)]);
        let q = Distribution::new([(0, 0.3), (1, 0.05), (2, 0.25), (3, 0.4)]);
        for epsilon in [0.0f64, 0.1, 0.5, 1.0, 2.0] {
            let best = (0u32..16)
                .map(|event| {
                    (0..4)
                        .filter(|o| event >> o & 1 == 1)
                        .map(|o| p.probability(&o) - epsilon.exp() * q.probability(&o))
                        .sum::<f64>()
                })
                .fold(0.0, f64::max);
            near(p.hockey_stick(&q, epsilon), best);
        }
    }

    #[test]
    fn renyi_of_bits_is_known_and_grows_to_the_max_divergence() {
        let (p, q) = (bit(0.25), bit(0.75));
        // Σ p²/q = (9/16)/(1/4) + (1/16)/(3/4) = 7/3 at α = 2.
        near(p.renyi(&q, 2.0), (7f64 / 3.0).ln());
        let orders = [1.0001, 1.5, 2.0, 10.0, 1e3, 1e5].map(|alpha| p.renyi(&q, alpha));
        assert!(orders.is_sorted());
        assert!(3f64.ln() - orders[5] < 1e-5);
        // Towards α = 1, the Kullback–Leibler divergence ½ ln 3.
        assert!((orders[0] - 0.5 * 3f64.ln()).abs() < 1e-4);
        assert_eq!(q.renyi(&bit(0.0), 2.0), f64::INFINITY);
        assert_eq!(bit(0.0).renyi(&bit(0.0), 2.0), 0.0);
    }

    #[test]
    fn renyi_of_a_gaussian_is_alpha_over_two_sigma_squared() {
        // The discrete Gaussian at integer shifts has D_α ≤ α/(2σ²), and equality up to
        // 1e-12 at σ = 3 and integer α (the normaliser's ripple is e^(−2π²σ²)).
        let sigma = 3.0;
        let weight = |k: i128| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
        let norm: f64 = (-120..=120).map(weight).sum();
        let at = |c| shifted(c, |k| weight(k) / norm, -100..=100, 1e-15);
        for alpha in [1.5, 2.0, 4.0, 8.0] {
            let divergence = at(0).renyi(&at(1), alpha);
            assert!((divergence - alpha / (2.0 * sigma * sigma)).abs() < 1e-11);
        }
    }

    #[test]
    fn a_tail_counts_in_full() {
        let noise = |c| shifted(c, |k| laplace_pmf(1.0, k), -10..=10, 1e-4);
        let (p, q) = (noise(0), noise(1));
        near(worst_epsilon(&p, &q), 1.0);
        assert!((p.hockey_stick(&q, 1.0) - 1e-4).abs() < 1e-15);
    }

    #[test]
    fn map_and_and_keep_the_mass() {
        let coins = bit(0.3).and(&bit(0.6));
        near(coins.probability(&(1, 1)), 0.18);
        let heads = coins.map(|(a, b)| a + b);
        near(heads.probability(&1), 0.3 * 0.4 + 0.7 * 0.6);
        near(heads.iter().map(|(_, p)| p).sum(), 1.0);
        // Independent copies add their losses.
        let pair = |p: f64| bit(p).and(&bit(p));
        near(worst_epsilon(&pair(0.25), &pair(0.75)), 2.0 * 3f64.ln());
        let tails = shifted(0, |k| laplace_pmf(1.0, k), -9..=9, 1e-4);
        near(tails.and(&tails).tail(), 2e-4);
    }

    #[test]
    #[should_panic(expected = "sum to")]
    fn missing_mass_is_refused() {
        Distribution::new([(0, 0.5), (1, 0.4)]);
    }

    #[test]
    #[should_panic(expected = "no probability")]
    fn nan_is_refused() {
        Distribution::new([(0, f64::NAN)]);
    }
}
