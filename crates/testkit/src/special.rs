//! The special functions behind the tests: the incomplete gamma function (χ² tails) and
//! the incomplete beta function (binomial tails), with their inverses by bisection.
//!
//! Relative accuracy is about 1e-13 for small arguments and degrades with the size of
//! `ln Γ`, to about 1e-9 at a million: ample for a tail probability that is compared with
//! 1e-6, and too coarse for anything that states a guarantee.

/// The largest number of terms of continued fractions and series. Convergence takes about √a terms, so this is enough
/// for arguments up to about 10⁹; beyond it the result is NaN, never a guess.
const MOST_TERMS: usize = 200_000;

/// `ln Γ(x)` for `x > 0`: shifted up to 15 by `Γ(x+1) = xΓ(x)`, then Stirling's series,
/// whose first omitted term is below 1e-17 there.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let mut shifted = x;
    let mut product = 1.0;
    while shifted < 15.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let square = shifted * shifted;
    let series = [1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0]
        .into_iter()
        .fold(-691.0 / 360_360.0, |sum, term| sum / square + term);
    let correction = (series / square + 1.0 / 12.0) / shifted;
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * std::f64::consts::TAU.ln() + correction
        - product.ln()
}

/// `Q(a, x) = Γ(a, x)/Γ(a)`, the upper regularised incomplete gamma function.
///
/// NaN outside `a > 0`, `x ≥ 0`.
pub(crate) fn upper_gamma(a: f64, x: f64) -> f64 {
    if a.is_nan() || a <= 0.0 || x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        // P(a, x) = x^a e^−x / Γ(a+1) · (1 + x/(a+1) + x²/((a+1)(a+2)) + …)
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for n in 1..MOST_TERMS {
            term *= x / (a + n as f64);
            sum += term;
            if term < sum * f64::EPSILON {
                return 1.0 - front * sum;
            }
        }
        return f64::NAN;
    }
    let fraction = continued_fraction(x + 1.0 - a, |n| {
        let n = n as f64;
        (-n * (n - a), x + 2.0 * n + 1.0 - a)
    });
    front / fraction
}

/// `I_x(a, b)`, the regularised incomplete beta function.
///
/// NaN outside `a, b > 0`, `0 ≤ x ≤ 1`.
pub(crate) fn beta(a: f64, b: f64, x: f64) -> f64 {
    if a.is_nan() || a <= 0.0 || b.is_nan() || b <= 0.0 || !(0.0..=1.0).contains(&x) {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    // The fraction converges fast below the mean; above it, use I_x(a,b) = 1 − I_{1−x}(b,a).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below(b, a, 1.0 - x, (-x).ln_1p(), x.ln());
    }
    beta_below(a, b, x, x.ln(), (-x).ln_1p())
}

/// `I_x(a, b)` for `x` below about the mean, with `ln x` and `ln(1−x)` given.
fn beta_below(a: f64, b: f64, x: f64, ln_x: f64, ln_rest: f64) -> f64 {
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln_x + b * ln_rest).exp() / a;
    let fraction = continued_fraction(1.0, |n| {
        let m = (n / 2) as f64;
        let coefficient = if n % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        (coefficient, 1.0)
    });
    front / fraction
}

/// `b₀ + a₁/(b₁ + a₂/(b₂ + …))` by the modified Lentz algorithm; `terms(n)` is `(aₙ, bₙ)`.
fn continued_fraction(b0: f64, terms: impl Fn(usize) -> (f64, f64)) -> f64 {
    let nonzero = |x: f64| if x.abs() < 1e-300 { 1e-300 } else { x };
    let mut value = nonzero(b0);
    let (mut c, mut d) = (value, 0.0);
    for n in 1..MOST_TERMS {
        let (a, b) = terms(n);
        d = 1.0 / nonzero(b + a * d);
        c = nonzero(b + a / c);
        value *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            return value;
        }
    }
    f64::NAN
}

/// Two neighbouring numbers of `[low, high]` between which `below` turns from true to
/// false. `below` must hold at `low` and fail at `high`, and change once.
pub(crate) fn bisect(low: f64, high: f64, below: impl Fn(f64) -> bool) -> (f64, f64) {
    let (mut low, mut high) = (low, high);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return (low, high);
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, truth: f64, relative: f64) {
        assert!(
            (found - truth).abs() <= relative * truth.abs(),
            "found {found:e}, the truth is {truth:e}"
        );
    }

    // The expected values of this file were computed with mpmath at 40 digits.
    #[test]
    fn ln_gamma_is_known() {
        near(ln_gamma(0.5), 0.5723649429247001, 1e-14);
        near(ln_gamma(1e-3), 6.907178885383853, 1e-14);
        near(ln_gamma(10.0), 12.801827480081469, 1e-14);
        near(ln_gamma(1234.5), 7550.550901077895, 1e-14);
        near(ln_gamma(1e6), 12_815_504.569_147_611, 1e-14);
        assert!(ln_gamma(1.0).abs() < 1e-14 && ln_gamma(2.0).abs() < 1e-14);
    }

    #[test]
    fn upper_gamma_is_known() {
        near(upper_gamma(0.5, 0.1), 0.654720846018577, 1e-13);
        near(upper_gamma(0.5, 12.0), 9.633570086430946e-07, 1e-12);
        near(upper_gamma(10.0, 32.71), 1.000250423586693e-06, 1e-12);
        near(upper_gamma(500.0, 480.0), 0.8137180268096754, 1e-11);
        near(upper_gamma(500.0, 620.0), 2.8152332289542095e-07, 1e-11);
        near(upper_gamma(5e5, 5.04e5), 8.389162772487518e-09, 1e-8);
        assert_eq!(upper_gamma(3.0, 0.0), 1.0);
        assert_eq!(upper_gamma(3.0, f64::INFINITY), 0.0);
        assert!(upper_gamma(0.0, 1.0).is_nan() && upper_gamma(1.0, -1.0).is_nan());
        assert!(upper_gamma(f64::NAN, 1.0).is_nan() && upper_gamma(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn beta_is_known() {
        near(beta(0.5, 0.5, 0.25), 1.0 / 3.0, 1e-13);
        near(beta(2.0, 3.0, 0.4), 0.5248, 1e-13);
        near(beta(1.0, 1000.0, 1e-9), 9.999995005001662e-07, 1e-12);
        near(beta(30.0, 971.0, 0.05), 0.9992808027197848, 1e-11);
        near(beta(30.0, 971.0, 0.01), 2.0599888509719576e-07, 1e-11);
        near(beta(5e5, 5e5, 0.4975), 2.866069730171584e-07, 1e-8);
        assert_eq!((beta(2.0, 2.0, 0.0), beta(2.0, 2.0, 1.0)), (0.0, 1.0));
        assert!(beta(0.0, 1.0, 0.5).is_nan() && beta(1.0, 1.0, 1.5).is_nan());
    }

    /// `I_{1/2}(k, n−k+1) = P[Bin(n, 1/2) ≥ k]`, summed by hand.
    #[test]
    fn beta_is_a_binomial_tail() {
        let (n, k) = (20u32, 13u32);
        let choose = |j: u32| (1..=j).fold(1.0, |c, i| c * f64::from(n - j + i) / f64::from(i));
        let tail: f64 = (k..=n).map(choose).sum::<f64>() / 2f64.powi(n as i32);
        near(beta(f64::from(k), f64::from(n - k + 1), 0.5), tail, 1e-13);
    }

    #[test]
    fn bisect_ends_at_neighbouring_numbers() {
        let (low, high) = bisect(0.0, 2.0, |x| x * x < 2.0);
        assert!(low * low < 2.0 && high * high >= 2.0);
        assert_eq!(low.next_up(), high);
        let (low, high) = bisect(0.0, 1.0, |x| x < 1e-200);
        near(high, 1e-200, 1e-15);
        assert!(low < high);
    }
}
