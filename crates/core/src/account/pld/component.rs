//! The mechanisms that a batch may hold, each with its dominating pair.

use crate::error::{Error, Result};
use crate::unit::{Delta, Epsilon};

/// One mechanism of a batch, as the pair of output distributions (P, Q) whose
/// hockey-stick divergences are the worst over all neighbours.
///
/// | component | P | Q |
/// |---|---|---|
/// | Gaussian | N(0, σ²) | N(1, σ²) |
/// | Laplace | Lap(0, b) | Lap(1, b) |
/// | discrete Gaussian, discrete Laplace | the same on the integers, Q moved by Δ | |
/// | response among m choices | truth with e^ε/(e^ε + m − 1), each lie with 1/(e^ε + m − 1) | another truth |
/// | approximate (ε, δ) | δ on an output Q never has, else binary response | mirrored |
/// | Poisson-sampled Gaussian or Laplace | (1−q)·N(0, σ²) + q·N(1, σ²) | N(0, σ²) |
///
/// # Guarantee
/// Scales are relative to the sensitivity (σ/Δ₂, b/Δ₁). Every mechanism of the
/// named kind is dominated by its pair, for the neighbour relation its
/// sensitivity is stated for, so the hockey-stick divergence of the product of
/// pairs bounds that of any batch, adaptively chosen inputs included.
/// # Proof
/// Noise with a log-concave density (or mass function): `E_γ` between the noise
/// and its translate grows with the distance, so the largest distance is the
/// worst, and in many dimensions the ℓ₂ (ℓ₁) ball reduces to one (to a sum of
/// translates dominated by one). Response and (ε, δ): Kairouz, Oh, Viswanath
/// 2015, Theorem 2.1. Poisson sampling under add or remove: Zhu, Dong, Wang
/// 2022, Theorem 11, with the worse of the two directions. Composition of
/// dominating pairs dominates the composition: *ibid.*, Theorem 10. ∎
/// # Special values
/// Constructors refuse NaN, ±∞, zero scales and anything else outside the
/// stated range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component(pub(super) Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Gaussian { sigma: f64 },
    Laplace { scale: f64 },
    DiscreteGaussian { sigma: f64, sensitivity: u32 },
    DiscreteLaplace { scale: f64, sensitivity: u32 },
    Response { epsilon: f64, choices: u32 },
    Approximate { epsilon: f64, delta: f64 },
    SampledGaussian { q: f64, sigma: f64 },
    SampledLaplace { q: f64, scale: f64 },
}

/// The largest loss of a single pure mechanism: `e^−500` is still a float.
const LARGEST_LOSS: f64 = 500.0;

impl Component {
    /// Gaussian noise of standard deviation `sigma` per unit of ℓ₂ sensitivity.
    pub fn gaussian(sigma: f64) -> Result<Self> {
        Ok(Self(Kind::Gaussian { sigma: ratio(sigma)? }))
    }

    /// Laplace noise of scale `scale` per unit of ℓ₁ sensitivity: loss at most 1/`scale`.
    pub fn laplace(scale: f64) -> Result<Self> {
        Ok(Self(Kind::Laplace { scale: laplace_scale(scale, 1)? }))
    }

    /// Discrete Gaussian noise, `P[k] ∝ e^(−k²/2σ²)`, on an integer query that moves by at most
    /// `sensitivity`.
    pub fn discrete_gaussian(sigma: f64, sensitivity: u32) -> Result<Self> {
        if !(0.01..=20_000.0).contains(&sigma) || !(1..=1024).contains(&sensitivity) {
            return Err(Error::OutOfRange {
                parameter: "discrete Gaussian",
                allowed: "a sigma from 0.01 to 20000 with an integer sensitivity from 1 to 1024",
            });
        }
        Ok(Self(Kind::DiscreteGaussian { sigma, sensitivity }))
    }

    /// Discrete Laplace noise, `P[k] ∝ e^(−|k|/s)`, on an integer query that moves by at most
    /// `sensitivity`.
    pub fn discrete_laplace(scale: f64, sensitivity: u32) -> Result<Self> {
        if !(1..=65_536).contains(&sensitivity) {
            return Err(Error::OutOfRange {
                parameter: "sensitivity",
                allowed: "an integer from 1 to 65536",
            });
        }
        let scale = laplace_scale(scale, sensitivity)?;
        Ok(Self(Kind::DiscreteLaplace { scale, sensitivity }))
    }

    /// Randomized response among `choices` ≥ 2 values.
    pub fn response(epsilon: Epsilon, choices: u32) -> Result<Self> {
        if choices < 2 {
            return Err(Error::OutOfRange { parameter: "choices", allowed: "at least 2" });
        }
        Ok(Self(Kind::Response { epsilon: loss(epsilon)?, choices }))
    }

    /// Any (ε, δ)-DP mechanism.
    pub fn approximate(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        Ok(Self(Kind::Approximate { epsilon: loss(epsilon)?, delta: delta.get() }))
    }

    /// Gaussian noise on a Poisson sample that each unit joins with probability `q`. The
    /// neighbours are those of add or remove.
    pub fn poisson_gaussian(q: f64, sigma: f64) -> Result<Self> {
        let sigma = ratio(sigma)?;
        Ok(Self(if probability(q)? == 1.0 {
            Kind::Gaussian { sigma }
        } else {
            Kind::SampledGaussian { q, sigma }
        }))
    }

    /// Laplace noise on a Poisson sample that each unit joins with probability `q`. The
    /// neighbours are those of add or remove.
    pub fn poisson_laplace(q: f64, scale: f64) -> Result<Self> {
        let scale = laplace_scale(scale, 1)?;
        Ok(Self(if probability(q)? == 1.0 {
            Kind::Laplace { scale }
        } else {
            Kind::SampledLaplace { q, scale }
        }))
    }
}

fn ratio(sigma: f64) -> Result<f64> {
    if (1e-3..=1e9).contains(&sigma) {
        Ok(sigma)
    } else {
        Err(Error::OutOfRange {
            parameter: "sigma / sensitivity",
            allowed: "a number from 0.001 to 1e9",
        })
    }
}

fn laplace_scale(scale: f64, sensitivity: u32) -> Result<f64> {
    if scale <= 1e9 && scale * LARGEST_LOSS >= f64::from(sensitivity) {
        Ok(scale)
    } else {
        Err(Error::OutOfRange {
            parameter: "scale / sensitivity",
            allowed: "a number from 0.002 to 1e9",
        })
    }
}

fn loss(epsilon: Epsilon) -> Result<f64> {
    if (1e-9..=LARGEST_LOSS).contains(&epsilon.get()) {
        Ok(epsilon.get())
    } else {
        Err(Error::OutOfRange { parameter: "epsilon", allowed: "a number from 1e-9 to 500" })
    }
}

fn probability(q: f64) -> Result<f64> {
    if (1e-12..=1.0).contains(&q) {
        Ok(q)
    } else {
        Err(Error::OutOfRange {
            parameter: "sampling probability",
            allowed: "a number from 1e-12 to 1",
        })
    }
}

#[cfg(test)]
mod tests;
