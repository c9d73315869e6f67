//! What answers the attacker, besides the curator.

use crate::draws::Draws;

/// A database, by what it does to an exact count. None of these claims privacy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Database {
    /// Exact answers.
    Plain,
    /// Gaussian noise of this standard deviation on every answer, however many there are.
    Noised {
        /// The standard deviation.
        sigma: f64,
    },
    /// Answers to the nearest multiple of a step.
    Rounding {
        /// The step.
        step: u64,
    },
    /// No answer where fewer than so many are counted.
    Threshold {
        /// The least count that is answered.
        least: u64,
    },
}

impl Database {
    /// What it answers.
    #[must_use]
    pub fn answer(self, exact: u64, draws: &mut Draws) -> Option<f64> {
        let x = exact as f64;
        match self {
            Self::Plain => Some(x),
            Self::Noised { sigma } => Some(x + sigma * draws.normal()),
            Self::Rounding { step } => {
                let step = step.max(1) as f64;
                Some((x / step).round() * step)
            }
            Self::Threshold { least } => (exact >= least).then_some(x),
        }
    }

    /// The standard deviation of its error on n rows, if the error may count as noise. Rounding to
    /// steps r leaves r about equally likely remainders, of variance (r² − 1)/12, while the answers
    /// spread over a few steps: their standard deviation is √(n/8), and r may be twice that.
    #[must_use]
    pub fn sigma(self, rows: usize) -> Option<f64> {
        match self {
            Self::Plain | Self::Threshold { .. } => Some(0.0),
            Self::Noised { sigma } => Some(sigma),
            Self::Rounding { step } => {
                let fine = step as f64 <= (0.5 * rows as f64).sqrt();
                fine.then(|| (((step * step).saturating_sub(1)) as f64 / 12.0).sqrt())
            }
        }
    }
}

#[cfg(test)]
mod tests;
