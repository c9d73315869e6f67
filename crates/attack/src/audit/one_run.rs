//! The audit of one run: many canaries, each in the data or not by a fair coin, and a guess at each.
//!
//! One run of a mechanism on m people says something about each of them. Whoever guesses from the output
//! which canaries were in guesses more than half of them right, but not more than ε allows;
//! and no run need be repeated. The guesser may abstain: he guesses r of the m.
//!
//! # Guarantee
//! Let S be uniform on {−1, +1}^m, let M be (ε, δ)-private when one coordinate of S changes, and
//! let T, a function of M(S), guess r coordinates of S, r fixed beforehand. With C the number of
//! right guesses and W ~ Bin(r, q), `q = e^ε/(1+e^ε)`,
//! ```text
//!   P[C ≥ v] ≤ P[W ≥ v] + mδ · P[W ≥ v]·P[W < v] / (v·P[W = v])        for 1 ≤ v ≤ r
//! ```
//! # Proof
//! Fix an output y and with it the coordinates guessed. Let g(s) be the probability of y on input s, and
//! `G_w` the sum of g over the inputs of which exactly w guesses are right. An input
//! of level w has w neighbours of level w − 1 (undo one right guess), and one of level w − 1 has r − w + 1 of
//! level w. Summing `g(s) ≤ e^ε g(s′) + (g(s) − e^ε g(s′))₊` over these pairs,
//! ```text
//!   w·G_w ≤ e^ε·(r − w + 1)·G_{w−1} + X_w,     X_w the sum of the excesses.
//! ```
//! The binomial weights `B_w = P[W = w]` satisfy `w·B_w = e^ε·(r − w + 1)·B_{w−1}` exactly. So
//! `h_w = G_w/B_w` rises from w − 1 to w by at most `a_w = X_w/(w·B_w)`: h is a sum of a non-increasing function and
//! steps `a_u·1[w ≥ u]`. Consider `Φ(h) = Σ_w B_w h_w (1[w ≥ v] − P[W ≥ v])`, the covariance of
//! h(W) with 1[W ≥ v]. It is not positive for non-increasing h (Chebyshev), and for a step at u it is
//! `P[W ≥ max(u,v)] − P[W ≥ u]·P[W ≥ v]`. Hence
//! ```text
//!   Σ_{w ≥ v} G_w ≤ P[W ≥ v]·Σ_w G_w + Σ_u X_u·Φ_u,     Φ_u = (P[W ≥ max(u,v)] − P[W ≥ u]P[W ≥ v])/(u·B_u).
//! ```
//! The Φ_u are largest at u = v. Above v it is `P[W ≥ u]·P[W < v]/(u·B_u)`, and `P[W ≥ u]/B_u` falls, as
//! B is log-concave. Below v it is `P[W ≥ v]·P[W < u]/(u·B_u)` with `u·B_u = e^ε(r−u+1)B_{u−1}`, and
//! `P[W ≤ u−1]/B_{u−1}` rises, as B is log-concave, while r − u + 1 falls. Now
//! sum over y, with the weight 2^−m of each input: the left side becomes P[C ≥ v], `ΣG` becomes 1, and the
//! excesses become at most mδ: for each s and each i, `Σ_y (g_y(s) − e^ε g_y(s′))₊ ≤ δ`. ∎
//!
//! At δ = 0 the bound is attained by randomized response, and else by randomized response with
//! the outputs of level v and above made likelier; the tests do both by brute force.
//!
//! # Against the published bound
//! The idea is that of Steinke, Nasr and Jagielski, whose second term is
//! `2mδ·max_i P[v−i ≤ W < v]/i`. Where `P[W ≥ v] ≤ ½`, where an audit can convict, the term
//! above is nowhere larger (the tests compare). Where v is so small that nobody convicts, theirs is too
//! small to be true: at ε = 0 and v = 1, make every output but the one that is wrong everywhere likelier
//! by a factor. That raises P[C ≥ 1] by δ, and they allow `2m·2^−m·δ` (the tests do it for m = 6).
//!
//! # References
//! Steinke, Nasr, Jagielski 2023, "Privacy auditing with one (1) training run" (arXiv:2305.08846), Theorem 5.2.

use super::subject::randomness;
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use demure_core::{Error, Result};
use std::ops::RangeInclusive;

/// How the guesses came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guesses {
    /// m: canaries, each in or out by a fair coin.
    pub canaries: u64,
    /// r: guesses made, a number fixed before the run.
    pub made: u64,
    /// v: right ones.
    pub right: u64,
}

impl Guesses {
    /// Guesses by scores: the highest `made/2` are taken to be in, as many of the lowest to be out. For `made` to be
    /// fixed beforehand it must not be chosen by what comes out.
    #[must_use]
    pub fn by_scores(included: &[bool], scores: &[f64], made: usize) -> Self {
        let m = included.len().min(scores.len());
        let half = made.min(m) / 2;
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let top = order.iter().take(half).filter(|&&i| included[i]).count();
        let bottom = order.iter().rev().take(half).filter(|&&i| !included[i]).count();
        Self { canaries: m as u64, made: 2 * half as u64, right: (top + bottom) as u64 }
    }

    /// The probability of so many right guesses, or more, if the mechanism were (ε, δ)-private: at
    /// most this.
    #[must_use]
    pub fn p_value(&self, epsilon: f64, delta: f64) -> f64 {
        if self.right == 0 {
            return 1.0;
        }
        let law = Binomial::new(self.made, epsilon);
        let tail = law.tail(self.right);
        let excess = if delta == 0.0 {
            0.0
        } else {
            let share = law.tail_over_point(self.right) * (1.0 - tail) / self.right as f64;
            self.canaries as f64 * delta * share
        };
        // What floats lose is far below a billionth; NaN is no evidence.
        let p = (tail + excess) * (1.0 + 1e-9);
        if p.is_nan() { 1.0 } else { p.min(1.0) }
    }

    /// A lower bound on ε, above the true one with probability at most `error`; 0 if nothing is shown.
    ///
    /// # Proof
    /// Let e(C) be what is returned for C right guesses, and c the least number for which e(c) is above the
    /// true ε. A mechanism that is (ε, δ)-private is (e(c), δ)-private too, so
    /// `P[e(C) > ε] ≤ P[C ≥ c] ≤ p_value(e(c)) ≤ error`. How e(c) was searched for does not matter. ∎
    #[must_use]
    pub fn epsilon_lower(&self, delta: f64, error: f64) -> f64 {
        let refuted = |epsilon: f64| self.p_value(epsilon, delta) <= error;
        if !refuted(0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while refuted(high) && high < 64.0 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if refuted(middle) { low = middle } else { high = middle }
        }
        low
    }
}

/// m fair coins.
///
/// # Errors
/// No entropy.
pub fn coins(m: usize, rng: &mut dyn Randomness) -> Result<Vec<bool>> {
    (0..m).map(|_| Ok(uniform_below(2, rng)? == 1)).collect()
}

/// How many canaries one run may have.
const CANARIES: RangeInclusive<u64> = 2..=10_000_000;

/// One run on canaries: which are in, to a score for each that is higher for those that are.
pub type Score = Box<dyn Fn(&[bool], &mut dyn Randomness) -> Result<Vec<f64>> + Send + Sync>;

/// A mechanism on many canaries at once.
pub struct Canaried {
    /// A short name, as typed.
    pub name: &'static str,
    /// What the canaries are.
    pub about: &'static str,
    /// The ε and δ claimed for one canary.
    pub claim: (f64, f64),
    /// The share of the canaries that is worth guessing at.
    pub share: f64,
    /// One run.
    pub run: Score,
}

impl Canaried {
    /// One run with m canaries, from the system's randomness or from a seed.
    ///
    /// # Errors
    /// Too few or too many canaries, or the mechanism's own.
    pub fn seeded(&self, m: u64, seed: Option<u64>) -> Result<Guesses> {
        if !CANARIES.contains(&m) {
            let allowed = "from 2 to 10,000,000";
            return Err(Error::OutOfRange { parameter: "the number of canaries", allowed });
        }
        let [mut rng, _] = randomness(seed, 0)?;
        self.once(m as usize, rng.as_mut())
    }

    /// One run with m canaries.
    ///
    /// # Errors
    /// The mechanism's own.
    pub fn once(&self, m: usize, rng: &mut dyn Randomness) -> Result<Guesses> {
        let included = coins(m, rng)?;
        let scores = (self.run)(&included, rng)?;
        if scores.len() != m {
            return Err(Error::OutOfRange { parameter: "scores", allowed: "one for each canary" });
        }
        Ok(Guesses::by_scores(&included, &scores, (self.share * m as f64) as usize))
    }
}

/// Bin(r, e^ε/(1+e^ε)), with weights relative to the largest, so that no logarithm is large where it matters.
struct Binomial {
    weights: Vec<f64>,
    total: f64,
    mode: usize,
    epsilon: f64,
}

impl Binomial {
    fn new(r: u64, epsilon: f64) -> Self {
        let size = usize::try_from(r).unwrap_or(usize::MAX);
        let q = 1.0 / (1.0 + (-epsilon).exp());
        let mode = (((r + 1) as f64 * q).floor() as usize).min(size);
        let mut weights = vec![0.0; size + 1];
        // ln(B_w/B_{w−1}).
        let step = |w: usize| epsilon + ((size - w + 1) as f64 / w as f64).ln();
        weights[mode] = 1.0;
        let mut log = 0.0;
        for (w, weight) in weights.iter_mut().enumerate().skip(mode + 1) {
            log += step(w);
            *weight = f64::exp(log);
        }
        log = 0.0;
        for w in (0..mode).rev() {
            log -= step(w + 1);
            weights[w] = f64::exp(log);
        }
        let total = weights.iter().sum();
        Self { weights, total, mode, epsilon }
    }

    /// `P[W ≥ v]/P[W = v]`, by the ratios of neighbouring weights: both may be too small for a float.
    fn tail_over_point(&self, v: u64) -> f64 {
        let (r, v) = ((self.weights.len() - 1) as f64, v as f64);
        if v < self.mode as f64 {
            return self.tail(v as u64) / self.at(v as u64);
        }
        let (mut term, mut sum, mut w) = (1.0, 0.0, v);
        while w <= r && term > sum * 1e-18 {
            sum += term;
            w += 1.0;
            term *= self.epsilon.exp() * (r - w + 1.0) / w;
        }
        sum
    }

    fn at(&self, w: u64) -> f64 {
        let w = usize::try_from(w).unwrap_or(usize::MAX);
        self.weights.get(w).copied().unwrap_or(0.0) / self.total
    }

    fn tail(&self, v: u64) -> f64 {
        let v = usize::try_from(v).unwrap_or(usize::MAX);
        // The smallest first.
        self.weights.iter().skip(v).rev().sum::<f64>() / self.total
    }
}

#[cfg(test)]
mod tests;
