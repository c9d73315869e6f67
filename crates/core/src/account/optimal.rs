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
#[expect(clippy::excessive_precision, reason = "known answers keep all their digits")]
mod tests {
    use super::*;

    fn e(x: f64) -> Epsilon {
        Epsilon::new(x).unwrap()
    }

    fn d(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    #[test]
    fn the_homogeneous_optimum_has_its_known_values() {
        // 50-digit computations of the continuous infimum: (ε, δ, δ_g, k, ε_g).
        let known = [
            (0.1, 0.0, 1e-6, 100, 4.774_567_588_107_986_153_3),
            (0.1, 0.0, 1e-6, 10, 0.999_370_905_721_758_724_7),
            (0.1, 0.0, 1e-6, 30, 2.345_887_693_008_036_622_7),
            (0.1, 1e-6, 2e-4, 10, 0.872_744_249_366_899_334_08),
            (0.1, 1e-6, 2e-4, 30, 1.752_664_127_767_098_860_9),
            (0.1, 1e-6, 1e-3, 10, 0.754_239_923_869_589_580_62),
            (0.1, 1e-9, 1e-6, 100, 4.787_723_760_811_631_770_8),
            (0.1, 1e-9, 1e-6, 10, 0.999_377_198_617_695_585_35),
            (0.1, 1e-9, 1e-6, 30, 2.348_258_849_504_957_285_7),
        ];
        for (epsilon, delta, target, k, value) in known {
            let found = homogeneous(e(epsilon), d(delta), k, d(target)).unwrap();
            assert!(found.contains(value), "{found} {value}");
            assert!(found.relative_width() < 1e-11, "{found}");
        }
        // Randomized response at ln 3.
        for (k, value) in [(1, 1.098_610_955_333_887_468_4), (10, 10.986_105_128_796_792_807)] {
            let found = homogeneous(e(3f64.ln()), Delta::ZERO, k, d(1e-6)).unwrap();
            assert!(found.contains(value) && found.relative_width() < 1e-12, "{found}");
        }
    }

    #[test]
    fn what_cannot_be_had_is_infinite_and_pure_is_the_sum() {
        for k in [30, 100] {
            let found = homogeneous(e(0.1), d(1e-6), k, d(1e-6)).unwrap();
            assert_eq!(found, Interval::INFINITE);
        }
        let pure = homogeneous(e(0.1), Delta::ZERO, 10, Delta::ZERO).unwrap();
        assert!(pure.contains(1.0) && pure.relative_width() < 1e-15);
        assert_eq!(homogeneous(e(0.1), Delta::ZERO, 0, d(1e-6)).unwrap().upper, 0.0);
        assert_eq!(homogeneous(e(0.1), d(1e-9), 3, Delta::ZERO).unwrap(), Interval::INFINITE);
        assert!(homogeneous(e(0.1), d(1e-9), u64::MAX, d(0.5)).is_err());
        // A δ so large that there is no loss at all.
        assert_eq!(homogeneous(e(0.1), Delta::ZERO, 3, d(0.9)).unwrap().upper, 0.0);
    }

    #[test]
    fn extreme_parameters_stay_finite_and_ordered() {
        for (epsilon, k) in [(1e-8, 10), (5.0, 1_000), (300.0, 50), (1e-3, 100_000)] {
            for target in [1e-300, 1e-14, 1e-2] {
                let found = homogeneous(e(epsilon), Delta::ZERO, k, d(target)).unwrap();
                assert!(
                    found.lower <= found.upper && found.upper <= epsilon * k as f64 * 1.000_001
                );
                assert!(
                    found.upper - found.lower < 1e-8 * found.upper + 1e-13,
                    "{epsilon} {k} {found}"
                );
            }
        }
    }

    fn tenths(count: u32) -> Vec<(Epsilon, Delta, u64)> {
        (1..=count).map(|i| (e(0.01 * f64::from(i)), Delta::ZERO, 1)).collect()
    }

    #[test]
    fn the_heterogeneous_optimum_has_its_known_values() {
        for (target, value) in
            [(1e-6, 1.995_945_504_784_294_549_2), (1e-3, 1.380_681_154_810_808_777_7)]
        {
            let found = heterogeneous(&tenths(20), d(target)).unwrap();
            assert!(found.contains(value), "{found}");
            assert!(found.relative_width() < 1e-10, "{found}");
        }
        // Equal parameters: the homogeneous formula and the enumeration agree.
        let same = heterogeneous(&[(e(0.1), d(1e-9), 30)], d(1e-6)).unwrap();
        let known = homogeneous(e(0.1), d(1e-9), 30, d(1e-6)).unwrap();
        assert!(same.lower <= known.upper && known.lower <= same.upper);
        assert!(heterogeneous(&tenths(20), Delta::ZERO).unwrap().contains(2.1));
        assert_eq!(heterogeneous(&[], d(1e-6)).unwrap().upper, 0.0);
    }

    /// `δ(ε) = Σ_S (P(S) − e^ε Q(S))₊` over all 2^k outcomes, in plain floats.
    fn brute_force(epsilons: &[f64], epsilon: f64) -> f64 {
        let x = epsilon.exp();
        let mut outcomes = vec![(1.0f64, 1.0f64)];
        for e in epsilons {
            let p = 1.0 / (1.0 + (-e).exp());
            outcomes = outcomes
                .iter()
                .flat_map(|&(a, b)| [(a * p, b * (1.0 - p)), (a * (1.0 - p), b * p)])
                .collect();
        }
        outcomes.iter().map(|(p, q)| (p - x * q).max(0.0)).sum()
    }

    #[test]
    fn brute_force_over_a_million_outcomes_agrees() {
        let mut state = 1u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / 2f64.powi(53)
        };
        for round in 0..12 {
            let k = if round == 0 { 20 } else { 4 + round };
            let epsilons: Vec<f64> = (0..k).map(|_| 0.01 + 0.5 * uniform()).collect();
            let parts: Vec<_> = epsilons.iter().map(|&x| (e(x), Delta::ZERO, 1)).collect();
            for target in [1e-9, 1e-4, 0.05] {
                let found = heterogeneous(&parts, d(target)).unwrap();
                let (at_lower, at_upper) =
                    (brute_force(&epsilons, found.lower), brute_force(&epsilons, found.upper));
                assert!(at_upper <= target * (1.0 + 1e-9), "{at_upper} {target}");
                assert!(
                    found.lower == 0.0 || at_lower >= target * (1.0 - 1e-9),
                    "{at_lower} {target}"
                );
                assert!(found.upper - found.lower < 1e-11, "{found}");
            }
        }
    }

    #[test]
    fn failures_of_the_parts_are_paid_first() {
        let parts = [(e(0.2), d(1e-7), 5), (e(0.3), d(1e-8), 7)];
        let found = heterogeneous(&parts, d(1e-6)).unwrap();
        // 1 − (1 − δ_g)/Π(1 − δᵢ) = 4.300…e-7 is left.
        let left = 1.0 - (1.0 - 1e-6) / ((1.0 - 1e-7f64).powi(5) * (1.0 - 1e-8f64).powi(7));
        let epsilons: Vec<f64> = [vec![0.2; 5], vec![0.3; 7]].concat();
        assert!(brute_force(&epsilons, found.upper) <= left * (1.0 + 1e-6));
        assert!(brute_force(&epsilons, found.lower) >= left * (1.0 - 1e-6));
        assert_eq!(heterogeneous(&parts, d(1e-7)).unwrap(), Interval::INFINITE);
    }
}
