//! Noise in proportion to a smooth bound on the local sensitivity.

use super::{SLACK, Smoothness, Statistic};
use crate::error::{Error, Result};
use crate::mechanism::{Gaussian, Guarantee, Release};
use crate::num::directed::{self, down, up};
use crate::num::normal;
use crate::random::Randomness;
use crate::sample::{
    RoundedGaussian, RoundedLaplace, RoundedLaplaceLogNormal, RoundedLaplacePareto, RoundedStudent,
    Scale,
};
use crate::unit::{Delta, Epsilon, Grid, Rho, Sensitivity};
use std::fmt;

/// The kind of noise Z that [`SmoothNoise`] scales.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoiseFamily {
    /// `Lap(1)·e^(σY)`, Y standard normal: for ρ-zCDP.
    LaplaceLogNormal {
        /// The shape σ.
        sigma: f64,
    },
    /// Student's t of 1 (Cauchy) or an even number of degrees of freedom: for pure ε.
    Student {
        /// The degrees of freedom d.
        degrees: u32,
    },
    /// Laplace with a Pareto tail of exponent γ: for pure ε.
    LaplacePareto {
        /// The exponent γ.
        gamma: u32,
    },
    /// Lap(1): for (ε,δ).
    Laplace,
    /// N(0,1): for (ε,δ).
    Gaussian,
}

impl fmt::Display for NoiseFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LaplaceLogNormal { sigma } => write!(f, "Laplace-log-normal (sigma {sigma:.4})"),
            Self::Student { degrees: 1 } => f.write_str("Cauchy"),
            Self::Student { degrees } => write!(f, "Student t({degrees})"),
            Self::LaplacePareto { gamma } => write!(f, "Laplace-Pareto (gamma {gamma})"),
            Self::Laplace => f.write_str("Laplace"),
            Self::Gaussian => f.write_str("Gaussian"),
        }
    }
}

/// Releases a statistic with noise in proportion to a smooth bound on its local sensitivity.
///
/// `M(x) = f(x) + (S(x)/s)·Z`, rounded to the grid of f. S is a t-smooth bound on the local
/// sensitivity of f, and Z is noise of a [`NoiseFamily`].
///
/// ```
/// use demure_core::mechanism::{Bounds, Guarantee};
/// use demure_core::random::SystemRandom;
/// use demure_core::sensitivity::{OrderStatistic, SmoothNoise, Values};
/// use demure_core::unit::Epsilon;
///
/// let salaries = (0..1001).map(|i| 20_000.0 + 40.0 * f64::from(i));
/// let values = Values::new(Bounds::new(0.0, 1e6)?, salaries);
/// let noise = SmoothNoise::new(Guarantee::Pure(Epsilon::new(1.0)?), None)?;
/// let median = noise.release(&OrderStatistic::median(&values)?, &mut SystemRandom::new()?)?;
/// println!("about {:.0}", median.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// Under the neighbour relation that the [`Statistic`] is for, with h the density of Z:
///
/// | Z | promise | s |
/// |---|---|---|
/// | Laplace-log-normal | ρ-zCDP | `ρ = ½(t/σ + e^(3σ²/2)·s)²` |
/// | Student, d degrees | ε | `ε = t·max(1,d) + s(d+1)/(2√d)` |
/// | Laplace-Pareto, γ | ε | `ε = γt + s`, γ ≥ 1 |
/// | Laplace | (ε,δ) | `ε = s + ε₂`, `ε₂ = max(t, (e^t−1)·ln((1−e^−t)/δ) − t)` |
/// | Gaussian | (ε,δ) | `ε = ε₁ + ε₂`, `ε₂ = max(t, z²(e^{2t}−1)/2 − t)`, `P[|Z|>z] = δ/2`, 1/s the analytic σ for (ε₁, δe^(−ε₂)/2) |
///
/// # Proof
/// For neighbours x, x′ both `|f(x) − f(x′)| ≤ S(x)` and `≤ S(x′)`, and S(x)/S(x′) is within `e^±t`. Go from M(x) to
/// M(x′) by a *dilation* by `e^λ`, |λ| ≤ t, and then a *shift* by at most s in units of the noise. *Pure.* The
/// log-density of the shift changes at a rate of at most `|h′/h|`, that of the dilation at `|1 + z·h′/h|`. Student:
/// `|h′/h| = (d+1)|z|/(d+z²) ≤ (d+1)/(2√d)` and `1 + zh′/h ∈ (−d, 1]`. Laplace-Pareto: `|h′/h| ≤ 1`, as the tail starts
/// at γ+1, and `1 + zh′/h ∈ [−γ, 1]`. *(ε,δ).* A dilation that widens is at most t-DP. One that narrows has a loss
/// above ε₂ exactly for |z| beyond some r; `max_r P[|Z|>r] − e^ε₂·P[|Z|>re^λ]` grows with λ, as the second term shrinks
/// for every r. At λ = t it is `(1−e^−t)·exp(−(ε₂+t)/(e^t−1))` for Laplace noise, and at most
/// `P[Z² > 2(ε₂+t)/(e^{2t}−1)]` for Gaussian noise. Then the shift:
/// `P[M(x)∈T] ≤ e^ε₂ P[M₁∈T] + δ₂ ≤ e^(ε₂+ε₁)P[M(x′)∈T] + e^ε₂δ₁ + δ₂`. *zCDP.* `D_α(Z‖e^t Z) ≤ αt²/2σ²`, as the
/// dilation shifts the normal variable by t/σ; `D_α(Z‖Z+s) ≤ ½e^{3σ²}s²α`; and the triangle lemma `√ρ ≤ √ρ₁ + √ρ₂` of
/// shifts. *Grid.* f(x) is an integer, noise is drawn exactly and rounded to integers: a post-processing on a grid that
/// knows nothing of S. *Rounding.* S is computed to within `e^±2⁻³⁶`; t is enlarged by twice that. ∎
/// # Special values
/// A statistic without a public [`most`](Statistic::most) is refused, as its smooth bound is infinite; so is one whose
/// noise could pass 2⁶⁰ steps: both whatever the data. Values beyond ±2¹²⁰ steps are clamped, results beyond ±2¹²³ cut.
/// # References
/// Nissim, Raskhodnikova, Smith 2007 (STOC), Section 2 (admissible noise); Bun, Steinke 2019 (arXiv:1906.02830), for
/// Student and Laplace-log-normal noise. The ε₂ of Laplace noise is sharper here than the textbook's
/// `t = ε/(2 ln(2/δ))`, and is proved above.
#[derive(Clone, Debug)]
pub struct SmoothNoise {
    family: NoiseFamily,
    t: Smoothness,
    s: f64,
    guarantee: Guarantee,
}

impl SmoothNoise {
    /// Calibrates the noise of least deviation for a guarantee. Without a `t` it takes one that
    /// suits most data.
    ///
    /// Pure: Laplace-Pareto, t = ε/10. Concentrated: Laplace-log-normal, t = √(2ρ)/10. Approximate: Laplace, with the t
    /// that takes half of ε. An approximate guarantee with δ = 0 is pure.
    pub fn new(guarantee: Guarantee, t: Option<Smoothness>) -> Result<Self> {
        let or = |default: f64| t.map_or_else(|| Smoothness::new(default.clamp(1e-9, 100.0)), Ok);
        match guarantee {
            Guarantee::Pure(epsilon) => Self::pure(epsilon, or(epsilon.get() / 10.0)?),
            Guarantee::Approximate(epsilon, delta) if delta.get() == 0.0 => {
                Self::pure(epsilon, or(epsilon.get() / 10.0)?)
            }
            Guarantee::Approximate(epsilon, delta) => {
                // ε₂ grows with t: halve down to the t that takes half of ε.
                let (mut low, mut high) = (1e-9, 100.0);
                while t.is_none() && high / low > 1.001 {
                    let middle = f64::sqrt(low * high);
                    let half = laplace_dilation(middle, delta)? <= 0.5 * epsilon.get();
                    if half { low = middle } else { high = middle }
                }
                Self::laplace(epsilon, delta, or(low)?)
            }
            Guarantee::Concentrated(rho) => {
                Self::laplace_log_normal(rho, or((2.0 * rho.get()).sqrt() / 10.0)?)
            }
        }
    }

    /// Calibrates Laplace-Pareto noise with the γ of least deviation, for pure ε.
    pub fn pure(epsilon: Epsilon, t: Smoothness) -> Result<Self> {
        let all = (3..=32).filter_map(|gamma| Self::laplace_pareto(epsilon, gamma, t).ok());
        let best = all.min_by(|a, b| a.deviation().total_cmp(&b.deviation()));
        best.ok_or_else(Self::too_steep)
    }

    /// Laplace-log-normal noise for ρ, with the σ and s of least variance: σ is the positive root
    /// of `5(ε/t)σ³ − 5σ² − 1 = 0`, `ε = √(2ρ)`, and `s = e^(−3σ²/2)(ε − t/σ)`.
    pub fn laplace_log_normal(rho: Rho, t: Smoothness) -> Result<Self> {
        let epsilon = down(down(2.0 * rho.get()).sqrt());
        let steep = enlarged(t);
        // The cubic is negative at 0 and has one positive root; any σ near it is valid.
        let cubic = |x: f64| 5.0 * epsilon / steep * x * x * x - 5.0 * x * x - 1.0;
        let (mut low, mut high) = (2f64.powi(-50), 8.0);
        if cubic(high) < 0.0 {
            return Err(Self::too_steep());
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if cubic(middle) < 0.0 { low = middle } else { high = middle }
        }
        let sigma = high;
        let rest = down(epsilon - up(steep / sigma));
        let (shrink, _) = directed::exp_neg(up(1.5 * up(sigma * sigma)))?;
        let family = NoiseFamily::LaplaceLogNormal { sigma };
        Self::build(family, t, down(shrink * rest), Guarantee::Concentrated(rho))
    }

    /// Student's t noise for pure ε: `s = (ε − t·max(1,d))·2√d/(d+1)`. d is 1 (Cauchy) or even; 4 has a finite
    /// variance, and less of it than most.
    pub fn student(epsilon: Epsilon, degrees: u32, t: Smoothness) -> Result<Self> {
        let d = f64::from(degrees.max(1));
        let rest = down(epsilon.get() - up(enlarged(t) * d));
        let s = down(down(rest * 2.0 * down(d.sqrt())) / (d + 1.0));
        Self::build(NoiseFamily::Student { degrees }, t, s, Guarantee::Pure(epsilon))
    }

    /// Laplace-Pareto noise for pure ε: `s = ε − γt`.
    pub fn laplace_pareto(epsilon: Epsilon, gamma: u32, t: Smoothness) -> Result<Self> {
        let s = down(epsilon.get() - up(enlarged(t) * f64::from(gamma.max(1))));
        Self::build(NoiseFamily::LaplacePareto { gamma }, t, s, Guarantee::Pure(epsilon))
    }

    /// Laplace noise for (ε,δ): `s = ε − ε₂`.
    pub fn laplace(epsilon: Epsilon, delta: Delta, t: Smoothness) -> Result<Self> {
        let s = down(epsilon.get() - laplace_dilation(enlarged(t), delta)?);
        Self::build(NoiseFamily::Laplace, t, s, Guarantee::Approximate(epsilon, delta))
    }

    /// Gaussian noise for (ε,δ), half of δ for the dilation and half for the shift. Laplace noise is
    /// less wherever it was tried; this one has lighter tails.
    pub fn gaussian(epsilon: Epsilon, delta: Delta, t: Smoothness) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let steep = enlarged(t);
        let (_, z) = normal::upper_quantile(0.25 * delta.get())?;
        let (narrow, _) = directed::exp_neg(up(2.0 * steep))?;
        let growth = up(up(1.0 / narrow) - 1.0);
        let dilation = up(up(up(up(z * z) * growth) * 0.5) - steep).max(steep);
        let rest = down(epsilon.get() - dilation);
        if rest.is_nan() || rest <= 0.0 {
            return Err(Self::too_steep());
        }
        let (shrink, _) = directed::exp_neg(dilation)?;
        let shift = Delta::positive(down(down(0.5 * delta.get()) * shrink))?;
        let sigma = Gaussian::new(Epsilon::new(rest)?, shift, Sensitivity::new(1.0)?)?.sigma();
        let guarantee = Guarantee::Approximate(epsilon, delta);
        Self::build(NoiseFamily::Gaussian, t, down(1.0 / sigma), guarantee)
    }

    fn build(family: NoiseFamily, t: Smoothness, s: f64, guarantee: Guarantee) -> Result<Self> {
        if !(s.is_normal() && s > 0.0) {
            return Err(Self::too_steep());
        }
        let noise = Self { family, t, s, guarantee };
        noise.draw(1.0, None)?; // refuses degrees and exponents that cannot be drawn
        Ok(noise)
    }

    fn too_steep() -> Error {
        Error::Infeasible {
            what: "so large a t leaves nothing of the budget for the noise itself",
            remedy: "choose a smaller t, or spend more",
        }
    }

    /// The kind of noise.
    #[must_use]
    pub fn family(&self) -> NoiseFamily {
        self.family
    }

    /// The smoothness t.
    #[must_use]
    pub fn t(&self) -> Smoothness {
        self.t
    }

    /// The divisor s: the noise is `(S/s)·Z`.
    #[must_use]
    pub fn s(&self) -> f64 {
        self.s
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// The standard deviation of the noise, divided by S. It is public; ∞ for Cauchy noise, t(2)
    /// and γ ≤ 2.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let variance = match self.family {
            NoiseFamily::LaplaceLogNormal { sigma } => 2.0 * (2.0 * sigma * sigma).exp(),
            NoiseFamily::Student { degrees } if degrees > 2 => {
                f64::from(degrees) / (f64::from(degrees) - 2.0)
            }
            NoiseFamily::LaplacePareto { gamma } if gamma > 2 => {
                let (g, x) = (f64::from(gamma), f64::from(gamma) + 1.0);
                let edge = (-x).exp();
                (2.0 - edge * (x * x + 2.0 * x + 2.0) + edge * x * x * x / (g - 2.0))
                    / (1.0 + edge / g)
            }
            NoiseFamily::Student { .. } | NoiseFamily::LaplacePareto { .. } => f64::INFINITY,
            NoiseFamily::Laplace => 2.0,
            NoiseFamily::Gaussian => 1.0,
        };
        variance.sqrt() / self.s
    }

    /// Releases a statistic.
    pub fn release(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<f64>> {
        let noised = self.release_steps(statistic, rng)?;
        let answer = statistic.answer(noised.into_value());
        Ok(Release::new(answer, self.guarantee))
    }

    /// Releases a statistic in steps of its grid, before [`Statistic::answer`].
    pub fn release_steps(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<i128>> {
        let most = statistic.most().ok_or_else(super::unbounded)?;
        // The largest scale that any dataset could need; refused before the data are looked at.
        self.draw(up(up(most as f64) * 1.01).max(1.0), None)?;
        let noise = self.draw(statistic.smooth(self.t)?, Some(rng))?;
        // Noise is cut at 2¹²⁴; cutting the sum lower down makes that invisible.
        let noised = statistic.value().clamp(-(1 << 120), 1 << 120) + noise;
        Ok(Release::new(noised.clamp(-(1 << 123), 1 << 123), self.guarantee))
    }

    /// `(S/s)·Z`, rounded; without randomness, only checks that it could be drawn.
    fn draw(&self, smooth: f64, rng: Option<&mut dyn Randomness>) -> Result<i128> {
        let scale = Scale::new(up(smooth / self.s))?;
        macro_rules! noise {
            ($noise:expr) => {{
                let noise = $noise?;
                rng.map_or(Ok(0), |rng| noise.draw(0.0, rng))
            }};
        }
        match self.family {
            NoiseFamily::LaplaceLogNormal { sigma } => {
                noise!(RoundedLaplaceLogNormal::new(&scale, sigma, Grid::ONE))
            }
            NoiseFamily::Student { degrees } => {
                noise!(RoundedStudent::new(degrees, &scale, Grid::ONE))
            }
            NoiseFamily::LaplacePareto { gamma } => {
                noise!(RoundedLaplacePareto::new(gamma, &scale, Grid::ONE))
            }
            NoiseFamily::Laplace => noise!(RoundedLaplace::new(&scale, Grid::ONE)),
            NoiseFamily::Gaussian => noise!(RoundedGaussian::new(&scale, Grid::ONE)),
        }
    }
}

/// t with room for the rounding of S.
fn enlarged(t: Smoothness) -> f64 {
    up(t.get() + 2.0 * SLACK)
}

/// The ε₂ that a dilation by `e^±t` takes of Laplace noise, rounded up:
/// `max(t, (e^t−1)·ln((1−e^−t)/δ) − t)`.
fn laplace_dilation(t: f64, delta: Delta) -> Result<f64> {
    let delta = Delta::positive(delta.get())?;
    let (low, _) = directed::exp_neg(t)?;
    let odds = up(up(1.0 - low) / delta.get());
    if odds <= 1.0 {
        return Ok(t);
    }
    let (_, log) = directed::ln(odds)?;
    let growth = up(up(1.0 / low) - 1.0);
    Ok(up(up(growth * log) - t).max(t))
}

#[cfg(test)]
mod tests;
