//! The standard normal distribution, enclosed to any precision.

use super::{Enclosure, Natural, Ratio};
use crate::error::{Error, Result};

/// Encloses `φ(x) = e^(−x²/2) / √(2π)`.
pub(crate) fn density(x: &Ratio, bits: u32) -> Enclosure {
    let work = bits + 8;
    let exponential = Enclosure::exp_neg(&x.mul(x).scale(-1), work);
    let two_pi = Enclosure::pi(work).mul_ratio(&Ratio::new(2u64, 1u64));
    let unit = Enclosure { lower: Natural::zero(), upper: Natural::one(), bits: work };
    exponential.div(&two_pi.sqrt()).unwrap_or(unit).truncate(bits)
}

/// Encloses `P[Z > x]` for an exact x ≥ 0, within a few units of 2^−`bits`.
///
/// # Proof
/// `Φ(x) − ½ = φ(x)·Σₙ x^(2n+1) / (1·3·5⋯(2n+1))`. All terms are positive. Once
/// `x² ≤ n` each is at most half its predecessor, so the tail is at most the
/// last term, which is added to the upper end. The sum is at most
/// `1.26·e^(x²/2)`: the working precision carries that many more bits, so that
/// the product's error stays below the last bit asked for.
pub(crate) fn upper_tail(x: &Ratio, bits: u32) -> Enclosure {
    let square = x.mul(x);
    let whole = square.fixed(0).0.to_u128().unwrap_or(u128::MAX).min(1 << 24) as u32;
    // Below 2^−bits the interval says no more: P[Z > x] ≤ e^(−x²/2) / 2.
    if u64::from(whole) >= 2 * u64::from(bits) {
        return Enclosure { lower: Natural::zero(), upper: Natural::one(), bits };
    }
    let work = bits + (3 * whole).div_ceil(4) + 32; // x²/2 · log₂ e < ¾ x²
    let x2 = Enclosure::of_ratio(&square, work);
    let mut term = Enclosure::of_ratio(x, work);
    let mut sum = term.clone();
    let mut n = 0u64;
    loop {
        n += 1;
        let product = term.mul(&x2);
        term = Enclosure {
            lower: product.lower.div_small(2 * n + 1),
            upper: product.upper.div_small(2 * n + 1).add(&Natural::one()),
            bits: work,
        };
        sum = sum.add(&term);
        if n > u64::from(whole) && term.upper <= Natural::from(2u64) {
            sum.upper = sum.upper.add(&term.upper);
            break;
        }
    }
    let half = Enclosure::of_ratio(&Ratio::new(1u64, 2u64), work);
    half.saturating_sub(&density(x, work).mul(&sum)).truncate(bits)
}

/// Encloses Mills' ratio `P[Z > x] / φ(x)`, x > 0, within a few units of 2^−`bits`.
///
/// # Proof
/// From 4 on: it is `1/(x + 1/(x + 2/(x + 3/(x + …))))`, every tail of which is at
/// least x, so the (n+1)-th lies in `[x, x + (n+1)/x]`; interval arithmetic carries
/// that inwards. Successive convergents shrink the interval, at the n chosen
/// (about `(bits·ln 2)²/8x²`, doubled) below the last bit; that it is *valid* does
/// not depend on n. Below 4: the quotient of the two. ∎
pub(crate) fn mills(x: &Ratio, bits: u32) -> Option<Enclosure> {
    let work = bits + 24;
    let near = x.to_f64();
    if near < 4.0 {
        return Some(upper_tail(x, work).div(&density(x, work))?.truncate(bits));
    }
    let scale = f64::from(bits) / near;
    let n = 32 + (0.12 * scale * scale) as u64;
    let x = Enclosure::of_ratio(x, work);
    let over = |k: u64, t: &Enclosure| Enclosure::of_ratio(&Ratio::new(k, 1u64), work).div(t);
    let mut tail = Enclosure { upper: x.add(&over(n + 1, &x)?).upper, ..x.clone() };
    for k in (1..=n).rev() {
        tail = x.add(&over(k, &tail)?);
    }
    Some(over(1, &tail)?.truncate(bits))
}

/// `(lower, upper)` floats around the z with `P[Z > z] = p`, for 0 < p ≤ ½.
///
/// Newton's iteration proposes; the certified tail checks.
pub(crate) fn upper_quantile(p: f64) -> Result<(f64, f64)> {
    let fail = Error::Precision { what: "a normal quantile" };
    if !(p > 0.0 && p <= 0.5) {
        return Err(fail);
    }
    if p == 0.5 {
        return Ok((0.0, 0.0));
    }
    // P[Z > z] ≤ ½e^(−z²/2), so z ≤ √(2 ln(1/2p)).
    let bits = 128 + (-p.log2()).ceil() as u32;
    let at = |z: f64| {
        let z = Ratio::from_f64(z).unwrap_or_else(Ratio::zero);
        (upper_tail(&z, bits).to_f64(), density(&z, bits).to_f64().0)
    };
    let mut z = (-2.0 * (2.0 * p).ln()).sqrt().max(1e-8);
    for _ in 0..60 {
        let ((tail, _), density) = at(z);
        // Newton on ln P[Z > z], which is concave: no overshoot beyond one step.
        let step = (tail / p).ln() * tail / density;
        z = (z + step).max(0.0);
        if step.abs() <= 1e-15 * z {
            break;
        }
    }
    let mut slack = 4.0 * f64::EPSILON * z.max(1e-3);
    for _ in 0..40 {
        let (low, high) = ((z - slack).max(0.0), z + slack);
        if (low == 0.0 || at(low).0.0 >= p) && at(high).0.1 <= p {
            return Ok((low, high));
        }
        slack *= 2.0;
    }
    Err(fail)
}

#[cfg(test)]
mod tests;
