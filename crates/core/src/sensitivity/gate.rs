//! A gate: opens if a noised distance is above a threshold, with a known chance at distance 0.

use crate::error::{Error, Result};
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::sample::{DiscreteLaplace, Scale};
use crate::unit::{Delta, Epsilon};

/// Distances are cut off here: as good as infinite, and a cut keeps them 1-Lipschitz.
const FAR: u64 = 1 << 62;

/// Opens iff `d + Z > T`, with `P[Z = k] ∝ e^(−ε|k|)` and the least T for which
/// `P[Z > T] = e^(−ε(T+1))/(1+e^−ε) ≤ δ`.
///
/// # Guarantee
/// Whether it opens is ε-DP if d is 1-Lipschitz, and where d = 0 it opens with probability at most δ.
/// # Proof
/// The first is the geometric mechanism, post-processed; the second the definition of T. ∎
#[derive(Clone, Debug)]
pub(super) struct Gate {
    noise: DiscreteLaplace,
    epsilon: f64,
    threshold: u64,
}

impl Gate {
    pub(super) fn new(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        Self::with_sensitivity(epsilon, delta, 1)
    }

    /// The same for a number that changes by at most `sensitivity`: ε per step is `ε/sensitivity`.
    pub(super) fn with_sensitivity(
        epsilon: Epsilon,
        delta: Delta,
        sensitivity: u64,
    ) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let steps = up(sensitivity.max(1) as f64);
        let noise = DiscreteLaplace::new(&Scale::quotient(steps, epsilon.get())?)?;
        let mut gate = Self { noise, epsilon: down(epsilon.get() / steps), threshold: 0 };
        // The formula proposes; the certified chance decides.
        let guess = -(delta.get() * (1.0 + (-gate.epsilon).exp())).ln() / gate.epsilon - 1.0;
        if guess >= FAR as f64 / 4.0 {
            return Err(Error::Infeasible {
                what: "so small an epsilon and delta put the threshold out of reach",
                remedy: "spend more on the test",
            });
        }
        gate.threshold = (guess.ceil().max(0.0) as u64).saturating_sub(2);
        while gate.chance(0)? > delta.get() {
            gate.threshold += 1;
        }
        Ok(gate)
    }

    /// T.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// An upper bound on `P[d + Z > T]` for d ≤ T.
    pub(super) fn chance(&self, distance: u64) -> Result<f64> {
        let steps = self.threshold.saturating_sub(distance) + 1;
        let (_, top) = directed::exp_neg(down(self.epsilon * steps as f64).max(0.0))?;
        let (a, _) = directed::exp_neg(up(up(self.epsilon)).min(1e9))?;
        Ok(up(top / down(1.0 + a)))
    }

    pub(super) fn opens(&self, distance: u64, rng: &mut dyn Randomness) -> Result<bool> {
        let noised = i128::from(distance.min(FAR)).saturating_add(self.noise.draw(rng)?);
        Ok(noised > i128::from(self.threshold))
    }

    /// A draw of Z.
    pub(super) fn noise(&self, rng: &mut dyn Randomness) -> Result<i128> {
        self.noise.draw(rng)
    }
}

#[cfg(test)]
pub(super) mod tests;
