//! Noise on one number: which mechanism fits a budget.

use crate::Choices;
use crate::error::{Error, Result};
use crate::explain::{error_95, promised};
use demure_core::mechanism::{DiscreteGaussian, Gaussian, Geometric, Guarantee, Laplace};
use demure_core::random::Randomness;
use demure_core::unit::{Epsilon, L2, Neighbours, Sensitivity};
use demure_report::{Report, integer};
use serde_json::Value;

/// How σ is found from ε and δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Calibration {
    /// The least noise that gives (ε,δ).
    Analytic,
    /// The textbook's.
    Classic,
}

impl Calibration {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("analytic", "The least noise that gives (ε,δ), certified", Self::Analytic),
        ("classic", "The textbook's σ = Δ·√(2 ln(2/δ))/ε, where it is valid", Self::Classic),
    ];
}

/// A mechanism for one number that one unit can change by `sensitivity`.
pub struct Number {
    sensitivity: f64,
    noise: Noise,
}

enum Noise {
    Laplace(Laplace),
    Geometric(Geometric),
    Gaussian(Gaussian),
    DiscreteGaussian(DiscreteGaussian),
}

impl Number {
    /// Laplace noise; of a whole number, two-sided geometric noise.
    pub fn laplace(epsilon: Epsilon, sensitivity: f64, integer: bool) -> Result<Self> {
        let change = Sensitivity::new(sensitivity)?;
        let noise = match integer {
            true => Noise::Geometric(Geometric::new(epsilon, change)?),
            false => Noise::Laplace(Laplace::new(epsilon, change)?),
        };
        Ok(Self { sensitivity, noise })
    }

    /// Gaussian noise for (ε,δ) or ρ; of a whole number, the discrete Gaussian.
    pub fn gaussian(
        budget: Guarantee,
        sensitivity: f64,
        calibration: Calibration,
        integer: bool,
    ) -> Result<Self> {
        let change = Sensitivity::<L2>::new(sensitivity)?;
        let noise = match (budget, integer) {
            (Guarantee::Concentrated(rho), true) => {
                Noise::DiscreteGaussian(DiscreteGaussian::concentrated(rho, change)?)
            }
            (Guarantee::Concentrated(rho), false) => {
                Noise::Gaussian(Gaussian::concentrated(rho, change)?)
            }
            (Guarantee::Approximate(epsilon, delta), true) => {
                if sensitivity.fract() != 0.0 || sensitivity > 1e9 {
                    return Err(Error::SensitivityNotWhole);
                }
                let discrete = DiscreteGaussian::new(epsilon, delta, sensitivity as u32)?;
                Noise::DiscreteGaussian(discrete)
            }
            (Guarantee::Approximate(epsilon, delta), false) => Noise::Gaussian(match calibration {
                Calibration::Analytic => Gaussian::new(epsilon, delta, change)?,
                Calibration::Classic => Gaussian::classic(epsilon, delta, change)?,
            }),
            _ => return Err(Error::UnknownBudget),
        };
        Ok(Self { sensitivity, noise })
    }

    /// What it promises.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        match &self.noise {
            Noise::Laplace(mechanism) => mechanism.guarantee(),
            Noise::Geometric(mechanism) => mechanism.guarantee(),
            Noise::Gaussian(mechanism) => mechanism.guarantee(),
            Noise::DiscreteGaussian(mechanism) => mechanism.guarantee(),
        }
    }

    /// What it does, promises, and how wrong the answer may be.
    pub fn explain(&self, neighbours: Neighbours) -> Result<Report> {
        let (name, spread, grid, error) = match &self.noise {
            Noise::Laplace(m) => {
                let grid = m.grid().spacing();
                ("Laplace", ("scale", m.scale()), grid, error_95(m)?)
            }
            Noise::Geometric(m) => {
                let name = "discrete Laplace (two-sided geometric)";
                (name, ("scale", m.scale()), 1.0, error_95(m)?)
            }
            Noise::Gaussian(m) => {
                let grid = m.grid().spacing();
                ("Gaussian", ("sigma", m.sigma()), grid, error_95(m)?)
            }
            Noise::DiscreteGaussian(m) => {
                ("discrete Gaussian", ("sigma", m.sigma()), 1.0, error_95(m)?)
            }
        };
        let report = Report::default()
            .field("mechanism", name)
            .field("sensitivity", self.sensitivity)
            .field(spread.0, spread.1)
            .field("grid", grid);
        Ok(promised(report, self.guarantee(), neighbours).append(error))
    }

    /// Draws an answer.
    pub fn release(&self, value: f64, rng: &mut dyn Randomness) -> Result<Value> {
        let whole = || exact_integer(value).ok_or(Error::ValueNotWhole);
        Ok(match &self.noise {
            Noise::Laplace(mechanism) => mechanism.release(value, rng)?.into_value().into(),
            Noise::Gaussian(mechanism) => mechanism.release(value, rng)?.into_value().into(),
            Noise::Geometric(mechanism) => integer(mechanism.release(whole()?, rng)?.into_value()),
            Noise::DiscreteGaussian(mechanism) => {
                integer(mechanism.release(whole()?, rng)?.into_value())
            }
        })
    }
}

/// The integer that a float holds exactly, if it is one.
#[must_use]
pub fn exact_integer(value: f64) -> Option<i128> {
    (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i128)
}

#[cfg(test)]
mod tests;
