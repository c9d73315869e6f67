//! Counts to estimates: what `collect estimate` prints.

use crate::collector::{Collector, Rejected};
use crate::cross::Cell;
use crate::error::{Error, Result};
use crate::numeric;
use crate::randomizer::{Mechanism, Randomizer};
use crate::store;
use crate::survey::{Attribute, Domain, Survey};
use demure_core::local::{Support, Target};
use demure_core::unit::Beta;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

/// What to estimate, and how surely.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// One less the confidence of the intervals.
    pub beta: Beta,
    /// Whose frequencies: of those who reported, or of a population they are a sample of.
    pub target: Target,
    /// Whether all intervals of an attribute hold together (Bonferroni), or each for itself.
    pub simultaneous: bool,
    /// Whether to add estimates that are not negative and sum to one.
    pub consistent: bool,
}

impl Options {
    /// 95 %, population, simultaneous, without consistency.
    pub fn usual() -> Result<Self> {
        Ok(Self {
            beta: Beta::new(0.05)?,
            target: Target::Population,
            simultaneous: true,
            consistent: false,
        })
    }
}

/// How the intervals were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Clopper–Pearson, transformed: holds for every n.
    Exact,
    /// The normal approximation, where the counts are large.
    Normal,
}

/// The estimate of one value's frequency.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The value.
    pub value: String,
    /// How many reports support it.
    pub support: u64,
    /// Unbiased; may be outside [0, 1].
    pub estimate: f64,
    /// The standard error.
    pub sd: f64,
    /// The interval's lower end, in [0, 1].
    pub lower: f64,
    /// The interval's upper end, in [0, 1].
    pub upper: f64,
    /// The nearest that is not negative and sums to one, if asked for.
    pub consistent: Option<f64>,
}

/// The frequencies of one attribute's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Frequencies {
    /// The attribute.
    pub name: String,
    /// How it was randomized.
    pub mechanism: Mechanism,
    /// How many reported it.
    pub people: u64,
    /// One for each value, in the survey's order.
    pub rows: Vec<Row>,
    /// How the intervals were made.
    pub method: Method,
    /// What liars could do.
    pub poisoning: Poisoning,
}

/// How much fake reports can move an estimate, and whether the reports look like noise.
///
/// A report counts for at most `1/(n(p−q))` of a frequency, whatever it says. m fakes among n
/// reports move an estimate by at most m times that. Whoever can send many tokens can lie
/// many times: tokens stop repetition, not invention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisoning {
    /// The most that one report moves a frequency: `1/(n(p−q))`.
    pub per_report: f64,
    /// The most that 1 % fakes move a frequency.
    pub per_percent: f64,
    /// The sum of all estimates; near 1 if all are honest.
    pub sum: f64,
    /// By how many standard errors it is off 1 (`None` where it is 1 by construction). Beyond ±5
    /// some reports were not made by the survey's randomizer.
    pub sum_z: Option<f64>,
}

/// What was estimated of one attribute.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Estimate {
    /// Of categories.
    Frequencies(Frequencies),
    /// Of a number.
    Mean(numeric::Mean),
    /// Of a number.
    Distribution(numeric::Distribution),
    /// Of texts: see [`crate::heavy::find`].
    Texts(crate::heavy::FrequentTexts),
}

/// What was estimated.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimates {
    /// The question.
    pub question: String,
    /// What each report promised its sender.
    pub epsilon: f64,
    /// How many reports were counted.
    pub people: u64,
    /// How many were not.
    pub rejected: Rejected,
    /// The intervals' confidence.
    pub confidence: f64,
    /// Whether it is for all of an attribute's intervals together.
    pub simultaneous: bool,
    /// One for each part of the survey.
    pub estimates: Vec<Estimate>,
}

/// `collect estimate`: estimates from a file of reports, which is a store or has a report in
/// JSON on each line. `cross` names two attributes to make a table of.
pub fn from_file(
    survey: &Survey,
    path: &Path,
    options: &Options,
    cross: Option<(&str, &str)>,
) -> Result<(Estimates, Option<Vec<Cell>>)> {
    if !store::is_store(path)? {
        let file = File::open(path).map_err(Error::io("cannot open", path))?;
        return from_lines(survey, BufReader::new(file), options, cross);
    }
    counted(survey, options, cross, |collector| store::count(path, collector).map(drop))
}

/// The same from a report in JSON on each line.
pub fn from_lines(
    survey: &Survey,
    lines: impl BufRead,
    options: &Options,
    cross: Option<(&str, &str)>,
) -> Result<(Estimates, Option<Vec<Cell>>)> {
    counted(survey, options, cross, |collector| collector.add_lines(lines))
}

fn counted(
    survey: &Survey,
    options: &Options,
    cross: Option<(&str, &str)>,
    count: impl FnOnce(&mut Collector) -> Result<()>,
) -> Result<(Estimates, Option<Vec<Cell>>)> {
    let mut collector = Collector::new(survey);
    if let Some((first, second)) = cross {
        collector = collector.with_cross(first, second)?;
    }
    count(&mut collector)?;
    let table =
        cross.is_some().then(|| crate::cross::table(&mut collector, options)).transpose()?;
    Ok((estimate(&mut collector, options)?, table))
}

/// Estimates all that a survey asks.
pub fn estimate(collector: &mut Collector, options: &Options) -> Result<Estimates> {
    let survey = Arc::clone(collector.survey());
    if collector.people() == 0 {
        return Err(Error::NoReports);
    }
    let mut estimates = Vec::with_capacity(survey.parts().len());
    for (i, part) in survey.parts().iter().enumerate() {
        estimates.push(match (&part.domain, &part.randomizer) {
            (Domain::Categories(_), _) => {
                let tally = collector.tally(i);
                let supports = tally.supports(part.randomizer.categories().unwrap_or(0) as usize);
                Estimate::Frequencies(frequencies(part, &supports, tally.people, options)?)
            }
            (Domain::Number { low, high }, Randomizer::SquareWave(window)) => {
                let tally = collector.tally(i);
                let (cells, _) = tally.cells();
                Estimate::Distribution(numeric::distribution(
                    &part.name,
                    window,
                    cells,
                    (*low, *high),
                )?)
            }
            (Domain::Number { low, high }, randomizer) => {
                let tally = collector.tally(i);
                let (cells, signs) = tally.cells();
                let range = (*low, *high);
                Estimate::Mean(numeric::mean(
                    &part.name,
                    part.mechanism,
                    randomizer,
                    cells,
                    signs,
                    range,
                    options,
                )?)
            }
            (Domain::Text { .. }, _) => {
                let wanted = crate::heavy::SearchOptions { most: 100, beta: options.beta };
                Estimate::Texts(crate::heavy::find(collector, i, &wanted)?)
            }
        });
    }
    Ok(Estimates {
        question: survey.question().to_owned(),
        epsilon: survey.epsilon().get(),
        people: collector.people(),
        rejected: collector.rejected(),
        confidence: 1.0 - options.beta.get(),
        simultaneous: options.simultaneous,
        estimates,
    })
}

/// Frequencies from the supports of each category among n reports.
pub fn frequencies(
    part: &Attribute,
    supports: &[u64],
    people: u64,
    options: &Options,
) -> Result<Frequencies> {
    let method = method(&part.randomizer.support()?, people, supports.len());
    frequencies_by(method, part, supports, people, options)
}

pub(crate) fn frequencies_by(
    method: Method,
    part: &Attribute,
    supports: &[u64],
    people: u64,
    options: &Options,
) -> Result<Frequencies> {
    let Domain::Categories(values) = &part.domain else { return Err(Error::NoReports) };
    let support = part.randomizer.support()?;
    if people == 0 || supports.len() != values.len() {
        return Err(Error::NoReports);
    }
    let k = values.len();
    // Of two values through randomized response, one's interval is the other's mirrored: they
    // hold or fail together.
    let mirrored = k == 2 && matches!(part.randomizer, Randomizer::Response(_));
    let intervals = if options.simultaneous && !mirrored { k as f64 } else { 1.0 };
    let beta = Beta::new(options.beta.get() / intervals)?;
    let z = crate::plan::z_quantile(0.5 * beta.get());
    let mut rows = Vec::with_capacity(k);
    for (value, &count) in values.iter().zip(supports) {
        let estimate = support.estimate(count, people)?;
        let sd = support.variance(estimate.clamp(0.0, 1.0), people, options.target).sqrt();
        let (lower, upper) = match method {
            Method::Exact => support.exact_interval(count, people, beta)?,
            Method::Normal => {
                ((estimate - z * sd).clamp(0.0, 1.0), (estimate + z * sd).clamp(0.0, 1.0))
            }
        };
        rows.push(Row {
            value: value.clone(),
            support: count,
            estimate,
            sd,
            lower,
            upper,
            consistent: None,
        });
    }
    let sum: f64 = rows.iter().map(|r| r.estimate).sum();
    if options.consistent {
        let nearest = simplex(&rows.iter().map(|r| r.estimate).collect::<Vec<_>>());
        for (row, x) in rows.iter_mut().zip(nearest) {
            row.consistent = Some(x);
        }
    }
    let sum_z = match part.randomizer {
        Randomizer::Response(_) | Randomizer::Subset(_) => None,
        _ => {
            let (p, q) = (support.p(), support.q());
            let variance = p * (1.0 - p) + (k - 1) as f64 * q * (1.0 - q);
            Some((sum - 1.0) * support.gap() / (variance / people as f64).sqrt())
        }
    };
    let per_report = 1.0 / (people as f64 * support.gap());
    let per_percent = 0.01 * people as f64 * per_report;
    let poisoning = Poisoning { per_report, per_percent, sum, sum_z };
    Ok(Frequencies {
        name: part.name.clone(),
        mechanism: part.mechanism,
        people,
        rows,
        method,
        poisoning,
    })
}

/// Exact intervals where they are cheap or where the normal approximation is not to be trusted.
fn method(support: &Support, people: u64, categories: usize) -> Method {
    let n = people as f64;
    let spread = n * support.q() * (1.0 - support.q());
    if people <= 1 << 40 && (spread < 1e4 || n.sqrt() * categories as f64 <= 2e5) {
        Method::Exact
    } else {
        Method::Normal
    }
}

/// The nearest point (least squares) whose coordinates are not negative and sum to one.
///
/// Post-processing. It subtracts one number from all and cuts at 0: the shift that makes the sum one
/// is found by going down the sorted values.
#[must_use]
pub fn simplex(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (i, x) in sorted.iter().enumerate() {
        sum += x;
        let candidate = (sum - 1.0) / (i + 1) as f64;
        if x - candidate > 0.0 {
            shift = candidate;
        }
    }
    values.iter().map(|x| (x - shift).max(0.0)).collect()
}

impl Estimates {
    /// The form of `--json`: of one attribute the fields of its estimate, of several
    /// `attributes` by name.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("question".into(), self.question.clone().into());
        object.insert("epsilon".into(), self.epsilon.into());
        object.insert("reports".into(), self.people.into());
        object.insert("rejected".into(), json!(self.rejected));
        object.insert("confidence".into(), self.confidence.into());
        object.insert("simultaneous".into(), self.simultaneous.into());
        match self.estimates.as_slice() {
            [one] => object.extend(one.to_json()),
            several => {
                let named = several.iter().map(|e| (e.name().to_owned(), e.to_json().into()));
                object.insert("attributes".into(), Value::Object(named.collect()));
            }
        }
        object.into()
    }
}

impl Estimate {
    /// The attribute.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Frequencies(f) => &f.name,
            Self::Mean(m) => &m.name,
            Self::Distribution(d) => &d.name,
            Self::Texts(t) => &t.name,
        }
    }

    fn to_json(&self) -> Map<String, Value> {
        let value = match self {
            Self::Frequencies(f) => {
                let rows = f.rows.iter().map(|r| {
                    let mut row = json!({
                        "estimate": r.estimate, "lower": r.lower, "upper": r.upper,
                        "sd": r.sd, "support": r.support,
                    });
                    if let (Some(x), Some(object)) = (r.consistent, row.as_object_mut()) {
                        object.insert("consistent".into(), x.into());
                    }
                    (r.value.clone(), row)
                });
                let values: Map<String, Value> = rows.collect();
                json!({
                    "mechanism": f.mechanism.name(),
                    "answered": f.people,
                    "values": values,
                    "intervals": match f.method { Method::Exact => "exact", Method::Normal => "normal" },
                    "poisoning": {
                        "per_report": f.poisoning.per_report,
                        "per_percent": f.poisoning.per_percent,
                        "sum": f.poisoning.sum,
                        "sum_z": f.poisoning.sum_z,
                    },
                })
            }
            Self::Mean(m) => json!({
                "mechanism": m.mechanism.name(), "answered": m.people,
                "mean": { "estimate": m.estimate, "lower": m.lower, "upper": m.upper, "sd": m.sd },
                "poisoning": { "per_report": m.per_report },
            }),
            Self::Distribution(d) => json!({
                "mechanism": "square-wave", "answered": d.people, "mean": d.mean,
                "quartiles": [d.quantile(0.25), d.quantile(0.5), d.quantile(0.75)],
                "bins": d.bins.iter().map(|b| json!({
                    "from": b.from, "to": b.to, "estimate": b.estimate,
                })).collect::<Vec<_>>(),
            }),
            Self::Texts(t) => {
                let texts: Map<String, Value> = t
                    .texts
                    .iter()
                    .map(|r| {
                        let row =
                            json!({ "estimate": r.estimate, "lower": r.lower, "upper": r.upper });
                        (r.text.clone(), row)
                    })
                    .collect();
                json!({ "mechanism": "prefix", "answered": t.people, "values": texts })
            }
        };
        match value {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }
}
