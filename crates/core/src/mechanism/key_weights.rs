//! Which unknown keys exist, by weight: a unit may have any number of keys.

use super::histogram::{Budget, Noise};
use super::{Guarantee, Release, threshold};
use crate::error::Result;
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Delta, Epsilon, Neighbours};
use crate::utility::Accuracy;
use std::collections::BTreeMap;

/// Releases the keys that many units have. Each unit spreads a weight of 1 evenly over its keys, so no limit on the
/// number of its keys has to be guessed. A key comes back if its weight, with noise, reaches a threshold.
///
/// ```
/// use demure_core::mechanism::KeyWeights;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
/// use std::collections::BTreeMap;
///
/// let keys = KeyWeights::new(Epsilon::new(1.0)?, Delta::new(1e-6)?, Neighbours::AddRemove)?;
/// let mut weights = BTreeMap::new();
/// for person in 0..500u64 {
///     // Everyone has the weather, half of them the news too.
///     let own: &[&str] = if person % 2 == 0 { &["weather"] } else { &["weather", "news"] };
///     for key in own {
///         *weights.entry(*key).or_insert(0) += KeyWeights::weight(own.len() as u64);
///     }
/// }
/// println!("{:?}", keys.release(&weights, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// (ε, δ)-DP under either relation.
/// # Proof
/// A unit with k keys adds `w_k = ⌊2²⁰/k⌋` to each, together at most 2²⁰; one with more than 1,000 keys adds nothing. Let x
/// have one unit more than x′; U are the keys to which only this unit adds a weight, C all others. By noise of the scale `2²⁰/ε₀`, what
/// comes back of C is ε₀-DP. A key of U has the weight w_k and comes back with probability
/// `q_k = P[w_k + Z ≥ T]`, so some key of U with probability at most `δ₀ = max_k k·q_k`, and never from x′. So
/// `P[M(x)∈S] ≤ δ₀ + P[M_C(x)∈S] ≤ δ₀ + e^ε₀·P[M(x′)∈S]`, and `P[M(x′)∈S] ≤ e^ε₀·P[M_C(x)∈S] =
/// e^ε₀·(P[M_C(x)∈S, none of U] + P[M_C(x)∈S]·P[some of U]) ≤ e^ε₀·P[M(x)∈S] + e^ε₀·δ₀·P[M_C(x)∈S]`, as noises of
/// different keys are independent; the last term is at most δ₀ where `e^ε₀·P[M_C(x)∈S] ≤ 1`, and otherwise the claim
/// `P[M(x′)∈S] ≤ 1 ≤ e^ε₀·P[M_C(x)∈S](1 − δ₀) + δ₀` holds by itself. *Add or remove*: ε₀ = ε, δ₀ = δ.
/// *Replace* is a removal and an addition: `P[M(x)∈S] ≤ e^ε₀(e^ε₀·P[M(x′)∈S] + δ₀) + δ₀`, so ε₀ = ε/2 and
/// `δ₀ = δ/(1 + e^ε₀)`. T is the least whole number above 2²⁰ for which this holds, with a bound on the tail that is rounded up. ∎
/// # Special values
/// A weight of 0 is a key that does not occur. Keys come back in their own order, which says nothing about rows.
/// # References
/// Korolova, Kenthapadi, Mishra, Ntoulas 2009, for the threshold; Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin
/// 2020 (differentially private set union), for weights.
#[derive(Clone, Debug)]
pub struct KeyWeights {
    noise: Noise,
    threshold: i128,
    epsilon: Epsilon,
    delta: Delta,
}

/// The weight of a unit with one key.
const ONE: u64 = 1 << 20;

impl KeyWeights {
    /// The most keys of a unit that adds anything.
    pub const MOST_KEYS: u64 = 1_000;

    /// Calibrates the noise, and finds the least threshold.
    pub fn new(epsilon: Epsilon, delta: Delta, neighbours: Neighbours) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let (one, most) = match neighbours {
            Neighbours::AddRemove => (epsilon, delta.get()),
            Neighbours::Replace => {
                let half = Epsilon::new(epsilon.get() * 0.5)?;
                // 1/(1 + e^x) = e^−x/(1 + e^−x).
                let (low, high) = directed::exp_neg(half.get())?;
                (half, down(down(delta.get() * low) / up(1.0 + high)))
            }
        };
        let noise = Noise::new(Budget::Pure(one), ONE.into(), u128::from(ONE) * u128::from(ONE))?;
        let worst = worst(one);
        let affords = |threshold: i128| -> Result<bool> {
            for &keys in &worst {
                let lone = noise.at_least(threshold - i128::from(Self::weight(keys)))?;
                if up(lone * keys as f64) > most {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        // The chance falls as T rises.
        let one = i128::from(ONE);
        let threshold = threshold::search(one..2 * one, affords)?;
        Ok(Self { noise, threshold, epsilon, delta })
    }

    /// What a unit with so many keys adds to each of them.
    #[must_use]
    pub fn weight(keys: u64) -> u64 {
        match keys {
            1..=Self::MOST_KEYS => ONE / keys,
            _ => 0,
        }
    }

    /// How many units, each with so many keys, are enough for a key to come back with probability 1 − β.
    pub fn units(&self, keys: u64, beta: Beta) -> Result<u64> {
        let weight = Self::weight(keys).max(1);
        let needed = self.threshold as f64 + self.noise.error(beta)?;
        Ok((needed / weight as f64).ceil() as u64)
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// Releases the keys whose noised weight reaches the threshold. Weights are sums of [`KeyWeights::weight`].
    pub fn release<K: Ord + Clone>(
        &self,
        weights: &BTreeMap<K, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<K>>> {
        let mut kept = Vec::new();
        for (key, &weight) in weights.iter().filter(|&(_, &weight)| weight > 0) {
            if self.noise.add_one(i128::from(weight), rng)? >= self.threshold {
                kept.push(key.clone());
            }
        }
        Ok(Release::new(kept, self.guarantee()))
    }
}

/// The numbers of keys for which `k·q_k` may be largest.
///
/// # Proof
/// As T > 2²⁰ ≥ w_k, `q_k = a^(T − w_k)/(1 + a)` with `a = e^(−ε₀/2²⁰)`. So `ln(k·q_k)` is `ln k + ε₀·w_k/2²⁰` and a term
/// without k. Floats are off by less than 10⁻¹² of the larger of the two, so a k that is 10⁻⁹ of it below the largest is not the
/// worst. ∎
fn worst(epsilon: Epsilon) -> Vec<u64> {
    let epsilon = epsilon.get();
    let at = |k: u64| (k as f64).ln() + epsilon * (KeyWeights::weight(k) as f64 / ONE as f64);
    let largest = (1..=KeyWeights::MOST_KEYS).map(at).fold(0.0, f64::max);
    let near = largest - 1e-9 * (largest + epsilon + 7.0);
    (1..=KeyWeights::MOST_KEYS).filter(|&k| at(k) >= near).collect()
}

#[cfg(test)]
mod tests;
