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
mod tests {
    use super::*;
    use demure_core::random::SeededForTests;

    fn of(m: u64, r: u64, v: u64) -> Guesses {
        Guesses { canaries: m, made: r, right: v }
    }

    /// The bound as Steinke, Nasr and Jagielski state it.
    fn published(guesses: Guesses, epsilon: f64, delta: f64) -> f64 {
        let law = Binomial::new(guesses.made, epsilon);
        let (mut sum, mut alpha) = (0.0, 0.0f64);
        for i in 1..=guesses.right {
            sum += law.at(guesses.right - i);
            alpha = alpha.max(sum / i as f64);
        }
        law.tail(guesses.right) + alpha * delta * 2.0 * guesses.canaries as f64
    }

    #[test]
    fn p_values_are_known_and_where_they_matter_never_above_the_published_ones() {
        // P[Bin(10, ½) ≥ 8] = 56/1024; at ε = ln 3, P[Bin(4, ¾) ≥ 4] = 81/256.
        assert!((of(10, 10, 8).p_value(0.0, 0.0) - 56.0 / 1024.0).abs() < 1e-9);
        assert!((of(4, 4, 4).p_value(3f64.ln(), 0.0) - 81.0 / 256.0).abs() < 1e-9);
        assert_eq!(of(10, 10, 0).p_value(1.0, 0.0), 1.0);
        for (m, r) in [(10, 10), (100, 60), (1000, 1000), (1000, 100), (5000, 3000)] {
            for epsilon in [0.0, 0.5, 1.0, 4.0] {
                for right in [1, r / 2, r * 3 / 4, r * 9 / 10, r] {
                    for delta in [0.0, 1e-9, 1e-5, 1e-3] {
                        let guesses = of(m, r, right);
                        if guesses.p_value(epsilon, 0.0) > 0.5 {
                            continue;
                        }
                        let ours = guesses.p_value(epsilon, delta);
                        let theirs = published(guesses, epsilon, delta).min(1.0);
                        assert!(ours <= theirs * (1.0 + 1e-8), "{guesses:?} {epsilon} {delta}");
                    }
                }
            }
        }
    }

    /// A channel from all inputs of m bits to `outputs`: rows of probabilities.
    type Channel = Vec<Vec<f64>>;

    /// δ at ε by brute force over all pairs of neighbours.
    fn delta(channel: &Channel, m: usize, epsilon: f64) -> f64 {
        let excess = |s: usize, t: usize| -> f64 {
            channel[s].iter().zip(&channel[t]).map(|(a, b)| (a - epsilon.exp() * b).max(0.0)).sum()
        };
        let pairs = (0..1usize << m).flat_map(|s| (0..m).map(move |i| (s, s ^ (1 << i))));
        pairs.map(|(s, t)| excess(s, t)).fold(0.0, f64::max)
    }

    /// P[at least v right], for the guess of each output that makes it largest among all
    /// guesses of r coordinates.
    fn power(channel: &Channel, m: usize, r: usize, v: u32) -> f64 {
        let inputs = 1usize << m;
        let one = |y: usize| {
            let masks = (0..inputs).filter(|mask| mask.count_ones() as usize == r);
            let guesses = masks.flat_map(|mask| (0..inputs).map(move |guess| (mask, guess)));
            let shown = |(mask, guess): (usize, usize)| -> f64 {
                let right = |s: &usize| (!(s ^ guess) & mask).count_ones() >= v;
                (0..inputs).filter(right).map(|s| channel[s][y]).sum::<f64>() / inputs as f64
            };
            guesses.map(shown).fold(0.0, f64::max)
        };
        (0..channel[0].len()).map(one).sum()
    }

    #[test]
    fn randomized_response_attains_the_bound() {
        let (m, epsilon) = (5usize, 1.2f64);
        let q = 1.0 / (1.0 + (-epsilon).exp());
        let row = |s: usize| -> Vec<f64> {
            let lies = |y: usize| (s ^ y).count_ones() as i32;
            (0..32usize).map(|y| q.powi(5 - lies(y)) * (1.0 - q).powi(lies(y))).collect()
        };
        let channel: Channel = (0..32).map(row).collect();
        assert!(delta(&channel, m, epsilon) < 1e-12);
        for (r, v) in [(5, 3), (5, 5), (3, 3), (4, 2)] {
            let bound = of(5, r as u64, v.into()).p_value(epsilon, 0.0);
            let shown = power(&channel, m, r, v);
            assert!((shown - bound).abs() < 1e-7, "{r} {v}: {shown} {bound}");
        }
    }

    #[test]
    fn the_term_of_delta_is_attained_too() {
        // Outputs of which at least v bits are right are made likelier by a factor.
        let (m, epsilon, v) = (6usize, 1.0f64, 5u32);
        let q = 1.0 / (1.0 + (-epsilon).exp());
        for eta in [0.001, 0.01, 0.1] {
            let row = |s: usize| -> Vec<f64> {
                let weight = |y: usize| {
                    let lies = (s ^ y).count_ones();
                    let plain = q.powi(m as i32 - lies as i32) * (1.0 - q).powi(lies as i32);
                    if m as u32 - lies >= v { plain * (1.0 + eta) } else { plain }
                };
                let weights: Vec<f64> = (0..1 << m).map(weight).collect();
                let total: f64 = weights.iter().sum();
                weights.iter().map(|w| w / total).collect()
            };
            let channel: Channel = (0..1 << m).map(row).collect();
            let delta = delta(&channel, m, epsilon);
            let bound = of(m as u64, m as u64, v.into()).p_value(epsilon, delta);
            let plain = of(m as u64, m as u64, v.into()).p_value(epsilon, 0.0);
            let shown = power(&channel, m, m, v);
            assert!(shown <= bound * (1.0 + 1e-9), "{eta}: {shown} {bound}");
            // Of what the term allows, most is really there.
            let there = (shown - plain) / (bound - plain);
            assert!(there > 0.85, "{eta}: {there}");
        }
    }

    #[test]
    fn the_published_term_is_too_small_far_below_the_mean() {
        let m = 6usize;
        let row = |s: usize| -> Vec<f64> {
            let weights: Vec<f64> =
                (0..1 << m).map(|y| if s ^ y == (1 << m) - 1 { 1.0 } else { 1.1 }).collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|w| w / total).collect()
        };
        let channel: Channel = (0..1 << m).map(row).collect();
        let delta = delta(&channel, m, 0.0);
        // The guess is the output itself.
        let shown = 1.0 - channel[0][(1 << m) - 1];
        let guesses = of(m as u64, m as u64, 1);
        assert!(shown > published(guesses, 0.0, delta));
        assert!(shown <= guesses.p_value(0.0, delta));
    }

    #[test]
    fn no_random_channel_beats_the_bound() {
        let mut rng = SeededForTests::insecure(1);
        let mut uniform = || uniform_below(1 << 40, &mut rng).unwrap() as f64 / (1u64 << 40) as f64;
        let m = 3;
        for round in 0..60 {
            let sharp = f64::from(round % 6);
            let channel: Channel = (0..8)
                .map(|_| {
                    let weights: Vec<f64> = (0..4).map(|_| uniform().powf(sharp) + 1e-3).collect();
                    let total: f64 = weights.iter().sum();
                    weights.iter().map(|w| w / total).collect()
                })
                .collect();
            for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0] {
                let delta = delta(&channel, m, epsilon);
                for (r, v) in [(3, 2), (3, 3), (2, 2), (1, 1)] {
                    let bound = of(3, r as u64, v.into()).p_value(epsilon, delta);
                    let shown = power(&channel, m, r, v);
                    assert!(shown <= bound + 1e-9, "{round} {epsilon} {r} {v}: {shown} {bound}");
                }
            }
        }
    }

    #[test]
    fn ten_thousand_canaries_show_most_of_epsilon() {
        let right = (10_000.0 / (1.0 + (-1f64).exp())) as u64;
        let shown = of(10_000, 10_000, right).epsilon_lower(0.0, 0.05);
        assert!((0.95..1.0).contains(&shown), "{shown}"); // 0.96 is known
        let strict = of(10_000, 10_000, right).epsilon_lower(0.0, 1e-6);
        assert!((0.85..shown).contains(&strict), "{strict}");
        assert!(of(10_000, 10_000, right).epsilon_lower(1e-9, 1e-6) > strict - 0.01);
        assert_eq!(of(10, 10, 5).epsilon_lower(0.0, 0.05), 0.0);
        assert_eq!(of(10, 10, 10).epsilon_lower(0.9, 1e-6), 0.0);
    }

    #[test]
    fn scores_are_guessed_from_both_ends() {
        let included = [true, false, true, false, true];
        let guesses = Guesses::by_scores(&included, &[0.9, 0.1, 0.8, 0.2, 0.5], 4);
        assert_eq!(guesses, of(5, 4, 4));
        assert_eq!(Guesses::by_scores(&included, &[0.1, 0.9, 0.2, 0.8, 0.5], 4), of(5, 4, 0));
    }
}
