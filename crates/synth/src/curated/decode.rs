//! Synthetic codes as values of the source's types.
//!
//! A number in a bin is drawn evenly from it. Which one says nothing of anyone: the bin is what was released.

use super::domain::{Bin, Domain};
use crate::error::{Error, Result};
use crate::rows::Draws;
use crate::table::CodedTable;
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema};
use demure_core::random::Randomness;
use demure_curator::Codes;
use std::sync::Arc;

/// The rows as a table.
pub(super) fn batch(
    domains: &[Domain],
    rows: &CodedTable,
    rng: &mut dyn Randomness,
) -> Result<RecordBatch> {
    let mut draws = Draws::new(rng)?;
    let columns = domains.iter().zip(rows.columns());
    let columns = columns.map(|(domain, codes)| domain.values(codes, &mut draws));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fields: Vec<_> = domains.iter().map(Domain::field).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|_| UNDECODED)
}

const UNDECODED: Error = Error::Shape {
    what: "the model's codes do not fit its columns",
    remedy: "save the model again",
};

impl Domain {
    fn values(&self, codes: &[u16], draws: &mut Draws) -> Result<ArrayRef> {
        let places = codes.iter().map(|&code| self.place(code));
        let made: ArrayRef = match &self.codes {
            Codes::Booleans => Arc::new(BooleanArray::from_iter(places.map(|p| p.map(|p| p > 0)))),
            Codes::Texts(texts) => {
                let text = |place: Option<usize>| texts.get(place?).map(String::as_str);
                Arc::new(StringArray::from_iter(places.map(text)))
            }
            Codes::Numbers(all) => self.numbers(places.map(|place| all.get(place?).copied())),
            Codes::Bins(_) => {
                let whole = self.is_whole();
                let drawn = places
                    .map(|place| self.bin(place?).map(|bin| bin.draw(self.step, whole, draws)));
                self.numbers(drawn.collect::<Vec<_>>().into_iter())
            }
        };
        let made = match (&self.data_type, made.data_type()) {
            // Days go through 32 bits.
            (DataType::Date32, DataType::Int64) => cast(&made, &DataType::Int32),
            _ => Ok(made),
        };
        made.and_then(|made| cast(&made, &self.data_type)).map_err(|_| UNDECODED)
    }

    fn numbers(&self, numbers: impl Iterator<Item = Option<f64>>) -> ArrayRef {
        match self.is_whole() {
            true => Arc::new(Int64Array::from_iter(numbers.map(|x| x.map(|x| x as i64)))),
            false => Arc::new(Float64Array::from_iter(numbers)),
        }
    }
}

impl Bin {
    /// A number of the bin, a multiple of `step` if it has one.
    fn draw(self, step: f64, whole: bool, draws: &mut Draws) -> f64 {
        let Self { first, end, .. } = self;
        if whole {
            let count = (end - first + 1.0).max(1.0);
            let x = first + (draws.unit() * count).floor().min(count - 1.0);
            // Whole seconds of a time.
            return if step > 1.0 { ((x / step).floor() * step).max(first) } else { x };
        }
        let x = first + draws.unit() * (end - first);
        let (lowest, highest) = ((first / step).ceil(), (end / step).floor());
        let highest = if !self.closed && highest * step >= end { highest - 1.0 } else { highest };
        if lowest > highest || first == end {
            return if first <= f64::MIN_POSITIVE { x } else { first };
        }
        decimal((x / step).floor().clamp(lowest, highest), step).clamp(first, end)
    }
}

/// `n · step`, as the nearest decimal if the step is 0.1, 0.01, …
fn decimal(n: f64, step: f64) -> f64 {
    match step < 1.0 {
        true => n / (1.0 / step).round(),
        false => n * step,
    }
}

#[cfg(test)]
mod tests;
