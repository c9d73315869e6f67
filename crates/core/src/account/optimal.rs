//! The best composition theorem if only the (ε, δ) of each mechanism is known.
//!
//! Every (ε,δ)-DP mechanism is a post-processing of one two-point mechanism:
//! with probability δ it tells the truth, and otherwise it is randomized
//! response at ε. So the worst composition of k of them is a composition of k
//! coins, and its δ at every ε can be *computed*.
//!
//! # Which event is worst
//! For a pair of distributions (P, Q), `(e^ε, δ)`-indistinguishability says
//! `P(S) − e^ε·Q(S) ≤ δ` for all S; by Neyman–Pearson it is enough to look at the
//! sets of outcomes whose likelihood ratio is above a threshold. Hence
//!
//! ```text
//! ε(δ) = ln max_S (P(S) − δ) / Q(S),   S over the threshold sets:
//! ```
//!
//! one pass over the outcomes, most revealing first, no search. Every S, right
//! or wrong, gives a true *lower* bound.

use super::coins::{self, Compensated};
use super::mass::Mass;
use super::{Interval, basic};
use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::unit::{Delta, Epsilon};

/// Walks the outcomes of a pair (P, Q) from the most revealing down, and keeps
/// the largest `(P(S) − δ)/Q(S)` seen.
pub(crate) struct Worst {
    delta: Mass,
    p: Mass,
    q: Mass,
    ratio: Mass,
}

impl Worst {
    pub(crate) fn new(delta: Mass) -> Self {
        Self { delta, p: Mass::ZERO, q: Mass::ZERO, ratio: Mass::ZERO }
    }

    /// The next outcome: its probability under P and under Q.
    #[inline]
    pub(crate) fn extend(&mut self, p: &Mass, q: &Mass) {
        self.p = self.p.add(p);
        self.q = self.q.add(q);
        self.look();
    }

    #[inline]
    fn look(&mut self) {
        let excess = self.p.sub(&self.delta);
        if !excess.is_zero() {
            self.ratio = self.ratio.max(&excess.div(&self.q));
        }
    }

    /// Whether no later outcome matters. That is so if its likelihood ratio, and hence that of all after it, is at
    /// most the largest quotient so far: `(a+c)/(b+d) ≤ max(a/b, c/d)`.
    pub(crate) fn ends_before(&self, likelihood_ratio: &Mass) -> bool {
        likelihood_ratio.at_most(&self.ratio)
    }

    /// ε, if the order of outcomes may be wrong where their privacy losses differ by less than 2η.
    ///
    /// # Proof
    /// Let x be the largest quotient, T the outcomes of loss above `ln x + 2η`,
    /// and S the shortest prefix that holds T. Each outcome of S has a loss of at
    /// least ln x, so `Σ_T (p − xe^(2η)q) ≤ Σ_T (p − xq) ≤ Σ_S (p − xq) ≤ δ`. ∎
    pub(crate) fn epsilon(&self, eta: f64) -> Interval {
        let (low, high) = self.ratio.ln();
        let high = high.max(0.0);
        Interval::new(low, if eta == 0.0 { high } else { up(high + 2.0 * up(eta)) })
    }
}

/// The δ_g that remains after each mechanism has told the truth with probability δᵢ: `1 − (1−δ_g)/Π(1−δᵢ)`. `None` if
/// it is not certain that anything remains.
fn remaining(parts: &[(Epsilon, Delta, u64)], target: Delta) -> Option<Mass> {
    let (low, high) = basic::failure(parts.iter().map(|&(_, delta, k)| (delta, k)));
    let failed = Mass::one_minus_exp_neg_between(low, high);
    let target = Mass::exactly(target.get());
    if failed.at_least(&target) && !(failed.is_zero() && target.is_zero()) {
        return None;
    }
    Some(target.sub(&failed).div(&Mass::exp_neg_between(low, high)))
}

/// The exact cost of k mechanisms that are each (ε,δ)-DP, chosen adaptively:
/// the least ε_g with
///
/// ```text
/// 1 − (1−δ)^k·[1 − Σ_ℓ C(k,ℓ)(e^((k−ℓ)ε) − e^(ε_g+ℓε))₊ / (1+e^ε)^k] ≤ δ_g,
/// ```
///
/// over the continuum and not over the grid `(k−2i)ε`; ∞ when `1−(1−δ)^k ≥ δ_g`.
///
/// # Guarantee
/// The least ε_g such that *every* adaptive composition of k (ε,δ)-DP
/// mechanisms is (ε_g, δ_g)-DP lies in the interval.
/// # Proof
/// The mechanism that is worst is k-fold randomized response; ordered by the
/// number ℓ of answers that speak against the truth, outcome ℓ has probability
/// `w = C(k,ℓ)e^((k−ℓ)ε)/(1+e^ε)^k` and `v = w·e^(−(k−2ℓ)ε)` under the neighbour.
/// The module's formula then gives `e^(ε_g)` as the largest
/// `(Σ_{ℓ≤L} w − δ′)/Σ_{ℓ≤L} v`, with δ′ what is left of δ_g. ∎
/// # Cost
/// One pass over at most k/2 outcomes, in floats rounded outwards.
/// # References
/// Kairouz, Oh, Viswanath 2015 (arXiv:1311.0776v4), Theorem 3.3; Murtagh &
/// Vadhan 2016 (arXiv:1507.03113v3), Theorem 1.4 for the continuous optimum.
pub fn homogeneous(epsilon: Epsilon, delta: Delta, k: u64, target: Delta) -> Result<Interval> {
    const MOST: u64 = 1 << 26;
    if k == 0 {
        return Ok(Interval::new(0.0, 0.0));
    }
    if k > MOST {
        return Err(Error::OutOfRange {
            parameter: "k of an optimal composition",
            allowed: "at most 2^26",
        });
    }
    let Some(left) = remaining(&[(epsilon, delta, k)], target) else {
        return Ok(Interval::INFINITE);
    };
    let sum = basic_sum(epsilon, k);
    if left.is_zero() {
        return Ok(sum);
    }
    let (low, high) = directed::exp_neg(epsilon.get())?;
    let (a, inverse) = (Mass::between(low, high), Mass::between(down(1.0 / high), up(1.0 / low)));
    let p = Mass::ONE.div(&Mass::ONE.add(&a)).pow(k);
    let (mut w, mut v, mut worst) = (p, p.mul(&a.pow(k)), Worst::new(left));
    // w/v at ℓ, for the early end: e^((k−2ℓ)ε).
    let (mut ratio, step) = (Mass::ONE.div(&a.pow(k)), a.mul(&a));
    for l in 0..=k / 2 {
        worst.extend(&w, &v);
        ratio = ratio.mul(&step);
        if worst.ends_before(&ratio) {
            break;
        }
        let (top, bottom) = ((k - l) as f64, (l + 1) as f64);
        let quotient = Mass::between(down(top / bottom), up(top / bottom));
        w = w.mul(&quotient).mul(&a);
        v = v.mul(&quotient).mul(&inverse);
    }
    worst.epsilon(0.0).and(&Interval::at_most(sum.upper))
}

/// kε, enclosed.
fn basic_sum(epsilon: Epsilon, k: u64) -> Interval {
    let sum = epsilon.get() * k as f64;
    if k == 1 { Interval::new(sum, sum) } else { Interval::new(down(sum), up(sum)) }
}

/// Outcomes of a composition, merged where their privacy losses agree.
#[derive(Clone, Copy)]
struct Outcome {
    loss: f64,
    p: f64,
    q: f64,
}

/// The largest number of outcomes that are enumerated.
const OUTCOMES: usize = 1 << 21;

/// The cost of mechanisms with *different* (εᵢ,δᵢ), each kᵢ times.
///
/// # Guarantee
/// As for [`homogeneous`]: the optimum over all adaptive compositions lies in
/// the interval. It is exact, up to rounding, while the distinct sums `Σ ±εᵢ`
/// number at most 2²¹; beyond, it is enclosed on a grid to about a relative
/// 10⁻⁷ (computing it exactly is #P-hard), and [`Error::Infeasible`] where even
/// that is out of reach.
/// # References
/// Murtagh & Vadhan 2016 (arXiv:1507.03113v3), Theorem 1.5.
pub fn heterogeneous(parts: &[(Epsilon, Delta, u64)], target: Delta) -> Result<Interval> {
    let mut distinct: Vec<(f64, u64)> = Vec::new();
    for &(epsilon, _, k) in parts {
        match distinct.iter_mut().find(|(e, _)| *e == epsilon.get()) {
            Some((_, count)) => *count = count.saturating_add(k),
            None => distinct.push((epsilon.get(), k)),
        }
    }
    distinct.retain(|&(_, k)| k > 0);
    let Some(left) = remaining(parts, target) else { return Ok(Interval::INFINITE) };
    let sum: f64 = distinct.iter().map(|&(e, k)| e * k as f64).sum();
    let slack = 2.0 * (distinct.len() as f64 + 1.0) * f64::EPSILON * sum;
    let basic = Interval::new(sum - slack, sum + slack);
    if left.is_zero() || distinct.is_empty() {
        return Ok(basic);
    }
    if let ([(epsilon, k)], true) = (&distinct[..], parts.iter().all(|&(_, d, _)| d.get() == 0.0)) {
        return homogeneous(Epsilon::new(*epsilon)?, Delta::ZERO, *k, target);
    }
    distinct.sort_by(|a, b| b.0.total_cmp(&a.0));
    let found = match enumerated(&distinct, left)? {
        Some(found) => found,
        None => coins::composed(&distinct, &left)?,
    };
    found.and(&Interval::at_most(basic.upper))
}

/// All outcomes, one by one; `None` if there are too many.
///
/// # Proof
/// As for [`homogeneous`], outcomes being the subsets of mechanisms that speak
/// against the truth. Sums of εᵢ in floats are within
/// `K·2⁻⁵³·Σε` of the real ones; outcomes closer than τ are merged, so after K
/// steps each is within `η = K(τ + 2⁻⁵²Σε)` of its key, and `Worst::epsilon` pays
/// for what order that may upset. Probabilities are products of K factors
/// with 4 roundings each, added in at most 2K merges and one compensated sum:
/// all within `γ = (8K + 16)·2⁻⁵²` relatively, and no product is below 2⁻¹⁰⁰⁰. ∎
fn enumerated(distinct: &[(f64, u64)], left: Mass) -> Result<Option<Interval>> {
    let steps: f64 = distinct.iter().map(|&(_, k)| k as f64).sum();
    let sum: f64 = distinct.iter().map(|&(e, k)| e * k as f64).sum();
    // Every probability stays a normal float, with room to spare.
    if sum + 0.7 * steps > 690.0 {
        return Ok(None);
    }
    let tau = (steps + 8.0) * f64::EPSILON * sum;
    let mut outcomes = vec![Outcome { loss: 0.0, p: 1.0, q: 1.0 }];
    for &(epsilon, k) in distinct {
        let a = directed::exp_neg(epsilon)?.1;
        let truth = 1.0 / (1.0 + a);
        for _ in 0..k {
            outcomes = flip_one_more(&outcomes, epsilon, truth, a * truth, tau);
            if outcomes.len() > OUTCOMES {
                return Ok(None);
            }
        }
    }
    let eta = 2.0 * steps * (tau + f64::EPSILON * sum);
    let gamma = (8.0 * steps + 16.0) * f64::EPSILON;
    let around = |x: f64| Mass::between(x * (1.0 - gamma), x * (1.0 + gamma));
    let mut worst = Worst::new(left);
    let (mut p, mut q) = (Compensated::default(), Compensated::default());
    for outcome in &outcomes {
        p.add(outcome.p);
        q.add(outcome.q);
        (worst.p, worst.q) = (around(p.total()), around(q.total()));
        worst.look();
        if outcome.loss < -eta {
            break; // ε ≥ 0: the rest cannot matter
        }
    }
    Ok(Some(worst.epsilon(eta)))
}

/// One more coin: `loss ± ε`. Both halves are sorted already, largest loss
/// first, so one merge keeps the order.
fn flip_one_more(old: &[Outcome], epsilon: f64, truth: f64, lie: f64, tau: f64) -> Vec<Outcome> {
    let mut up =
        old.iter().map(|o| Outcome { loss: o.loss + epsilon, p: o.p * truth, q: o.q * lie });
    let mut down =
        old.iter().map(|o| Outcome { loss: o.loss - epsilon, p: o.p * lie, q: o.q * truth });
    let mut merged: Vec<Outcome> = Vec::with_capacity(2 * old.len());
    let (mut a, mut b) = (up.next(), down.next());
    loop {
        let next = match (a, b) {
            (Some(x), Some(y)) if x.loss >= y.loss => {
                a = up.next();
                x
            }
            (Some(x), None) => {
                a = up.next();
                x
            }
            (_, Some(y)) => {
                b = down.next();
                y
            }
            (None, None) => return merged,
        };
        match merged.last_mut() {
            Some(last) if last.loss - next.loss <= tau => {
                last.p += next.p;
                last.q += next.q;
            }
            _ => merged.push(next),
        }
    }
}

#[cfg(test)]
mod tests;
