//! Basic composition: what pure and approximate guarantees cost together, for any number of adaptively chosen
//! mechanisms.

use super::mass::Mass;
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::unit::{Delta, Epsilon};

/// Mechanisms that are (εᵢ,δᵢ)-DP, kᵢ times each, are together `(Σkᵢεᵢ, Σkᵢδᵢ)`-DP;
/// both sums are rounded up.
///
/// # Proof
/// Dwork & Roth 2014, Theorem 3.16 and Appendix B; the sums hold for adaptive
/// choice of the mechanisms, their parameters being fixed in advance.
pub fn compose(parts: &[(Epsilon, Delta, u64)]) -> Result<(f64, f64)> {
    let (mut epsilon, mut delta) = (0.0, 0.0);
    for &(e, d, k) in parts {
        epsilon = add_up(epsilon, times_up(e.get(), k));
        delta = add_up(delta, times_up(d.get(), k));
    }
    if epsilon.is_finite() && delta.is_finite() {
        Ok((epsilon, delta))
    } else {
        Err(Error::Precision { what: "a sum of privacy parameters" })
    }
}

/// `a + b` rounded up, exactly where the sum is a float.
///
/// # Proof
/// For finite sums `a + b = s + t` with s the nearest float and t the rest, both exact
/// (Knuth's TwoSum): s is large enough iff t ≤ 0. ∎
#[must_use]
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let s = a + b;
    let part = s - a;
    let rest = (a - (s - part)) + (b - part);
    if rest <= 0.0 { s } else { up(s) } // NaN, from an infinite sum, rounds up too
}

/// `a·k` rounded up, exactly for k ≤ 1.
#[must_use]
pub(crate) fn times_up(a: f64, k: u64) -> f64 {
    match k {
        0 => 0.0,
        1 => a,
        _ if a == 0.0 => 0.0,
        // k itself may be rounded.
        _ => up(a * up(k as f64)),
    }
}

/// `(lower, upper)` around `−Σ kᵢ ln(1−δᵢ)`: minus the log-probability that no
/// mechanism of its kind fails.
///
/// # Proof
/// `−ln(1−δ) = Σ δʲ/j`, whose tail after 12 terms is below `δ¹³/(13(1−δ))`. Each
/// float below is widened by more than its roundings.
pub(crate) fn failure(parts: impl Iterator<Item = (Delta, u64)>) -> (f64, f64) {
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for (delta, k) in parts {
        let d = delta.get();
        if d == 0.0 || k == 0 {
            continue;
        }
        let (l, h) = if d <= 0.0625 {
            // Σ dʲ/j by Horner's scheme to j = 12; the rest is below 2⁻⁵¹ of it.
            let sum = (1..=12).rev().fold(0.0, |sum, j| 1.0 / f64::from(j) + d * sum) * d;
            (sum * (1.0 - 16.0 * f64::EPSILON), sum * (1.0 + 16.0 * f64::EPSILON))
        } else {
            let (l, h) = Mass::between(down(1.0 - d), up(1.0 - d)).ln();
            (-h, -l)
        };
        let k = k as f64;
        let slack = 4.0 * f64::EPSILON;
        low += l * k * (1.0 - slack);
        high += h * k * (1.0 + slack);
        (low, high) = (low * (1.0 - slack), high * (1.0 + slack));
    }
    (low.max(0.0), high)
}

#[cfg(test)]
mod tests;
