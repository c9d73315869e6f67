//! Many releases together: read, priced, drawn against δ or their number.

use crate::Choices;
use crate::error::{Error, Result};
use demure_core::account::calibrate::{Calibration, calibrate};
use demure_core::account::{Account, Interval};
use demure_core::event::{Event, Template};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_report::chart::{Axis, Chart, Series};
use toml::{Table, Value};

/// How many points a curve has.
pub const POINTS: u32 = 40;

/// Events to be accounted for together.
pub struct Batch {
    /// What was done.
    pub events: Vec<Event>,
    /// The probability that ε may be exceeded.
    pub delta: Delta,
    /// Which datasets count as neighbours.
    pub neighbours: Neighbours,
    /// Whether mechanisms were chosen as answers came in.
    pub adaptive: bool,
}

impl Batch {
    /// The account of the whole batch `times` over.
    pub fn account(&self, times: u64) -> Result<Account> {
        let events: Vec<Event> = self
            .events
            .iter()
            .map(|event| if times == 1 { Ok(event.clone()) } else { event.clone().repeat(times) })
            .collect::<demure_core::Result<_>>()?;
        let account = Account::of(&events, self.neighbours)?;
        Ok(if self.adaptive { account.adaptive()? } else { account })
    }

    /// The events as text.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        self.events.iter().map(ToString::to_string).collect()
    }

    /// ε against δ or against how often the batch is repeated; `progress` is called after each of the [`POINTS`].
    pub fn curve(&self, against: Against, progress: impl Fn(u32)) -> Result<Chart> {
        let mut found: Vec<(f64, Interval)> = Vec::new();
        for i in 0..POINTS {
            let share = f64::from(i) / f64::from(POINTS - 1);
            let (x, cost) = match against {
                Against::Delta => {
                    let delta = 10f64.powf(-14.0 + 13.0 * share);
                    (delta, self.account(1)?.epsilon(Delta::new(delta)?)?)
                }
                Against::Queries => {
                    let times = 100f64.powf(share).round();
                    (times, self.account(times as u64)?.epsilon(self.delta)?)
                }
            };
            let known = cost.upper.is_finite() && cost.upper > 0.0;
            if known && found.last().is_none_or(|last| last.0 < x) {
                found.push((x, cost));
            }
            progress(i + 1);
        }
        if found.len() < 2 {
            return Err(Error::NothingToDraw);
        }
        let (name, note) = match against {
            Against::Delta => ("δ", self.neighbours.to_string()),
            Against::Queries => {
                ("times over", format!("{}, δ = {:e}", self.neighbours, self.delta.get()))
            }
        };
        Ok(chart(&found, &self.shown().join(" + "), &note, name))
    }
}

/// What a curve is drawn against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Against {
    /// δ from 1e-14 to 0.1.
    Delta,
    /// The whole batch once to a hundred times.
    Queries,
}

impl Against {
    /// All there are.
    pub const ALL: Choices<Self> = &[
        ("delta", "δ from 1e-14 to 0.1", Self::Delta),
        ("queries", "The whole batch once to a hundred times", Self::Queries),
    ];
}

/// The certified upper end as a curve, and a band down to the lower end.
fn chart(points: &[(f64, Interval)], title: &str, note: &str, x_name: &str) -> Chart {
    let upper: Vec<(f64, f64)> = points.iter().map(|(x, cost)| (*x, cost.upper)).collect();
    let band: Vec<_> = points.iter().map(|(x, cost)| (*x, cost.lower, cost.upper)).collect();
    let ends = || upper.iter().flat_map(|point| [point.1 / 1.1, point.1 * 1.1]);
    Chart {
        title: format!("ε of {title}"),
        note: format!("{note} · certified upper end; the band reaches down to the lower end"),
        x: Axis::around(x_name, points.iter().map(|point| point.0)),
        y: Axis::around("ε", ends()),
        series: vec![Series::line("", '*', upper), Series::band("", &band)],
        ..Chart::default()
    }
}

/// Reads an event; a mistake is shown where it is.
pub fn event(text: &str) -> Result<Event> {
    Event::parse(text).map_err(|source| Error::Event { text: text.to_owned(), source })
}

/// The value of the one `?` among the events that meets ε and δ.
pub fn find_unknown(
    events: &[String],
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
) -> Result<Calibration> {
    let (unknown, known): (Vec<&String>, Vec<&String>) =
        events.iter().partition(|text| text.contains('?'));
    let [text] = unknown[..] else { return Err(Error::NotOneUnknown) };
    let template =
        Template::parse(text).map_err(|source| Error::Event { text: text.to_owned(), source })?;
    let others: Vec<Event> = known.into_iter().map(|text| event(text)).collect::<Result<_>>()?;
    Ok(calibrate(&template, &others, epsilon, delta, neighbours)?)
}

/// What a file says of a batch:
///
/// ```toml
/// delta = 1e-6
/// neighbours = "add-remove"
/// events = ["laplace(eps=0.05)*50", "gaussian(sigma=20)*50"]
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// What was done.
    pub events: Vec<String>,
    /// The probability that ε may be exceeded.
    pub delta: Option<f64>,
    /// Which datasets count as neighbours.
    pub neighbours: Option<Neighbours>,
}

impl Contents {
    /// Reads the text of a TOML file, or says what is wrong with it.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let mut found = Self::default();
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("events", Value::Array(events)) => {
                    let text = |value: &Value| value.as_str().map(str::to_owned);
                    let events: Option<Vec<String>> = events.iter().map(text).collect();
                    found.events = events.ok_or("`events` must be a list of texts")?;
                }
                ("delta", Value::Float(delta)) => found.delta = Some(*delta),
                ("delta", Value::Integer(0)) => found.delta = Some(0.0),
                ("neighbours", Value::String(name)) => {
                    found.neighbours = Some(match name.as_str() {
                        "add-remove" => Neighbours::AddRemove,
                        "replace" => Neighbours::Replace,
                        _ => Err("`neighbours` must be \"add-remove\" or \"replace\"")?,
                    });
                }
                ("events" | "delta" | "neighbours", _) => {
                    return Err(format!("`{key}` is not of the right kind; see --help"));
                }
                _ => return Err(format!("`{key}` is not known; write events, delta, neighbours")),
            }
        }
        if found.events.is_empty() {
            return Err("no events: write e.g. events = [\"laplace(b=1)*100\"]".to_owned());
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
