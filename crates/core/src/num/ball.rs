//! Complex numbers with a radius of error, in floats.
//!
//! A [`Ball`] is a disc: a float midpoint and a radius within which the truth lies. Every operation widens the radius
//! by its rounding error. Compared with an [`Enclosure`](super::Enclosure), its range and precision are limited, but
//! it is about ten thousand times faster.
//!
//! # Special values
//! NaN or ∞ anywhere makes the radius NaN or ∞, and stays so: the caller
//! checks the end of a computation, not its steps.

use super::fast;

/// Half a unit in the last place of 1.
pub(crate) const U: f64 = f64::EPSILON / 2.0;

/// Bound on the absolute error of [`sin_cos`].
///
/// The reduced argument is off by at most 2⁻⁵² (one rounding of a number below
/// 0.8 and the constant's 100th bit), Horner's scheme by `4·2⁻⁵³`, the
/// truncated series by 2⁻⁶³: together below 2⁻⁵⁰.
pub(crate) const TRIG_ERROR: f64 = 1.0 / (1u64 << 50) as f64;

/// Radii are sums and products of a few hundred non-negative floats: their own
/// rounding is below this factor.
const GROW: f64 = 1.0 + 1.0 / (1u64 << 40) as f64;

/// A bound on what underflow may lose, far below anything that is measured here.
const TINY: f64 = 1e-290;

/// `(sin θ, cos θ)`, each within [`TRIG_ERROR`], for |θ| ≤ 2²⁰; NaN beyond.
pub(crate) fn sin_cos(theta: f64) -> (f64, f64) {
    // π/2 in three parts; the first two have 33 bits, so n·PART is exact.
    const HIGH: f64 = 1.570_796_326_734_125_6;
    const MIDDLE: f64 = 6.077_100_506_303_966e-11;
    const LOW: f64 = 2.022_266_248_795_950_7e-21;
    if theta.is_nan() || theta.abs() > 1_048_576.0 {
        return (f64::NAN, f64::NAN);
    }
    let n = (theta * std::f64::consts::FRAC_2_PI).round_ties_even();
    let r = ((theta - n * HIGH) - n * MIDDLE) - n * LOW; // |r| ≤ 0.7854
    let square = r * r;
    // Σ (−1)^k r^(2k+1)/(2k+1)! and Σ (−1)^k r^(2k)/(2k)!, to r¹⁹ and r²⁰.
    const SIN: [f64; 9] = series(1);
    const COS: [f64; 10] = series(0);
    let sine = r + r * square * SIN.iter().rev().fold(0.0, |sum, &c| sum * square + c);
    let cosine = 1.0 + square * COS.iter().rev().fold(0.0, |sum, &c| sum * square + c);
    match (n as i64).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The coefficients `(−1)^k/(2k + odd)!` for k = 1, 2, …
const fn series<const N: usize>(odd: usize) -> [f64; N] {
    let mut table = [0.0; N];
    let (mut k, mut term) = (1, 1.0);
    while k <= N {
        let top = (2 * k + odd) as f64;
        term = -term / (top * (top - 1.0));
        table[k - 1] = term;
        k += 1;
    }
    table
}

/// `e^x` within a relative `2·EXP_ERROR` for |x| ≤ 700; 0 below, ∞ above.
pub(crate) fn exp(x: f64) -> f64 {
    if x <= 0.0 {
        fast::exp_neg(-x)
    } else if x <= 700.0 {
        1.0 / fast::exp_neg(x)
    } else {
        x * f64::INFINITY // NaN stays NaN
    }
}

/// Bound on the relative error of [`exp`] on [−700, 700].
pub(crate) const EXP_ERROR: f64 = 2.0 * fast::EXP_ERROR;

/// An upper bound on `e^x`: never below `e^−700`, where [`exp`] would be 0.
pub(crate) fn exp_up(x: f64) -> f64 {
    // A NaN must stay one: `max` would turn it into −700.
    if x < -700.0 { exp_up(-700.0) } else { exp(x) * (1.0 + 2.0 * EXP_ERROR) }
}

/// A lower bound on `e^x`: never above `e^700`, 0 below −700.
pub(crate) fn exp_down(x: f64) -> f64 {
    if x > 700.0 { exp_down(700.0) } else { exp(x) * (1.0 - 2.0 * EXP_ERROR) }
}

/// The disc `{z : |z − (re + i·im)| ≤ radius}`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub(crate) re: f64,
    pub(crate) im: f64,
    pub(crate) radius: f64,
}

impl Ball {
    pub(crate) const ONE: Self = Self { re: 1.0, im: 0.0, radius: 0.0 };

    pub(crate) fn new(re: f64, im: f64, radius: f64) -> Self {
        Self { re, im, radius }
    }

    /// An upper bound on the modulus of the midpoint.
    pub(crate) fn modulus(&self) -> f64 {
        (self.re * self.re + self.im * self.im).sqrt() * (1.0 + 8.0 * U) + TINY
    }

    pub(crate) fn add(self, other: Self) -> Self {
        let (re, im) = (self.re + other.re, self.im + other.im);
        let rounding = U * (re.abs() + im.abs());
        Self { re, im, radius: (self.radius + other.radius + rounding) * GROW }
    }

    /// The product.
    ///
    /// # Proof
    /// For midpoints a, b and radii r, t: `|(a+r′)(b+t′) − ab| ≤ |a|t + |b|r + rt`,
    /// and the float product of a and b is within `√5·u·|a||b|` (Brent,
    /// Percival, Zimmermann 2007, Theorem 1), plus what underflows.
    pub(crate) fn mul(self, other: Self) -> Self {
        let (a, b) = (self.modulus(), other.modulus());
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
            radius: (a * other.radius
                + b * self.radius
                + self.radius * other.radius
                + 3.0 * U * a * b)
                * GROW
                + TINY,
        }
    }

    /// `factor · self` for an exact real factor.
    pub(crate) fn scale(self, factor: f64) -> Self {
        let (re, im) = (self.re * factor, self.im * factor);
        let rounding = U * (re.abs() + im.abs()) + TINY;
        Self { re, im, radius: (self.radius * factor.abs() + rounding) * GROW }
    }

    /// `self^power` by repeated squaring.
    pub(crate) fn power(self, mut power: u64) -> Self {
        let (mut result, mut square) = (Self::ONE, self);
        loop {
            if power & 1 == 1 {
                result = result.mul(square);
            }
            power >>= 1;
            if power == 0 {
                return result;
            }
            square = square.mul(square);
        }
    }

    /// `1/self`; an infinite radius when the disc may hold 0.
    ///
    /// # Proof
    /// `|1/(a+r′) − 1/a| ≤ r/(|a|(|a|−r))`; the float reciprocal `ā/|a|²` has
    /// five roundings and is within `6u/|a|`.
    pub(crate) fn recip(self) -> Self {
        let norm = self.re * self.re + self.im * self.im;
        let least = norm.sqrt() * (1.0 - 8.0 * U);
        if !(norm > TINY && least > self.radius) {
            return Self { re: 0.0, im: 0.0, radius: f64::INFINITY };
        }
        Self {
            re: self.re / norm,
            im: -self.im / norm,
            radius: (self.radius / (least * (least - self.radius)) + 6.0 * U / least) * GROW,
        }
    }

    /// `e^(x + iy)` for floats x and y that are each known to within `doubt`.
    ///
    /// # Proof
    /// `|e^(z+w) − e^z| ≤ |e^z|(e^|w| − 1) ≤ |e^z|·1.1|w|` for |w| ≤ 0.1, with
    /// `|w| ≤ 2·doubt`; the modulus is within a relative `EXP_ERROR` and the
    /// direction within `√2·TRIG_ERROR`, and their product rounds by u.
    pub(crate) fn exp(x: f64, y: f64, doubt: f64) -> Self {
        let (modulus, (sine, cosine)) = (exp(x), sin_cos(y));
        let relative = 2.2 * doubt + EXP_ERROR + 1.5 * TRIG_ERROR + 4.0 * U;
        let radius = if doubt <= 0.04 { modulus * relative * GROW + TINY } else { f64::INFINITY };
        Self { re: modulus * cosine, im: modulus * sine, radius }
    }
}

#[cfg(test)]
mod tests;
