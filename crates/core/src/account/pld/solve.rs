//! From bounds on δ(ε) to bounds on ε(δ).

use super::super::Interval;

/// Bounds on a decreasing δ(ε), by any method.
pub(super) trait Profile {
    /// An estimate of δ(ε), without an error bound.
    fn about(&self, epsilon: f64) -> f64;
    /// `(lower, upper)`, certified. `(0, 1)` if nothing is known.
    fn delta(&self, epsilon: f64) -> (f64, f64);
}

/// No δ below this is certified: a smaller one is rounded up to it (down to 0 in a lower
/// bound). Floats end at 10⁻³⁰⁸, the exponentials used here at `e^−700` ≈ 10⁻³⁰⁴, and what a
/// product loses to underflow is far below.
pub(super) const FLOOR: f64 = 1e-300;

/// Encloses the least ε ≥ 0 with `δ(ε) ≤ delta`: [`Profile::about`] proposes, [`Profile::delta`] certifies. The search
/// begins at `start`, in steps of `reach`.
///
/// # Guarantee
/// `δ(upper) ≤ delta` and, unless lower is 0, `δ(lower) > delta`: the truth
/// lies between, as δ does not increase with ε. ∞ above where nothing finite passes.
pub(super) fn cross(profile: &dyn Profile, delta: f64, start: f64, reach: f64) -> Interval {
    if profile.delta(0.0).1 <= delta {
        return Interval::new(0.0, 0.0);
    }
    let (x, slope) = propose(profile, delta, start, reach);
    // The first guess of the margin: what is not known of δ here, over the slope.
    let (low, high) = profile.delta(x);
    if !high.is_finite() {
        return Interval::at_most(f64::INFINITY);
    }
    let doubt = (high - low) / (slope * delta);
    let least = 1e-15 * x + 1e-300;
    let margin =
        if doubt.is_finite() { (0.6 * doubt).clamp(least, 0.1 * x + least) } else { least };
    let widen = |passes: &dyn Fn(f64) -> bool| {
        let mut step = margin;
        while step <= 4.0 * x + 1.0 {
            if passes(step) {
                return Some(step);
            }
            step *= 1.5;
        }
        None
    };
    let upper = widen(&|step| profile.delta(x + step).1 <= delta);
    let lower = widen(&|step| step < x && profile.delta(x - step).0 > delta);
    Interval::new(
        lower.map_or(0.0, |step| (x - step).max(0.0)),
        upper.map_or(f64::INFINITY, |step| x + step),
    )
}

/// A proposal for the ε where δ(ε) = `delta`.
pub(super) fn guess(profile: &dyn Profile, delta: f64, start: f64, reach: f64) -> f64 {
    propose(profile, delta, start, reach).0
}

/// About where δ(ε) = `delta`, and about −d ln δ/dε there.
fn propose(profile: &dyn Profile, delta: f64, start: f64, reach: f64) -> (f64, f64) {
    // ln δ(ε)/delta, kept finite: δ(ε) may be 0 or beyond the floats.
    let height = |x: f64| {
        let y = (profile.about(x).max(0.0) / delta + 1e-3) / 1.001;
        if y.is_finite() { y.ln() } else { 700.0 }
    };
    // Far below the masses a tilted sum is all noise: search outwards in steps of
    // what the loss spreads by.
    let reach = if reach > 0.0 { reach.min(0.02 * start) } else { 0.02 * start };
    let (mut low, mut high) = (start - reach, start + reach);
    let (mut f_low, mut f_high) = (height(low), height(high));
    let mut stride = 2.0 * reach;
    while f_low <= 0.0 && low > 0.0 {
        (high, f_high) = (low, f_low);
        low = if low - stride > 0.02 * start { low - stride } else { 0.25 * low - 1e-300 };
        stride *= 1.5;
        f_low = height(low);
    }
    stride = 2.0 * reach;
    while f_high > 0.0 && high < 1e9 {
        (low, f_low) = (high, f_high);
        high += stride;
        stride *= 1.5;
        f_high = height(high);
    }
    let mut slope = (f_low - f_high) / (high - low);
    let mut side = 0;
    for _ in 0..70 {
        if high - low <= 2e-16 * high || f_low <= 0.0 || f_high > 0.0 {
            break;
        }
        let mut x = (low * f_high - high * f_low) / (f_high - f_low);
        if !(x > low && x < high) {
            x = 0.5 * (low + high);
        }
        let y = height(x);
        // The chord to the nearer end tells the slope, until noise does.
        let chord = if y > 0.0 { (y - f_high) / (high - x) } else { (f_low - y) / (x - low) };
        if y.abs() > 1e-9 && chord.is_finite() && chord > 0.0 {
            slope = chord;
        }
        if y > 0.0 {
            (low, f_low) = (x, y);
            if side == 1 {
                f_high *= 0.5;
            }
            side = 1;
        } else {
            (high, f_high) = (x, y);
            if side == -1 {
                f_low *= 0.5;
            }
            side = -1;
        }
        if y.abs() < 1e-14 {
            return (x, slope);
        }
    }
    (high, slope)
}
