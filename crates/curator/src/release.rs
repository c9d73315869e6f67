//! Exact aggregates in, noised table out. The only place where the two meet.

use crate::analyse::{Keys, Measure, PrivateAggregate};
use crate::bound::{Exact, ExactArgument, ExactGroup, Form};
use crate::domain::normal;
use crate::error::{Error, Result};
use crate::price::{BETA, Block, Quote, Source, internal};
use crate::released::LaterTable;
use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use demure_core::mechanism::{Accumulator, Bounds, GroupSummary, GroupTotals, Groups};
use demure_core::random::Randomness;
use demure_core::unit::Beta;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The released table: a row a group, in the order of the public keys, or of the keys kept.
pub(crate) fn release(
    aggregate: &PrivateAggregate,
    quote: &Quote,
    exact: &Exact,
    rng: &mut dyn Randomness,
) -> Result<RecordBatch> {
    let (keys, groups) = groups(aggregate, quote, exact, rng)?;
    let forms = quote.forms(aggregate);
    let mut made = Vec::with_capacity(quote.blocks.len());
    for block in &quote.blocks {
        made.push(block_values(block, aggregate, &groups, &forms, rng)?);
    }
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut fields: Vec<Field> = Vec::new();
    for i in 0..aggregate.key_count {
        let data_type = aggregate.schema.field(i).data_type();
        let values = keys.iter().map(|key| key[i].cast_to(data_type));
        let values: Vec<ScalarValue> =
            values.collect::<std::result::Result<_, _>>().map_err(|_| internal("a key's type"))?;
        columns.push(array(values, data_type)?);
        fields.push(Field::new(LaterTable::column(i), data_type.clone(), true));
    }
    let mut errors: Vec<ArrayRef> = vec![nothing(keys.len()); aggregate.key_count];
    for (i, measure) in aggregate.measures.iter().enumerate() {
        let block = quote.from[i];
        let place = aggregate.key_count + i;
        let data_type = aggregate.schema.field(place).data_type();
        let (values, error) = column(measure, &quote.blocks[block], &made[block], data_type)?;
        columns.push(array(values, data_type)?);
        errors.push(Arc::new(Float64Array::from(error)));
        fields.push(Field::new(LaterTable::column(place), data_type.clone(), true));
    }
    let error_fields =
        (0..errors.len()).map(|i| Field::new(LaterTable::error(i), DataType::Float64, true));
    fields.extend(error_fields);
    columns.extend(errors);
    let options = RecordBatchOptions::new().with_row_count(Some(keys.len()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|_| internal("the released table"))
}

fn nothing(rows: usize) -> ArrayRef {
    Arc::new(Float64Array::from(vec![None; rows]))
}

fn array(values: Vec<ScalarValue>, data_type: &DataType) -> Result<ArrayRef> {
    if values.is_empty() {
        return Ok(datafusion::arrow::array::new_empty_array(data_type));
    }
    ScalarValue::iter_to_array(values).map_err(|_| internal("a column's type"))
}

/// The keys that come back, each with its group if any row has it.
#[expect(clippy::type_complexity, reason = "keys, and for each its group")]
fn groups<'a>(
    aggregate: &PrivateAggregate,
    quote: &Quote,
    exact: &'a Exact,
    rng: &mut dyn Randomness,
) -> Result<(Vec<Vec<ScalarValue>>, Vec<Option<&'a ExactGroup>>)> {
    match &aggregate.keys {
        Keys::One => Ok((vec![Vec::new()], vec![exact.groups.first()])),
        Keys::Public(keys) => {
            // An engine returns one group of each normal form.
            let normal_key = |key: &[ScalarValue]| key.iter().cloned().map(normal).collect();
            let found: HashMap<Vec<ScalarValue>, &ExactGroup> =
                exact.groups.iter().map(|group| (normal_key(&group.key), group)).collect();
            let groups = keys.iter().map(|key| found.get(key).copied()).collect();
            Ok((keys.clone(), groups))
        }
        Keys::Private => {
            let selection =
                quote.selection.as_ref().ok_or_else(|| internal("keys without a choice"))?;
            // By content: the order of the rows must not show.
            let people: BTreeMap<usize, u64> =
                exact.groups.iter().enumerate().map(|(i, g)| (i, g.people)).collect();
            let kept = selection.release(&people, rng)?.into_value();
            let kept = kept.into_iter().filter_map(|i| exact.groups.get(i));
            Ok(kept.map(|group| (group.key.clone(), Some(group))).unzip())
        }
    }
}

/// What a block released for each group.
enum Made {
    Numbers(Vec<GroupSummary>),
    Values(Vec<ScalarValue>),
}

fn block_values(
    block: &Block,
    aggregate: &PrivateAggregate,
    groups: &[Option<&ExactGroup>],
    forms: &[(usize, Form)],
    rng: &mut dyn Randomness,
) -> Result<Made> {
    let argument = |group: &'_ ExactGroup, value: usize, wanted: &Form| {
        let same = |(v, form): &(usize, Form)| {
            *v == value && std::mem::discriminant(form) == std::mem::discriminant(wanted)
        };
        let place = forms.iter().position(same)?;
        group.arguments.get(place).cloned()
    };
    let bounds = |value: usize| {
        aggregate.values[value].bounds.ok_or_else(|| internal("a number without bounds"))
    };
    match block {
        Block::Numbers { source, groups: mechanism } => {
            let mut totals = Vec::with_capacity(groups.len());
            for group in groups {
                totals.push(match *source {
                    Source::Rows => GroupTotals::rows(group.map_or(0, |g| g.rows)),
                    Source::People => GroupTotals::rows(group.map_or(0, |g| g.people)),
                    Source::Present(v) => {
                        let found = group.and_then(|g| argument(g, v, &Form::Present));
                        let rows = match found {
                            Some(ExactArgument::Present(rows)) => rows,
                            _ => 0,
                        };
                        GroupTotals::rows(rows)
                    }
                    Source::Distinct(v) => {
                        let found = group.and_then(|g| argument(g, v, &Form::Code));
                        let different = match found {
                            Some(ExactArgument::Code(values)) => {
                                values.iter().filter(|(value, _)| !value.is_null()).count()
                            }
                            _ => 0,
                        };
                        GroupTotals::rows(different as u64)
                    }
                    Source::Values { value, .. } => {
                        let bounds = bounds(value)?;
                        let form = Form::Steps { bounds, histogram: false };
                        let found = group.and_then(|g| argument(g, value, &form));
                        let (rows, sum, squares) = match found {
                            Some(ExactArgument::Steps { rows, sum, squares, .. }) => {
                                (rows, sum, squares)
                            }
                            _ => (0, 0, 0),
                        };
                        let all = group.map_or(0, |g| g.rows);
                        let of = Accumulator::of_parts(bounds, rows, sum, squares)?;
                        GroupTotals::values(of, all.saturating_sub(rows))
                    }
                    Source::Rank(..) | Source::Mode(_) => {
                        return Err(internal("a block of another kind"));
                    }
                });
            }
            Ok(Made::Numbers(mechanism.release(&totals, rng)?.into_value()))
        }
        Block::Rank(ordered) => {
            let bounds = bounds(ordered.value)?;
            let mut made = Vec::with_capacity(groups.len());
            for group in groups {
                let form = Form::Steps { bounds, histogram: true };
                let values = spread(&bounds, group.and_then(|g| argument(g, ordered.value, &form)));
                let released = ordered.release(bounds, &values, rng)?;
                made.push(ScalarValue::Float64(Some(released)));
            }
            Ok(Made::Values(made))
        }
        Block::Extreme(extreme) => {
            let form = Form::Steps { bounds: bounds(extreme.value)?, histogram: true };
            let mut made = Vec::with_capacity(groups.len());
            for group in groups {
                let histogram = match group.and_then(|g| argument(g, extreme.value, &form)) {
                    Some(ExactArgument::Steps { histogram: Some(histogram), .. }) => histogram,
                    _ => BTreeMap::new(),
                };
                made.push(ScalarValue::Float64(Some(extreme.release(&histogram, rng)?)));
            }
            Ok(Made::Values(made))
        }
        Block::Mode(mode) => {
            let candidates = aggregate.values[mode.value].facts.values.as_deref();
            let mut made = Vec::with_capacity(groups.len());
            for group in groups {
                let found = group.and_then(|g| argument(g, mode.value, &Form::Code));
                let mut counted: HashMap<ScalarValue, u64> = HashMap::new();
                if let Some(ExactArgument::Code(values)) = found {
                    for (value, n) in values {
                        *counted.entry(normal(value)).or_insert(0) += n;
                    }
                }
                made.push(mode.release(candidates, &counted, rng)?);
            }
            Ok(Made::Values(made))
        }
    }
}

/// The values of a histogram, on the grid.
fn spread(bounds: &Bounds, found: Option<ExactArgument>) -> Vec<f64> {
    let Some(ExactArgument::Steps { histogram: Some(histogram), .. }) = found else {
        return Vec::new();
    };
    let lower = (bounds.lower() / bounds.grid().spacing()).round() as i128;
    let value = |step: u32| bounds.grid().at(lower + i128::from(step));
    let repeat = |(step, n): (u32, u64)| {
        std::iter::repeat_n(value(step), usize::try_from(n).unwrap_or(usize::MAX))
    };
    histogram.into_iter().flat_map(repeat).collect()
}

/// One column of the answer and, for each row, half the width of its 95 % interval.
fn column(
    measure: &Measure,
    block: &Block,
    made: &Made,
    data_type: &DataType,
) -> Result<(Vec<ScalarValue>, Vec<Option<f64>>)> {
    let (groups, summaries) = match (block, made) {
        (Block::Numbers { groups, .. }, Made::Numbers(summaries)) => (groups, summaries),
        (_, Made::Values(values)) => {
            let cast = values.iter().map(|value| as_type(value.clone(), data_type));
            return Ok((cast.collect::<Result<_>>()?, vec![None; values.len()]));
        }
        _ => return Err(internal("a block of another kind")),
    };
    let known = Errors::of(measure, groups)?;
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for summary in summaries {
        let (value, error) = number(measure, summary, &known)?;
        values.push(as_type(ScalarValue::Float64(Some(value)), data_type)?);
        errors.push(error);
    }
    Ok((values, errors))
}

/// How wrong a number may be, as far as that is the same for every group.
struct Errors {
    /// Of the number itself, where it does not depend on the group.
    own: Option<f64>,
    /// Of a mean or a variance, by the least number of rows that the noise of their count
    /// allows: each at half of β.
    by_rows: Option<Box<dyn Fn(u64) -> f64>>,
    /// Of that count.
    rows: f64,
}

impl Errors {
    fn of(measure: &Measure, groups: &Groups) -> Result<Self> {
        let (beta, half) = (Beta::new(BETA)?, Beta::new(BETA / 2.0)?);
        let missing = || internal("a number that was not released");
        let own = match measure {
            Measure::CountRows => groups.rows_error(beta)?.or(groups.count_error(beta)?),
            Measure::Sum(_) => groups.sum_error(beta)?,
            Measure::Mean(_) | Measure::Variance(_) | Measure::Deviation(_) => {
                let by_rows: Box<dyn Fn(u64) -> f64> = match measure {
                    Measure::Mean(_) => Box::new(groups.mean_errors(half)?.ok_or_else(missing)?),
                    _ => Box::new(groups.variance_errors(half)?.ok_or_else(missing)?),
                };
                let rows = groups.count_error(half)?.ok_or_else(missing)?;
                return Ok(Self { own: None, by_rows: Some(by_rows), rows });
            }
            _ => groups.count_error(beta)?,
        };
        Ok(Self { own, by_rows: None, rows: 0.0 })
    }

    /// For a group with this noised count.
    fn at(&self, count: Option<f64>) -> Option<f64> {
        let least = (count? - self.rows).max(0.0) as u64;
        self.by_rows.as_ref().map(|error| error(least))
    }
}

/// A number of one group, made consistent where that is free: counts are not negative.
fn number(
    measure: &Measure,
    summary: &GroupSummary,
    errors: &Errors,
) -> Result<(f64, Option<f64>)> {
    let released = |x: Option<f64>| x.ok_or_else(|| internal("a number that was not released"));
    let count = |x: Option<f64>| released(x).map(|x| x.round().max(0.0));
    Ok(match measure {
        Measure::CountRows => (count(summary.rows.or(summary.count))?, errors.own),
        Measure::Sum(_) => (released(summary.sum)?, errors.own),
        Measure::Mean(_) => (released(summary.mean)?, errors.at(summary.count)),
        Measure::Variance(_) => (released(summary.variance)?, errors.at(summary.count)),
        Measure::Deviation(_) => {
            let variance = released(summary.variance)?.max(0.0);
            (variance.sqrt(), errors.at(summary.count).map(|error| root_error(variance, error)))
        }
        _ => (count(summary.count)?, errors.own),
    })
}

/// How far √v is from the root of a released variance, if v is within `error` of it.
fn root_error(variance: f64, error: f64) -> f64 {
    let root = variance.sqrt();
    let (low, high) = ((variance - error).max(0.0).sqrt(), (variance + error).sqrt());
    (root - low).max(high - root)
}

/// A released number as its column's type has it: the nearest whole number, and the nearest that the type can
/// hold. A sum of unsigned numbers whose noise takes it below 0 is 0.
fn as_type(value: ScalarValue, data_type: &DataType) -> Result<ScalarValue> {
    use DataType as T;
    use ScalarValue as S;
    Ok(match (value, data_type) {
        (S::Float64(Some(x)), T::Int8) => S::Int8(Some(x.round() as i8)),
        (S::Float64(Some(x)), T::Int16) => S::Int16(Some(x.round() as i16)),
        (S::Float64(Some(x)), T::Int32) => S::Int32(Some(x.round() as i32)),
        (S::Float64(Some(x)), T::Int64) => S::Int64(Some(x.round() as i64)),
        (S::Float64(Some(x)), T::UInt8) => S::UInt8(Some(x.round() as u8)),
        (S::Float64(Some(x)), T::UInt16) => S::UInt16(Some(x.round() as u16)),
        (S::Float64(Some(x)), T::UInt32) => S::UInt32(Some(x.round() as u32)),
        (S::Float64(Some(x)), T::UInt64) => S::UInt64(Some(x.round() as u64)),
        (value, data_type) => value
            .cast_to(data_type)
            .map_err(|_| Error::After("a released number does not fit".to_owned()))?,
    })
}

/// The public keys of a DISTINCT: the policy's own list.
pub(crate) fn public_keys(aggregate: &PrivateAggregate) -> Result<RecordBatch> {
    let nobody = Exact { groups: Vec::new() };
    let quote = Quote::free();
    // No block is released, so nothing is drawn.
    release(aggregate, &quote, &nobody, &mut demure_core::random::SystemRandom::new()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_root_covers_all_variances_within_the_error() {
        for (variance, error) in [(0.0, 0.0), (0.0, 4.0), (100.0, 19.0), (100.0, 400.0), (1e9, 1.0)]
        {
            let told = root_error(variance, error);
            for i in 0..=100 {
                let v: f64 = variance - error + 2.0 * error * f64::from(i) / 100.0;
                let off = (v.max(0.0).sqrt() - f64::sqrt(variance)).abs();
                assert!(off <= told + 1e-9, "{variance} {error} {v}");
            }
        }
        // Much less than √error where the variance is large beside it.
        assert!(root_error(100.0, 19.0) == 1.0);
    }

    #[test]
    fn a_number_that_its_type_cannot_hold_becomes_the_nearest() {
        let of = |x: f64, data_type| as_type(ScalarValue::Float64(Some(x)), &data_type).unwrap();
        assert_eq!(of(-3.6, DataType::UInt64), ScalarValue::UInt64(Some(0)));
        assert_eq!(of(-3.6, DataType::Int64), ScalarValue::Int64(Some(-4)));
        assert_eq!(of(300.0, DataType::Int8), ScalarValue::Int8(Some(127)));
        assert_eq!(of(1e300, DataType::Int64), ScalarValue::Int64(Some(i64::MAX)));
        assert_eq!(of(2.5, DataType::Float64), ScalarValue::Float64(Some(2.5)));
    }
}
