//! Odometers: what has been spent so far, valid at all times together, without a limit set in advance.
//!
//! | odometer | reads | valid because |
//! |---|---|---|
//! | [`Odometer::pure`] | Σε | the privacy loss is never above Σε |
//! | [`Odometer::concentrated`] | ε at δ | a filter at each of ρ₀, 2ρ₀, 4ρ₀, …, with a share of δ each |
//!
//! Converting a running Σρ at the *same* δ after each query would not be valid:
//! an analyst could stop when the reading happens to be too low.

use super::{Account, basic, zcdp};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::unit::{Delta, Neighbours, Rho};

#[derive(Clone, Copy, Debug)]
enum Rule {
    Pure,
    Concentrated { first: f64, delta: f64 },
}

/// The running cost of queries that are chosen, with their prices, as answers come in.
///
/// ```
/// use demure_core::account::odometer::Odometer;
/// use demure_core::event::Event;
/// use demure_core::unit::Neighbours;
///
/// let mut odometer = Odometer::pure(Neighbours::AddRemove);
/// odometer.record(&Event::pure(0.25)?)?;
/// odometer.record(&Event::pure(0.5)?)?;
/// assert_eq!(odometer.epsilon()?, 0.75);
/// # Ok::<(), demure_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Odometer {
    neighbours: Neighbours,
    rule: Rule,
    spent: f64,
}

impl Odometer {
    /// An odometer that reads Σε.
    #[must_use]
    pub fn pure(neighbours: Neighbours) -> Self {
        Self { neighbours, rule: Rule::Pure, spent: 0.0 }
    }

    /// An odometer that reads an ε which bounds the privacy loss with probability 1 − δ, at all
    /// moments together; `first` is about the ρ of the first few queries.
    ///
    /// # Guarantee
    /// With probability at least 1 − δ, at no moment is the privacy loss so far
    /// above the reading.
    /// # Proof
    /// For each j ≥ 0, by Ville's inequality, the loss ever exceeds
    /// `zcdp::tail(2^j·first, δ_j)` while Σρ ≤ 2^j·first with probability at most
    /// `δ_j = δ/((j+1)(j+2))`; and `Σ_j δ_j = δ`. The reading is the tail for the least j
    /// that holds Σρ. ∎
    /// # References
    /// Feldman & Zrnic 2021 (arXiv:2008.11193v4), Section 5.
    pub fn concentrated(first: Rho, delta: Delta, neighbours: Neighbours) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let rule = Rule::Concentrated { first: first.get(), delta: delta.get() };
        Ok(Self { neighbours, rule, spent: 0.0 })
    }

    /// Adds the cost of an event that runs.
    pub fn record(&mut self, event: &Event) -> Result<()> {
        let account = Account::of(std::slice::from_ref(event), self.neighbours)?;
        let cost = match self.rule {
            Rule::Pure => account.pure(),
            Rule::Concentrated { .. } => account.rho(),
        };
        let cost = cost.ok_or(Error::Infeasible {
            what: "this event has no finite cost in the odometer's currency",
            remedy: "use an odometer of another kind, or another mechanism",
        })?;
        let total = basic::add_up(self.spent, cost);
        // From here on the reading is ∞: an overflow is permanent.
        self.spent = if total >= self.spent { total } else { f64::INFINITY };
        Ok(())
    }

    /// The ε of all events so far.
    pub fn epsilon(&self) -> Result<f64> {
        if self.spent == 0.0 || self.spent.is_infinite() {
            return Ok(self.spent);
        }
        match self.rule {
            Rule::Pure => Ok(self.spent),
            Rule::Concentrated { first, delta } => {
                let (mut j, mut limit) = (0.0, first);
                while limit < self.spent {
                    limit *= 2.0;
                    j += 1.0;
                }
                if limit.is_infinite() {
                    return Ok(f64::INFINITY);
                }
                let share = (delta / ((j + 1.0) * (j + 2.0))).next_down();
                zcdp::tail(Rho::new(limit)?, Delta::positive(share)?)
            }
        }
    }
}

#[cfg(test)]
mod tests;
