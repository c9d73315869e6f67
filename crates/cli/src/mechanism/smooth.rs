//! What `median` and `trimmed-mean` share: noise in proportion to a smooth bound on the local sensitivity.
//!
//! How large that noise is depends on the data and is as protected as they are: `error_95` is null here, and `--compare` shows
//! what to expect on a public sample instead.

use super::compare::{Reference, compare};
use super::loss::{Loss, concentrated, pure};
use super::output::{Output, promised};
use crate::Failure;
use crate::input::{Bounds, Data, Relation, number, positive};
use clap::ValueEnum;
use demure_core::Error;
use demure_core::mechanism::Guarantee;
use demure_core::random::SystemRandom;
use demure_core::sensitivity::{SmoothNoise, Smoothness, Statistic, Values};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::{Report, short};
use serde_json::Value;
use std::io::Write;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Noise {
    /// The one of least deviation for this budget: pareto for ε, laplace for (ε,δ), lln for ρ
    Auto,
    /// Laplace-log-normal; for ρ, or for ε and δ through the ρ that implies them
    Lln,
    /// Student's t; for pure ε
    Student,
    /// Laplace with a Pareto tail; for pure ε
    Pareto,
    /// Laplace; needs --delta
    Laplace,
    /// Gaussian; needs --delta
    Gaussian,
}

/// Options of a statistic of order.
#[derive(clap::Args)]
pub(super) struct Smooth {
    #[command(flatten)]
    data: Data,

    /// Public bounds of the values
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub(super) bounds: Bounds,

    #[command(flatten)]
    loss: Loss,

    /// Which noise is put on the smooth bound
    #[arg(long, value_enum, default_value = "auto")]
    noise: Noise,

    /// Degrees of freedom of --noise student: 1 (Cauchy) or even
    #[arg(long, value_name = "D", value_parser = positive, default_value = "4", allow_hyphen_values = true)]
    degrees: u32,

    /// t of the smooth bound, chosen without looking at the data; a tenth of ε unless given
    #[arg(long, value_name = "T", value_parser = number, allow_hyphen_values = true)]
    smoothness: Option<f64>,

    /// Which datasets count as neighbours; the number of rows is public under `replace`
    #[arg(long, value_enum, default_value = "replace")]
    neighbours: Relation,

    /// Show the expected error of every method at this budget, on a public sample; no data are read,
    /// so that nothing is spent
    #[arg(long)]
    compare: bool,

    /// The sample of --compare, over the bounds
    #[arg(long, value_enum, default_value = "uniform", requires = "compare")]
    reference: Reference,

    /// How many values the sample of --compare has
    #[arg(long, value_name = "N", value_parser = positive, default_value = "1000", requires = "compare", allow_hyphen_values = true)]
    n: u32,

    #[command(flatten)]
    output: Output,
}

impl Smooth {
    pub(super) fn neighbours(&self) -> Neighbours {
        self.neighbours.into()
    }

    /// Explains, compares or draws. `of` makes the statistic of some values; `size` is a public number to fill them up to.
    pub(super) fn run<'a, S: Statistic + 'a>(
        &self,
        name: &'static str,
        size: Option<u32>,
        values: &'a mut Option<Values>,
        of: impl Fn(&'a Values) -> demure_core::Result<S>,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let noise = self.noise()?;
        let neighbours = self.neighbours();
        let bounds = self.bounds.on_grid(false)?;
        let width = self.bounds.high - self.bounds.low;
        let deviation = noise.deviation();
        let ratio = if deviation.is_finite() { short(deviation) } else { "no finite".to_owned() };
        let report = Report::default()
            .field("mechanism", format!("{name} with noise on a smooth bound"))
            .field("noise", noise.family().to_string())
            .described(
                "sensitivity",
                width,
                format!(
                    "{} (global; the noise follows a smooth bound on the local one)",
                    short(width)
                ),
            )
            .described(
                "smoothness",
                noise.t().get(),
                format!("{} (t of the smooth bound)", short(noise.t().get())),
            )
            .described(
                "deviation",
                deviation,
                format!("{ratio} (standard deviation over the smooth bound)"),
            );
        let report = promised(report, noise.guarantee(), neighbours)
            .described(
                "error_95",
                Value::Null,
                "error not shown: the noise follows the data (--compare guesses)",
            )
            .hidden("note", "the noise follows the data, so how large it is would tell about them");
        if self.output.explain {
            return self.output.finish(&report, |_| Ok(0.0), out);
        }
        let read = self.data.read(false)?;
        *values = Some(match (neighbours, size) {
            // A cell that is no number is left out, as SQL leaves out NULL.
            (Neighbours::AddRemove, Some(size)) => {
                Values::padded(bounds, read.into_iter().filter(|x| !x.is_nan()), size, 0.5)?
            }
            (Neighbours::AddRemove, None) => return Err(no_size()),
            (Neighbours::Replace, _) => Values::new(bounds, read),
        });
        let Some(values) = values.as_ref() else { return Ok(()) };
        let statistic = of(values).map_err(too_few)?;
        let draw = |rng: &mut SystemRandom| Ok(noise.release(&statistic, rng)?.into_value());
        self.output.finish(&report, draw, out)
    }

    /// Whether only a comparison was asked for.
    pub(super) fn wants_comparison(&self) -> bool {
        self.compare
    }

    /// The comparison, on a public sample.
    pub(super) fn compare<'a, S: Statistic + 'a>(
        &self,
        name: &str,
        values: &'a mut Option<Values>,
        of: impl Fn(&'a Values) -> demure_core::Result<S>,
        quantile: bool,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let sample = self.reference.sample(self.bounds, self.n);
        *values = Some(Values::new(self.bounds.on_grid(false)?, sample.iter().copied()));
        let Some(values) = values.as_ref() else { return Ok(()) };
        let statistic = of(values).map_err(too_few)?;
        let budget = self.loss.guarantee()?;
        let about =
            format!("{name} of {} values, {} over the bounds", self.n, self.reference.words());
        let exponential = quantile.then_some((self.bounds, sample.as_slice()));
        compare(&about, &statistic, budget, self.smoothness()?, exponential, self.output.json, out)
    }

    fn smoothness(&self) -> Result<Option<Smoothness>, Failure> {
        Ok(self.smoothness.map(Smoothness::new).transpose()?)
    }

    fn noise(&self) -> Result<SmoothNoise, Failure> {
        let (budget, t) = (self.loss.guarantee()?, self.smoothness()?);
        let needs_delta = || {
            Failure::usage(
                "this noise promises (ε,δ) only\n\
                 hint: give --epsilon and --delta, or use --noise pareto or student for pure ε",
            )
        };
        match (self.noise, budget) {
            (Noise::Auto, _) => Ok(SmoothNoise::new(budget, t)?),
            (Noise::Lln, Guarantee::Concentrated(_)) => Ok(SmoothNoise::new(budget, t)?),
            (Noise::Lln, Guarantee::Approximate(epsilon, delta)) => {
                let rho = concentrated(epsilon, delta)?;
                Ok(SmoothNoise::new(Guarantee::Concentrated(rho), t)?)
            }
            (Noise::Lln, _) => Err(Failure::usage(
                "Laplace-log-normal noise promises ρ-zCDP, and no pure ε\n\
                 hint: give --rho, or --epsilon and --delta, or use --noise pareto for pure ε",
            )),
            (Noise::Student, _) => student(pure(budget)?, self.degrees, t),
            (Noise::Pareto, _) => Ok(SmoothNoise::new(Guarantee::Pure(pure(budget)?), t)?),
            (Noise::Laplace, Guarantee::Approximate(..)) => Ok(SmoothNoise::new(budget, t)?),
            (Noise::Gaussian, Guarantee::Approximate(epsilon, delta)) => {
                gaussian(epsilon, delta, t)
            }
            (Noise::Laplace | Noise::Gaussian, _) => Err(needs_delta()),
        }
    }
}

/// Student noise; t = ε/10 unless given.
pub(super) fn student(
    epsilon: Epsilon,
    degrees: u32,
    t: Option<Smoothness>,
) -> Result<SmoothNoise, Failure> {
    let t = t.map_or_else(|| Smoothness::new((0.1 * epsilon.get()).clamp(1e-9, 100.0)), Ok)?;
    Ok(SmoothNoise::student(epsilon, degrees, t)?)
}

/// Gaussian noise; unless given, about the t that takes half of ε: `½ln(1 + ε/z²)`, z² being about `2ln(4/δ)`.
pub(super) fn gaussian(
    epsilon: Epsilon,
    delta: Delta,
    t: Option<Smoothness>,
) -> Result<SmoothNoise, Failure> {
    // Not half of a very large ε: the shift's δ is that much smaller, by a factor e^(−ε₂).
    let half = 0.5 * (0.5 * epsilon.get().min(600.0) / (4.0 / delta.get()).ln()).ln_1p();
    let t = t.map_or_else(|| Smoothness::new(half.clamp(1e-9, 100.0)), Ok)?;
    Ok(SmoothNoise::gaussian(epsilon, delta, t)?)
}

fn no_size() -> Failure {
    Failure::usage(
        "under --neighbours add-remove the number of rows is protected\n\
         hint: give --size N, a public number that the rows are filled up to, or --neighbours replace",
    )
}

/// By the number of rows, which is public.
fn too_few(error: Error) -> Failure {
    match error {
        Error::OutOfRange { parameter: "values", .. } => Failure::usage(
            "there are too few rows for this statistic\n\
             hint: a median needs one, and a trimmed mean more than it leaves out",
        ),
        error => error.into(),
    }
}
