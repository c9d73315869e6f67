//! Bounded range: the guarantee of the exponential mechanism beyond ε-DP.
//!
//! A mechanism has ε-bounded range when, for neighbours x and x′, its privacy
//! loss lies in *some* interval of width ε that the adversary may choose. It is
//! ε-DP, and composes better than that.

use super::mass::Mass;
use super::{Interval, search};
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::unit::{Delta, Epsilon};

/// The largest number of mechanisms that are summed exactly, which takes k² steps. More are left to concentrated
/// privacy.
const MOST: u64 = 2000;

/// The exact cost of k mechanisms of ε-bounded range, all chosen *before* any
/// answer is seen.
///
/// # Guarantee
/// The least ε_g such that every non-adaptive composition of k such mechanisms
/// is (ε_g,δ_g)-DP lies in the interval. For adaptively chosen ones it is not a
/// bound: use ε²/8-zCDP ([`super::zcdp::of_bounded_range`]).
/// # Proof
/// The worst mechanism is a coin of loss t or t−ε for some `0 ≤ t ≤ ε`, the same
/// for all k (reference); heads has probability `P = (1−e^(t−ε))/(1−e^−ε)`, and
/// `Q = e^−t·P` under the neighbour. So
///
/// ```text
/// δ(ε_g) = max_ℓ max_t G_ℓ(t),   G_ℓ(t) = P[at most ℓ tails] − e^(ε_g)·Q[at most ℓ tails],
/// ```
///
/// and since `dG_ℓ/dt` has the sign of `ε_g − t − kt + (ℓ+1)ε`, the best t is
/// `(ε_g + (ℓ+1)ε)/(k+1)`, clamped to `[0,ε]`. All sums are rounded outwards, t
/// itself being an interval. ∎
/// # References
/// Dong, Durfee, Rogers 2020 (arXiv:1909.13830v3), Theorem 3.
pub fn non_adaptive(epsilon: Epsilon, k: u64, target: Delta) -> Result<Interval> {
    if k > MOST {
        return Err(Error::OutOfRange {
            parameter: "k of a bounded-range composition",
            allowed: "at most 2000",
        });
    }
    let sum = epsilon.get() * k as f64;
    if target.get() == 0.0 || k == 0 {
        return Ok(Interval::new(down(sum), up(sum)));
    }
    let root = (k as f64 * -2.0 * target.get().ln()).sqrt();
    let start = (0.5 * epsilon.get() * root).min(sum);
    let pair = Pair { epsilon: epsilon.get(), k, whole: Mass::one_minus_exp_neg(epsilon.get()) };
    // Any ℓ gives a true lower bound on δ; the upper end is then checked over all.
    let found = search::crossing(start, target.get(), |x| Ok(pair.likely(x).to_f64()))?;
    let mut upper = found.upper;
    for doubling in 0..60 {
        if !upper.is_finite() || upper >= sum {
            break;
        }
        if pair.worst(upper).to_f64().1 <= target.get() {
            return Ok(Interval::new(found.lower, upper));
        }
        upper += upper * f64::EPSILON * 2f64.powi(doubling);
    }
    Ok(Interval::new(found.lower, up(sum)))
}

/// k coins of range ε, with the values they share.
struct Pair {
    epsilon: f64,
    k: u64,
    whole: Mass,
}

impl Pair {
    /// Encloses δ(ε_g): the largest G over all ℓ.
    fn worst(&self, epsilon_g: f64) -> Mass {
        let x = Mass::exp(epsilon_g);
        (0..self.k).fold(Mass::ZERO, |most, l| most.max(&self.at(l, epsilon_g, &x)))
    }

    /// The largest G that a ternary search over ℓ finds: δ(ε_g) if G has one peak.
    fn likely(&self, epsilon_g: f64) -> Mass {
        let x = Mass::exp(epsilon_g);
        let value = |l: u64| self.at(l, epsilon_g, &x);
        let (mut low, mut high) = (0, self.k - 1);
        while high - low > 2 {
            let third = (high - low) / 3;
            let (a, b) = (low + third, high - third);
            if value(a).to_f64().1 < value(b).to_f64().1 {
                low = a + 1;
            } else {
                high = b;
            }
        }
        (low..=high).fold(Mass::ZERO, |most, l| most.max(&value(l)))
    }

    /// Encloses `max_t G_ℓ(t)`.
    fn at(&self, l: u64, epsilon_g: f64, x: &Mass) -> Mass {
        let (epsilon, k) = (self.epsilon, self.k);
        let t = (epsilon_g + (l + 1) as f64 * epsilon) / (k + 1) as f64;
        let slack = 4.0 * f64::EPSILON * t;
        let (low, high) = ((t - slack).clamp(0.0, epsilon), (t + slack).clamp(0.0, epsilon));
        if low >= epsilon {
            return Mass::ZERO; // heads are impossible
        }
        // Tails lie ε − t below 0.
        let (rest_low, rest_high) = (down(epsilon - high).max(0.0), up(epsilon - low));
        let heads_p = Mass::one_minus_exp_neg_between(rest_low, rest_high).div(&self.whole);
        let tails_q = Mass::one_minus_exp_neg_between(low, high).div(&self.whole);
        let tails_p = Mass::exp_neg_between(rest_low, rest_high).mul(&tails_q);
        let heads_q = Mass::exp_neg_between(low, high).mul(&heads_p);
        let p = at_most(l, k, &heads_p, &tails_p);
        p.sub(&x.mul(&at_most(l, k, &heads_q, &tails_q)))
    }
}

/// The probability of at most ℓ tails in k throws.
fn at_most(l: u64, k: u64, heads: &Mass, tails: &Mass) -> Mass {
    let odds = tails.div(heads);
    let mut term = heads.pow(k);
    let mut sum = term;
    for i in 1..=l {
        let quotient = (k - i + 1) as f64 / i as f64;
        term = term.mul(&odds).mul(&Mass::between(down(quotient), up(quotient)));
        sum = sum.add(&term);
    }
    sum
}

#[cfg(test)]
mod tests;
