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
#[expect(clippy::excessive_precision, reason = "known answers keep all their digits")]
mod tests {
    use super::*;

    fn rho(x: f64) -> Rho {
        Rho::new(x).unwrap()
    }

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    #[test]
    fn the_conversion_has_its_known_values() {
        // 50-digit minima over α: (ρ, δ, ε).
        for (r, d, value) in [
            (0.1, 1e-5, 1.914_238_832_003_597_798_5),
            (0.5, 1e-5, 4.728_386_984_943_313_9),
            (0.005, 1e-6, 0.429_941_468_836_949_273_47),
            (0.5, 1e-6, 5.221_534_444_530_169_044_2),
            (1.0, 1e-6, 7.766_216_625_311_720_736_4),
            (0.1, 1e-9, 2.715_481_886_730_501_930_2),
            (0.5, 1e-9, 6.474_070_020_726_486_144_3),
            (1.0, 1e-9, 9.521_463_671_792_232_249_5),
        ] {
            let found = epsilon(rho(r), delta(d)).unwrap();
            assert!(found >= value && found <= value * (1.0 + 1e-12), "{found} {value}");
            let (back, tail) = (
                for_target(Epsilon::new(found).unwrap(), delta(d)).unwrap(),
                tail(rho(r), delta(d)).unwrap(),
            );
            assert!((back.get() / r - 1.0).abs() < 1e-9 && tail > found);
        }
    }

    #[test]
    fn extremes_are_finite_and_monotone() {
        let mut last = 0.0;
        for r in [1e-30, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e9] {
            let found = epsilon(rho(r), delta(1e-10)).unwrap();
            assert!(found.is_finite() && found >= last, "{r} {found} {last}");
            last = found;
        }
        assert_eq!(epsilon(rho(1.0), Delta::ZERO).unwrap(), f64::INFINITY);
        assert!(epsilon(rho(1e-9), delta(0.9)).unwrap() < 1e-3);
        assert_eq!(
            of_bounded_range(Epsilon::new(2.0).unwrap()).unwrap().get(),
            up(4.0f64.next_up() * 0.125)
        );
        assert!(of_gaussian(2.0, 1.0).unwrap().get() >= 0.125);
    }
}
