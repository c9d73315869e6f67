//! A budget in another currency.

use crate::error::{Error, Result};
use demure_core::account::zcdp;
use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Rho};

/// The ε of a pure mechanism within a budget: `√(2ρ)` for ρ, rounded down.
pub fn pure(budget: Guarantee) -> Result<Epsilon> {
    Ok(match budget {
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => epsilon,
        Guarantee::Concentrated(rho) => {
            Epsilon::new((2.0 * rho.get()).sqrt().next_down().next_down())?
        }
        _ => return Err(Error::UnknownBudget),
    })
}

/// The largest ρ, nearly, that implies (ε,δ).
pub fn concentrated(epsilon: Epsilon, delta: Delta) -> Result<Rho> {
    // ε grows with ρ. A ρ above ε is not looked for: it implies (ε,δ) at no δ that is of use.
    let (mut low, mut high) = (1e-300, epsilon.get());
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        let within = zcdp::epsilon(Rho::new(middle)?, delta)? <= epsilon.get();
        if within { low = middle } else { high = middle }
    }
    let rho = Rho::new(low)?;
    if low <= 1e-300 || zcdp::epsilon(rho, delta)? > epsilon.get() {
        return Err(Error::NoRho);
    }
    Ok(rho)
}

#[cfg(test)]
mod tests;
