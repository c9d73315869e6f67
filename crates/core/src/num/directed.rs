//! Floats with a stated direction of rounding.
//!
//! IEEE 754 addition, multiplication, division and square root are within half
//! a unit in the last place, so the next float up (down) is a true upper
//! (lower) bound: `up(a * b) ≥ ab`. The transcendental functions of the
//! platform's library promise nothing, so here they go through
//! [`Enclosure`](super::Enclosure).

use super::{Enclosure, Ratio};
use crate::error::{Error, Result};

/// The least float above `x`: an upper bound on the exact result that was rounded to `x`.
#[must_use]
pub(crate) fn up(x: f64) -> f64 {
    x.next_up()
}

/// The greatest float below `x`.
#[must_use]
pub(crate) fn down(x: f64) -> f64 {
    x.next_down()
}

/// Working bits that give every function below about 2⁻⁶⁰ of relative slack.
const BITS: u32 = 128;

/// `(lower, upper)` floats around `e^−x`, for finite x ≥ 0. Below about 10⁻³⁰⁸
/// the lower end is 0.
pub(crate) fn exp_neg(x: f64) -> Result<(f64, f64)> {
    let ratio = match Ratio::from_f64(x) {
        Some(ratio) if x >= 0.0 => ratio,
        _ => return Err(Error::Precision { what: "an exponential" }),
    };
    // e^−x ≥ 2^−(1.4427 x + 1): carry that many more bits for a relative bound.
    let bits = BITS + (x.min(800.0) * 1.45) as u32;
    Ok(Enclosure::exp_neg(&ratio, bits).to_f64())
}

/// `(lower, upper)` floats around `ln x`, for finite x > 0.
///
/// The library's logarithm proposes and the certified exponential checks: `y ≤ ln x` iff `e^y ≤ x`.
pub(crate) fn ln(x: f64) -> Result<(f64, f64)> {
    let fail = Error::Precision { what: "a logarithm" };
    if !(x.is_finite() && x > 0.0) {
        return Err(fail);
    }
    let guess = x.ln();
    let mut slack = 2.0 * f64::EPSILON * guess.abs().max(0.125);
    for _ in 0..40 {
        let (lower, upper) = (guess - slack, guess + slack);
        if exp_at_most(lower, x)? && exp_at_least(upper, x)? {
            return Ok((lower, upper));
        }
        slack *= 2.0;
    }
    Err(fail)
}

/// Whether `e^y ≤ x` certainly.
fn exp_at_most(y: f64, x: f64) -> Result<bool> {
    if y <= 0.0 { Ok(exp_neg(-y)?.1 <= x) } else { Ok(exp_neg(y)?.0 >= up(1.0 / x)) }
}

/// Whether `e^y ≥ x` certainly.
fn exp_at_least(y: f64, x: f64) -> Result<bool> {
    if y <= 0.0 { Ok(exp_neg(-y)?.0 >= x) } else { Ok(exp_neg(y)?.1 <= down(1.0 / x)) }
}

#[cfg(test)]
mod tests;
