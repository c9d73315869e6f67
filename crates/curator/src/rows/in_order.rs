//! Aggregates of one person's numbers that are computed in the order of the numbers: sums and means of numbers without
//! bounds, medians, variances, the most common number.
//!
//! # Guarantee
//! The result is a function of the multiset of the numbers, it is finite, and no multiset makes it fail.
//!
//! # Proof
//! The numbers are kept until the last one is there, and sorted before anything is added, so the order in which they
//! came, and how they were divided between threads, decides nothing. NaN is left out and ±∞ is the largest float of its
//! sign, so every partial sum is a float or ±∞, never NaN. A result beyond the floats is the largest one of its sign. ∎
//!
//! Memory: eight bytes for each row, as for `COUNT(DISTINCT x)`. [`crate::plan`] counts the work.

use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array, ListArray};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr, Signature, Volatility,
};
use std::sync::Arc;

/// What is computed of the sorted numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Statistic {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The middle number, or the mean of the two in the middle.
    Median,
    /// The mean squared distance from the mean, of n or of n − 1.
    Variance { sample: bool },
    /// Its root.
    Deviation { sample: bool },
    /// The most common number; of several, the least.
    Mode,
}

const PREFIX: &str = "in_order_";

impl Statistic {
    fn name(self) -> &'static str {
        match self {
            Self::Sum => "in_order_sum",
            Self::Mean => "in_order_mean",
            Self::Median => "in_order_median",
            Self::Variance { sample: false } => "in_order_var_pop",
            Self::Variance { sample: true } => "in_order_var_samp",
            Self::Deviation { sample: false } => "in_order_stddev_pop",
            Self::Deviation { sample: true } => "in_order_stddev_samp",
            Self::Mode => "in_order_mode",
        }
    }

    /// The statistic of a column of floats.
    pub(crate) fn of(self, numbers: Expr) -> Expr {
        let signature = Signature::exact(vec![DataType::Float64], Volatility::Immutable);
        AggregateUDF::from(InOrder { statistic: self, signature }).call(vec![numbers])
    }

    /// The statistic of numbers that are sorted.
    fn compute(self, sorted: &[f64]) -> Option<f64> {
        let n = sorted.len() as f64;
        let (first, middle) = (*sorted.first()?, sorted.len() / 2);
        let mean = || {
            finite(sum(sorted.iter().copied()) / n).clamp(first, *sorted.last().unwrap_or(&first))
        };
        Some(finite(match self {
            Self::Sum => sum(sorted.iter().copied()),
            Self::Mean => mean(),
            Self::Median if sorted.len() % 2 == 1 => sorted[middle],
            // Halved first, so that two large numbers do not overflow.
            Self::Median => sorted[middle - 1] / 2.0 + sorted[middle] / 2.0,
            Self::Variance { sample } | Self::Deviation { sample } => {
                let degrees = if sample { n - 1.0 } else { n };
                if degrees < 1.0 {
                    return None;
                }
                let mean = mean();
                let squares = sorted.iter().map(|x| finite((x - mean) * (x - mean)));
                let variance = sum(squares) / degrees;
                match self {
                    Self::Deviation { .. } => variance.sqrt(),
                    _ => variance,
                }
            }
            Self::Mode => {
                let mut best = (0usize, first);
                let runs = sorted.chunk_by(|a, b| a == b);
                for run in runs.filter(|run| !run.is_empty()) {
                    if run.len() > best.0 {
                        best = (run.len(), run[0]);
                    }
                }
                best.1
            }
        }))
    }
}

/// Whether an aggregate keeps every value that it is given.
pub(crate) fn keeps_values(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The nearest finite number.
fn finite(x: f64) -> f64 {
    x.clamp(-f64::MAX, f64::MAX)
}

/// The sum with its rounding errors added up beside it (Neumaier), or without them where it is too large for that.
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0f64, 0.0f64);
    for x in terms {
        let next = total + x;
        lost += if total.abs() >= x.abs() { (total - next) + x } else { (x - next) + total };
        total = next;
    }
    let both = total + lost;
    if both.is_finite() { both } else { finite(total) }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct InOrder {
    statistic: Statistic,
    signature: Signature,
}

impl AggregateUDFImpl for InOrder {
    fn name(&self) -> &str {
        self.statistic.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Numbers { statistic: self.statistic, numbers: Vec::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[numbers]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::List(item()), true))])
    }
}

fn item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Float64, true))
}

#[derive(Debug)]
struct Numbers {
    statistic: Statistic,
    numbers: Vec<f64>,
}

impl Accumulator for Numbers {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first() else { return Ok(()) };
        let values = values.as_primitive::<Float64Type>().iter().flatten();
        // Adding 0 turns −0 into 0.
        self.numbers.extend(values.filter(|x| !x.is_nan()).map(|x| finite(x) + 0.0));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.numbers.sort_unstable_by(f64::total_cmp);
        Ok(ScalarValue::Float64(self.statistic.compute(&self.numbers)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.numbers.capacity() * size_of::<f64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let numbers = Float64Array::from(std::mem::take(&mut self.numbers));
        let offsets = OffsetBuffer::from_lengths([numbers.len()]);
        let list = ListArray::try_new(item(), offsets, Arc::new(numbers), None)?;
        Ok(vec![ScalarValue::List(Arc::new(list))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(states) = states.first() else { return Ok(()) };
        for numbers in states.as_list::<i32>().iter().flatten() {
            self.update_batch(&[numbers])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
