//! An answer cell by cell, for those who show it: values, and half of their intervals.

use super::Answer;
use super::intervals::is_end;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// A column of an answer.
#[derive(Clone, Debug)]
pub struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// Whether it holds numbers.
    pub numeric: bool,
    /// Whether they are whole.
    pub whole: bool,
    /// One a row.
    pub cells: Vec<AnswerCell>,
}

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerCell {
    /// As SQL writes it; `NULL` if there is none.
    pub text: String,
    /// As a number, if it is one.
    pub number: Option<f64>,
    /// Half of its interval, where that was asked for and is finite. If one end is farther away, it is that distance.
    pub error: Option<f64>,
    /// The ends of its interval, where it was asked for and is finite.
    pub ends: Option<(f64, f64)>,
}

impl AnswerCell {
    /// Whether one end of the interval is the value itself, so that `±` would mislead: a largest value is known to be at
    /// least what was released, and at most the column's bound.
    #[must_use]
    pub fn is_lopsided(&self) -> bool {
        let (Some(x), Some((low, high))) = (self.number, self.ends) else { return false };
        let (below, above) = (x - low, high - x);
        below.min(above) <= 0.0 && below.max(above) > 0.0
    }
}

impl Answer {
    /// The columns. With `intervals`, `x`, `x_low` and `x_high` are one.
    pub fn cells(&self, intervals: bool) -> Result<Vec<AnswerColumn>, ArrowError> {
        let fields = self.schema.fields();
        let name = |at: usize| fields.get(at).map(|field| field.name().as_str());
        let (mut columns, mut at) = (Vec::new(), 0);
        while let Some(this) = name(at) {
            let is = |at: usize, end: &str| name(at).is_some_and(|name| is_end(name, this, end));
            let ends = intervals && is(at + 1, "low") && is(at + 2, "high");
            let kind = fields[at].data_type();
            let mut column = AnswerColumn {
                name: this.to_owned(),
                numeric: kind.is_numeric(),
                whole: kind.is_integer(),
                cells: Vec::new(),
            };
            for batch in &self.batches {
                let ends = ends.then(|| (batch.column(at + 1), batch.column(at + 2)));
                add(batch.column(at), ends, &mut column.cells)?;
            }
            columns.push(column);
            at += if ends { 3 } else { 1 };
        }
        Ok(columns)
    }
}

fn add(
    values: &ArrayRef,
    ends: Option<(&ArrayRef, &ArrayRef)>,
    cells: &mut Vec<AnswerCell>,
) -> Result<(), ArrowError> {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(values, &options)?;
    let numeric = values.data_type().is_numeric();
    let numbers = if numeric { Some(cast(values, &DataType::Float64)?) } else { None };
    for row in 0..values.len() {
        let at = |array: &ArrayRef| {
            let array = array.as_primitive_opt::<Float64Type>()?;
            array.is_valid(row).then(|| array.value(row))
        };
        let number = numbers.as_ref().and_then(at);
        let ends = ends.and_then(|(low, high)| Some((at(low)?, at(high)?)));
        let ends = ends.filter(|(low, high)| number.is_some() && (high - low).is_finite());
        let farther = |(x, (low, high)): (f64, (f64, f64))| (high - x).abs().max((x - low).abs());
        let error = number.zip(ends).map(farther);
        cells.push(AnswerCell { text: formatter.value(row).to_string(), number, error, ends });
    }
    Ok(())
}
