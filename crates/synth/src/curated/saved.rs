//! A saved model with what its codes stand for: enough to make more rows, and nothing that was not released.
//!
//! The file is text. After the heading, each column is a line of JSON; numbers are written so that they come back bit
//! by bit. The model follows ([`Model::to_text`]).

use super::condition;
use super::decode;
use super::domain::Domain;
use crate::error::{Error, Result};
use crate::model::Model;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use demure_core::random::Randomness;
use demure_curator::Codes;
use serde_json::{Map, Value, json};

const HEADING: &str = "demure synthetic table 1";

/// A model, and what its codes stand for.
#[derive(Clone, Debug)]
pub struct SavedModel {
    domains: Vec<Domain>,
    model: Model,
}

impl SavedModel {
    pub(super) fn new(domains: Vec<Domain>, model: Model) -> Self {
        Self { domains, model }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The columns.
    #[must_use]
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// Draws rows, all of which meet the condition if there is one (`sex = 'F' AND age >= 65`). It costs nothing.
    pub fn sample(
        &self,
        rows: usize,
        condition: Option<&str>,
        threads: usize,
        rng: &mut dyn Randomness,
    ) -> Result<RecordBatch> {
        let coded = match condition {
            None => self.model.sample(rows, threads, rng)?,
            Some(text) => {
                let condition = condition::parse(text, self.model.schema(), &self.domains)?;
                self.model.sample_where(&condition, rows, threads, rng)?
            }
        };
        decode::batch(&self.domains, &coded, rng)
    }

    /// The model as text, for [`SavedModel::from_text`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADING}\n{}\n", self.domains.len());
        for domain in &self.domains {
            text += &format!("{}\n", domain.to_json());
        }
        text + &self.model.to_text()
    }

    /// Reads a model that [`SavedModel::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Self> {
        let mut lines = Lines { rest: text, line: 0 };
        if lines.next() != Some(HEADING) {
            return Err(lines.expected("`demure synthetic table 1`"));
        }
        let count: Option<usize> = lines.next().and_then(|line| line.parse().ok());
        let count = count.ok_or_else(|| lines.expected("the number of columns"))?;
        let mut domains = Vec::new();
        for _ in 0..count {
            let value = lines.next().and_then(|line| serde_json::from_str(line).ok());
            let domain = value.and_then(|value: Value| Domain::from_json(&value));
            domains.push(domain.ok_or_else(|| lines.expected("a column"))?);
        }
        let model = Model::from_text(lines.rest).map_err(|error| match error {
            Error::Format { line, expected } => Error::Format { line: line + lines.line, expected },
            other => other,
        })?;
        let columns = model.schema().columns();
        let fits = columns.len() == domains.len()
            && columns
                .iter()
                .zip(&domains)
                .all(|(column, domain)| domain.column().is_ok_and(|expected| expected == *column));
        match fits {
            true => Ok(Self { domains, model }),
            false => Err(lines.expected("a model of these columns")),
        }
    }
}

/// Lines of a text, counted.
struct Lines<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (line, rest) = self.rest.split_once('\n')?;
        (self.rest, self.line) = (rest, self.line + 1);
        Some(line)
    }

    fn expected(&self, expected: &'static str) -> Error {
        Error::Format { line: self.line, expected }
    }
}

impl Domain {
    fn to_json(&self) -> Value {
        let numbers = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let codes = match &self.codes {
            Codes::Booleans => json!("booleans"),
            Codes::Texts(texts) => json!({ "texts": texts }),
            Codes::Numbers(all) => json!({ "numbers": numbers(all) }),
            Codes::Bins(lower) => json!({
                "bins": numbers(lower),
                "high": self.high.to_string(),
                "step": self.step.to_string(),
            }),
        };
        let members = [
            ("name", json!(self.name)),
            ("type", json!(self.data_type.to_string())),
            ("nullable", json!(self.nullable)),
            ("codes", codes),
        ];
        Value::Object(
            members
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect::<Map<_, _>>(),
        )
    }

    fn from_json(value: &Value) -> Option<Self> {
        let number = |value: &Value| value.as_str()?.parse::<f64>().ok().filter(|x| x.is_finite());
        let numbers = |value: &Value| -> Option<Vec<f64>> {
            let all = value.as_str()?.split(' ').map(|x| x.parse::<f64>().ok());
            let all = all.collect::<Option<Vec<f64>>>()?;
            let ordered = all.iter().all(|x| x.is_finite()) && all.is_sorted_by(|a, b| a < b);
            ordered.then_some(all)
        };
        let codes = &value["codes"];
        let (mut high, mut step) = (0.0, 0.0);
        let codes = match codes.as_str() {
            Some("booleans") => Codes::Booleans,
            Some(_) => return None,
            None if codes.get("texts").is_some() => {
                let texts = codes["texts"].as_array()?.iter();
                Codes::Texts(texts.map(|t| Some(t.as_str()?.to_owned())).collect::<Option<_>>()?)
            }
            None if codes.get("numbers").is_some() => Codes::Numbers(numbers(&codes["numbers"])?),
            None => {
                let lower = numbers(&codes["bins"])?;
                (high, step) = (number(&codes["high"])?, number(&codes["step"])?);
                if high < *lower.last()? || step <= 0.0 {
                    return None;
                }
                Codes::Bins(lower)
            }
        };
        let data_type: DataType = value["type"].as_str()?.parse().ok()?;
        let (name, nullable) = (value["name"].as_str()?.to_owned(), value["nullable"].as_bool()?);
        let kind_fits = match &codes {
            Codes::Booleans => data_type == DataType::Boolean,
            Codes::Texts(_) => {
                matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
            }
            _ => data_type.is_numeric() || data_type.is_temporal(),
        };
        let ok = kind_fits && !codes.is_empty();
        ok.then_some(Self { name, data_type, nullable, codes, high, step })
    }
}

#[cfg(test)]
mod tests;
