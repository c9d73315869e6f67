//! δ(ε) by an integral along a vertical line, with every error bounded.
//!
//! For any s₀ > 0, with M the moment generating function of the total loss,
//! ```text
//! δ(ε) = E_P[(1 − e^(ε−L))₊] = 1/(2πi) ∫ M(s)·e^(−sε) / (s(s+1)) ds,   Re s = s₀.
//! ```
//! The trapezoidal rule with step τ gives, by Poisson summation and with
//! `Y = 2π/τ`, *exactly*
//! ```text
//! T(ε) = Σ_m δ(ε + mY)·e^(s₀mY) ≥ δ(ε),
//! ```
//! so its error is a sum of other δ's, positive, and bounded by Chernoff's
//! inequality at two other tilts. s₀ is put near the saddle point, so that
//! nothing cancels and δ keeps its relative precision however small it is. Some
//! tens of points give twelve digits, where a lattice of that precision would
//! need millions; but the integrand must have died when the sum is cut, so
//! that laws made of a few atoms go to [`super::lattice`] instead.
//!
//! # References
//! Zhu, Dong, Wang 2022 (arXiv:2106.08567v4), §5 (characteristic functions);
//! Trefethen, Weideman 2014 (the exponentially convergent trapezoidal rule), §5.

use super::super::mass::Mass;
use super::decay::Decay;
use super::law::{Batch, Law};
use super::moment::short;
use super::solve::{FLOOR, Profile};
use super::steer::{Tilt, log_moment};
use crate::num::ball::{Ball, TRIG_ERROR, U, exp, exp_down, exp_up, sin_cos};
use std::f64::consts::{FRAC_1_PI, TAU};

/// The relative error in δ that cutting and aliasing are each allowed.
const TOLERANCE: f64 = 1e-11;
/// Approximate nanoseconds: above the first, other tilts are tried; above the second, a contour is not worth it.
const CHEAP: f64 = 5e5;
const DEAR: f64 = 5e8;
/// The cost of a point in the search for ε, in nanoseconds.
const SEARCH: f64 = 400.0;
/// The largest angle nτε: half of what `sin_cos` takes.
const ANGLE: f64 = 5e5;

/// 1/2π.
const OVER_TAU: f64 = 0.159_154_943_091_895_35;

/// δ(ε) of a batch, for ε near the one it was made for.
pub(super) struct Contour {
    s0: f64,
    tau: f64,
    /// ln of the scale the terms are relative to.
    kappa: f64,
    /// A bound on the error of κ.
    doubt: f64,
    /// `Π M_j^k_j·e^−κ / (s(s+1))` at s₀ + inτ: a bound from above.
    terms: Vec<Ball>,
    /// The same with `1/(s(s+1)) − v²e^(v²/8)`, where there is a smoothing v: from below.
    lower: Option<Vec<Ball>>,
    /// A bound on the sum of the terms beyond the last.
    rest: f64,
    /// Chernoff bounds on the aliases: `(s, ln bound at ε = 0)`.
    aliases: [(f64, f64); 2],
    infinite: (f64, f64),
    slack: f64,
}

impl Contour {
    /// Lays the contour through the saddle point; `None` if the sum would be too long to be worth it.
    ///
    /// The saddle point's δ may be far off where one rare, large loss rivals many
    /// small ones; `margin` asks for e^margin more precision than it suggests.
    pub(super) fn new(batch: &Batch, tilt: &Tilt, margin: f64) -> Option<Self> {
        Self::with(batch, tilt, margin, 0.0)
    }

    /// The same for laws of atoms, whose transforms do not die out: `smoothing` = v²
    /// costs about `v²(s₀+1)` of ε's width and makes them.
    ///
    /// # Proof
    /// *Above.* One more release, of Gaussian noise with μ = v, cannot lower δ. *Below.*
    /// Given the other losses, it turns `h(u) = (1 − e^−u)₊`, u = L − ε, into
    /// `h_v(u) = Φ(u/v + v/2) − e^−u·Φ(u/v − v/2)`, whose derivative in v is
    /// `φ(u/v + v/2)`; so `h_v − h = ∫₀^v φ(u/y + y/2)dy ≤ v·φ(0)·e^(−u²/2v² − u/2) =: b(u)`,
    /// as `(u/y + y/2)² ≥ u²/v² + u` for y ≤ v. Hence `δ ≥ δ_v − E[b(L−ε)]`, and the
    /// transform of b is `v²·e^((s+½)²v²/2) = v²e^(v²/8)·e^(s(s+1)v²/2)`: the smoothing
    /// release's own factor times a constant. Aliases of `−E[b]` only lower the sum. ∎
    pub(super) fn smoothed(batch: &Batch, tilt: &Tilt, smoothing: f64) -> Option<Self> {
        let mut batch = batch.clone();
        batch.laws.push((Law::Gaussian { mu2: smoothing, error: 0.0 }, 1));
        Self::with(&batch, tilt, 0.0, smoothing)
    }

    fn with(batch: &Batch, tilt: &Tilt, margin: f64, smoothing: f64) -> Option<Self> {
        if batch.laws.is_empty() {
            return None;
        }
        let mut plan = Plan::new(batch, tilt, tilt, margin);
        if plan.as_ref().is_none_or(|plan| plan.worth() > CHEAP) {
            // Beyond some tilt one rare, large loss outweighs all others and the
            // contour must be long; a little before it need not be.
            for part in [0.85, 0.7, 0.55, 0.4, 0.25] {
                let other = Plan::new(batch, tilt, &Tilt::at(batch, part * tilt.s), margin);
                plan = match (plan, other) {
                    (Some(a), Some(b)) => Some(if b.worth() < a.worth() { b } else { a }),
                    (a, b) => a.or(b),
                };
            }
        }
        let Plan { s0, tau, aliases, count, rest, cost, .. } = plan?;
        if cost > DEAR {
            return None;
        }
        let mut terms: Vec<Ball> = (0..=count)
            .map(|n| {
                let t = n as f64 * tau;
                let (re, im) = (s0 * s0 + s0 - t * t, t * (2.0 * s0 + 1.0));
                // |s(s+1)| ≥ s₀(s₀+1) + t², by Cauchy–Schwarz.
                Ball::new(re, im, 6.0 * U * (s0 * s0 + s0 + t * t + im.abs())).recip()
            })
            .collect();
        // v² + v⁴ ≥ v²e^(v²/8) for v² ≤ 1: a larger constant is a lower bound still.
        let constant = Ball::new(-smoothing * (1.0 + smoothing), 0.0, 0.0);
        let mut lower: Option<Vec<Ball>> =
            (smoothing > 0.0).then(|| terms.iter().map(|term| term.add(constant)).collect());
        let (mut kappa, mut doubt) = (0.0, 0.0);
        for (law, k) in &batch.laws {
            let each = law.cumulants(s0).0;
            let moments = law.moments(s0, tau, count, each);
            kappa += *k as f64 * (each + moments.log);
            doubt += *k as f64 * (moments.error + 2.0 * U * (each.abs() + moments.log.abs()));
            let powers = moments.powers(*k);
            for terms in std::iter::once(&mut terms).chain(lower.as_mut()) {
                for (term, power) in terms.iter_mut().zip(&powers) {
                    *term = term.mul(*power);
                }
            }
        }
        // `rest` is relative to ΠM_j(s₀)^k_j, the terms to e^κ: the first term,
        // which is their quotient over s₀(s₀+1), says how far κ is off.
        let off = (terms[0].modulus() + terms[0].radius) * s0 * (s0 + 1.0);
        let rest = rest * off.max(1.0) * (1.0 + 1e-12);
        let (infinite, slack) = (batch.infinite, batch.slack);
        Some(Self { s0, tau, kappa, doubt, terms, lower, rest, aliases, infinite, slack })
    }

    /// `Σ Re(term·e^(−inτε))` over both signs of n, and a bound on its error.
    fn sum(&self, terms: &[Ball], epsilon: f64) -> (f64, f64) {
        let (mut sum, mut doubt, mut size) = (0.0, 0.0, 0.0);
        for (n, term) in terms.iter().enumerate() {
            // nτ is exact; its product with ε rounds by u.
            let angle = n as f64 * self.tau * epsilon;
            let (sine, cosine) = sin_cos(angle);
            let weight = if n == 0 { 1.0 } else { 2.0 };
            sum += weight * (term.re * cosine + term.im * sine);
            let modulus = weight * term.modulus();
            size += modulus;
            doubt +=
                weight * term.radius + modulus * (1.5 * TRIG_ERROR + U * angle.abs() + 4.0 * U);
        }
        doubt += size * U * terms.len() as f64;
        // The truncated sum over both signs of t, times 2π/τ.
        doubt += self.rest * TAU * (1.0 + 1e-9) / self.tau;
        (sum, doubt * 1.001)
    }

    /// `(ln of the factor of the sum, without τ/2π; its error)` at ε.
    fn frame(&self, epsilon: f64) -> (f64, f64) {
        // κ is a sum of products, each rounded by u.
        let size = self.kappa.abs() + (self.s0 * epsilon).abs() + 1.0;
        (self.kappa - self.s0 * epsilon, self.doubt * 1.01 + 8.0 * U * size + 1e-14)
    }

    /// # Proof
    /// The factor `e^(κ−s₀ε)` is taken no smaller than `e^−700`, and whatever the products
    /// with it lose to underflow is below [`FLOOR`]. ∎
    fn above(&self, epsilon: f64) -> f64 {
        let (sum, doubt) = self.sum(&self.terms, epsilon);
        let (log, error) = self.frame(epsilon);
        (sum + doubt) * exp_up(log + error) * self.tau * OVER_TAU * (1.0 + 1e-15) + FLOOR
    }

    fn below(&self, epsilon: f64) -> f64 {
        let (sum, doubt) = self.sum(self.lower.as_ref().unwrap_or(&self.terms), epsilon);
        let (log, error) = self.frame(epsilon);
        let alias: f64 = self
            .aliases
            .iter()
            .map(|&(s, log)| exp_up(log - s * epsilon + 1e-9 + 1e-12 * (s * epsilon).abs()))
            .sum();
        let factor = exp_down(log - error) * self.tau * OVER_TAU * (1.0 - 1e-15);
        (sum - doubt).max(0.0) * factor - alias * (1.0 + 1e-9) - FLOOR
    }
}

#[cfg(test)]
impl Contour {
    /// A deliberate mistake, to test that it is noticed.
    pub(super) fn cut_short(mut self, terms: usize) -> Self {
        self.terms.truncate(terms);
        self
    }
}

impl Profile for Contour {
    fn about(&self, epsilon: f64) -> f64 {
        // By rotation, set right every 64 steps: fast, and good to 10⁻¹² or so.
        let mut sum = -0.5 * self.terms.first().map_or(0.0, |term| term.re);
        let (turn_sine, turn_cosine) = sin_cos(self.tau * epsilon);
        for (block, terms) in self.terms.chunks(64).enumerate() {
            let (mut sine, mut cosine) = sin_cos(64.0 * block as f64 * self.tau * epsilon);
            for term in terms {
                sum += term.re * cosine + term.im * sine;
                (sine, cosine) = (
                    sine * turn_cosine + cosine * turn_sine,
                    cosine * turn_cosine - sine * turn_sine,
                );
            }
        }
        let scale = exp(self.kappa - self.s0 * epsilon) * self.tau * OVER_TAU;
        2.0 * sum * scale + self.infinite.0
    }

    fn delta(&self, epsilon: f64) -> (f64, f64) {
        let low = self.below(epsilon + self.slack);
        let high = self.above(epsilon - self.slack);
        let (low, high) = (low.max(0.0) + self.infinite.0, high + self.infinite.1);
        (low * (1.0 - 4.0 * U), high * (1.0 + 4.0 * U))
    }
}

/// A certified upper bound on `K(s) = Σ k_j ln M_j(s)`: `ln(1+y) ≤ y` on each
/// moment divided by about itself.
pub(super) fn log_moment_up(batch: &Batch, s: f64) -> f64 {
    batch
        .laws
        .iter()
        .map(|(law, k)| {
            let kappa = law.cumulants(s).0;
            let moments = law.moments(s, 1.0, 0, kappa);
            let excess = moments.values[0];
            if !(excess.radius + moments.error).is_finite() {
                return f64::INFINITY; // a NaN must not pass for 0 below
            }
            let log = kappa + moments.log + moments.error;
            let over = if moments.about_one { excess.re } else { excess.re - 1.0 };
            let each = log + (over + excess.radius).max(0.0);
            *k as f64 * (each + 4.0 * U * each.abs())
        })
        .sum()
}

/// An upper bound on the least ε with δ(ε) ≤ `delta`, by Chernoff's inequality alone.
///
/// # Proof
/// `δ(ε) ≤ e^(K(s)−sε)/(1+s)` plus the probability of an infinite loss, see [`aliases`]; so
/// `ε = (K(s) − ln(1+s) − ln(delta − infinite))/s` is enough, for any s > 0. ∎
pub(super) fn chernoff(batch: &Batch, tilt: &Tilt, delta: f64) -> f64 {
    let left = (delta - batch.infinite.1) * (1.0 - 1e-12);
    if left.is_nan() || left <= 1e-300 {
        return f64::INFINITY;
    }
    [0.7, 1.0, 1.3]
        .map(|part| short(part * tilt.s))
        .into_iter()
        .filter(|s| *s > 0.0 && s.is_finite())
        .map(|s| {
            let log = |x: f64| Mass::exactly(x).ln().0;
            let terms = (log_moment_up(batch, s), log(1.0 + s), log(left));
            let size = terms.0.abs() + terms.1.abs() + terms.2.abs();
            let epsilon = (terms.0 - terms.1 - terms.2 + 1e-12 * size) / s;
            if epsilon.is_nan() { f64::INFINITY } else { epsilon.max(0.0) + batch.slack }
        })
        .fold(f64::INFINITY, f64::min)
        * (1.0 + 1e-12)
}

/// The points of a contour, and what they leave out.
struct Plan {
    s0: f64,
    tau: f64,
    aliases: [(f64, f64); 2],
    count: usize,
    rest: f64,
    /// Nanoseconds, about.
    cost: f64,
    /// The relative error of δ from rounding, about.
    noise: f64,
}

impl Plan {
    /// The objective to minimise: time, unless precision is short.
    fn worth(&self) -> f64 {
        self.cost * (1.0 + (self.noise / 1e-8).powi(2))
    }

    /// A contour for the ε and δ of `goal` through the tilt of `tilt`.
    fn new(batch: &Batch, goal: &Tilt, tilt: &Tilt, margin: f64) -> Option<Self> {
        let s0 = short(tilt.s);
        if !(s0 > 0.0 && s0.is_finite() && tilt.spread > 0.0 && tilt.spread.is_finite()) {
            return None;
        }
        // δ relative to e^(K−s₀ε): what errors are measured against.
        let base = log_moment(batch, s0) - s0 * goal.epsilon;
        let unit = 0.3 * exp((goal.log_delta - base - margin).clamp(-600.0, 0.0)).min(1.0 / s0);
        let (tau, aliases) =
            aliases(batch, goal.epsilon, tilt.spread, s0, base + (unit * TOLERANCE).ln())?;
        let (count, rest) = cut(batch, s0, tau, tilt.spread, unit * TOLERANCE)?;
        if tau * count as f64 * goal.epsilon.abs() > ANGLE {
            return None;
        }
        let each: f64 = batch.laws.iter().map(|(law, _)| law.cost(s0, tau * count as f64)).sum();
        // A power k multiplies a moment's error, some 10⁻¹⁴ of a typical tL or about √(60/k) where
        // it matters, by k; that of the whole is relative to the integral of the modulus.
        let noise: f64 =
            batch.laws.iter().map(|(_, k)| (60.0 * *k as f64).sqrt() * 2e-14 + 1e-14).sum();
        let noise = noise * 0.15 / ((s0 + 1.0) * unit) * exp(-margin);
        Some(Self { s0, tau, aliases, count, rest, cost: (each + SEARCH) * count as f64, noise })
    }
}

/// Chooses `Y = 2π/τ` so that the aliases add less than `e^goal`, and bounds them by `δ(ε) ≤ e^(K(s)−sε)/(1+s)`.
///
/// # Proof
/// `(1 − e^−u)₊ ≤ e^(su)·s^s/(1+s)^(1+s) ≤ e^(su)/(1+s)`, so for s₁ > s₀
/// `Σ_{m≥1} δ(ε+mY)e^(s₀mY) ≤ e^(K(s₁)−s₁ε)/(1+s₁)·x/(1−x)`, `x = e^(−(s₁−s₀)Y)`;
/// for 0 ≤ s₂ < s₀ and m ≤ −1 the same with `x = e^(−(s₀−s₂)Y)`, where s₂ = 0
/// means `δ ≤ 1`. ∎
fn aliases(
    batch: &Batch,
    epsilon: f64,
    spread: f64,
    s0: f64,
    goal: f64,
) -> Option<(f64, [(f64, f64); 2])> {
    let far = [0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 14.0].map(|c| c / spread);
    // The least Y with ln bound(s) − |s−s₀|Y ≤ goal, by a float's word …
    let need = |s: f64| {
        let log = log_moment(batch, s) - s * epsilon - (1.0 + s).ln();
        (log - goal) / (s - s0).abs()
    };
    let best = |candidates: &mut dyn Iterator<Item = f64>| {
        candidates
            .map(|s| (need(s), s))
            .filter(|c| c.0.is_finite())
            .min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (up_need, up) = best(&mut far.iter().map(|c| short(s0 + c)))?;
    let (down_need, down) =
        best(&mut far.iter().map(|c| short((s0 - c).max(0.0))).chain([short(0.5 * s0), 0.0]))?;
    let period = up_need.max(down_need) + 0.01 * spread;
    let tau = short(TAU / period);
    if !(tau > 0.0 && tau.is_finite()) {
        return None;
    }
    // … and the certified bound for the Y that was chosen, ∞ if it went wrong.
    let period = TAU * (1.0 - 1e-9) / tau;
    let bound = |s: f64| {
        // At s = 0 the moment is the mass, which is at most 1.
        let log = log_moment_up(batch, s);
        let log = if s == 0.0 { log.min(0.0) } else { log };
        let x = exp(-(s - s0).abs() * period);
        // −ln(1−x) ≤ 2x for x ≤ ½.
        let log = log - (s - s0).abs() * period + 2.0 * x;
        (s, if x <= 0.5 { log + 1e-12 * log.abs() } else { f64::INFINITY })
    };
    Some((tau, [bound(up), bound(down)]))
}

/// The number of terms to sum, and a bound on the rest.
///
/// # Proof
/// With `B(t) ≥ Π|M_j(s₀+it)/M_j(s₀)|^k_j` not increasing and
/// `|s(s+1)| ≥ t²`, the terms beyond `T = Nτ`, both signs, times `τ/2π` are at
/// most `(1/π)∫_T^∞ B(T)/t² dt = B(T)/(πT)`. With a smoothing v the lower sum also drops
/// `(1/π)∫_T^∞ (v²+v⁴)·B(T)e^(−v²(t²−T²)/2)dt ≤ (1+v²)B(T)/(πT)`. ∎
fn cut(batch: &Batch, s0: f64, tau: f64, spread: f64, goal: f64) -> Option<(usize, f64)> {
    let mut top = 5.0 / spread;
    let decays: Vec<(Decay, f64)> =
        batch.laws.iter().map(|(law, k)| (law.decay(s0), *k as f64)).collect();
    loop {
        let count = (top / tau).ceil();
        if count.is_nan() || count * SEARCH > DEAR {
            return None;
        }
        let at = count * tau;
        let log: f64 = decays.iter().map(|(decay, k)| k * decay.log(at)).sum();
        // Twice over and a little more, for the smoothing's part.
        let rest = exp(log.max(-690.0) * (1.0 - 1e-9)) * FRAC_1_PI * 2.01 / at;
        if rest <= goal {
            return Some((count as usize, rest));
        }
        top *= 1.25;
    }
}
