//! What may be spent: ε, ε and δ, or ρ.

use crate::Failure;
use crate::input::number;
use demure_core::account::zcdp;
use demure_core::mechanism::Guarantee;
use demure_core::unit::{Delta, Epsilon, Rho};

/// A privacy loss in one of three currencies.
#[derive(clap::Args)]
pub(crate) struct Loss {
    /// The privacy loss
    #[arg(long, value_parser = number, allow_hyphen_values = true, required_unless_present = "rho")]
    epsilon: Option<f64>,

    /// The probability that ε may be exceeded
    #[arg(long, value_parser = number, allow_hyphen_values = true, requires = "epsilon")]
    delta: Option<f64>,

    /// The privacy loss as ρ-zCDP
    #[arg(long, value_parser = number, allow_hyphen_values = true, conflicts_with_all = ["epsilon", "delta"])]
    rho: Option<f64>,
}

impl Loss {
    /// The most that may be promised.
    pub(crate) fn guarantee(&self) -> Result<Guarantee, Failure> {
        match (self.epsilon, self.delta, self.rho) {
            (Some(epsilon), None, _) => Ok(Guarantee::Pure(Epsilon::new(epsilon)?)),
            (Some(epsilon), Some(delta), _) => {
                Ok(Guarantee::Approximate(Epsilon::new(epsilon)?, Delta::positive(delta)?))
            }
            (None, _, Some(rho)) => Ok(Guarantee::Concentrated(Rho::new(rho)?)),
            (None, _, None) => Err(Failure::usage("give --epsilon or --rho")),
        }
    }
}

/// The ε of a pure mechanism within a budget: `√(2ρ)` for ρ, rounded down.
pub(crate) fn pure(budget: Guarantee) -> Result<Epsilon, Failure> {
    Ok(match budget {
        Guarantee::Pure(epsilon) | Guarantee::Approximate(epsilon, _) => epsilon,
        Guarantee::Concentrated(rho) => {
            Epsilon::new((2.0 * rho.get()).sqrt().next_down().next_down())?
        }
        _ => return Err(unknown()),
    })
}

/// A kind of budget that no option makes.
pub(crate) fn unknown() -> Failure {
    Failure::usage("this budget is of a kind that cannot be spent here: give --epsilon or --rho")
}

/// The largest ρ, nearly, that implies (ε,δ).
pub(super) fn concentrated(epsilon: Epsilon, delta: Delta) -> Result<Rho, Failure> {
    // ε grows with ρ. A ρ above ε is not looked for: it implies (ε,δ) at no δ that is of use.
    let (mut low, mut high) = (1e-300, epsilon.get());
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        let within = zcdp::epsilon(Rho::new(middle)?, delta)? <= epsilon.get();
        if within { low = middle } else { high = middle }
    }
    let rho = Rho::new(low)?;
    if low <= 1e-300 || zcdp::epsilon(rho, delta)? > epsilon.get() {
        return Err(Failure::usage(
            "no rho implies so small an epsilon and delta\nhint: give --rho, or --noise auto",
        ));
    }
    Ok(rho)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rho_for_epsilon_and_delta_is_within_and_nearly_all_of_it() {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let rho = concentrated(epsilon, delta).unwrap();
        let back = zcdp::epsilon(rho, delta).unwrap();
        assert!((0.999..=1.0).contains(&back), "{back}");
    }
}
