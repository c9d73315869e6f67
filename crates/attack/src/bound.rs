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
mod tests {
    use super::*;

    #[test]
    fn the_best_guess_is_where_the_two_lines_meet() {
        for (epsilon, delta) in [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 1e-6)] {
            let (e, d) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
            // Over all rates of false alarms the best is what `guess` says.
            let best = (0..=100_000)
                .map(|i| f64::from(i) / 100_000.0)
                .map(|f| 0.5 * true_alarms(e, d, f) + 0.5 * (1.0 - f))
                .fold(0.0, f64::max);
            assert!((best - guess(e, d)).abs() < 1e-4, "{epsilon} {delta}: {best}");
            if delta == 0.0 {
                let area_below: f64 = (0..100_000)
                    .map(|i| true_alarms(e, d, (f64::from(i) + 0.5) / 100_000.0) / 100_000.0)
                    .sum();
                assert!((area_below - area(e)).abs() < 1e-6);
            }
        }
        // A Gaussian of ρ = 1/(2σ²) is guessed right Φ(1/(2σ)) of the time: within the bound, and
        // near it where ρ is small.
        for rho in [0.001, 0.1, 1.0, 8.0] {
            let gaussian = crate::normal::normal((rho / 2.0f64).sqrt());
            let most = guess_concentrated(Rho::new(rho).unwrap());
            assert!(gaussian < most && most <= 1.0, "{rho}");
            assert!(rho > 0.2 || (most - 0.5) / (gaussian - 0.5) < 1.3, "{rho}");
        }
        let one = Epsilon::new(1.0).unwrap();
        assert!((guess(one, Delta::ZERO) - 0.731_058_578_630_005).abs() < 1e-14);
        assert_eq!(guess(Epsilon::new(1e4).unwrap(), Delta::ZERO), 1.0);
        assert_eq!(true_alarms(Epsilon::new(1e4).unwrap(), Delta::ZERO, 0.0), 0.0);
    }

    #[test]
    fn a_value_is_guessed_at_twice_epsilon_where_rows_are_added_and_removed() {
        let (one, two) = (Epsilon::new(1.0).unwrap(), Epsilon::new(2.0).unwrap());
        let delta = Delta::new(0.01).unwrap();
        let both = Delta::new(0.01 * (1.0 + 1f64.exp())).unwrap();
        assert_eq!(value(Neighbours::Replace, one, delta), guess(one, delta));
        let found = value(Neighbours::AddRemove, one, delta);
        assert!((found - guess(two, both)).abs() < 1e-15);
        assert_eq!(value(Neighbours::AddRemove, Epsilon::new(1e4).unwrap(), delta), 1.0);
        let (rho, four) = (Rho::new(0.1).unwrap(), Rho::new(0.4).unwrap());
        assert_eq!(value_concentrated(Neighbours::AddRemove, rho), guess_concentrated(four));
        assert_eq!(value_concentrated(Neighbours::Replace, rho), guess_concentrated(rho));
        // A sum of ±1 with Laplace noise of scale 1/ε is private for a row added or removed. The sign of
        // the row that is there is guessed right 1 − ½e^{−ε} of the time: above `guess`, below `value`.
        let sign = 1.0 - 0.5 * (-1f64).exp();
        assert!(guess(one, Delta::ZERO) < sign);
        assert!(sign < value(Neighbours::AddRemove, one, Delta::ZERO));
    }
}
