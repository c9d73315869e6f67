//! A table of two attributes.

use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::estimate::{Options, frequencies};
use crate::plan::z_quantile;
use crate::report::Submission;
use crate::survey::{Budget, Domain, Survey};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a table of two attributes needs of each report: how many support both, and each.
///
/// # Estimate
/// Two answers of one person are randomized independently, so with `1ₐ` the support of a and
/// `1_b` that of b, `(1ₐ − qₐ)(1_b − q_b)/((pₐ−qₐ)(p_b−q_b))` has mean 1 for a person with both values and
/// 0 for any other: its average is unbiased. It takes four values, so its sample variance
/// follows from the same counts.
#[derive(Clone, Debug)]
pub struct Cross {
    parts: (usize, usize),
    sizes: (usize, usize),
    both: Vec<u64>,
    first: Vec<u64>,
    second: Vec<u64>,
    people: u64,
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The first attribute's value.
    pub first: String,
    /// The second's.
    pub second: String,
    /// The share of people with both; unbiased.
    pub estimate: f64,
    /// The standard error.
    pub sd: f64,
    /// The interval's lower end, in [0, 1].
    pub lower: f64,
    /// The interval's upper end, in [0, 1].
    pub upper: f64,
}

impl Cell {
    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "values": [self.first, self.second], "estimate": self.estimate,
            "lower": self.lower, "upper": self.upper, "sd": self.sd,
        })
    }
}

impl Cross {
    pub(crate) fn new(survey: &Survey, first: &str, second: &str) -> Result<Self> {
        let parts = (survey.attribute(first)?, survey.attribute(second)?);
        let size = |i: usize| match &survey.attributes()[i].domain {
            Domain::Categories(values) => Ok(values.len()),
            _ => Err(Error::Unanswerable {
                what: "a table needs two attributes of categories",
                remedy: "ask for bins as values",
            }),
        };
        let sizes = (size(parts.0)?, size(parts.1)?);
        let possible = match survey.budget() {
            Budget::Split => parts.0 != parts.1 && sizes.0 * sizes.1 <= 1 << 24,
            Budget::Joint => (parts, survey.attributes().len()) == ((0, 1), 2),
            Budget::Sample => false,
        };
        if !possible {
            return Err(Error::Unanswerable {
                what: "these reports say nothing about two attributes together",
                remedy: "collect with budget = \"split\", or \"joint\" with just the two, in their order",
            });
        }
        let (a, b) = sizes;
        let both = if survey.budget() == Budget::Split { vec![0; a * b] } else { Vec::new() };
        Ok(Self { parts, sizes, both, first: vec![0; a], second: vec![0; b], people: 0 })
    }

    pub(crate) fn add(&mut self, survey: &Survey, submission: &Submission) {
        if self.both.is_empty() {
            return; // a joint survey's own counts are the table
        }
        let supported = |i: usize| {
            let answer = submission.answers.iter().find(|a| a.part == i)?;
            Some(survey.parts()[i].randomizer.supported(&answer.report))
        };
        let (Some(a), Some(b)) = (supported(self.parts.0), supported(self.parts.1)) else { return };
        self.people += 1;
        for &i in &a {
            self.first[i as usize] += 1;
            let row = &mut self.both[i as usize * self.sizes.1..][..self.sizes.1];
            for &j in &b {
                row[j as usize] += 1;
            }
        }
        for &j in &b {
            self.second[j as usize] += 1;
        }
    }
}

/// The table that [`Collector::with_cross`] counted, row by row.
pub fn table(collector: &mut Collector, options: &Options) -> Result<Vec<Cell>> {
    let survey = Arc::clone(collector.survey());
    let Some(cross) = collector.cross().cloned() else {
        return Err(Error::Unanswerable {
            what: "no table was counted",
            remedy: "make the collector with_cross before the reports come in",
        });
    };
    let values = |i: usize| match &survey.attributes()[i].domain {
        Domain::Categories(values) => values.as_slice(),
        _ => &[],
    };
    let (names, others) = (values(cross.parts.0), values(cross.parts.1));
    let pairs = names.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
    if cross.both.is_empty() {
        let part = &survey.parts()[0];
        let tally = collector.tally(0);
        let supports = tally.supports(cross.sizes.0 * cross.sizes.1);
        let found = frequencies(part, &supports, tally.people, options)?;
        return Ok(pairs
            .zip(found.rows)
            .map(|((a, b), row)| Cell {
                first: a.clone(),
                second: b.clone(),
                estimate: row.estimate,
                sd: row.sd,
                lower: row.lower,
                upper: row.upper,
            })
            .collect());
    }
    if cross.people == 0 {
        return Err(Error::NoReports);
    }
    let supports = (
        survey.parts()[cross.parts.0].randomizer.support()?,
        survey.parts()[cross.parts.1].randomizer.support()?,
    );
    let n = cross.people as f64;
    let cells = (cross.sizes.0 * cross.sizes.1) as f64;
    let z = z_quantile(0.5 * options.beta.get() / if options.simultaneous { cells } else { 1.0 });
    let value = |in_a: bool, in_b: bool| {
        let part = |inside: bool, s: &demure_core::local::Support| {
            (f64::from(u8::from(inside)) - s.q()) / s.gap()
        };
        part(in_a, &supports.0) * part(in_b, &supports.1)
    };
    Ok(pairs
        .enumerate()
        .map(|(place, (a, b))| {
            let (i, j) = (place / cross.sizes.1, place % cross.sizes.1);
            let both = cross.both[place];
            let (first, second) = (cross.first[i] - both, cross.second[j] - both);
            let neither = cross.people - both - first - second;
            let counted = [
                (both, value(true, true)),
                (first, value(true, false)),
                (second, value(false, true)),
                (neither, value(false, false)),
            ];
            let estimate = counted.iter().map(|(c, v)| *c as f64 * v).sum::<f64>() / n;
            let squares = counted.iter().map(|(c, v)| *c as f64 * v * v).sum::<f64>() / n;
            let sd = ((squares - estimate * estimate).max(0.0) / (n - 1.0).max(1.0)).sqrt();
            Cell {
                first: a.clone(),
                second: b.clone(),
                estimate,
                sd,
                lower: (estimate - z * sd).clamp(0.0, 1.0),
                upper: (estimate + z * sd).clamp(0.0, 1.0),
            }
        })
        .collect())
}
