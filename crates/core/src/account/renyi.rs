//! Rényi privacy: a bound on `D_α(M(x)‖M(x′))` for some orders α > 1.
//!
//! Divergences of one order add up under composition; so curves add pointwise.
//! Every function here returns an upper bound.

use super::mass::Mass;
use super::search;
use crate::error::{Error, Result};
use crate::event::Rate;
use crate::num::directed::{down, up};
use crate::unit::{Alpha, Delta, Epsilon};

/// The ε at δ of *every* mechanism with `D_α ≤ divergence`, and no less.
///
/// # Guarantee
/// Such a mechanism is (ε,δ)-DP. Minimised over `s`, the bound is attained by
/// some pair of distributions: no better conversion of one order exists.
/// # Proof
/// For an event S let p = P(S), q = Q(S). Processing to one bit does not raise
/// the divergence, so (p,q) is in the convex set C where
/// `D(p,q) = p^α q^(1−α) + (1−p)^α(1−q)^(1−α) ≤ c = e^((α−1)·divergence)`. At any point
/// with `r = p/q > 1 > s = (1−p)/(1−q)` the gradient of the convex D bounds C by a
/// line,
///
/// ```text
/// D_p·p − |D_q|·q ≤ c − [α·s^(α−1) − (α−1)·s^α],   D_p = α(r^(α−1) − s^(α−1)),
///                                              |D_q| = (α−1)(r^α − s^α).
/// ```
///
/// If r is chosen so that the right side is at most `δ·D_p`, then `p − xq ≤ δ`
/// on all of C for `x = |D_q|/D_p`. That fixes
/// `r^(α−1) = s^(α−1) + [c − α·s^(α−1) + (α−1)·s^α]/(αδ)`, leaves s free, and
/// `ε = ln x` holds for every s in (0,1]; s is searched for in floats and the
/// value there rounded up. The best s is the tangent from (δ,0) to C, which
/// touches C, hence the tightness. ∎
/// # References
/// Asoodeh, Liao, Calmon, Kosut, Sankar 2021 (arXiv:2008.06529v2), Theorem 3,
/// for the two-point reduction.
pub fn epsilon(alpha: Alpha, divergence: f64, delta: Delta) -> Result<f64> {
    if divergence.is_nan() || divergence < 0.0 {
        return Err(Error::OutOfRange {
            parameter: "a Rényi divergence",
            allowed: "a number of at least 0",
        });
    }
    if delta.get() == 0.0 || divergence.is_infinite() || alpha.get() > 1e15 {
        return Ok(f64::INFINITY);
    }
    let guess = |v: f64| estimate(alpha.get(), divergence, delta.get(), v.exp());
    let u = search::least(-45.0, 4.0, guess).exp();
    Ok(certified(alpha.get(), divergence, delta.get(), u))
}

/// `ln x` at `s = e^−u`, in plain floats: only a guide.
fn estimate(alpha: f64, divergence: f64, delta: f64, u: f64) -> f64 {
    let (t, log_c) = (alpha - 1.0, (alpha - 1.0) * divergence);
    let (s1, s2) = ((-t * u).exp(), (-alpha * u).exp());
    let power = if log_c > 600.0 {
        log_c - (alpha * delta).ln()
    } else {
        (s1 + (log_c.exp() - alpha * s1 + t * s2) / (alpha * delta)).ln()
    };
    let log_r = power / t;
    let gap = log_r + u;
    (t / alpha).ln() + log_r + (-(-alpha * gap).exp_m1()).ln() - (-(-t * gap).exp_m1()).ln()
}

/// The same, rounded up at every step.
fn certified(alpha: f64, divergence: f64, delta: f64, u: f64) -> f64 {
    let t = alpha - 1.0; // exact for 1 ≤ α ≤ 2⁵³
    let (s1_low, s1_high) = (down(t * u).max(0.0), up(t * u));
    let s1 = Mass::exp_neg_between(s1_low, s1_high);
    let s2 = Mass::exp_neg_between(down(alpha * u).max(0.0), up(alpha * u));
    let c = Mass::exp(if divergence == 0.0 { 0.0 } else { up(t * divergence) });
    let excess = c.add(&s2.times(t)).sub(&s1.times(alpha));
    let power = s1.add(&excess.div(&Mass::exactly(alpha).times(delta)));
    let (power_low, power_high) = power.ln();
    // r ≥ 1 whatever the rounding: c ≥ 1 ≥ α·s^(α−1) − (α−1)·s^α.
    let (r_low, r_high) = (down(power_low / t), up(power_high / t));
    let (gap_low, gap_high) = (down(r_low + u), up(r_high + u));
    if gap_low.is_nan() || gap_low <= 0.0 {
        return f64::INFINITY;
    }
    let (_, shrink) = Mass::exactly(t).div(&Mass::exactly(alpha)).ln();
    let (_, top) = Mass::one_minus_exp_neg(up(alpha * gap_high)).ln();
    let (bottom, _) = Mass::one_minus_exp_neg(down(t * gap_low)).ln();
    let value = up(up(up(shrink + r_high) + top) - bottom);
    if value.is_nan() { f64::INFINITY } else { value.max(0.0) }
}

/// `D_α` of Gaussian noise: `αμ²/2`, with μ = distance/σ.
#[must_use]
pub fn gaussian(alpha: Alpha, mu: f64) -> f64 {
    up(alpha.get() * up(0.5 * up(mu * mu)))
}

/// `ln(mass)/(α−1)`, rounded up and kept at 0 or above.
fn divergence(mass: Mass, alpha: f64) -> f64 {
    up(mass.ln().1 / (alpha - 1.0)).max(0.0)
}

/// `D_α` of Laplace noise at ε = distance/b:
/// `ln[α/(2α−1)·e^((α−1)ε) + (α−1)/(2α−1)·e^(−αε)] / (α−1)`.
///
/// # References
/// Mironov 2017 (arXiv:1702.07476v3), Proposition 6.
#[must_use]
pub fn laplace(alpha: Alpha, epsilon: Epsilon) -> f64 {
    let (a, e) = (alpha.get(), epsilon.get());
    let up_side = Mass::exp(up((a - 1.0) * e)).times(a);
    let down_side = Mass::exp_neg(down(a * e).max(0.0)).times(a - 1.0);
    let whole = Mass::between(down(2.0 * a - 1.0), up(2.0 * a - 1.0));
    divergence(up_side.add(&down_side).div(&whole), a).min(e)
}

/// `D_α` of two-sided geometric noise of scale b, moved by `distance` integers:
/// with `a = e^(−1/b)`, d the distance,
/// `ln{[a^(−(α−1)d) + a^(αd)]/(1+a) + (1−a)/(1+a)·Σ_{0<k<d} a^((2α−1)k − (α−1)d)} / (α−1)`.
///
/// # Proof
/// Sum `P^α Q^(1−α)` over k ≤ 0, 0 < k < d and k ≥ d. Beyond 1000 integers the sum is
/// replaced by the bound for any ε-DP mechanism. ∎
#[must_use]
pub fn discrete_laplace(alpha: Alpha, scale: f64, distance: u64) -> f64 {
    let a = alpha.get();
    let d = distance as f64;
    let rate = Mass::exactly(1.0).div(&Mass::exactly(scale)).to_f64();
    let epsilon = up(d * rate.1);
    if distance > 1000 {
        return Epsilon::new(epsilon).map_or(f64::INFINITY, |epsilon| pure(alpha, epsilon));
    }
    let base = Mass::exp_neg_between(rate.0, rate.1);
    let one_minus = Mass::one_minus_exp_neg_between(rate.0, rate.1);
    let tails =
        Mass::exp(up((a - 1.0) * epsilon)).add(&Mass::exp_neg(down(a * down(d * rate.0)).max(0.0)));
    let middle = (1..distance).fold(Mass::ZERO, |sum, k| {
        let exponent = (a - 1.0) * d - (2.0 * a - 1.0) * k as f64;
        // Four roundings, and the rate's own; a hundred units cover them.
        let size = (a * d * rate.1) * 100.0 * f64::EPSILON;
        sum.add(&Mass::exp(up(exponent * rate.1 + size)))
    });
    let sum = tails.add(&one_minus.mul(&middle)).div(&Mass::ONE.add(&base));
    divergence(sum, a).min(epsilon)
}

/// `D_α` of any ε-DP mechanism is at most that of randomized response:
/// `ln[(e^(αε) + e^((1−α)ε))/(1+e^ε)] / (α−1)`.
///
/// # Proof
/// Every ε-DP pair is a post-processing of randomized response (Kairouz, Oh,
/// Viswanath 2015), and post-processing does not raise D_α. ∎
#[must_use]
pub fn pure(alpha: Alpha, epsilon: Epsilon) -> f64 {
    response(alpha, epsilon, 2)
}

/// `D_α` of randomized response among m answers:
/// `ln[(e^(αε) + e^((1−α)ε) + m − 2)/(e^ε + m − 1)] / (α−1)`.
#[must_use]
pub fn response(alpha: Alpha, epsilon: Epsilon, categories: u32) -> f64 {
    let (a, e, m) = (alpha.get(), epsilon.get(), f64::from(categories));
    // Divided by e^ε throughout, so that nothing overflows.
    let shrunk = Mass::exp_neg(e);
    let top = Mass::exp(up((a - 1.0) * e))
        .add(&Mass::exp_neg(down(a * e).max(0.0)))
        .add(&shrunk.times(m - 2.0));
    divergence(top.div(&Mass::ONE.add(&shrunk.times(m - 1.0))), a).min(e)
}

/// `D_α`, for an *integer* α ≥ 2, of Gaussian noise on a Poisson sample:
/// `ln[Σ_k C(α,k)(1−q)^(α−k) q^k e^(k(k−1)μ²/2)] / (α−1)`, with μ = 1/σ for units that
/// move the query by 1 when added or removed (both directions).
///
/// # References
/// Mironov, Talwar, Zhang 2019 (arXiv:1908.10530v1), Section 3.3.
#[must_use]
pub fn poisson_gaussian(alpha: u32, rate: Rate, sigma: f64) -> f64 {
    let mu = up(1.0 / sigma);
    let half_square = up(0.5 * up(mu * mu));
    if rate.get() == 1.0 {
        return up(f64::from(alpha) * half_square);
    }
    let rest = Mass::between(down(1.0 - rate.get()), up(1.0 - rate.get()));
    let odds = Mass::exactly(rate.get()).div(&rest);
    let mut binomial = rest.pow(u64::from(alpha));
    let mut sum = binomial;
    for k in 1..=alpha {
        let (top, bottom) = (f64::from(alpha - k + 1), f64::from(k));
        binomial = binomial.times(top).div(&Mass::exactly(bottom)).mul(&odds);
        let exponent = up(bottom * (bottom - 1.0) * half_square);
        sum = sum.add(&binomial.mul(&Mass::exp(exponent)));
    }
    divergence(sum, f64::from(alpha))
}

#[cfg(test)]
mod tests;
