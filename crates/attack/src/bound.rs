//! What differential privacy allows an attacker, whatever they know and however they compute.
//!
//! # References
//! Wasserman & Zhou 2010 (JASA 105:375), Theorem 2.4; Kairouz, Oh & Viswanath 2015
//! (arXiv:1311.0776v4), Theorem 2.1.

use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};

/// The most often that a guess between two neighbouring datasets, equally likely before, is right:
/// `(e^ε + δ)/(1 + e^ε)`.
///
/// # Proof
/// Let the guess be "with" on the event E. It is right with probability
/// `½P[M(x)∈E] + ½(1 − P[M(x′)∈E])`, and `P[M(x)∈E] ≤ t` with `t = e^ε f + δ` and
/// `1 − f ≤ e^ε(1 − t) + δ` for the false alarms f. The first gives `½(1 + (e^ε−1)f + δ)`, which
/// grows with f; the second `½(1 + (e^ε−1)(1−t) + δ)`, which falls with t. Where both are equal,
/// `f = 1 − t = (1−δ)/(1+e^ε)`, and the value is `t`. ∎
#[must_use]
pub fn guess(epsilon: Epsilon, delta: Delta) -> f64 {
    // Written so that a large ε gives 1 and not ∞/∞.
    let back = (-epsilon.get()).exp();
    ((1.0 + delta.get() * back) / (1.0 + back)).min(1.0)
}

/// The same under ρ-zCDP: `½ + ½·min(√(ρ/2), √(1 − e^{−ρ}))`.
///
/// # Proof
/// A guess is right with probability at most ½ + ½TV. The Kullback–Leibler divergence is the limit
/// of the Rényi divergences at order 1, so at most ρ; then Pinsker's inequality, and that of
/// Bretagnolle and Huber, which is never vacuous. ∎
#[must_use]
pub fn guess_concentrated(rho: Rho) -> f64 {
    let rho = rho.get();
    0.5 + 0.5 * (0.5 * rho).sqrt().min((-(-rho).exp_m1()).sqrt())
}

/// The most often that a guess between two values of a row that *is there*, equally likely before, is
/// right. Where a row may be replaced that is [`guess`]; where rows are added or removed it is `guess` at
/// 2ε and `(1 + e^ε)δ`.
///
/// # Proof
/// One value in place of another is one replacement, or one row less and one more:
/// `P[M(x)∈E] ≤ e^ε(e^ε P[M(x′)∈E] + δ) + δ`. ∎
#[must_use]
pub fn value(neighbours: Neighbours, epsilon: Epsilon, delta: Delta) -> f64 {
    match neighbours {
        Neighbours::Replace => guess(epsilon, delta),
        Neighbours::AddRemove => {
            // As in `guess`, so that a large ε gives 1: δ(1 + e^ε)e^{−2ε} = δ(e^{−ε} + e^{−2ε}).
            let once = (-epsilon.get()).exp();
            let twice = once * once;
            ((1.0 + delta.get() * (once + twice)) / (1.0 + twice)).min(1.0)
        }
    }
}

/// The same under ρ-zCDP: two steps are one of 4ρ.
///
/// # References
/// Bun & Steinke 2016 (arXiv:1605.02065v1), Proposition 1.9: k steps are k²ρ.
#[must_use]
pub fn value_concentrated(neighbours: Neighbours, rho: Rho) -> f64 {
    match neighbours {
        Neighbours::Replace => guess_concentrated(rho),
        Neighbours::AddRemove => Rho::new(4.0 * rho.get()).map_or(1.0, guess_concentrated),
    }
}

/// The most true alarms at a rate of false ones: the smaller of `e^ε f + δ` and
/// `1 − e^{−ε}(1 − δ − f)`.
#[must_use]
pub fn true_alarms(epsilon: Epsilon, delta: Delta, false_alarms: f64) -> f64 {
    // e^ε may be ∞, and ∞·0 is no number.
    let scaled = if false_alarms > 0.0 { epsilon.get().exp() * false_alarms } else { 0.0 };
    let direct = scaled + delta.get();
    let converse = 1.0 - (-epsilon.get()).exp() * (1.0 - delta.get() - false_alarms).max(0.0);
    direct.min(converse).clamp(0.0, 1.0)
}

/// The largest area under a curve of true against false alarms, for δ = 0: `e^ε/(1+e^ε)`.
///
/// # Proof
/// The curve of [`true_alarms`] is two straight lines that meet at `f = 1/(1+e^ε)`, `t = 1 − f`.
/// The area under it is `½ + ½(t − f) = 1 − f`. ∎
#[must_use]
pub fn area(epsilon: Epsilon) -> f64 {
    1.0 / (1.0 + (-epsilon.get()).exp())
}

#[cfg(test)]
mod tests;
