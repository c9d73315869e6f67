//! Which keys exist: the optimal release of a set of unknown keys.

use super::histogram::Contributions;
use super::{Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::down;
use crate::num::{Enclosure, Ratio, fast};
use crate::random::{Bits, Randomness};
use crate::sample::LazyUniform;
use crate::unit::{Delta, Epsilon, Neighbours};
use std::collections::BTreeMap;

/// Releases which keys exist, and nothing else about them.
///
/// A key that n people have is released with the largest probability p_n that privacy allows:
/// `p₀ = 0` and `p_n = min(e^ε p_(n−1) + δ, 1 − e^(−ε)(1 − p_(n−1) − δ), 1)`.
///
/// ```
/// use demure_core::mechanism::KeySelection;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
/// use std::collections::BTreeMap;
///
/// // Each person has at most 2 diagnoses; count each person once per diagnosis.
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let selection = KeySelection::new(epsilon, delta, Neighbours::AddRemove, 2)?;
/// let people = BTreeMap::from([("asthma", 3_120), ("diabetes", 2_760), ("a rare one", 1)]);
/// println!("{:?}", selection.release(&people, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// In closed form, with `A = δ/(e^ε − 1)` and crossovers n₁, n₂:
/// `p_n = A(e^(nε) − 1)` for n ≤ n₁; `1 + A − e^(−(n−n₁)ε)(1 + A − p_n₁)` for
/// n₁ < n ≤ n₂; 1 beyond. Here n₁ is the least n with `p_n ≥ (1−δ)/(e^ε+1)`, where
/// the two expressions cross, and n₂ the least from n₁ on with `p_n ≥ 1 − δ`.
///
/// # Guarantee
/// (ε, δ)-DP when each person has at most g keys: every key is decided with ε/2g
/// and δ/2g under replace, ε/g and δ/g under add/remove, rounded down.
/// # Proof
/// One key, n against n−1 people: the first term of the minimum is
/// `p_n ≤ e^ε p_(n−1) + δ`, the second `1 − p_(n−1) ≤ e^ε(1 − p_n) + δ`; the other two
/// inequalities hold as p_n rises. (The second term is the smaller iff
/// `p_(n−1) ≥ (1−δ)/(e^ε+1)`, and reaches 1 iff `p_(n−1) ≥ 1 − δ`.) Adding or removing
/// a person changes n by one for at most g keys, replacing one for at most 2g, and the
/// keys are decided independently: basic composition. The decision is
/// `[U < p_n]` for a uniform real U, by floats where they are sure of it, else by
/// certified comparison; the crossovers are certified too. ∎
/// # Special values
/// δ = 0 would release nothing and is refused. A key with count 0 does not occur.
/// # References
/// Desfontaines, Voss, Gipson, Mandayam 2022 (arXiv:2006.03684v3): the optimal
/// mechanism and its closed form.
#[derive(Clone, Debug)]
pub struct KeySelection {
    epsilon: Epsilon,
    delta: Delta,
    /// The number of keys that one person changes.
    keys: f64,
    /// ε and δ of one key.
    loss: Ratio,
    failure: Ratio,
    first: u64,
    last: u64,
    /// Floats: ε of one key, A, and p_n₁.
    near: (f64, f64, f64),
}

impl KeySelection {
    /// Calibrates the probabilities; one person has at most `groups` keys.
    pub fn new(
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
        groups: u32,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let keys = match neighbours {
            Neighbours::AddRemove => f64::from(Contributions::new(groups, 1)?.groups()),
            Neighbours::Replace => 2.0 * f64::from(Contributions::new(groups, 1)?.groups()),
        };
        let divide = |x: f64| if keys == 1.0 { x } else { down(x / keys) };
        let (e, d) = (divide(epsilon.get()), divide(delta.get()));
        let exact = |x: f64| {
            let ratio = Ratio::from_f64(x).filter(|_| x > 0.0);
            ratio.ok_or(Error::Precision { what: "one key's share of epsilon and delta" })
        };
        let (loss, failure) = (exact(e)?, exact(d)?);
        let mut this = Self {
            epsilon,
            delta,
            keys,
            loss,
            failure,
            first: u64::MAX,
            last: u64::MAX,
            near: (e, 0.0, 0.0),
        };
        let one = Ratio::new(1u64, 1u64);
        let rest = one.saturating_sub(&this.failure);
        // (1−δ)/(e^ε+1) = (1−δ)·e^−ε/(1+e^−ε).
        let crossing = |bits: u32| {
            let a = Enclosure::exp_neg(&this.loss, bits);
            let sum = Enclosure::of_ratio(&one, bits).add(&a);
            a.mul_ratio(&rest).div(&sum).unwrap_or(a)
        };
        let first = least_reaching(1, |n, bits| this.probability_in(n, bits), crossing)?;
        this.first = first;
        let top = |bits: u32| Enclosure::of_ratio(&rest, bits);
        this.last = least_reaching(first, |n, bits| this.probability_in(n, bits), top)?;
        // Bits enough for 1 − e^−ε; an A that floats cannot hold is ∞ or NaN, and
        // leaves every decision to certified arithmetic.
        let bits = 256 + 2 * room(&this.loss) + room(&this.failure);
        let (limit, limit_up) = this.limit(bits).to_f64();
        let a = if limit_up <= limit * (1.0 + 1e-12) { limit - 1.0 } else { f64::INFINITY };
        this.near = (e, a, this.probability_in(first, bits).to_f64().0);
        Ok(this)
    }

    /// The largest number of keys whose counts neighbours differ in: g, or 2g under replace.
    #[must_use]
    pub fn sensitivity(&self) -> f64 {
        self.keys
    }

    /// 1/ε of one key: g/ε, or 2g/ε under replace.
    #[must_use]
    pub fn scale(&self) -> f64 {
        1.0 / self.near.0
    }

    /// The crossovers n₁ and n₂: a key that more than n₂ people have is always released.
    #[must_use]
    pub fn crossovers(&self) -> (u64, u64) {
        (self.first, self.last)
    }

    /// The probability p_n that a key of n people is released, rounded up.
    #[must_use]
    pub fn probability(&self, people: u64) -> f64 {
        // p_n ≥ δ: bits enough for a relative bound.
        self.probability_in(people, 128 + room(&self.failure)).to_f64().1.min(1.0)
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// Releases keys, in their own order. `people` is the number of people that have each key.
    pub fn release<K: Ord + Clone>(
        &self,
        people: &BTreeMap<K, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<K>>> {
        let bits = rng.bits()?;
        let mut kept = Vec::new();
        for (key, &n) in people {
            if self.keep(n, bits)? {
                kept.push(key.clone());
            }
        }
        Ok(Release::new(kept, self.guarantee()))
    }

    fn keep(&self, n: u64, bits: &mut Bits) -> Result<bool> {
        if n == 0 || n > self.last {
            return Ok(n > 0);
        }
        let (p, slack) = self.probability_near(n);
        let word = bits.word()?;
        let v = word as f64 * (1.0 / 18_446_744_073_709_551_616.0);
        // False for NaN and for an infinite slack.
        if (v - p).abs() > slack {
            return Ok(v < p);
        }
        LazyUniform::starting(word, 64).below(bits, |b| self.probability_in(n, b))
    }

    /// A float within `slack` of p_n, 1 ≤ n ≤ n₂.
    ///
    /// # Proof
    /// `p_n = (A + p_n₁)e^(−(n₁−n)ε) − A` below n₁ and `1 + A − (1 + A − p_n₁)e^(−(n−n₁)ε)`
    /// above. A and p_n₁ are good to 2⁻⁵⁰; the exponent, at most 700, to a
    /// relative 2⁻⁵¹ and so the power to 2⁻⁴¹, with [`fast::EXP_ERROR`] = 2⁻⁵⁰ (beyond
    /// 700 it is 0 to that precision); the factors are at most 2 + 2A. ∎
    fn probability_near(&self, n: u64) -> (f64, f64) {
        let (e, a, p) = self.near;
        let power = fast::exp_neg((n.abs_diff(self.first) as f64 * e).min(700.0));
        let near =
            if n <= self.first { (a + p) * power - a } else { 1.0 + a - (1.0 + a - p) * power };
        (near, (1.0 + a) * (1.0 / (1u64 << 38) as f64))
    }

    /// `1 + A`, A = δ·e^−ε/(1 − e^−ε).
    fn limit(&self, bits: u32) -> Enclosure {
        let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), bits);
        let a = Enclosure::exp_neg(&self.loss, bits);
        let unknown = Enclosure { lower: one.lower.clone(), upper: one.upper.shl(bits), bits };
        let quotient = a.mul_ratio(&self.failure).div(&one.saturating_sub(&a));
        quotient.map_or(unknown, |q| one.add(&q))
    }

    /// Encloses p_n, ever more narrowly with more bits.
    fn probability_in(&self, n: u64, bits: u32) -> Enclosure {
        let one = |bits| Enclosure::of_ratio(&Ratio::new(1u64, 1u64), bits);
        let power = |k: u64, bits| Enclosure::exp_neg(&self.loss.mul(&Ratio::new(k, 1u64)), bits);
        if n == 0 || n > self.last {
            return if n == 0 { Enclosure::of_ratio(&Ratio::zero(), bits) } else { one(bits) };
        }
        if n == 1 {
            return Enclosure::of_ratio(&self.failure, bits);
        }
        // Room for 1/(1−e^−ε) and for e^(nε) ≤ 1/δ.
        let work = bits + 64 + 2 * room(&self.loss) + room(&self.failure);
        let result = if n <= self.first {
            // δ·e^((n−1)ε)·(1 − e^(−nε))/(1 − e^−ε).
            let growth = Enclosure::exp(&self.loss.mul(&Ratio::new(n - 1, 1u64)), work);
            let rest = one(work).saturating_sub(&power(n, work));
            let top = growth.map(|growth| growth.mul_ratio(&self.failure).mul(&rest));
            top.and_then(|top| top.div(&one(work).saturating_sub(&power(1, work))))
        } else {
            let decay = power(n - self.first, work);
            let risen = one(work).saturating_sub(&decay).mul(&self.limit(work));
            Some(risen.add(&decay.mul(&self.probability_in(self.first, work))))
        };
        let unit = Enclosure { lower: Ratio::zero().fixed(0).0, upper: one(bits).upper, bits };
        result.map_or(unit, |p| p.truncate(bits))
    }
}

/// log₂(1/x), about, for 0 < x < 1.
fn room(x: &Ratio) -> u32 {
    (1.0 / x.to_f64()).log2().clamp(0.0, 1100.0) as u32
}

/// The least n from `start` on with `p(n) ≥ level`, for a p that rises with n.
///
/// A comparison that thousands of bits leave open is an error, not a guess.
fn least_reaching(
    start: u64,
    p: impl Fn(u64, u32) -> Enclosure,
    level: impl Fn(u32) -> Enclosure,
) -> Result<u64> {
    let reaches = |n: u64| {
        for bits in [128, 512, 2048, 8192] {
            let (p, level) = (p(n, bits), level(bits));
            if p.lower >= level.upper {
                return Ok(true);
            }
            if p.upper <= level.lower {
                return Ok(false);
            }
        }
        Err(Error::Precision { what: "the crossover of the selection probabilities" })
    };
    if reaches(start)? {
        return Ok(start);
    }
    let (mut low, mut stride) = (start, 1u64);
    while !reaches(low + stride)? {
        low += stride;
        stride *= 2;
        if stride > 1 << 60 {
            let what = "one key's share of epsilon and delta is too small to keep any";
            return Err(Error::Infeasible { what, remedy: "use a larger epsilon or delta" });
        }
    }
    let mut high = low + stride;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reaches(middle)? { high = middle } else { low = middle }
    }
    Ok(high)
}

#[cfg(test)]
mod tests;
