//! Keys that are not public: which come back, and with which counts.

use crate::Choices;
use crate::error::{Error, Result};
use crate::explain::{calibrated, error_95, promised};
use demure_core::mechanism::{Contributions, Guarantee, KeySelection, ThresholdHistogram};
use demure_core::random::Randomness;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::{Report, integer, named, short};
use serde_json::Value;
use std::collections::BTreeMap;

/// What comes back, and with which noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Counts with geometric noise.
    Laplace,
    /// Counts with Gaussian noise.
    Gaussian,
    /// Which keys exist and no counts.
    TruncatedGeometric,
}

impl Method {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("laplace", "Counts with geometric noise, if large enough", Self::Laplace),
        ("gaussian", "Counts with Gaussian noise, if large enough", Self::Gaussian),
        (
            "truncated-geometric",
            "Which keys exist and no counts, with the largest probability that privacy allows",
            Self::TruncatedGeometric,
        ),
    ];
}

/// A mechanism for protected keys.
pub struct Keys {
    mechanism: Mechanism,
    neighbours: Neighbours,
    /// The most rows of one unit for one key.
    rows: u32,
}

enum Mechanism {
    Counts(ThresholdHistogram),
    Alone(KeySelection),
}

impl Keys {
    /// The method at (ε,δ), where one unit contributes at most so much.
    pub fn new(
        method: Method,
        epsilon: Epsilon,
        delta: Delta,
        neighbours: Neighbours,
        most: Contributions,
    ) -> Result<Self> {
        let rows = most.per_group();
        let counts = match method {
            Method::Laplace => ThresholdHistogram::laplace(epsilon, delta, neighbours, most)?,
            Method::Gaussian => ThresholdHistogram::gaussian(epsilon, delta, neighbours, most)?,
            Method::TruncatedGeometric if rows != 1 => return Err(Error::CountsOfPeople),
            Method::TruncatedGeometric => {
                let alone = KeySelection::new(epsilon, delta, neighbours, most.groups())?;
                return Ok(Self { mechanism: Mechanism::Alone(alone), neighbours, rows });
            }
        };
        Ok(Self { mechanism: Mechanism::Counts(counts), neighbours, rows })
    }

    /// What it promises.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        match &self.mechanism {
            Mechanism::Counts(mechanism) => mechanism.guarantee(),
            Mechanism::Alone(mechanism) => mechanism.guarantee(),
        }
    }

    /// What it does and promises, and which keys come back.
    pub fn explain(&self) -> Result<Report> {
        match &self.mechanism {
            Mechanism::Counts(mechanism) => self.explain_counts(mechanism),
            Mechanism::Alone(mechanism) => Ok(self.explain_alone(mechanism)),
        }
    }

    fn explain_counts(&self, mechanism: &ThresholdHistogram) -> Result<Report> {
        let (noise, threshold) = (mechanism.calibration(), mechanism.threshold());
        let name = format!("thresholded histogram, {} noise", noise.family);
        let lone = threshold.chance(u64::from(self.rows))?;
        let report = calibrated(Report::default().field("mechanism", name), noise, "")
            .described(
                "threshold",
                integer(threshold.value()),
                format!(
                    "{} (a key comes back if its noised count is at least that)",
                    threshold.value()
                ),
            )
            .described(
                "lone_key",
                lone,
                format!("comes back with probability {} (a key of one unit)", short(lone)),
            );
        Ok(promised(report, mechanism.guarantee(), self.neighbours).append(error_95(mechanism)?))
    }

    fn explain_alone(&self, mechanism: &KeySelection) -> Report {
        let (first, last) = mechanism.crossovers();
        let kept = kept_95(mechanism, last);
        let report = Report::default()
            .field("mechanism", "truncated geometric selection of keys, without counts")
            .field("sensitivity", mechanism.sensitivity())
            .described("scale", mechanism.scale(), short(mechanism.scale()))
            .described("crossovers", vec![first, last], format!("{first} and {last} people"))
            .described("certain", last + 1, format!("from {} people on a key is kept", last + 1));
        promised(report, mechanism.guarantee(), self.neighbours).described(
            "error_95",
            kept,
            format!("a key of at least {kept} people is kept with 95 % confidence"),
        )
    }

    /// Draws the keys that come back, with their counts if it has any.
    pub fn release(
        &self,
        counts: &BTreeMap<String, u64>,
        rng: &mut dyn Randomness,
    ) -> Result<Value> {
        Ok(match &self.mechanism {
            Mechanism::Counts(mechanism) => {
                let table = mechanism.release(counts, rng)?.into_value();
                named(table.into_iter().map(|(key, count)| (key, integer(count))))
            }
            Mechanism::Alone(mechanism) => mechanism.release(counts, rng)?.into_value().into(),
        })
    }
}

/// The least number of people whose key is kept with probability 0.95.
fn kept_95(mechanism: &KeySelection, certain: u64) -> u64 {
    let (mut low, mut high) = (0, certain.saturating_add(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if mechanism.probability(middle) >= 0.95 { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests;
