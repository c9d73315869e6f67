//! Zero-concentrated privacy: `D_α(M(x)‖M(x′)) ≤ ρα` for all α > 1.
//!
//! ρ adds up under composition, even if each ρ is chosen after the earlier answers are seen ([`super::filter`] relies
//! on that).
//!
//! | mechanism | ρ | reference |
//! |---|---|---|
//! | ε-DP | ε²/2 | Bun & Steinke 2016, Proposition 1.4 |
//! | ε-bounded range (exponential mechanism) | ε²/8 | Cesar & Rogers 2021, Lemma 3.2 |
//! | Gaussian or discrete Gaussian | Δ²/2σ² | Canonne, Kamath, Steinke 2020, Theorem 4 |

use super::mass::Mass;
use super::search;
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::unit::{Delta, Epsilon, Rho};

/// An upper bound on the ε of ρ-zCDP at δ: the least, over all orders α, of
///
/// ```text
/// ρα + [ln(1/δ) + (α−1)·ln(1−1/α) − ln α] / (α−1);
/// ```
///
/// ∞ for δ = 0.
///
/// # Guarantee
/// Every ρ-zCDP mechanism is (ε,δ)-DP for the ε returned.
/// # Proof
/// The bound holds at every α > 1 (reference), so α may be found by an
/// uncertified search; the value at the α found is computed rounding up. ∎
/// # References
/// Canonne, Kamath, Steinke 2020 (arXiv:2004.00010v5), Corollary 13.
pub fn epsilon(rho: Rho, delta: Delta) -> Result<f64> {
    if delta.get() == 0.0 {
        return Ok(f64::INFINITY);
    }
    let (rho, log) = (rho.get(), -delta.get().ln());
    let at = |t: f64| {
        let alpha = 1.0 + t;
        rho * alpha + (log - alpha.ln()) / t + (t / alpha).ln()
    };
    // α − 1 is about √(ln(1/δ)/ρ) unless both are extreme.
    let middle = 0.5 * (log.max(1e-3) / rho).ln();
    let t = search::least(middle - 6.0, middle + 6.0, |v| at(v.exp())).exp();
    let alpha = (1.0 + t).min(9e15);
    let t = alpha - 1.0; // exact
    if t <= 0.0 {
        return Ok(f64::INFINITY);
    }
    let (delta_low, _) = Mass::exactly(delta.get()).ln();
    let (alpha_low, _) = Mass::exactly(alpha).ln();
    let (_, shrink) = Mass::exactly(t).div(&Mass::exactly(alpha)).ln();
    let numerator = up(-delta_low - alpha_low);
    let quotient = up(numerator / t);
    Ok(up(up(up(rho * alpha) + quotient) + shrink).max(0.0))
}

/// An upper bound on the ε that a privacy loss of ρ-zCDP stays below with
/// probability 1 − δ, at every moment of an adaptive composition:
/// `ρ + 2√(ρ·ln(1/δ))`.
///
/// # Proof
/// `exp((α−1)(L − αρ))` is a supermartingale in the composition, so by Ville's
/// inequality `L ≥ αρ + ln(1/δ)/(α−1)` ever happens with probability at most δ;
/// minimise over α. ∎
/// # References
/// Bun & Steinke 2016 (arXiv:1605.02065v1), Proposition 1.3.
pub fn tail(rho: Rho, delta: Delta) -> Result<f64> {
    if delta.get() == 0.0 {
        return Ok(f64::INFINITY);
    }
    let (low, _) = Mass::exactly(delta.get()).ln();
    let root = up(up(rho.get() * -low).sqrt());
    Ok(up(rho.get() + 2.0 * root))
}

/// The ρ of ε-bounded range, ε²/8, rounded up.
pub fn of_bounded_range(epsilon: Epsilon) -> Result<Rho> {
    Rho::new(up(up(epsilon.get() * epsilon.get()) * 0.125))
}

/// The ρ of Gaussian noise: `(distance/σ)²/2`, rounded up.
pub fn of_gaussian(sigma: f64, distance: f64) -> Result<Rho> {
    let mu = up(distance / sigma);
    Rho::new(up(0.5 * up(mu * mu)))
}

/// The largest ρ for which [`epsilon`] certifies (ε,δ), found by bisection.
pub fn for_target(target: Epsilon, delta: Delta) -> Result<Rho> {
    let (mut low, mut high) = (0.0, target.get());
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if !(middle > low && middle < high) || high - low < 1e-15 * high {
            break;
        }
        if epsilon(Rho::new(middle)?, delta)? <= target.get() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Rho::new(down(low)).map_err(|_| Error::Infeasible {
        what: "no rho gives this epsilon at this delta",
        remedy: "use a larger delta, or a pure guarantee",
    })
}

#[cfg(test)]
mod tests;
