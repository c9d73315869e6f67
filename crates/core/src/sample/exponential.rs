//! Exponential noise, one-sided, as a real rounded to the grid.

use super::Scale;
use super::centre::{Centre, Offset};
use super::geometric::Steps;
use crate::error::Result;
use crate::random::Randomness;
use crate::unit::Grid;

/// A real exponential variable of scale s, rounded to the nearest step of a
/// grid: `P[result ≥ k] = e^(−(k−½)·grid/s)` for k ≥ 1.
///
/// # Guarantee
/// The result is `⌊sE + ½⌋` (in steps) for an ideal real E: exactly the
/// rounding of the continuous distribution.
#[derive(Clone, Debug)]
pub struct RoundedExponential {
    steps: Steps,
}

impl RoundedExponential {
    /// Noise of mean `scale` (in the units of the value), released as multiples of `grid`.
    pub fn new(scale: &Scale, grid: Grid) -> Result<Self> {
        Ok(Self { steps: Steps::new(&scale.on(grid)?)? })
    }

    /// One draw, in steps of the grid.
    pub fn draw(&self, rng: &mut dyn Randomness) -> Result<i128> {
        self.steps.shifted(Offset::Fraction(&Centre::zero()), rng.bits()?)
    }

    /// Fills `out` with independent draws.
    pub fn fill(&self, out: &mut [i128], rng: &mut dyn Randomness) -> Result<()> {
        let (half, bits) = (Centre::zero(), rng.bits()?);
        for value in out {
            *value = self.steps.shifted(Offset::Fraction(&half), bits)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
