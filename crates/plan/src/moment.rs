//! Means and variances of bounded numbers: their error depends on how many rows there are, which may be protected.

use crate::error::Result;
use crate::explain::{error_of_rows, noised, promised};
use demure_core::mechanism::{
    Accumulator, BoundedMean, BoundedVariance, Bounds, Budget, Calibration, Guarantee, Rows,
};
use demure_core::random::Randomness;
use demure_core::unit::Neighbours;
use demure_report::Report;

/// A mean or a variance.
pub struct Moment {
    mechanism: Mechanism,
    bounds: Bounds,
    neighbours: Neighbours,
    /// Whether the number of rows is public.
    public: bool,
}

enum Mechanism {
    Mean(BoundedMean),
    Variance(BoundedVariance),
}

impl Moment {
    /// The mean.
    pub fn mean(
        budget: Budget,
        bounds: Bounds,
        neighbours: Neighbours,
        rows: Rows,
    ) -> Result<Self> {
        let mechanism = Mechanism::Mean(BoundedMean::new(budget, bounds, neighbours, rows)?);
        Ok(Self { mechanism, bounds, neighbours, public: rows.public(neighbours) })
    }

    /// The variance.
    pub fn variance(
        budget: Budget,
        bounds: Bounds,
        neighbours: Neighbours,
        rows: Rows,
    ) -> Result<Self> {
        let mechanism = BoundedVariance::new(budget, bounds, neighbours, rows)?;
        let mechanism = Mechanism::Variance(mechanism);
        Ok(Self { mechanism, bounds, neighbours, public: rows.public(neighbours) })
    }

    /// Adds up the rows. One that is no number is left out, as SQL leaves out NULL; where the number
    /// of rows is public it must count, and the core's rule for NaN holds.
    #[must_use]
    pub fn accumulate(&self, values: &[f64]) -> Accumulator {
        accumulate(values, self.bounds, self.public)
    }

    /// What it promises.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        match &self.mechanism {
            Mechanism::Mean(mechanism) => mechanism.guarantee(),
            Mechanism::Variance(mechanism) => mechanism.guarantee(),
        }
    }

    /// What it does, promises, and how wrong the answer may be for about `n` rows. The true number is
    /// used where it is public, and nowhere else.
    pub fn explain(&self, n: Option<u64>, rows: usize) -> Result<Report> {
        let rows = n.or(Some(rows as u64).filter(|&rows| self.public && rows > 0));
        let (name, noise, of) = self.noise(rows);
        let error = error_of_rows(rows, |rows, beta| match &self.mechanism {
            Mechanism::Mean(mechanism) => mechanism.error(rows, beta),
            Mechanism::Variance(mechanism) => mechanism.error(rows, beta),
        })?;
        Ok(promised(noised(name, noise, of), self.guarantee(), self.neighbours).append(error))
    }

    /// The mechanism's name, its noise for so many rows, and what that is on.
    fn noise(&self, rows: Option<u64>) -> (&'static str, Calibration, &'static str) {
        let public_mean = "bounded mean, number of rows public";
        match (&self.mechanism, self.public, rows) {
            (Mechanism::Mean(mechanism), true, Some(n)) => {
                // The noise on a sum, as that on a mean of n.
                let (noise, n) = (mechanism.calibration(), n as f64);
                let (sensitivity, scale) = (noise.sensitivity / n, noise.scale / n);
                (public_mean, Calibration { sensitivity, scale, ..noise }, "")
            }
            (Mechanism::Mean(mechanism), true, None) => {
                (public_mean, mechanism.calibration(), " / n")
            }
            (Mechanism::Mean(mechanism), false, _) => (
                "bounded mean, as the share of two noised sums",
                mechanism.calibration(),
                " (of the sums of distances from both bounds)",
            ),
            // The other half is for the sum.
            (Mechanism::Variance(mechanism), true, _) => (
                "bounded variance, number of rows public",
                mechanism.calibration(),
                " (of the sum of squares, with half of the budget)",
            ),
            (Mechanism::Variance(mechanism), false, _) => (
                "bounded variance, from shares of three noised sums",
                mechanism.calibration(),
                " (of the sums of products of distances from the bounds)",
            ),
        }
    }

    /// Draws an answer.
    pub fn release(&self, all: &Accumulator, rng: &mut dyn Randomness) -> Result<f64> {
        Ok(match &self.mechanism {
            Mechanism::Mean(mechanism) => mechanism.release(all, rng)?.into_value(),
            Mechanism::Variance(mechanism) => mechanism.release(all, rng)?.into_value(),
        })
    }
}

/// Adds up rows within bounds, where their number is `public` or not: see [`Moment::accumulate`].
#[must_use]
pub fn accumulate(values: &[f64], bounds: Bounds, public: bool) -> Accumulator {
    let mut all = Accumulator::new(bounds);
    all.extend(values.iter().copied().filter(|value| public || !value.is_nan()));
    all
}

#[cfg(test)]
mod tests;
