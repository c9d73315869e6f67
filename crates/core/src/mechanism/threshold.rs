//! Histograms whose keys are not public: which keys are released is protected too.

use super::histogram::{Budget, Contributions, Noise};
use super::{Calibration, DiscreteGaussian, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Delta, Epsilon, Neighbours, Rho};
use crate::utility::Accuracy;
use std::collections::BTreeMap;
use std::ops::Range;

/// The rule that releases a key if its noised count is at least T, and the probability of that.
///
/// Both are computed from one function, the margin, so that the rule and the δ that pays for
/// it cannot disagree.
#[derive(Clone, Debug)]
pub struct Threshold {
    noise: Noise,
    at: i128,
}

impl Threshold {
    /// How much `count` lacks to pass: it passes if this is 0 or less.
    fn margin(&self, count: i128) -> i128 {
        self.at.saturating_sub(count)
    }

    /// The threshold T.
    #[must_use]
    pub fn value(&self) -> i128 {
        self.at
    }

    /// Whether a key with this noised count is released.
    #[must_use]
    pub fn passes(&self, noised: i128) -> bool {
        self.margin(noised) <= 0
    }

    /// An upper bound on the probability that a key of this count is released,
    /// `P[margin(count + Z) ≤ 0] = P[Z ≥ margin(count)]`.
    pub fn chance(&self, count: u64) -> Result<f64> {
        self.noise.at_least(self.margin(i128::from(count)))
    }
}

/// Releases a histogram over keys that are not public: the keys whose noised count is at least
/// a threshold T, with that count.
///
/// Every key that occurs gets `count + Z`; keys that do not occur are never released. A unit has
/// at most m rows in each of at most g keys ([`Contributions`]).
///
/// ```
/// use demure_core::mechanism::{Contributions, ThresholdHistogram};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
/// use std::collections::BTreeMap;
///
/// // Search terms, one per person. A rare one may identify a person, and stays hidden.
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let neighbours = Neighbours::AddRemove;
/// let histogram =
///     ThresholdHistogram::laplace(epsilon, delta, neighbours, Contributions::ONE)?;
/// let counts = BTreeMap::from([("weather", 5_210), ("news", 2_904), ("my secret", 1)]);
/// println!("{:?}", histogram.release(&counts, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// (ε, δ)-DP with δ at least `g·q + δ_Z`, where `q = P[m + Z ≥ T]` is the chance of
/// a key that only one unit has, and (ε, δ_Z)-DP is the noise's own guarantee:
/// - **Laplace**: Z is two-sided geometric of scale Δ₁/ε, with Δ₁ = gm under
///   add/remove and 2gm under replace; δ_Z = 0.
/// - **Gaussian**: Z is a discrete Gaussian; half of δ is for Z.
///
/// Under replace T is also such that `q ≤ 1 − e^(−r)`, with r the loss that
/// one key's m rows account for: ε/2g (Laplace), ρ/2g (Gaussian).
/// # Proof
/// Let U be the keys that only x has, V those that only x′ has, C those of both;
/// |U|, |V| ≤ g, each of their counts is at most m (one unit's rows), and M_C, the
/// mechanism on C, is (ε, δ_Z)-DP by the noise alone. Let E_U be the event that
/// no key of U comes back. The keys are independent, and V never comes back from x:
/// `P[M(x)∈S] ≤ P[¬E_U] + P[E_U]·P[M_C(x)∈S] ≤ gq + P[M_C(x)∈S]`.
///
/// *Add/remove.* If V is empty, M(x′) = M_C(x′), and
/// `P[M_C(x)∈S] ≤ e^ε P[M(x′)∈S] + δ_Z`. If U is empty, the first line reads
/// `P[M(x)∈S] = P[M_C(x)∈S](P[E_V] + P[¬E_V]) ≤ e^ε P[M_C(x′)∈S]P[E_V] + δ_Z + gq`, and
/// the product is at most P[M(x′)∈S].
///
/// *Replace.* The keys of U and V use up loss that C then lacks: with u = |U|,
/// v = |V|, M_C has ε′ = ε − (u+v)r for the same δ_Z. (Laplace: Δ₁ is less by
/// (u+v)m. Gaussian: ρ is less by (u+v)r, and in the conversion to (ε, δ) at
/// a fixed α the same δ_Z is had at an ε less by α(u+v)r.) So
/// `P[M_C(x)∈S] ≤ e^ε′ P[M_C(x′)∈S] + δ_Z`, and `P[M_C(x′)∈S] ≤ P[M(x′)∈S]/P[E_V] ≤
/// (1−q)^−v·P[M(x′)∈S] ≤ e^(vr) P[M(x′)∈S]`; ε′ + vr ≤ ε. ∎
///
/// With continuous noise T would be `1 + ln(1/2δ)/ε` (7.4378 at ε = .5, δ = .02,
/// g = m = 1); on the integers `a^(T−1)/(1+a) ≤ δ` gives T = 8.
/// # Special values
/// A count of 0 is a key that does not occur. Keys come back in their own
/// order, which says nothing about rows.
/// # References
/// Korolova, Kenthapadi, Mishra, Ntoulas 2009 (releasing search queries), for the
/// threshold; Canonne, Kamath, Steinke 2020 (arXiv:2004.00010v5), for the Gaussian.
#[derive(Clone, Debug)]
pub struct ThresholdHistogram {
    threshold: Threshold,
    epsilon: Epsilon,
    delta: Delta,
}

impl ThresholdHistogram {
    /// Calibrates geometric noise and the least threshold for (ε, δ).
    pub fn laplace(
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
        contributions: Contributions,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let (l1, l2_squared) = contributions.sensitivity(neighbours);
        let noise = Noise::new(Budget::Pure(epsilon), l1, l2_squared)?;
        let share = share(neighbours, contributions, epsilon.get());
        let threshold = least(noise, delta.get(), share, contributions)?;
        Ok(Self { threshold, epsilon, delta })
    }

    /// Calibrates discrete Gaussian noise and the least threshold for (ε, δ), half of δ for each.
    ///
    /// One key under add/remove is one integer, whose exact δ is known; several
    /// go through zCDP.
    pub fn gaussian(
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
        contributions: Contributions,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let half = Delta::positive(delta.get() * 0.5)?;
        let (l1, l2_squared) = contributions.sensitivity(neighbours);
        let (noise, share) = if contributions.groups() == 1 && neighbours == Neighbours::AddRemove {
            let gaussian = DiscreteGaussian::new(epsilon, half, contributions.per_group())?;
            (Noise::Gaussian(gaussian), None)
        } else {
            let rho = rho_for(epsilon, half)?;
            let noise = Noise::new(Budget::Concentrated(rho), l1, l2_squared)?;
            (noise, share(neighbours, contributions, rho.get()))
        };
        let threshold = least(noise, half.get(), share, contributions)?;
        Ok(Self { threshold, epsilon, delta })
    }

    /// The rule that decides whether a key is released.
    #[must_use]
    pub fn threshold(&self) -> &Threshold {
        &self.threshold
    }

    /// The noise on each count.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.threshold.noise.calibration()
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// Releases the keys whose noised count reaches the threshold, with that count.
    pub fn release<K: Ord + Clone>(
        &self,
        counts: &BTreeMap<K, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Release<BTreeMap<K, i128>>> {
        let mut table = BTreeMap::new();
        for (key, &count) in counts.iter().filter(|&(_, &count)| count > 0) {
            let noised = self.threshold.noise.add_one(i128::from(count), rng)?;
            if self.threshold.passes(noised) {
                table.insert(key.clone(), noised);
            }
        }
        Ok(Release::new(table, self.guarantee()))
    }
}

impl Accuracy for ThresholdHistogram {
    /// t with `P[a key comes back and its count is off by more than t] ≤ β`.
    ///
    /// *Given* that it came back a small count is off by more: it came back
    /// because its noise was large.
    fn error(&self, beta: Beta) -> Result<f64> {
        self.threshold.noise.error(beta)
    }
}

/// The r of the proof, rounded down; none is needed under add/remove.
fn share(neighbours: Neighbours, contributions: Contributions, loss: f64) -> Option<f64> {
    let keys = 2.0 * f64::from(contributions.groups());
    (neighbours == Neighbours::Replace).then(|| down(loss / keys))
}

/// The least T whose g·q is at most `delta` (and q small enough for `share`).
fn least(noise: Noise, delta: f64, share: Option<f64>, of: Contributions) -> Result<Threshold> {
    let lone = u64::from(of.per_group());
    let most = match share {
        Some(r) => down(1.0 - directed::exp_neg(r)?.1),
        None => 1.0,
    };
    let mut threshold = Threshold { noise, at: 0 };
    let mut affords = |margin: i128| {
        threshold.at = i128::from(lone) + margin;
        let q = threshold.chance(lone)?;
        Ok(q <= most && up(q * f64::from(of.groups())) <= delta)
    };
    let margin = search(0..1, &mut affords)?;
    affords(margin)?;
    Ok(threshold)
}

/// The least number above the start of `first` that is affordable, if all above it are: doubles its end, then halves.
pub(super) fn search(
    first: Range<i128>,
    mut affords: impl FnMut(i128) -> Result<bool>,
) -> Result<i128> {
    let Range { start: mut low, end: mut high } = first;
    while !affords(high)? {
        (low, high) = (high, 2 * high);
        if high > 1 << 100 {
            let what = "no threshold makes a lone key this unlikely";
            let remedy = "use a larger delta, a larger epsilon or fewer groups";
            return Err(Error::Infeasible { what, remedy });
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if affords(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

/// A ρ, rounded down, such that ρ-zCDP implies (ε, δ)-DP.
///
/// # Proof
/// ρ-zCDP has `δ ≤ e^((α−1)(αρ−ε))/(α−1)·(1−1/α)^α` for every α > 1 (Canonne,
/// Kamath, Steinke 2020, arXiv:2004.00010v5). Solved for ρ at one α: with x = α − 1,
/// `ρ = (ε + (ln δ + ln x + α·ln(α/x))/x)/α`. The α is found by search and need
/// not be the best. ∎
fn rho_for(epsilon: Epsilon, delta: Delta) -> Result<Rho> {
    let (e, d) = (epsilon.get(), delta.get());
    let value = |x: f64| (e + (d.ln() + x.ln() + (1.0 + x) * (1.0 / x).ln_1p()) / x) / (1.0 + x);
    // ρ(x) rises to its only maximum and falls: golden section in ln x.
    let (mut low, mut high) = (-20.0f64, 50.0f64);
    for _ in 0..80 {
        let (a, b) = (high - 0.618 * (high - low), low + 0.618 * (high - low));
        if value(a.exp()) < value(b.exp()) { low = a } else { high = b }
    }
    let x = low.exp();
    let alpha = up(1.0 + x); // 1 + x ≤ alpha: the divisor, and 1 + 1/x ≥ its float below
    let (log_delta, log_x) = (directed::ln(d)?.0, directed::ln(x)?.0);
    let last = down(down(1.0 + x) * directed::ln(down(1.0 + down(1.0 / x)))?.0);
    let sum = down(down(log_delta + log_x) + last);
    let rho = down(down(e + down(sum / x)) / alpha);
    Rho::new(rho).map_err(|_| Error::Infeasible {
        what: "no Gaussian noise gives so small an epsilon and delta",
        remedy: "use a larger epsilon or delta",
    })
}

#[cfg(test)]
pub(super) mod tests;
