//! The best of several candidates, by three methods.

use crate::Choices;
use crate::error::{Error, Result};
use crate::explain::{five_percent, promised};
use demure_core::mechanism::{
    Change, Exponential, Guarantee, NoisyMax, PermuteAndFlip, Score, Scores,
};
use demure_core::random::Randomness;
use demure_core::unit::{Epsilon, LInf, Neighbours, Sensitivity};
use demure_report::{Report, short};

/// A table by permute-and-flip takes n³ steps.
const LARGEST_TABLE: usize = 1_000;

/// How a candidate is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// With probability proportional to `exp(ε·score/2Δ)`.
    Exponential,
    /// Never worse than that.
    PermuteAndFlip,
    /// The largest score after Laplace noise; whole numbers only.
    NoisyMax,
}

impl Method {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("exponential", "With probability proportional to exp(ε·score/2Δ)", Self::Exponential),
        ("permute-and-flip", "Never worse than `exponential`", Self::PermuteAndFlip),
        ("noisy-max", "The largest score after Laplace noise; whole numbers only", Self::NoisyMax),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::PermuteAndFlip => "permute-and-flip",
            Self::NoisyMax => "report noisy max (discrete Laplace)",
        }
    }
}

/// Candidates by their scores, which are protected, and how one is chosen.
pub struct Candidates {
    method: Method,
    values: Vec<f64>,
    scores: Scores<f64>,
    sensitivity: Sensitivity<LInf>,
    neighbours: Neighbours,
}

/// A calibrated method.
enum Mechanism {
    Exponential(Exponential),
    PermuteAndFlip(PermuteAndFlip),
    NoisyMax(NoisyMax, Scores<i64>),
}

/// A choice that is ready to be drawn.
pub struct Chooser<'a> {
    candidates: &'a Candidates,
    mechanism: Mechanism,
}

impl Candidates {
    /// Candidates whose scores change by at most `sensitivity`.
    pub fn new(
        method: Method,
        scores: Vec<f64>,
        change: Change,
        sensitivity: f64,
        neighbours: Neighbours,
    ) -> Result<Self> {
        let (values, scores) = (scores.clone(), changing(scores, change)?);
        let sensitivity = Sensitivity::new(sensitivity)?;
        Ok(Self { method, values, scores, sensitivity, neighbours })
    }

    /// The method at ε.
    pub fn chooser(&self, epsilon: f64) -> Result<Chooser<'_>> {
        let (epsilon, sensitivity) = (Epsilon::new(epsilon)?, self.sensitivity);
        let mechanism = match self.method {
            Method::Exponential => Mechanism::Exponential(Exponential::new(epsilon, sensitivity)?),
            Method::PermuteAndFlip => {
                Mechanism::PermuteAndFlip(PermuteAndFlip::new(epsilon, sensitivity)?)
            }
            Method::NoisyMax => {
                let whole = changing(whole(&self.values)?, self.scores.change())?;
                Mechanism::NoisyMax(NoisyMax::new(epsilon, sensitivity)?, whole)
            }
        };
        Ok(Chooser { candidates: self, mechanism })
    }

    /// Every candidate's probability and what it is of. They give the scores away.
    pub fn probabilities(&self, epsilon: f64) -> Result<(Vec<f64>, Report)> {
        if self.method == Method::NoisyMax {
            return Err(Error::NoTable);
        }
        if epsilon == 0.0 {
            // The limit: no promise is made by drawing there.
            let report = self
                .described()
                .field("epsilon", 0.0)
                .hidden("delta", 0.0)
                .field("neighbours", self.neighbours.to_string())
                .field("guarantee", "0-DP: scores do not matter");
            return Ok((Exponential::uniform(&self.scores), report));
        }
        let chooser = self.chooser(epsilon)?;
        let report = chooser.explain()?;
        let table = match &chooser.mechanism {
            Mechanism::Exponential(mechanism) => mechanism.probabilities(&self.scores)?,
            Mechanism::PermuteAndFlip(mechanism) if self.scores.len() <= LARGEST_TABLE => {
                mechanism.probabilities(&self.scores)
            }
            _ => return Err(Error::TooManyScores { most: LARGEST_TABLE }),
        };
        Ok((table, report))
    }

    fn described(&self) -> Report {
        Report::default()
            .field("mechanism", self.method.name())
            .field("candidates", self.scores.len())
            .hidden("monotone", self.scores.change() == Change::Monotone)
            .field("sensitivity", self.sensitivity.get())
    }
}

impl Chooser<'_> {
    /// What it promises.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        match &self.mechanism {
            Mechanism::Exponential(mechanism) => mechanism.guarantee(),
            Mechanism::PermuteAndFlip(mechanism) => mechanism.guarantee(),
            Mechanism::NoisyMax(mechanism, _) => mechanism.guarantee(),
        }
    }

    /// What it does, promises, and how far below the best its choice may be.
    pub fn explain(&self) -> Result<Report> {
        let Candidates { scores, neighbours, .. } = self.candidates;
        let (count, change, beta) = (scores.len(), scores.change(), five_percent()?);
        let (scale, error): (f64, f64) = match &self.mechanism {
            Mechanism::Exponential(m) => (m.scale(change), m.error(count, change, beta)?),
            Mechanism::PermuteAndFlip(m) => (m.scale(change), m.error(count, change, beta)?),
            Mechanism::NoisyMax(m, _) => (m.scale(change), m.error(count, change, beta)?),
        };
        let changes = match change {
            Change::General => "any change of up to the sensitivity",
            Change::Monotone => "monotone: all change in one direction",
        };
        let report = self.candidates.described().described(
            "scale",
            scale,
            format!("{} ({changes})", short(scale)),
        );
        let text = format!(
            "the score of the choice is at most {} below the best with 95 % confidence",
            short(error)
        );
        Ok(promised(report, self.guarantee(), *neighbours).described("error_95", error, text))
    }

    /// Draws the position of a candidate.
    pub fn select(&self, rng: &mut dyn Randomness) -> Result<usize> {
        let scores = &self.candidates.scores;
        Ok(match &self.mechanism {
            Mechanism::Exponential(mechanism) => mechanism.select(scores, rng)?.into_value(),
            Mechanism::PermuteAndFlip(mechanism) => mechanism.select(scores, rng)?.into_value(),
            Mechanism::NoisyMax(mechanism, whole) => mechanism.select(whole, rng)?.into_value(),
        })
    }
}

fn changing<T: Score>(values: Vec<T>, change: Change) -> Result<Scores<T>> {
    Ok(match change {
        Change::General => Scores::general(values)?,
        Change::Monotone => Scores::monotone(values)?,
    })
}

/// Scores that floats hold exactly as integers.
fn whole(values: &[f64]) -> Result<Vec<i64>> {
    let exact = |x: f64| x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0;
    if values.iter().all(|&x| exact(x)) {
        Ok(values.iter().map(|&x| x as i64).collect())
    } else {
        Err(Error::ScoresNotWhole)
    }
}

#[cfg(test)]
mod tests;
