//! `ln` and `e^−x` in floats, each with a stated and derived error bound. The platform's own functions guarantee none,
//! so they cannot decide a draw; these can, if the answer is not within their error.

/// Bound on the absolute error of [`neg_ln_bits`], and of [`ln`] on `[2⁻⁶⁴, 2⁶⁴]`.
///
/// The slice's logarithm is good to 2⁻⁵⁰ (a series in floats, tested against
/// certified values), the reduced argument to 2⁻⁵² (its rounding and that of
/// the conversion), the truncated series to 2⁻⁵⁸. Multiples of ln 2 up to 64
/// carry 2⁻⁴⁹ of the constant's error and 2⁻⁴⁸ of rounding, twice; two sums of
/// numbers below 64 round by 2⁻⁴⁸ each. Together below `6·2⁻⁴⁸ < 2⁻⁴⁵`, stated as 2⁻⁴⁴.
pub(crate) const LN_ERROR: f64 = 1.0 / (1u64 << 44) as f64;

/// Bound on the relative error of [`exp_neg`] on `[0, 700]`.
///
/// The reduction `r = x − n·ln 2` is good to 2⁻⁵² absolutely (the high part's
/// product is exact), Horner's scheme to `4·2⁻⁵³` relatively, the truncation
/// to 2⁻⁵⁷: together below `0.8·2⁻⁵⁰`.
pub(crate) const EXP_ERROR: f64 = 1.0 / (1u64 << 50) as f64;

const SPLIT: usize = 128;

/// `(1/c, ln c)` for c the middle of each of 128 slices of `[1, 2)`.
static LN_TABLE: [(f64, f64); SPLIT] = ln_table();

const fn ln_table() -> [(f64, f64); SPLIT] {
    let mut table = [(0.0, 0.0); SPLIT];
    let mut i = 0;
    while i < SPLIT {
        let inverse = 1.0 / (1.0 + (i as f64 + 0.5) / SPLIT as f64);
        // −ln(inverse) = 2 artanh((1 − inverse)/(1 + inverse)), |f| ≤ 1/3.
        let f = (1.0 - inverse) / (1.0 + inverse);
        let square = f * f;
        let (mut sum, mut k) = (0.0, 41);
        while k > 0 {
            sum = sum * square + 1.0 / k as f64;
            k -= 2;
        }
        table[i] = (inverse, 2.0 * f * sum);
        i += 1;
    }
    table
}

/// `ln m` for m in [1, 2), given as a float.
#[inline]
fn ln_mantissa(m: f64) -> f64 {
    // The top 7 bits of the fraction choose the slice.
    let slice = (m.to_bits() >> 45) as usize % SPLIT;
    let (inverse, log) = LN_TABLE[slice];
    let r = m * inverse - 1.0; // |r| < 2⁻⁷
    let r2 = r * r;
    let low = r - 0.5 * r2;
    let high =
        r * r2 * ((1.0 / 3.0 - 0.25 * r) + r2 * (0.2 - r * (1.0 / 6.0)) + r2 * r2 * (1.0 / 7.0));
    log + (low + high)
}

/// `−ln(u / 2⁶³)` for an integer 0 < u < 2⁶³, within [`LN_ERROR`].
///
/// The exponent is read off the float and not counted as leading zeros: `bsr`
/// waits for its old destination, which would chain the draws of a batch.
#[inline]
pub(crate) fn neg_ln_bits(u: u64) -> f64 {
    63.0 * std::f64::consts::LN_2 - ln(u as i64 as f64)
}

/// `ln x` for a positive normal float, within [`LN_ERROR`] if 2⁻⁶⁴ ≤ x ≤ 2⁶⁴.
#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    exponent as f64 * std::f64::consts::LN_2 + ln_mantissa(m)
}

/// `e^−x` for 0 ≤ x, within a relative [`EXP_ERROR`] up to 700; 0 beyond.
#[inline]
pub(crate) fn exp_neg(x: f64) -> f64 {
    // ln 2 = HIGH + LOW; HIGH has 32 significant bits, so n·HIGH is exact.
    const HIGH: f64 = 6.931_471_803_691_238e-1;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    if x > 700.0 {
        return 0.0;
    }
    let n = (x * std::f64::consts::LOG2_E).round_ties_even();
    let r = (x - n * HIGH) - n * LOW; // |r| ≤ 0.347
    // Horner for Σ (−r)^k / k!, to k = 13: the next term is below 5·10⁻¹⁸.
    let mut sum = 1.0;
    let mut k = 13.0;
    while k > 0.5 {
        sum = 1.0 - r * sum / k;
        k -= 1.0;
    }
    f64::from_bits((1023 - n as u64) << 52) * sum
}

#[cfg(test)]
mod tests;
