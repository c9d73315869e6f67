//! Sums of the bell curve over the integers: the discrete Gaussian's tail.

use super::{Enclosure, Natural, Ratio, normal};

/// The largest σ for which the terms are added one by one.
const DIRECT: u64 = 64;

/// Encloses `T(m) = Σ_{k ≥ m} e^(−k²/(2σ²))`, m ≥ 0, to about 2^−`bits` absolutely.
///
/// # Proof
/// *σ ≤ 64*: the terms are added until they are below a unit and k ≥ 9σ; from
/// there successive terms shrink at least by `e^(−9/64) < 0.87`, so what is left
/// is below 8 units.
///
/// *σ > 64*: Euler–Maclaurin with `f(x) = e^(−x²/2σ²)`, whose n-th derivative is
/// `(−1)ⁿ σ⁻ⁿ Heₙ(x/σ) f(x)`:
/// `T(m) = ∫_m^∞ f + f(m)·(½ + Σ_{j≤6} B₂ⱼ/(2j)!·σ^(1−2j)·He₂ⱼ₋₁(m/σ)) + R`, where
/// `|R| ≤ 2ζ(12)/(2π)¹²·∫_m^∞ |f⁽¹²⁾|`. By Cramér's inequality
/// `|He₁₂(u)| e^(−u²/4) ≤ 1.0865·√(12!)`, and `∫_y^∞ e^(−u²/4) du ≤ √π·e^(−y²/4)`, so
/// `|R| ≤ 2.3·10⁻⁵·σ⁻¹¹·e^(−y²/4)` with y = m/σ. From y = 6 on, past the last root
/// of He₁₂ (5.501), the integral is `He₁₁(y)·e^(−y²/2) ≤ y¹¹·e^(−y²/2)`, and
/// `|R| ≤ 5.3·10⁻¹⁰·(y/σ)¹¹·e^(−y²/2)`.
pub(crate) fn tail(m: u128, sigma: &Ratio, bits: u32) -> Enclosure {
    let whole = sigma.fixed(0).0;
    if whole < Natural::from(DIRECT) {
        direct(m, sigma, bits)
    } else {
        // ∫ f grows with σ: that many bits stand before the point.
        euler_maclaurin(m, sigma, bits, whole.bits())
    }
}

fn direct(m: u128, sigma: &Ratio, bits: u32) -> Enclosure {
    let work = bits + 32;
    let half_precision = Ratio::new(1u64, 2u64).div(&sigma.mul(sigma));
    let at = |n: u128| Enclosure::exp_neg(&half_precision.mul(&Ratio::new(n, 1u64)), work);
    let (mut term, mut ratio, step) = (at(m.saturating_mul(m)), at(2 * m + 1), at(2));
    let mut sum = term.clone();
    let far = sigma.mul(&Ratio::new(9u64, 1u64)).fixed(0).0.to_u128().unwrap_or(u128::MAX);
    let mut k = m;
    while k <= far || term.upper > Natural::one() {
        term = term.mul(&ratio);
        ratio = ratio.mul(&step);
        sum = sum.add(&term);
        k += 1;
    }
    sum.upper = sum.upper.add(&Natural::from(8u64));
    sum.truncate(bits)
}

fn euler_maclaurin(m: u128, sigma: &Ratio, bits: u32, sigma_bits: u32) -> Enclosure {
    // B₂ⱼ/(2j)! and the coefficients of He₂ⱼ₋₁ from its highest power down;
    // both alternate in sign.
    const TERMS: [(u64, u64, &[u64]); 6] = [
        (1, 12, &[1]),
        (1, 720, &[1, 3]),
        (1, 30_240, &[1, 10, 15]),
        (1, 1_209_600, &[1, 21, 105, 105]),
        (1, 47_900_160, &[1, 36, 378, 1_260, 945]),
        (691, 1_307_674_368_000, &[1, 55, 990, 6_930, 17_325, 10_395]),
    ];
    let work = bits + sigma_bits + 64;
    let m = Ratio::new(m, 1u64);
    let y = m.div(sigma);
    let curve = Enclosure::exp_neg(&y.mul(&y).scale(-1), work);
    let y_fixed = Enclosure::of_ratio(&y, work);
    let y_squared = y_fixed.mul(&y_fixed);
    let inverse = Enclosure::of_ratio(&Ratio::new(1u64, 1u64).div(sigma), work);
    let inverse_squared = inverse.mul(&inverse);

    // [0] collects what is added and [1] what is subtracted.
    let half = Enclosure::of_ratio(&Ratio::new(1u64, 2u64), work);
    let mut sums = [half, Enclosure::of_ratio(&Ratio::zero(), work)];
    let mut inverse_power = inverse; // σ^(1−2j)
    for (j, (numerator, denominator, hermite)) in TERMS.into_iter().enumerate() {
        let factor = inverse_power.mul_ratio(&Ratio::new(numerator, denominator));
        // Σ ± cᵢ y^(2j+1−2i), from the lowest power up.
        let mut power = y_fixed.clone();
        for (i, &coefficient) in hermite.iter().enumerate().rev() {
            let term = power.mul_ratio(&Ratio::new(coefficient, 1u64)).mul(&factor);
            let side = (i + j) % 2;
            sums[side] = sums[side].add(&term);
            power = power.mul(&y_squared);
        }
        inverse_power = inverse_power.mul(&inverse_squared);
    }
    let [added, subtracted] = sums;
    let edge = curve.mul(&added.saturating_sub(&subtracted));

    let two_pi = Enclosure::pi(work).mul_ratio(&Ratio::new(2u64, 1u64));
    let integral = normal::upper_tail(&y, work).mul(&two_pi.sqrt()).mul_ratio(sigma);

    // inverse_power is σ⁻¹³ by now.
    let eleventh = inverse_power.mul_ratio(&sigma.mul(sigma));
    let remainder = if y >= Ratio::new(6u64, 1u64) {
        let fourth = y_squared.mul(&y_squared);
        let y_power = fourth.mul(&fourth).mul(&y_squared).mul(&y_fixed);
        let bound = curve.mul(&eleventh).mul(&y_power);
        bound.mul_ratio(&Ratio::new(53u64, 100_000_000_000u64))
    } else {
        let half_curve = Enclosure::exp_neg(&y.mul(&y).scale(-2), work); // e^(−y²/4)
        half_curve.mul(&eleventh).mul_ratio(&Ratio::new(23u64, 1_000_000u64))
    };
    let mut sum = integral.add(&edge);
    sum.lower = sum.lower.saturating_sub(&remainder.upper);
    sum.upper = sum.upper.add(&remainder.upper);
    sum.truncate(bits)
}

#[cfg(test)]
mod tests;
