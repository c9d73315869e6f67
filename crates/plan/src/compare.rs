//! The expected error of every method at a budget, on a public sample.
//!
//! No protected data are looked at, so nothing is spent. What the errors would be on the data themselves is as
//! protected as the data: the local sensitivity is a fact about them.

use crate::Choices;
use crate::budget::pure;
use crate::error::Result;
use crate::smooth::{gaussian, student};
use demure_core::mechanism::{DiscreteGaussian, Geometric, Guarantee, Quantile};
use demure_core::random::Randomness;
use demure_core::sensitivity::{Proposals, SmoothNoise, Smoothness, Statistic};
use demure_core::unit::{L1, L2, Neighbours, Sensitivity};
use demure_report::bars::bar;
use demure_report::chart::Axis;
use demure_report::short;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// Draws a method: the 95 % point is then good to about a tenth.
const DRAWS: usize = 500;
/// Columns of the longest bar.
const BAR: usize = 36;

/// A public sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// Every value as likely.
    Uniform,
    /// Most values near the lower bound, few far above, like incomes.
    LogNormal,
}

impl Reference {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("uniform", "Every value as likely", Self::Uniform),
        (
            "log-normal",
            "Most values near the lower bound, few far above, like incomes",
            Self::LogNormal,
        ),
    ];

    /// What it is, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::LogNormal => {
                "log-normal (median a tenth of the way, deviation of the logarithm 1)"
            }
        }
    }

    /// The quantiles (i − ½)/n: the same for everybody.
    #[must_use]
    pub fn sample(self, bounds: &RangeInclusive<f64>, n: u32) -> Vec<f64> {
        let (low, width) = (bounds.start(), bounds.end() - bounds.start());
        let at = |i: u32| {
            let u = (f64::from(i) + 0.5) / f64::from(n);
            let share = match self {
                Self::Uniform => u,
                Self::LogNormal => (0.1 * normal_quantile(u).exp()).min(1.0),
            };
            low + share * width
        };
        (0..n).map(at).collect()
    }
}

/// The standard normal quantile within 4.5·10⁻⁴: Abramowitz and Stegun 26.2.23. For made-up data only.
fn normal_quantile(u: f64) -> f64 {
    let tail = u.min(1.0 - u);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = (0.010_328 * t + 0.802_853) * t + 2.515_517;
    let below = ((0.001_308 * t + 0.189_269) * t + 1.432_788) * t + 1.0;
    let z = t - above / below;
    if u < 0.5 { -z } else { z }
}

/// A public statistic whose smooth bound is found once.
struct Known<'a> {
    of: &'a dyn Statistic,
    smooth: f64,
}

impl Statistic for Known<'_> {
    fn value(&self) -> i128 {
        self.of.value()
    }
    fn at_distance(&self, k: u64) -> u64 {
        self.of.at_distance(k)
    }
    fn most(&self) -> Option<u64> {
        self.of.most()
    }
    fn answer(&self, noised: i128) -> f64 {
        self.of.answer(noised)
    }
    fn unit(&self) -> f64 {
        self.of.unit()
    }
    fn smooth(&self, _: Smoothness) -> demure_core::Result<f64> {
        Ok(self.smooth)
    }
}

/// What a method did on the sample.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The method.
    pub name: &'static str,
    /// What it promises.
    pub promise: Guarantee,
    /// The error that half of the draws stay below; ∞ for no answer.
    pub half: f64,
    /// The error that 95 % of the draws stay below.
    pub most: f64,
}

/// A public sample with its bounds: a median is something the exponential mechanism can do too.
pub type Median<'a> = (RangeInclusive<f64>, &'a [f64]);

/// Tries every method on a public statistic, each many times.
pub fn compare(
    statistic: &dyn Statistic,
    budget: Guarantee,
    t: Option<Smoothness>,
    median: Option<Median<'_>>,
    rng: &mut dyn Randomness,
) -> Result<Vec<Row>> {
    let epsilon = pure(budget)?;
    let truth = statistic.answer(statistic.value());
    let mut rows = Vec::new();
    let mut try_out = |name: &'static str,
                       promise: Guarantee,
                       draw: &mut dyn FnMut(&mut dyn Randomness) -> Result<Option<f64>>|
     -> Result<()> {
        let mut errors = Vec::with_capacity(DRAWS);
        for _ in 0..DRAWS {
            errors.push(draw(rng)?.map_or(f64::INFINITY, |x| (x - truth).abs()));
        }
        errors.sort_by(f64::total_cmp);
        rows.push(Row { name, promise, half: errors[DRAWS / 2], most: errors[DRAWS * 95 / 100] });
        Ok(())
    };

    let width = (statistic.most().unwrap_or(1).max(1) as f64).next_up();
    if let Guarantee::Concentrated(rho) = budget {
        let noise = DiscreteGaussian::concentrated(rho, Sensitivity::<L2>::new(width)?)?;
        try_out("global Gaussian", noise.guarantee(), &mut |rng| {
            Ok(Some(statistic.answer(noise.release(statistic.value(), rng)?.into_value())))
        })?;
    }
    let noise = Geometric::new(epsilon, Sensitivity::<L1>::new(width)?)?;
    try_out("global Laplace", noise.guarantee(), &mut |rng| {
        Ok(Some(statistic.answer(noise.release(statistic.value(), rng)?.into_value())))
    })?;
    if let Some((bounds, values)) = median {
        let choice = Quantile::between(epsilon, Neighbours::Replace, 0.5, bounds)?;
        try_out("exponential", choice.guarantee(), &mut |rng| {
            Ok(Some(choice.release(values, rng)?.into_value()))
        })?;
    }

    let rho = match budget {
        Guarantee::Concentrated(rho) => rho,
        _ => epsilon.to_rho()?, // what ε implies: the same budget in the other currency
    };
    let mut smooth = vec![
        ("smooth, pareto", SmoothNoise::new(Guarantee::Pure(epsilon), t).ok()),
        ("smooth, student t(4)", student(epsilon, 4, t).ok()),
        ("smooth, Cauchy", student(epsilon, 1, t).ok()),
        ("smooth, lln", SmoothNoise::new(Guarantee::Concentrated(rho), t).ok()),
    ];
    if let Guarantee::Approximate(epsilon, delta) = budget {
        smooth.push(("smooth, laplace", SmoothNoise::new(budget, t).ok()));
        smooth.push(("smooth, gaussian", gaussian(epsilon, delta, t).ok()));
    }
    for (name, noise) in smooth {
        // A t that is too large for one of them leaves it out.
        let Some(noise) = noise else { continue };
        let known = Known { of: statistic, smooth: statistic.smooth(noise.t())? };
        try_out(name, noise.guarantee(), &mut |rng| {
            Ok(Some(noise.release(&known, rng)?.into_value()))
        })?;
    }
    if let Guarantee::Approximate(epsilon, delta) = budget {
        let all = Proposals::for_statistic(epsilon, delta, statistic)?;
        try_out("propose-test-release", all.guarantee(), &mut |rng| {
            Ok(all.release(statistic, rng)?.into_value().map(|(x, _)| x))
        })?;
    }
    Ok(rows)
}

/// The comparison for programs.
#[must_use]
pub fn as_json(about: &str, rows: &[Row]) -> String {
    let row = |row: &Row| {
        json!({
            "method": row.name,
            "guarantee": row.promise.to_string(),
            "error_50": row.half,
            "error_95": row.most,
        })
    };
    let all = Value::Array(rows.iter().map(row).collect());
    format!("{{\"reference\":{},\"draws\":{DRAWS},\"methods\":{all}}}\n", Value::from(about))
}

/// A promise with as many digits as a table has room for.
fn promise(promise: Guarantee) -> String {
    match promise {
        Guarantee::Pure(epsilon) => format!("{}-DP", short(epsilon.get())),
        Guarantee::Approximate(epsilon, delta) => {
            format!("({}, {:e})-DP", short(epsilon.get()), delta.get())
        }
        Guarantee::Concentrated(rho) => format!("{}-zCDP", short(rho.get())),
        other => other.to_string(),
    }
}

/// The comparison for people: a table and a plot.
#[must_use]
pub fn as_text(about: &str, rows: &[Row]) -> String {
    let number = |x: f64| if x.is_finite() { short(x) } else { "no answer".to_owned() };
    let mut text = format!(
        "the {about}\nno data were looked at and nothing was spent; {DRAWS} draws of each\n\n\
         {:22}{:18}{:>14}{:>14}\n",
        "method", "promise", "half within", "95 % within"
    );
    for row in rows {
        let line = format!(
            "{:22}{:18}{:>14}{:>14}\n",
            row.name,
            promise(row.promise),
            number(row.half),
            number(row.most)
        );
        text += &line;
    }
    let axis = Axis::around("", rows.iter().map(|row| row.most));
    text += "\n95 % within, on a logarithmic scale\n";
    for row in rows {
        let bar = match row.most {
            x if x == f64::INFINITY => "(no answer)".to_owned(),
            x => bar(&axis, x, None, BAR),
        };
        text += format!("{:22}{bar} {}", row.name, number(row.most)).trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
