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
/// M(x′) by a *dilation* by `e^λ`, |λ| ≤ t, and then a *shift* by at most s in units of the noise.
/// *Pure.* The log-density of the shift changes at a rate of at most `|h′/h|`, that of the
/// dilation at `|1 + z·h′/h|`. Student: `|h′/h| = (d+1)|z|/(d+z²) ≤ (d+1)/(2√d)` and `1 + zh′/h ∈ (−d, 1]`. Laplace-Pareto:
/// `|h′/h| ≤ 1`, as the tail starts at γ+1, and `1 + zh′/h ∈ [−γ, 1]`.
/// *(ε,δ).* A dilation that widens is at most t-DP. One that narrows has a loss above ε₂ exactly for |z|
/// beyond some r; `max_r P[|Z|>r] − e^ε₂·P[|Z|>re^λ]` grows with λ, as the second term shrinks for every r. At λ = t it is
/// `(1−e^−t)·exp(−(ε₂+t)/(e^t−1))` for Laplace noise, and at most `P[Z² > 2(ε₂+t)/(e^{2t}−1)]` for Gaussian noise.
/// Then the shift: `P[M(x)∈T] ≤ e^ε₂ P[M₁∈T] + δ₂ ≤ e^(ε₂+ε₁)P[M(x′)∈T] + e^ε₂δ₁ + δ₂`.
/// *zCDP.* `D_α(Z‖e^t Z) ≤ αt²/2σ²`, as the dilation shifts the normal variable by t/σ; `D_α(Z‖Z+s) ≤ ½e^{3σ²}s²α`; and
/// the triangle lemma `√ρ ≤ √ρ₁ + √ρ₂` of shifts.
/// *Grid.* f(x) is an integer, noise is drawn exactly and rounded to integers: a post-processing on a grid that
/// knows nothing of S. *Rounding.* S is computed to within `e^±2⁻³⁶`; t is enlarged by twice that. ∎
/// # Special values
/// A statistic without a public [`most`](Statistic::most) is refused, as its smooth bound is infinite; so is one whose
/// noise could pass 2⁶⁰ steps: both whatever the data. Values beyond ±2¹²⁰ steps are clamped, results beyond ±2¹²³ cut.
/// # References
/// Nissim, Raskhodnikova, Smith 2007 (STOC), Section 2 (admissible noise); Bun, Steinke 2019 (arXiv:1906.02830), for Student and
/// Laplace-log-normal noise. The ε₂ of Laplace noise is sharper here than the textbook's `t = ε/(2 ln(2/δ))`, and is proved above.
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

    /// `(S/s)·Z`, rounded; without randomness only whether it could be drawn.
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
mod tests {
    use super::super::Reciprocal;
    use super::super::order::tests::{ALL, databases, replaced, values};
    use super::*;
    use crate::random::SeededForTests;
    use demure_testkit::datasets::{add_or_remove_one, rows};
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::neighbours::{check, check_zcdp};

    fn t(x: f64) -> Smoothness {
        Smoothness::new(x).unwrap()
    }

    fn epsilon(x: f64) -> Epsilon {
        Epsilon::new(x).unwrap()
    }

    fn delta(x: f64) -> Delta {
        Delta::new(x).unwrap()
    }

    /// P[Z > z] for z ≥ 0.
    fn upper(family: NoiseFamily, z: f64) -> f64 {
        match family {
            NoiseFamily::LaplaceLogNormal { sigma } => {
                let h = 1.0 / 32.0;
                let sum: f64 = (-320..=320)
                    .map(|i| {
                        let y = f64::from(i) * h;
                        (-0.5 * y * y - z * (-sigma * y).exp()).exp()
                    })
                    .sum();
                0.5 * sum * h / std::f64::consts::TAU.sqrt()
            }
            NoiseFamily::Student { degrees: 1 } => {
                // arccot loses nothing far out.
                (1.0f64).atan2(z) / std::f64::consts::PI
            }
            NoiseFamily::Student { degrees } => {
                // With v = z/√(d+z²), 1 − v = u: ∫_{1−u}^1 (1−w²)^(d/2−1) without cancellation.
                let d = f64::from(degrees);
                let root = (d + z * z).sqrt();
                let u = d / (root * (root + z));
                match degrees {
                    2 => 0.5 * u,
                    // ∫_0^u x(2−x) = u² − u³/3, over 4/3.
                    4 => (u * u - u * u * u / 3.0) / (4.0 / 3.0),
                    _ => unreachable!("not used below"),
                }
            }
            NoiseFamily::LaplacePareto { gamma } => {
                let (g, x) = (f64::from(gamma), f64::from(gamma) + 1.0);
                let edge = (-x).exp();
                let tail = if z <= x {
                    (-z).exp() + edge / g
                } else {
                    x / g * edge * (x / z).powi(gamma as i32)
                };
                0.5 * tail / (1.0 + edge / g)
            }
            NoiseFamily::Laplace => 0.5 * (-z).exp(),
            NoiseFamily::Gaussian => {
                let ratio = crate::num::Ratio::from_f64(z).unwrap();
                normal::upper_tail(&ratio, 400).to_f64().0
            }
        }
    }

    /// `P[noise ≥ k − ½]` for k = 1, 2, …, at one scale.
    fn tails(noise: &SmoothNoise, smooth: f64, count: i128) -> Vec<f64> {
        let scale = up(smooth / noise.s);
        (1..=count).map(|k| upper(noise.family, (k as f64 - 0.5) / scale)).collect()
    }

    /// The law of a release: integers of −reach..=reach around the middle, the ends folded.
    fn law(tails: &[f64], value: i128, reach: i128) -> Distribution<i128> {
        let tail = |k: i128| tails[k as usize - 1];
        let mass = |o: i128| {
            let k = (o - value).abs();
            match (o.abs() == reach, k) {
                (true, k) if (o > value) == (o > 0) => tail(k),
                (_, 0) => 1.0 - 2.0 * tail(1),
                _ => tail(k) - tail(k + 1),
            }
        };
        Distribution::new((-reach..=reach).map(|o| (o, mass(o))))
    }

    /// Checks a noise on all databases of 5 values and n rows, by whole output distributions.
    fn brute_force(noise: &SmoothNoise, n: usize, reach: i128) {
        let orders = [1.05, 1.5, 2.0, 4.0, 16.0, 64.0];
        let scales = std::cell::RefCell::new(std::collections::BTreeMap::new());
        for (name, _, make) in ALL {
            if make(&values(&vec![0; n])).is_none() {
                continue;
            }
            let mechanism = |x: &Vec<u8>| {
                let data = values(x);
                let statistic = make(&data).unwrap();
                let smooth = statistic.smooth(noise.t).unwrap();
                let mut scales = scales.borrow_mut();
                let tails = scales
                    .entry(smooth.to_bits())
                    .or_insert_with(|| tails(noise, smooth, 2 * reach + 2));
                law(tails, statistic.value(), reach)
            };
            // The probabilities are floats: allow for their last digits.
            let fine = 1.0 + 1e-9;
            match noise.guarantee {
                Guarantee::Pure(e) => {
                    let seen = check(mechanism, databases(n), replaced, e.get() * fine, 0.0);
                    seen.unwrap_or_else(|v| panic!("{name} {:?}: {v}", noise.family));
                }
                Guarantee::Approximate(e, d) => {
                    let seen =
                        check(mechanism, databases(n), replaced, e.get() * fine, d.get() * fine);
                    seen.unwrap_or_else(|v| panic!("{name} {:?}: {v}", noise.family));
                }
                Guarantee::Concentrated(rho) => {
                    let seen =
                        check_zcdp(mechanism, databases(n), replaced, rho.get() * fine, &orders);
                    seen.unwrap_or_else(|v| panic!("{name} {:?}: {v}", noise.family));
                }
            }
        }
    }

    #[test]
    fn known_calibrations() {
        let noise = SmoothNoise::laplace_log_normal(Rho::new(0.5).unwrap(), t(0.1)).unwrap();
        let NoiseFamily::LaplaceLogNormal { sigma } = noise.family() else { panic!() };
        assert!((sigma - 0.309_197_818_894_132).abs() < 1e-9);
        assert!((noise.s() - 0.586_193_175_167_011_6).abs() < 1e-8 && noise.s() < 0.586_193_175_17);
        assert!((noise.deviation() - 2.654_57).abs() < 1e-4);
        // ρ = ½(t/σ + e^(1.5σ²)s)², never more than asked for.
        let rho = 0.5 * (0.1 / sigma + (1.5 * sigma * sigma).exp() * noise.s()).powi(2);
        assert!(rho <= 0.5 && rho > 0.5 - 1e-8);
        let student = SmoothNoise::student(epsilon(1.0), 4, t(0.1)).unwrap();
        assert!((student.s() - 0.6 * 0.8).abs() < 1e-9);
        let pareto = SmoothNoise::pure(epsilon(1.0), t(0.1)).unwrap();
        assert_eq!(pareto.family(), NoiseFamily::LaplacePareto { gamma: 3 });
        assert!((pareto.s() - 0.7).abs() < 1e-9 && pareto.deviation() < student.deviation());
        assert!((pareto.deviation() - 2.339).abs() < 1e-3, "{}", pareto.deviation());
        assert!((student.deviation() - 2.946).abs() < 1e-3, "{}", student.deviation());
        // Var Z = ∫ 4z·P[Z > z] dz, for every family that has one.
        for noise in [&noise, &student, &pareto] {
            let cell = |i: u32| {
                let (low, high) = ((1e-3 * f64::from(i)).exp(), (1e-3 * f64::from(i + 1)).exp());
                let z = 0.5 * (low + high) - 1.0;
                4.0 * z * upper(noise.family, z) * (high - low)
            };
            let variance: f64 = (0..12_000).map(cell).sum();
            let stated = (noise.deviation() * noise.s).powi(2);
            assert!((variance / stated - 1.0).abs() < 1e-3, "{} {variance}", noise.family);
        }
        // The textbook's s = ε/2 needs t = ε/(2 ln(2/δ)); ours has it with a larger t.
        let laplace =
            SmoothNoise::new(Guarantee::Approximate(epsilon(1.0), delta(1e-6)), None).unwrap();
        assert!((laplace.s() - 0.5).abs() < 1e-3);
        assert!(laplace.t().get() > 0.5 / (2.0f64 / 1e-6).ln());
        assert!(SmoothNoise::student(epsilon(1.0), 4, t(0.25)).is_err());
        assert!(SmoothNoise::student(epsilon(1.0), 3, t(0.01)).is_err());
        assert!(SmoothNoise::laplace(epsilon(1.0), Delta::ZERO, t(0.01)).is_err());
        assert!(SmoothNoise::pure(epsilon(0.1), t(0.1)).is_err());
    }

    #[test]
    fn pure_noise_is_private_on_all_small_databases() {
        for (e, steep) in [(1.0, 0.1), (3.0, 0.5), (0.4, 0.05)] {
            let noises = [
                SmoothNoise::student(epsilon(e), 1, t(steep)).unwrap(),
                SmoothNoise::student(epsilon(e), 2, t(steep)).unwrap(),
                SmoothNoise::student(epsilon(e), 4, t(steep)).unwrap(),
                SmoothNoise::laplace_pareto(epsilon(e), 1, t(steep)).unwrap(),
                SmoothNoise::laplace_pareto(epsilon(e), 3, t(steep)).unwrap(),
            ];
            for noise in noises {
                for n in 1..=6 {
                    brute_force(&noise, n, 100);
                }
            }
        }
    }

    #[test]
    fn approximate_noise_is_private_on_all_small_databases() {
        for (e, d) in [(1.0, 1e-3), (2.0, 1e-5), (0.5, 0.05)] {
            let laplace =
                SmoothNoise::new(Guarantee::Approximate(epsilon(e), delta(d)), None).unwrap();
            let steep = t(laplace.t().get() / 2.0);
            for n in 1..=6 {
                brute_force(&laplace, n, 80);
                brute_force(&SmoothNoise::laplace(epsilon(e), delta(d), steep).unwrap(), n, 80);
            }
            // Certified normal tails are slow: fewer rows.
            let narrow = t(0.1 * laplace.t().get());
            brute_force(&SmoothNoise::gaussian(epsilon(e), delta(d), narrow).unwrap(), 2, 30);
        }
    }

    #[test]
    fn laplace_log_normal_noise_is_zcdp_on_all_small_databases() {
        for (rho, steep) in [(0.5, 0.1), (2.0, 0.5), (0.05, 0.05)] {
            let noise = SmoothNoise::laplace_log_normal(Rho::new(rho).unwrap(), t(steep)).unwrap();
            for n in 1..=6 {
                brute_force(&noise, n, 100);
            }
        }
    }

    #[test]
    #[should_panic(expected = "not (")]
    fn a_scale_of_the_local_sensitivity_itself_is_not_private() {
        // The same noise with S replaced by LS: the classic mistake, seen by the same check.
        let noise = SmoothNoise::laplace_pareto(epsilon(1.0), 3, t(0.1)).unwrap();
        let make = ALL[0].2;
        let mechanism = |x: &Vec<u8>| {
            let data = values(x);
            let statistic = make(&data).unwrap();
            let local = statistic.at_distance(0) as f64;
            let tails = tails(&noise, local.max(super::super::LEAST), 202);
            law(&tails, statistic.value(), 100)
        };
        check(mechanism, databases(5), replaced, 1.0, 0.0).unwrap_or_else(|v| panic!("{v}"));
    }

    #[test]
    fn the_laplace_dilation_costs_what_the_formula_says_and_no_less() {
        // δ(ε₂) of Lap(1) against Lap(e^−t), summed finely.
        for (steep, d) in [(0.05, 1e-4), (0.3, 1e-2), (0.01, 1e-9)] {
            let e2 = laplace_dilation(steep, delta(d)).unwrap();
            let h = 1e-3;
            let excess: f64 = (0..200_000)
                .map(|i| {
                    let z = (f64::from(i) + 0.5) * h;
                    ((-z).exp() - (e2 + steep - z * steep.exp()).exp()).max(0.0) * h
                })
                .sum();
            let tight = e2 > steep;
            assert!(excess <= d * 1.000_1 && (!tight || excess > 0.99 * d), "{steep} {excess} {d}");
        }
    }

    #[test]
    fn releases_are_in_bounds_and_near_the_truth() {
        let data = values(&[0, 2, 2, 2, 2, 2, 4]);
        let median = super::super::OrderStatistic::median(&data).unwrap();
        let mut rng = SeededForTests::insecure(1);
        let noise = SmoothNoise::new(Guarantee::Pure(epsilon(8.0)), None).unwrap();
        let mut near = 0;
        for _ in 0..1_000 {
            let answer = noise.release(&median, &mut rng).unwrap().into_value();
            assert!((0.0..=8.0).contains(&answer));
            near += u32::from((answer - 3.0).abs() <= 2.0);
        }
        assert!(near > 800, "{near}");
    }

    #[test]
    fn releases_fit_the_law_and_the_test_has_power() {
        let data = values(&[0, 1, 2, 2, 3, 4]);
        let statistic = super::super::TrimmedMean::new(&data, 1).unwrap();
        let (e, steep) = (epsilon(1.0), t(0.05));
        let noises = [
            SmoothNoise::student(e, 1, steep).unwrap(),
            SmoothNoise::student(e, 4, steep).unwrap(),
            SmoothNoise::laplace_pareto(e, 3, steep).unwrap(),
            SmoothNoise::laplace(epsilon(2.0), delta(1e-3), steep).unwrap(),
            SmoothNoise::laplace_log_normal(Rho::new(0.5).unwrap(), steep).unwrap(),
        ];
        for (seed, noise) in noises.into_iter().enumerate() {
            let mut rng = SeededForTests::insecure(seed as u64);
            let mut draw = || noise.release_steps(&statistic, &mut rng).unwrap().into_value();
            let samples: Vec<i128> = (0..100_000).map(|_| draw()).collect();
            let smooth = statistic.smooth(steep).unwrap();
            let fit = |smooth: f64| {
                let law = law(&tails(&noise, smooth, 402), statistic.value(), 200);
                let folded = samples.iter().map(|&o| o.clamp(-200, 200));
                Fit::of(folded, |o| law.probability(&o), -200..=200)
            };
            assert!(fit(smooth).accepts(), "{}", noise.family());
            assert!(fit(1.05 * smooth).rejects(), "{}", noise.family());
        }
    }

    #[test]
    fn a_padded_quantile_is_private_under_add_or_remove() {
        let bounds = crate::mechanism::Bounds::on(0.0, 4.0, Grid::ONE).unwrap();
        let noise = SmoothNoise::laplace_pareto(epsilon(1.0), 3, t(0.1)).unwrap();
        for rank in [0.5, 0.25] {
            let mechanism = |x: &Vec<u8>| {
                let values = x.iter().map(|&v| f64::from(v));
                let data = super::super::Values::padded(bounds, values, 5, rank).unwrap();
                let statistic = super::super::OrderStatistic::quantile(&data, rank).unwrap();
                let smooth = statistic.smooth(noise.t).unwrap();
                law(&tails(&noise, smooth, 102), statistic.value(), 50)
            };
            let domain = [0u8, 1, 4];
            let near = |x: &Vec<u8>| add_or_remove_one(x, &domain);
            check(mechanism, rows(&domain, 0..=5), near, 1.0 + 1e-9, 0.0)
                .unwrap_or_else(|v| panic!("{v}"));
        }
    }

    #[test]
    fn a_quantile_of_a_protected_number_of_rows_is_private() {
        let bounds = crate::mechanism::Bounds::on(0.0, 4.0, Grid::ONE).unwrap();
        let noise = SmoothNoise::laplace_pareto(epsilon(1.0), 3, t(0.1)).unwrap();
        let domain = [0u8, 1, 4];
        let near = |x: &Vec<u8>| add_or_remove_one(x, &domain);
        let replaced = |x: &Vec<u8>| {
            let each = (0..x.len()).flat_map(|i| domain.map(|v| (i, v)));
            let change = |(i, v)| {
                let mut x = x.clone();
                x[i] = v;
                x
            };
            each.map(change).collect()
        };
        for rank in [0.5, 0.25, 0.9] {
            let law_of = |x: &Vec<u8>, shift: i64| {
                let data = super::super::Values::new(bounds, x.iter().map(|&v| f64::from(v)));
                let statistic = super::super::OrderStatistic::of_rows(&data, rank).unwrap();
                let smooth = statistic.smooth(noise.t).unwrap();
                let smooth = if shift == 0 { smooth } else { smooth.min(1.0) };
                law(&tails(&noise, smooth, 102), statistic.value(), 50)
            };
            let all = || rows(&domain, 0..=5);
            check(|x: &Vec<u8>| law_of(x, 0), all(), near, 1.0 + 1e-9, 0.0)
                .unwrap_or_else(|v| panic!("{v}"));
            check(|x: &Vec<u8>| law_of(x, 0), all(), replaced, 1.0 + 1e-9, 0.0)
                .unwrap_or_else(|v| panic!("{v}"));
            // The check has power: noise of one step for all data is not enough.
            assert!(check(|x: &Vec<u8>| law_of(x, 1), all(), near, 1.0 + 1e-9, 0.0).is_err());
        }
        let nothing = super::super::Values::new(bounds, []);
        let statistic = super::super::OrderStatistic::of_rows(&nothing, 0.5).unwrap();
        assert_eq!((statistic.value(), statistic.at_distance(0)), (0, 4));
        for q in [0.0, 1.0, f64::NAN, 1e-12] {
            assert!(super::super::OrderStatistic::of_rows(&nothing, q).is_err());
        }
    }

    #[test]
    fn an_infinite_smooth_sensitivity_is_refused_with_what_works_instead() {
        let mut rng = SeededForTests::insecure(2);
        let noise = SmoothNoise::new(Guarantee::Pure(epsilon(1.0)), None).unwrap();
        for count in [0, 1, 1_000_000] {
            let reciprocal = Reciprocal::new(count, Grid::power_of_two(-40).unwrap()).unwrap();
            let error = noise.release(&reciprocal, &mut rng).unwrap_err().to_string();
            assert!(
                error.contains("infinite") && error.contains("propose-test-release"),
                "{error}"
            );
        }
    }
}
