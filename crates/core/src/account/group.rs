//! Group privacy: what a guarantee for one unit is worth for g of them.
//!
//! A group of g units is g steps of the neighbour relation.

use super::mass::Mass;
use crate::error::{Error, Result};
use crate::num::directed::up;
use crate::unit::{Alpha, Delta, Epsilon, Rho};

/// The ε for a group of g units: gε.
pub fn pure(epsilon: Epsilon, group: u32) -> Result<Epsilon> {
    Epsilon::new(super::basic::times_up(epsilon.get(), u64::from(group)))
}

/// The (ε,δ) for a group of g units: `(gε, δ·(e^(gε)−1)/(e^ε−1))`.
///
/// # Proof
/// Step by step: `P₀(S) ≤ e^ε·P₁(S) + δ ≤ … ≤ e^(gε)·P_g(S) + δ·Σ_{i<g} e^(iε)`. ∎
pub fn approximate(epsilon: Epsilon, delta: Delta, group: u32) -> Result<(Epsilon, Delta)> {
    let base = Mass::exp(epsilon.get());
    let (mut factor, mut power) = (Mass::ZERO, Mass::ONE);
    for _ in 0..group {
        factor = factor.add(&power);
        power = power.mul(&base);
        // Beyond 1 the result is the same: no guarantee.
        if delta.get() > 0.0 && factor.times(delta.get()).to_f64().0 >= 1.0 {
            break;
        }
    }
    let (_, total) = factor.times(delta.get()).to_f64();
    let delta = if delta.get() == 0.0 { Ok(Delta::ZERO) } else { Delta::new(total) };
    let delta = delta.map_err(|_| Error::Infeasible {
        what: "the guarantee says nothing about a group of this size",
        remedy: "use a smaller group, epsilon or delta",
    })?;
    Ok((pure(epsilon, group)?, delta))
}

/// The ρ for a group of g units: g²ρ.
///
/// # References
/// Bun & Steinke 2016 (arXiv:1605.02065v1), Proposition 1.9.
pub fn concentrated(rho: Rho, group: u32) -> Result<Rho> {
    let g = f64::from(group);
    Rho::new(up(rho.get() * up(g * g)))
}

/// `D_α ≤ τ` for one, α ≥ 2^(c+1), is `D_(α/2^c) ≤ 3^c·τ` for a group of 2^c.
///
/// # References
/// Mironov 2017 (arXiv:1702.07476v3), Proposition 2.
pub fn renyi(alpha: Alpha, divergence: f64, log_group: u32) -> Result<(Alpha, f64)> {
    let lowered = alpha.get() / 2f64.powi(log_group.min(1000) as i32);
    if lowered < 2.0 {
        return Err(Error::OutOfRange {
            parameter: "alpha",
            allowed: "at least twice the size of the group",
        });
    }
    // The order loses nothing: dividing by a power of two is exact.
    // Powers of 3 are exact up to 3^33; beyond, a relative 10⁻¹³ covers `powi`.
    let factor = 3f64.powi(log_group as i32) * (1.0 + 1e-13);
    Ok((Alpha::new(lowered)?, up(divergence * up(factor))))
}

#[cfg(test)]
mod tests;
