//! An answer cell by cell, for those who show it: values, and half of their intervals.

use super::Answer;
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
    /// Half of its interval, where that was asked for and is finite.
    pub error: Option<f64>,
}

impl Answer {
    /// The columns. With `intervals`, `x`, `x_low` and `x_high` are one.
    pub fn cells(&self, intervals: bool) -> Result<Vec<AnswerColumn>, ArrowError> {
        let fields = self.schema.fields();
        let name = |at: usize| fields.get(at).map(|field| field.name().as_str());
        let (mut columns, mut at) = (Vec::new(), 0);
        while let Some(this) = name(at) {
            let ends = intervals
                && name(at + 1) == Some(&format!("{this}_low"))
                && name(at + 2) == Some(&format!("{this}_high"));
            let kind = fields[at].data_type();
            let mut column = AnswerColumn {
                name: this.to_owned(),
                numeric: kind.is_numeric(),
                whole: kind.is_integer(),
                cells: Vec::new(),
            };
            for batch in &self.batches {
                let high = ends.then(|| batch.column(at + 2));
                add(batch.column(at), high, &mut column.cells)?;
            }
            columns.push(column);
            at += if ends { 3 } else { 1 };
        }
        Ok(columns)
    }
}

fn add(
    values: &ArrayRef,
    high: Option<&ArrayRef>,
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
        let error = number.and_then(|x| Some((high.and_then(at)? - x).abs()));
        let error = error.filter(|error| error.is_finite());
        cells.push(AnswerCell { text: formatter.value(row).to_string(), number, error });
    }
    Ok(())
}
