//! Reads an SQL engine's results into exact aggregates.

use super::exact::{Exact, ExactArgument, ExactGroup};
use super::spec::{BoundSpec, Form};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{cast, concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{HashMap, Result, ScalarValue, exec_datafusion_err};

/// One result, concatenated and sorted by its first columns.
struct Answer {
    batch: RecordBatch,
    next: usize,
}

impl Answer {
    fn new(batches: &[RecordBatch], sorted_by: usize) -> Result<Option<Self>> {
        let Some(first) = batches.first() else { return Ok(None) };
        let mut batch = concat_batches(&first.schema(), batches)?;
        if sorted_by > 0 {
            let columns = &batch.columns()[..sorted_by];
            let fields = columns.iter().map(|c| SortField::new(c.data_type().clone())).collect();
            let rows = RowConverter::new(fields)?.convert_columns(columns)?;
            let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
            order.sort_unstable_by(|&a, &b| rows.row(a as usize).cmp(&rows.row(b as usize)));
            batch = take_record_batch(&batch, &UInt32Array::from(order))?;
        }
        Ok(Some(Self { batch, next: sorted_by }))
    }

    /// The first `count` values of a row.
    fn key(&self, row: usize, count: usize) -> Result<Vec<ScalarValue>> {
        let columns = self.batch.columns()[..count].iter();
        columns.map(|column| ScalarValue::try_from_array(column, row)).collect()
    }

    /// The next column as integers; 0 for NULL, which is an empty sum.
    fn numbers(&mut self) -> Result<Vec<i64>> {
        let column = self.batch.columns().get(self.next);
        let column = column.ok_or_else(|| exec_datafusion_err!("an answer lacks a column"))?;
        self.next += 1;
        whole(column)
    }
}

fn whole(column: &ArrayRef) -> Result<Vec<i64>> {
    let column = cast(column, &DataType::Int64)?;
    let values = column.as_primitive::<Int64Type>();
    Ok(values.iter().map(Option::unwrap_or_default).collect())
}

fn unsigned(x: i64) -> u64 {
    x.max(0) as u64
}

/// Combines the results of [`super::Windows::plans`] into exact aggregates.
pub(super) fn read(answers: Vec<Vec<RecordBatch>>, spec: &BoundSpec) -> Result<Exact> {
    let mut answers = answers.into_iter();
    let keys = spec.keys.len();
    let Some(mut totals) = Answer::new(&answers.next().unwrap_or_default(), keys)? else {
        return Ok(Exact { groups: Vec::new(), sizes: None });
    };
    let (rows, people) = (totals.numbers()?, totals.numbers()?);
    let mut groups = Vec::with_capacity(rows.len());
    for (i, (&rows, &people)) in rows.iter().zip(&people).enumerate() {
        let (key, arguments) = (totals.key(i, keys)?, Vec::with_capacity(spec.arguments.len()));
        let (rows, people) = (unsigned(rows), unsigned(people));
        groups.push(ExactGroup { key, rows, people, arguments, weighed: None });
    }
    for argument in &spec.arguments {
        let moments = match argument.form {
            Form::Steps { .. } => {
                let mut five = Vec::with_capacity(5);
                for _ in 0..5 {
                    five.push(totals.numbers()?);
                }
                five
            }
            Form::Present | Form::Norm(_) => vec![totals.numbers()?],
            Form::Code => Vec::new(),
        };
        let mut values = match argument.form {
            Form::Code | Form::Steps { histogram: true, .. } => {
                Some(distribution(&answers.next().unwrap_or_default(), keys)?)
            }
            _ => None,
        };
        for (i, group) in groups.iter_mut().enumerate() {
            let mut values = values.as_mut().map(|all| all.remove(&group.key).unwrap_or_default());
            let at = |which: usize| moments.get(which).and_then(|m| m.get(i)).copied().unwrap_or(0);
            let wide = |which: usize| i128::from(at(which));
            group.arguments.push(match argument.form {
                Form::Code => ExactArgument::Code(values.take().unwrap_or_default()),
                Form::Present | Form::Norm(_) => ExactArgument::Present(unsigned(at(0))),
                Form::Steps { .. } => ExactArgument::Steps {
                    rows: unsigned(at(0)),
                    sum: wide(1),
                    squares: (wide(2) << 30) + (wide(3) << 16) + wide(4),
                    histogram: values.map(steps).transpose()?,
                },
            });
        }
    }
    groups.retain(|group| group.rows > 0); // without keys there is always a row
    Ok(Exact { groups, sizes: None })
}

/// The values of each group and how often each occurs, in order.
type Distribution = HashMap<Vec<ScalarValue>, Vec<(ScalarValue, u64)>>;

fn distribution(batches: &[RecordBatch], keys: usize) -> Result<Distribution> {
    let mut all = Distribution::default();
    let Some(mut answer) = Answer::new(batches, keys + 1)? else { return Ok(all) };
    for (i, count) in answer.numbers()?.into_iter().enumerate() {
        let mut key = answer.key(i, keys + 1)?;
        if let Some(value) = key.pop() {
            all.entry(key).or_default().push((value, unsigned(count)));
        }
    }
    Ok(all)
}

fn steps(values: Vec<(ScalarValue, u64)>) -> Result<std::collections::BTreeMap<u32, u64>> {
    let step = |value: ScalarValue| match value {
        ScalarValue::Int64(Some(step)) => u32::try_from(step).ok(),
        _ => None,
    };
    let wrong = || exec_datafusion_err!("an answer has a step that cannot be");
    values.into_iter().map(|(value, n)| Ok((step(value).ok_or_else(wrong)?, n))).collect()
}
