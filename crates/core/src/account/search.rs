//! Proposes in floats and certifies: where a decreasing function crosses a level, and where a smooth one is least.

use super::Interval;
use crate::error::Result;

/// The relative width at which a bracket is narrow enough.
const NARROW: f64 = 4e-14;

/// Encloses the least ε ≥ 0 with `δ(ε) ≤ delta`, given a certified enclosure
/// `profile(ε) = (lower, upper)` of a non-increasing δ(ε).
///
/// # Guarantee
/// `δ(upper) ≤ delta` is certified, and so is `δ(lower) > delta` unless lower
/// is 0. Where no finite ε is found the answer is ∞ above.
pub(crate) fn crossing(
    start: f64,
    delta: f64,
    profile: impl Fn(f64) -> Result<(f64, f64)>,
) -> Result<Interval> {
    let mut bracket = Bracket { low: (0.0, f64::INFINITY), high: (f64::INFINITY, 0.0), delta };
    if bracket.offer(0.0, profile(0.0)?) == Side::Above {
        return Ok(Interval::new(0.0, 0.0));
    }
    let mut x = if start.is_finite() && start > 0.0 { start } else { 1.0 };
    for _ in 0..200 {
        match bracket.offer(x, profile(x)?) {
            Side::Above => break,
            _ => x *= 1.5,
        }
    }
    for round in 0..120 {
        let (low, high) = (bracket.low.0, bracket.high.0);
        if high.is_infinite() || high - low <= NARROW * high {
            break;
        }
        let mut x = if round % 4 == 3 { 0.5 * (low + high) } else { bracket.propose() };
        // Step across the root if it is bracketed from one side only.
        let step = 0.4 * NARROW * high;
        if x - low < step {
            x = low + step;
        }
        if high - x < step {
            x = high - step;
        }
        let found = profile(x)?;
        if bracket.offer(x, found) == Side::Undecided {
            // Within the certificate's own width: look on both sides of it.
            bracket.straddle(x, found, &profile)?;
            break;
        }
    }
    Ok(Interval::new(bracket.low.0, bracket.high.0))
}

#[derive(PartialEq)]
enum Side {
    Below,
    Above,
    Undecided,
}

/// `low` and `high` are (ε, δ) pairs on the two sides of the crossing.
struct Bracket {
    low: (f64, f64),
    high: (f64, f64),
    delta: f64,
}

impl Bracket {
    fn offer(&mut self, x: f64, (lower, upper): (f64, f64)) -> Side {
        if upper <= self.delta {
            if x < self.high.0 {
                self.high = (x, upper);
            }
            Side::Above
        } else if lower > self.delta {
            if x > self.low.0 || self.low.1.is_infinite() {
                self.low = (x, lower);
            }
            Side::Below
        } else {
            Side::Undecided
        }
    }

    /// The secant through the ends, in ln δ; the midpoint if that fails.
    fn propose(&self) -> f64 {
        let ((a, fa), (b, fb)) = (self.low, self.high);
        let level = |f: f64| (f / self.delta).ln();
        let x = a + (b - a) * level(fa) / (level(fa) - level(fb));
        if x > a && x < b { x } else { 0.5 * (a + b) }
    }

    /// Finds a decided point on either side of an undecided x, starting at about
    /// the distance that the width of its certificate is worth.
    fn straddle(
        &mut self,
        x: f64,
        (lower, upper): (f64, f64),
        profile: &impl Fn(f64) -> Result<(f64, f64)>,
    ) -> Result<()> {
        let slope = (self.low.1 / self.high.1).ln() / (self.high.0 - self.low.0);
        let width = 0.5 * (upper / lower).ln() / slope;
        let least = 0.25 * NARROW * x;
        let first = if width > least && width < 0.1 * x { width } else { least };
        for (sign, wanted) in [(-1.0, Side::Below), (1.0, Side::Above)] {
            let mut step = first;
            while step < x {
                let y = x + sign * step;
                if y <= self.low.0 || y >= self.high.0 {
                    break;
                }
                if self.offer(y, profile(y)?) == wanted {
                    break;
                }
                step *= 2.0;
            }
        }
        Ok(())
    }
}

/// The approximate minimum of a unimodal `f` on `[low, high]`, by golden section: a proposal, for bounds that hold
/// wherever they are evaluated.
pub(crate) fn least(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut fa, mut fb) = (f(a), f(b));
    for _ in 0..80 {
        // A NaN counts as large.
        if fa < fb || fb.is_nan() {
            (high, b, fb) = (b, a, fa);
            a = high - GOLDEN * (high - low);
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + GOLDEN * (high - low);
            fb = f(b);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests;
