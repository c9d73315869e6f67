//! Gaussian noise: on reals with the analytic calibration, and on integers
//! with the discrete Gaussian's *own* δ.

use super::histogram::whole_up;
use super::{Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::num::{Enclosure, Natural, Ratio, lattice, normal};
use crate::random::Randomness;
use crate::sample::{self, RoundedGaussian, Scale};
use crate::unit::{Beta, Delta, Epsilon, Grid, L2, Rho, Sensitivity};
use crate::utility::Accuracy;

/// Adds Gaussian noise to real numbers and rounds the sum to a public grid.
///
/// `M(x) = f(x) + (X₁, …, X_k)` with independent `X_i ~ N(0, σ²)`.
///
/// ```
/// use demure_core::mechanism::Gaussian;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Delta, Epsilon, Sensitivity};
///
/// // A gradient that one person moves by at most 1 in the Euclidean norm.
/// let gaussian = Gaussian::new(Epsilon::new(1.0)?, Delta::new(1e-6)?, Sensitivity::new(1.0)?)?;
/// let release = gaussian.release_vector(&[0.2, -0.7, 1.1], &mut SystemRandom::new()?)?;
/// println!("{:?} with σ = {:.2}", release.value(), gaussian.sigma());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// Under the neighbour relation for which `‖f(x) − f(x′)‖₂ ≤ Δ₂`: (ε,δ)-DP iff
/// `Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ) ≤ δ` (the analytic calibration takes the
/// least such σ), and `Δ²/2σ²`-zCDP.
/// # Proof
/// By rotation the worst pair is N(0,σ²) against N(Δ,σ²) on a line. Its privacy
/// loss `Δ²/2σ² + ΔZ/σ` is above ε iff Z is above `εσ/Δ − Δ/2σ`, so
/// `δ(ε) = P_x[loss > ε] − e^ε·P_x′[loss > ε]` is the expression above; it grows
/// with Δ, and falls with σ, so σ is found by bisection and the result is
/// *certified*: the returned σ satisfies the inequality in interval arithmetic.
/// Rényi: `D_α = αΔ²/2σ²`. The rounding is post-processing. ∎
/// # Special values
/// A value that is NaN or infinite is refused; a finite one beyond 2¹²⁰ grid
/// steps is clamped there.
/// # References
/// Balle & Wang 2018 (arXiv:1805.06530v2), Theorem 8; Bun & Steinke 2016
/// (arXiv:1605.02065v1), Proposition 1.6.
#[derive(Clone, Debug)]
pub struct Gaussian {
    sigma: f64,
    sensitivity: Sensitivity<L2>,
    guarantee: Guarantee,
    grid: Grid,
    noise: RoundedGaussian,
}

impl Gaussian {
    /// Calibrates the least noise for (ε,δ), to a relative 10⁻¹².
    pub fn new(epsilon: Epsilon, delta: Delta, sensitivity: Sensitivity<L2>) -> Result<Self> {
        let sigma = analytic_sigma(epsilon, delta, sensitivity)?;
        Self::build(sigma, sensitivity, Guarantee::Approximate(epsilon, delta))
    }

    /// Calibrates the noise by the textbook's formula `σ = Δ₂·√(2 ln(2/δ))/ε`, rounded up.
    ///
    /// The formula is not valid for every ε: at ε = 10, δ = 10⁻⁶ its σ is too small. So the
    /// exact δ is computed, and a σ that is too small is refused.
    pub fn classic(epsilon: Epsilon, delta: Delta, sensitivity: Sensitivity<L2>) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let (_, log) = directed::ln(up(2.0 / delta.get()))?;
        let sigma = up(up(up(up(2.0 * log).sqrt()) * sensitivity.get()) / epsilon.get());
        if gaussian_delta(sigma, epsilon, sensitivity)?.1 > delta.get() {
            return Err(Error::Infeasible {
                what: "the classic calibration does not give this guarantee at so large an epsilon",
                remedy: "use the analytic calibration, which does",
            });
        }
        Self::build(sigma, sensitivity, Guarantee::Approximate(epsilon, delta))
    }

    /// Calibrates the least noise for ρ-zCDP: `σ = Δ₂/√(2ρ)`, rounded up.
    pub fn concentrated(rho: Rho, sensitivity: Sensitivity<L2>) -> Result<Self> {
        let sigma = concentrated_sigma(rho, sensitivity);
        Self::build(sigma, sensitivity, Guarantee::Concentrated(rho))
    }

    fn build(sigma: f64, sensitivity: Sensitivity<L2>, guarantee: Guarantee) -> Result<Self> {
        let grid = Grid::for_scale(sigma)?;
        let noise = RoundedGaussian::new(&Scale::new(sigma)?, grid)?;
        Ok(Self { sigma, sensitivity, guarantee, grid, noise })
    }

    /// The same noise on a public grid of your choice.
    pub fn on(self, grid: Grid) -> Result<Self> {
        let noise = RoundedGaussian::new(&Scale::new(self.sigma)?, grid)?;
        Ok(Self { grid, noise, ..self })
    }

    /// The standard deviation of the noise.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The spacing of released values.
    #[must_use]
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The sensitivity that the noise is calibrated to.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity<L2> {
        self.sensitivity
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Releases one number.
    pub fn release(&self, value: f64, rng: &mut dyn Randomness) -> Result<Release<f64>> {
        let steps = self.noise.draw(value, rng)?;
        Ok(Release::new(self.grid.at(steps), self.guarantee))
    }

    /// Releases a vector whose ℓ₂ sensitivity, over all coordinates together, is Δ₂.
    pub fn release_vector(
        &self,
        values: &[f64],
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<f64>>> {
        let noised: Result<Vec<f64>> =
            values.iter().map(|&value| Ok(self.grid.at(self.noise.draw(value, rng)?))).collect();
        Ok(Release::new(noised?, self.guarantee))
    }
}

impl Accuracy for Gaussian {
    /// `σ·z` with `P[|Z| > z] = β`, plus a grid step for the rounding.
    fn error(&self, beta: Beta) -> Result<f64> {
        let (_, z) = normal::upper_quantile(0.5 * beta.get())?;
        Ok(up(up(self.sigma * z) + self.grid.spacing()))
    }
}

/// Adds discrete Gaussian noise to integers.
///
/// `M(x) = q(x) + Z` with `P[Z = k] ∝ e^(−k²/(2σ²))`.
///
/// ```
/// use demure_core::mechanism::DiscreteGaussian;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Rho, Sensitivity};
///
/// // Counts that one person moves by at most √2 in the Euclidean norm, for ρ = 0.01.
/// let sensitivity = Sensitivity::new(2f64.sqrt().next_up())?;
/// let gaussian = DiscreteGaussian::concentrated(Rho::new(0.01)?, sensitivity)?;
/// let release = gaussian.release_vector(&[310, 95, 240], &mut SystemRandom::new()?)?;
/// println!("{:?}", release.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// For one integer with `|q(x) − q(x′)| ≤ d`: (ε,δ)-DP iff
/// `P[Z ≥ m] − e^ε·P[Z ≥ m + d] ≤ δ` with `m = ⌊εσ²/d − d/2⌋ + 1`. For integer
/// vectors with `‖q(x) − q(x′)‖₂ ≤ Δ₂`: `Δ₂²/2σ²`-zCDP.
///
/// This δ is **not** that of the continuous Gaussian: at σ = 1, ε = 1 it is 0.1414
/// where the continuous one has 0.1269.
/// # Proof
/// `P[Z = k]/P[Z = k + d] = e^((2kd + d²)/2σ²)` grows with k, so the worst event is a
/// half-line, `{k ≥ m}` for the least m where it exceeds e^ε. A smaller shift has a
/// larger `P[Z ≥ m + d]`, hence a smaller δ for every m. zCDP: Canonne, Kamath &
/// Steinke, by comparing theta sums. Z is drawn exactly. ∎
/// # References
/// Canonne, Kamath, Steinke 2020 (arXiv:2004.00010v5), Theorems 4 and 7.
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    sigma: f64,
    sensitivity: Sensitivity<L2>,
    guarantee: Guarantee,
    noise: sample::DiscreteGaussian,
}

impl DiscreteGaussian {
    /// Calibrates the noise for (ε,δ) on one integer that moves by at most `d`.
    ///
    /// σ is at the edge of what is enough, to a relative 10⁻¹², and certified. Below
    /// σ ≈ 1 the discrete Gaussian's δ is *not* monotone in σ: some smaller σ may
    /// do as well, and some larger ones may not. So do not round σ up.
    pub fn new(epsilon: Epsilon, delta: Delta, d: u32) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let sensitivity = Sensitivity::new(f64::from(d))?;
        let start = analytic_sigma(epsilon, delta, sensitivity)?;
        let sigma = least_sigma(delta, start, |sigma| discrete_delta(sigma, epsilon, d))?;
        Self::build(sigma, sensitivity, Guarantee::Approximate(epsilon, delta))
    }

    /// Calibrates the least noise for ρ-zCDP on integers of ℓ₂ sensitivity Δ₂.
    pub fn concentrated(rho: Rho, sensitivity: Sensitivity<L2>) -> Result<Self> {
        let sigma = concentrated_sigma(rho, sensitivity);
        Self::build(sigma, sensitivity, Guarantee::Concentrated(rho))
    }

    fn build(sigma: f64, sensitivity: Sensitivity<L2>, guarantee: Guarantee) -> Result<Self> {
        let noise = sample::DiscreteGaussian::new(&Scale::new(sigma)?)?;
        Ok(Self { sigma, sensitivity, guarantee, noise })
    }

    /// The parameter σ (the standard deviation is a little less when σ is small).
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The sensitivity that the noise is calibrated to.
    #[must_use]
    pub fn sensitivity(&self) -> Sensitivity<L2> {
        self.sensitivity
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// Releases one integer.
    pub fn release(&self, value: i128, rng: &mut dyn Randomness) -> Result<Release<i128>> {
        Ok(Release::new(value.saturating_add(self.noise.draw(rng)?), self.guarantee))
    }

    /// Releases integers whose ℓ₂ sensitivity, over all of them together, is Δ₂.
    ///
    /// Refused for a calibration to (ε,δ), which holds for one integer only: the discrete
    /// Gaussian is not rotation invariant.
    pub fn release_vector(
        &self,
        values: &[i128],
        rng: &mut dyn Randomness,
    ) -> Result<Release<Vec<i128>>> {
        if !matches!(self.guarantee, Guarantee::Concentrated(_)) {
            return Err(Error::Infeasible {
                what: "a discrete Gaussian calibrated to (epsilon, delta) covers one integer",
                remedy: "calibrate to rho for a vector",
            });
        }
        let mut noised = vec![0; values.len()];
        self.noise.fill(&mut noised, rng)?;
        for (noise, value) in noised.iter_mut().zip(values) {
            *noise = value.saturating_add(*noise);
        }
        Ok(Release::new(noised, self.guarantee))
    }
}

impl Accuracy for DiscreteGaussian {
    /// The least integer t with `P[|Z| > t] ≤ β`, certified.
    fn error(&self, beta: Beta) -> Result<f64> {
        let sigma = exact(self.sigma)?;
        let bits = 128 + (-beta.get().log2()).ceil() as u32;
        let exceeds = |t: u128| -> Result<bool> {
            let outside = ratio_of_tails(t + 1, &sigma, bits)?;
            Ok(outside.to_f64().1 > 0.5 * beta.get())
        };
        if !exceeds(0)? {
            return Ok(0.0);
        }
        // The normal quantile is close: bracket the least t around it, then halve.
        let (z, _) = normal::upper_quantile(0.5 * beta.get())?;
        let (mut low, mut high) = (0, (self.sigma * z) as u128 + 2);
        while exceeds(high)? {
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if exceeds(middle)? { low = middle } else { high = middle }
        }
        Ok(whole_up(high))
    }
}

fn exact(x: f64) -> Result<Ratio> {
    Ratio::from_f64(x)
        .filter(|r| !r.is_zero())
        .ok_or(Error::OutOfRange { parameter: "sigma", allowed: "a finite number greater than 0" })
}

fn concentrated_sigma(rho: Rho, sensitivity: Sensitivity<L2>) -> f64 {
    up(sensitivity.get() / down(down(2.0 * rho.get()).sqrt()))
}

/// The least σ for (ε,δ) and Δ₂: in `[truth, truth·(1 + 10⁻¹²)]`.
pub(crate) fn analytic_sigma(
    epsilon: Epsilon,
    delta: Delta,
    sensitivity: Sensitivity<L2>,
) -> Result<f64> {
    let delta = Delta::positive(delta.get())?;
    // Within a factor of two of the answer for all common parameters; and δ is
    // at most the total variation, below Δ/(σ√2π), so no more than this is needed.
    let log = (2.0 * (1.25f64.ln() - delta.get().ln())).sqrt();
    let most = (0.4 / delta.get()).max(1e-3);
    let start = (log / epsilon.get()).clamp(1e-3, most) * sensitivity.get();
    least_sigma(delta, start, |sigma| gaussian_delta(sigma, epsilon, sensitivity))
}

/// Floats around the exact δ of Gaussian noise σ at ε:
/// `Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ)`.
///
/// With `a = Δ/2σ` and `b = εσ/Δ`, ε = 2ab, so `e^ε·φ(a+b) = φ(b−a)` and the second term is
/// `φ(b−a)·R(a+b)`, R being Mills' ratio: no `e^ε` is computed, however large ε is.
pub(crate) fn gaussian_delta(
    sigma: f64,
    epsilon: Epsilon,
    sensitivity: Sensitivity<L2>,
) -> Result<(f64, f64)> {
    let noise = exact(sigma)?.div(&exact(sensitivity.get())?);
    let epsilon_exact = exact(epsilon.get())?;
    let a = Ratio::new(1u64, 2u64).div(&noise);
    let b = epsilon_exact.mul(&noise);
    let Some(bits) = precision(b.to_f64() - a.to_f64()) else {
        return Ok(NEXT_TO_NOTHING);
    };
    let (apart, first) = if a >= b {
        let apart = a.saturating_sub(&b);
        let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), bits);
        let first = one.saturating_sub(&normal::upper_tail(&apart, bits));
        (apart, first)
    } else {
        let apart = b.saturating_sub(&a);
        let first = normal::upper_tail(&apart, bits);
        (apart, first)
    };
    let ratio = normal::mills(&a.add(&b), bits);
    let ratio = ratio.ok_or(Error::Precision { what: "the Gaussian's delta" })?;
    let second = normal::density(&apart, bits).mul(&ratio);
    Ok(first.saturating_sub(&second).to_f64())
}

/// Encloses `e^ε`.
fn growth(epsilon: &Ratio, bits: u32) -> Result<Enclosure> {
    Enclosure::exp(epsilon, bits).ok_or(Error::Precision { what: "e^epsilon" })
}

/// A float interval for a δ that is certainly below the least float.
const NEXT_TO_NOTHING: (f64, f64) = (0.0, 5e-324);

/// Bits that leave a relative 2⁻⁶⁰ of a tail at distance `x` after the
/// cancellation; `None` for a tail below the floats.
fn precision(x: f64) -> Option<u32> {
    // P[Z > x] ≤ e^(−x²/2) for both Gaussians, below 5·10⁻³²⁴ from 39 on.
    let distance = x.max(0.0);
    (distance < 39.0).then_some((200.0 + 0.73 * distance * distance) as u32)
}

/// Floats around the exact δ of the discrete Gaussian with parameter σ at ε,
/// for one integer of sensitivity d.
pub(crate) fn discrete_delta(sigma: f64, epsilon: Epsilon, d: u32) -> Result<(f64, f64)> {
    let (s, e) = (exact(sigma)?, exact(epsilon.get())?);
    let shift = Ratio::new(u64::from(d), 1u64);
    // m = ⌊c⌋ + 1 with c = εσ²/d − d/2.
    let (gain, loss) = (e.mul(&s).mul(&s).div(&shift), shift.scale(-1));
    let Some(bits) = precision((gain.to_f64() - loss.to_f64()) / sigma) else {
        return Ok(NEXT_TO_NOTHING);
    };
    if epsilon.get() > 1000.0 {
        let allowed = "at most 1000 for the discrete Gaussian";
        return Err(Error::OutOfRange { parameter: "epsilon", allowed });
    }
    let bits = bits + (1.5 * epsilon.get()) as u32; // what e^ε costs
    let whole = |n: Natural| n.to_u128().filter(|&n| n < 1 << 100).map(|n| n as i128);
    let m = if gain >= loss {
        whole(gain.saturating_sub(&loss).split().0).map(|c| c + 1)
    } else {
        // ⌊−x⌋ + 1 = −⌈x⌉ + 1.
        let (floor, rest) = loss.saturating_sub(&gain).split();
        whole(floor).map(|c| if rest.is_zero() { 1 - c } else { -c })
    };
    let m = m.ok_or(Error::Precision { what: "the discrete Gaussian's delta" })?;
    let at_least = |m: i128| -> Result<Enclosure> {
        if m >= 1 {
            ratio_of_tails(m.unsigned_abs(), &s, bits)
        } else {
            let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), bits);
            Ok(one.saturating_sub(&ratio_of_tails((1 - m).unsigned_abs(), &s, bits)?))
        }
    };
    let second = growth(&e, bits)?.mul(&at_least(m + i128::from(d))?);
    Ok(at_least(m)?.saturating_sub(&second).to_f64())
}

/// Encloses `P[Z ≥ m]` of the discrete Gaussian, m ≥ 1.
fn ratio_of_tails(m: u128, sigma: &Ratio, bits: u32) -> Result<Enclosure> {
    let work = bits + 16;
    let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), work);
    let side = lattice::tail(1, sigma, work);
    let total = one.add(&side).add(&side);
    let ratio = lattice::tail(m, sigma, work).div(&total);
    Ok(ratio.ok_or(Error::Precision { what: "the discrete Gaussian's tail" })?.truncate(bits))
}

/// The least σ whose δ is certainly at most `delta`, to a relative 10⁻¹²,
/// given floats around δ as a decreasing function of σ.
///
/// Interpolation in (ln σ, ln δ) proposes; both neighbours of the proposal are
/// tried, closer each time. The upper end of the bracket always satisfies the
/// inequality, whatever the proposals were.
fn least_sigma(
    delta: Delta,
    start: f64,
    delta_at: impl Fn(f64) -> Result<(f64, f64)>,
) -> Result<f64> {
    let fail = Error::Precision { what: "the noise for this epsilon and delta" };
    // ln(δ(σ)/δ), from above: at most 0 iff σ is enough.
    let excess = |sigma: f64| -> Result<f64> {
        let (_, high) = delta_at(sigma)?;
        Ok((high / delta.get()).ln().max(-700.0).max(if high > delta.get() {
            1e-300
        } else {
            -700.0
        }))
    };
    let (mut low, mut high) = (start, start);
    let (mut at_low, mut at_high) = (excess(low)?, excess(high)?);
    for _ in 0..200 {
        if at_high > 0.0 {
            (low, at_low) = (high, at_high);
            high *= 1.5;
            at_high = excess(high)?;
        } else if at_low <= 0.0 {
            (high, at_high) = (low, at_low);
            low /= 1.5;
            at_low = excess(low)?;
        } else {
            break;
        }
    }
    if !(at_high <= 0.0 && at_low > 0.0) {
        return Err(fail);
    }
    let mut width = 1e-2;
    for _ in 0..120 {
        if high / low <= 1.0 + 5e-13 {
            return Ok(high);
        }
        let share = at_low / (at_low - at_high);
        let middle = (low.ln() + share * (high / low).ln()).exp();
        for candidate in [middle * (1.0 - width), middle * (1.0 + width), (low * high).sqrt()] {
            if candidate > low && candidate < high {
                let at = excess(candidate)?;
                if at > 0.0 {
                    (low, at_low) = (candidate, at)
                } else {
                    (high, at_high) = (candidate, at)
                }
            }
            if high / low <= 1.0 + 4.0 * width {
                break;
            }
        }
        width = (width * width).max(1e-13);
    }
    Err(fail)
}

#[cfg(test)]
#[expect(clippy::excessive_precision, reason = "known answers keep all their digits")]
mod tests;
