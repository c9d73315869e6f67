//! One edge more or less, or one edge for another: what of a budget a step gets.
//!
//! Replacing an edge is two steps. By group privacy what is (ε,δ)-DP for one is (2ε, (1+e^ε)δ)-DP for two, and
//! ρ-zCDP becomes 4ρ-zCDP.

use crate::error::Result;
use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Neighbours, Rho};

/// What a mechanism for one edge more or less may spend, if `budget` is promised for `relation`.
///
/// # Guarantee
/// What spends the result for one edge more or less keeps `budget` for `relation`.
/// # Proof
/// For [`Neighbours::AddRemove`] both are the same. A replacement is one edge less and one more, hence group
/// privacy for two: ε and δ become 2ε and (1+e^ε)δ, which the halves here undo, with δ rounded down; ρ becomes 2²ρ. ∎
pub fn step(budget: Guarantee, relation: Neighbours) -> Result<Guarantee> {
    if relation == Neighbours::AddRemove {
        return Ok(budget);
    }
    let half = |epsilon: Epsilon| Epsilon::new(0.5 * epsilon.get());
    Ok(match budget {
        Guarantee::Pure(epsilon) => Guarantee::Pure(half(epsilon)?),
        Guarantee::Approximate(epsilon, delta) => {
            let epsilon = half(epsilon)?;
            // Rounded down, by far more than the exponential function and the quotient may be off.
            let delta = delta.get() / (1.0 + epsilon.get().exp()) * (1.0 - 1e-12);
            // At an ε so large that nothing of δ is left, the pure promise is left.
            match Delta::positive(delta) {
                Ok(delta) => Guarantee::Approximate(epsilon, delta),
                Err(_) => Guarantee::Pure(epsilon),
            }
        }
        Guarantee::Concentrated(rho) => Guarantee::Concentrated(Rho::new(0.25 * rho.get())?),
        _ => {
            let (parameter, allowed) = ("budget", "ε, (ε, δ) or ρ");
            return Err(demure_core::Error::OutOfRange { parameter, allowed }.into());
        }
    })
}

/// What is promised for `relation`, if `spent` is for one edge more or less. `budget` is what was asked for.
pub fn promised(spent: Guarantee, budget: Guarantee, relation: Neighbours) -> Result<Guarantee> {
    Ok(match (spent, relation) {
        (spent, Neighbours::AddRemove) => spent,
        (Guarantee::Pure(epsilon), Neighbours::Replace) => {
            Guarantee::Pure(Epsilon::new(2.0 * epsilon.get())?)
        }
        (_, Neighbours::Replace) => budget, // never spent in part
    })
}

#[cfg(test)]
mod tests;
