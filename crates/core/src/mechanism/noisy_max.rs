//! Report noisy max: the candidate whose score is largest after Laplace noise.

use super::exponential::{Change, Scores};
use super::{Geometric, Guarantee, Release};
use crate::error::{Error, Result};
use crate::random::Randomness;
use crate::sample::{DiscreteLaplace, Scale};
use crate::unit::{Beta, Epsilon, LInf, Rho, Sensitivity};
use crate::utility::Accuracy;

/// Chooses the candidate whose integer score is largest after noise, the first one if several
/// are.
///
/// The noise of each `qᵢ` is independent, `P[Zᵢ = k] ∝ a^|k|` with `a = e^(−ε/(2Δ))`, or `e^(−ε/Δ)`
/// for [monotone](Change::Monotone) scores.
///
/// ```
/// use demure_core::mechanism::{NoisyMax, Scores};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours, Sensitivity};
///
/// let votes = Scores::counts(&[310, 95, 240], Neighbours::AddRemove)?;
/// let noisy_max = NoisyMax::new(Epsilon::new(0.5)?, Sensitivity::new(1.0)?)?;
/// let winner = noisy_max.select(&votes, &mut SystemRandom::new()?)?;
/// println!("candidate {}", winner.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP under the neighbour relation for which every score changes by at most Δ
/// and, if monotone, all in one direction. As zCDP it costs ε²/2, what any ε-DP
/// mechanism does, and **not** the ε²/8 of the exponential mechanism.
/// # Proof
/// Fix `Zᵢ` for i ≠ r. Ties go to the lower index, so r is chosen iff
/// `Z_r ≥ m = max(max_{i<r}(qᵢ − q_r + Zᵢ) + 1, max_{i>r}(qᵢ − q_r + Zᵢ))`, an integer.
/// From x to x′ a difference of two scores changes by at most D = 2Δ, or Δ if
/// they move together, so `m′ ≤ m + D`. As `P[Z = k+D] ≥ a^D·P[Z = k]` for all k,
/// `P[Z ≥ m′] ≥ P[Z ≥ m+D] ≥ a^D·P[Z ≥ m] = e^−ε·P[Z ≥ m]`. Average over the `Zᵢ`. ∎
/// # Special values
/// All integers are legal. Which of equal scores comes first is public.
/// # References
/// Dwork, Roth 2014, Claim 3.9, for real noise, where ties do not occur.
#[derive(Clone, Debug)]
pub struct NoisyMax {
    epsilon: Epsilon,
    sensitivity: Sensitivity<LInf>,
    general: DiscreteLaplace,
    monotone: DiscreteLaplace,
}

impl NoisyMax {
    /// Calibrates the noise to scores that change by at most `sensitivity`.
    pub fn new(epsilon: Epsilon, sensitivity: Sensitivity<LInf>) -> Result<Self> {
        let noise = |change| {
            let shift = distance(change) * sensitivity.get();
            DiscreteLaplace::new(&Scale::quotient(shift, epsilon.get())?)
        };
        let (general, monotone) = (noise(Change::General)?, noise(Change::Monotone)?);
        Ok(Self { epsilon, sensitivity, general, monotone })
    }

    /// The scale of the noise: `2Δ/ε`, or `Δ/ε` for monotone scores.
    #[must_use]
    pub fn scale(&self, change: Change) -> f64 {
        distance(change) * self.sensitivity.get() / self.epsilon.get()
    }

    /// The guarantee of one choice.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The guarantee as zCDP: ρ = ε²/2, rounded up.
    pub fn rho(&self) -> Result<Rho> {
        self.epsilon.to_rho()
    }

    /// Chooses a candidate and returns its index. Draws once per candidate, whatever the scores.
    pub fn select(&self, scores: &Scores<i64>, rng: &mut dyn Randomness) -> Result<Release<usize>> {
        let mut noised = vec![0; scores.len()];
        let noise = match scores.change() {
            Change::General => &self.general,
            Change::Monotone => &self.monotone,
        };
        noise.fill(&mut noised, rng)?;
        let mut best = (0, i128::MIN);
        for (i, (noise, &score)) in noised.iter().zip(scores.values()).enumerate() {
            // Noise of 2¹²⁶ has probability below e^(−2⁶⁶): the sum does not saturate.
            let value = noise.saturating_add(i128::from(score));
            if value > best.1 {
                best = (i, value);
            }
        }
        Ok(Release::new(best.0, self.guarantee()))
    }

    /// By how much the chosen score may fall short of the best, except with probability β: twice
    /// the bound that all noises stay within.
    pub fn error(&self, candidates: usize, change: Change, beta: Beta) -> Result<f64> {
        let answers = u32::try_from(candidates).map_err(|_| Error::OutOfRange {
            parameter: "candidates",
            allowed: "fewer than 2^32",
        })?;
        let shift = Sensitivity::new(distance(change) * self.sensitivity.get())?;
        Ok(2.0 * Geometric::new(self.epsilon, shift)?.error_of_all(answers, beta)?)
    }
}

/// The largest change of the difference of two scores, in Δ.
fn distance(change: Change) -> f64 {
    match change {
        Change::General => 2.0,
        Change::Monotone => 1.0,
    }
}

#[cfg(test)]
mod tests;
