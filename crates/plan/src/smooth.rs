//! Which noise goes on a smooth bound of the local sensitivity.
//!
//! How large that noise is depends on the data and is as protected as they are: no error is shown, and
//! [`compare`](mod@crate::compare) shows what to expect on a public sample instead.

use crate::Choices;
use crate::budget::{concentrated, pure};
use crate::error::{Error, Result};
use crate::explain::promised;
use demure_core::mechanism::{Bounds, Guarantee};
use demure_core::sensitivity::{
    OrderStatistic, SmoothNoise, Smoothness, Statistic, TrimmedMean, Values,
};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::{Report, short};
use serde_json::Value;

/// A noise for a smooth bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// The one of least deviation for the budget.
    Auto,
    /// Laplace-log-normal.
    Lln,
    /// Student's t.
    Student,
    /// Laplace with a Pareto tail.
    Pareto,
    /// Laplace.
    Laplace,
    /// Gaussian.
    Gaussian,
}

impl Noise {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        (
            "auto",
            "The one of least deviation for this budget: pareto for ε, laplace for (ε,δ), lln for ρ",
            Self::Auto,
        ),
        (
            "lln",
            "Laplace-log-normal; for ρ, or for ε and δ through the ρ that implies them",
            Self::Lln,
        ),
        ("student", "Student's t; for pure ε", Self::Student),
        ("pareto", "Laplace with a Pareto tail; for pure ε", Self::Pareto),
        ("laplace", "Laplace; needs --delta", Self::Laplace),
        ("gaussian", "Gaussian; needs --delta", Self::Gaussian),
    ];

    /// The noise within a budget. `degrees` are Student's; `t` of the smooth bound is chosen unless given.
    pub fn within(
        self,
        budget: Guarantee,
        degrees: u32,
        t: Option<Smoothness>,
    ) -> Result<SmoothNoise> {
        match (self, budget) {
            (Self::Auto, _)
            | (Self::Lln, Guarantee::Concentrated(_))
            | (Self::Laplace, Guarantee::Approximate(..)) => Ok(SmoothNoise::new(budget, t)?),
            (Self::Lln, Guarantee::Approximate(epsilon, delta)) => {
                let rho = concentrated(epsilon, delta)?;
                Ok(SmoothNoise::new(Guarantee::Concentrated(rho), t)?)
            }
            (Self::Lln, _) => Err(Error::NotPure),
            (Self::Student, _) => student(pure(budget)?, degrees, t),
            (Self::Pareto, _) => Ok(SmoothNoise::new(Guarantee::Pure(pure(budget)?), t)?),
            (Self::Gaussian, Guarantee::Approximate(epsilon, delta)) => gaussian(epsilon, delta, t),
            (Self::Laplace | Self::Gaussian, _) => Err(Error::NeedsDelta),
        }
    }
}

/// Student noise; t = ε/10 unless given.
pub fn student(epsilon: Epsilon, degrees: u32, t: Option<Smoothness>) -> Result<SmoothNoise> {
    let t = t.map_or_else(|| Smoothness::new((0.1 * epsilon.get()).clamp(1e-9, 100.0)), Ok)?;
    Ok(SmoothNoise::student(epsilon, degrees, t)?)
}

/// Gaussian noise; unless given, about the t that takes half of ε: `½ln(1 + ε/z²)`, z² being about `2ln(4/δ)`.
pub fn gaussian(epsilon: Epsilon, delta: Delta, t: Option<Smoothness>) -> Result<SmoothNoise> {
    // Not half of a very large ε: the shift's δ is that much smaller, by a factor e^(−ε₂).
    let half = 0.5 * (0.5 * epsilon.get().min(600.0) / (4.0 / delta.get()).ln()).ln_1p();
    let t = t.map_or_else(|| Smoothness::new(half.clamp(1e-9, 100.0)), Ok)?;
    Ok(SmoothNoise::gaussian(epsilon, delta, t)?)
}

/// What noise on a smooth bound of a statistic of values `width` apart promises.
#[must_use]
pub fn explain(order: Order, width: f64, noise: &SmoothNoise, neighbours: Neighbours) -> Report {
    let (t, deviation) = (noise.t().get(), noise.deviation());
    let ratio = if deviation.is_finite() { short(deviation) } else { "no finite".to_owned() };
    let global =
        format!("{} (global; the noise follows a smooth bound on the local one)", short(width));
    let report = Report::default()
        .field("mechanism", format!("{} with noise on a smooth bound", order.name()))
        .field("noise", noise.family().to_string())
        .described("sensitivity", width, global)
        .described("smoothness", t, format!("{} (t of the smooth bound)", short(t)))
        .described(
            "deviation",
            deviation,
            format!("{ratio} (standard deviation over the smooth bound)"),
        );
    promised(report, noise.guarantee(), neighbours)
        .described(
            "error_95",
            Value::Null,
            "error not shown: the noise follows the data (--compare guesses)",
        )
        .hidden("note", "the noise follows the data, so how large it is would tell about them")
}

/// The values that a statistic of order is of. Under add-remove they are filled up to `size`, half at
/// either bound, and a cell that is no number is left out, as SQL leaves out NULL.
pub fn values(
    bounds: Bounds,
    read: Vec<f64>,
    neighbours: Neighbours,
    size: Option<u32>,
) -> Result<Values> {
    Ok(match (neighbours, size) {
        (Neighbours::AddRemove, Some(size)) => {
            Values::padded(bounds, read.into_iter().filter(|x| !x.is_nan()), size, 0.5)?
        }
        (Neighbours::AddRemove, None) => return Err(Error::NoSize),
        (Neighbours::Replace, _) => Values::new(bounds, read),
    })
}

/// A statistic of values in their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The median.
    Median,
    /// The mean without this share of the values at either end.
    TrimmedMean(f64),
}

impl Order {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::TrimmedMean(_) => "trimmed mean",
        }
    }

    /// The statistic of these values, whose number is public.
    pub fn of(self, values: &Values) -> Result<Box<dyn Statistic + '_>> {
        let too_few = |error| match error {
            demure_core::Error::OutOfRange { parameter: "values", .. } => Error::TooFewRows,
            error => error.into(),
        };
        Ok(match self {
            Self::Median => Box::new(OrderStatistic::median(values).map_err(too_few)?),
            Self::TrimmedMean(share) => {
                let left_out = (share * values.len() as f64).floor() as usize;
                Box::new(TrimmedMean::new(values, left_out).map_err(too_few)?)
            }
        })
    }
}

#[cfg(test)]
mod tests;
