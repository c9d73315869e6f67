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
mod tests;
