//! Exact aggregates in, noised table out. The only place where the two meet.

use crate::aggregate::{ExactGroups, Keys, PrivateAggregate, as_type, internal};
use crate::bound::{Exact, ExactGroup};
use crate::domain::normal;
use crate::error::Result;
use crate::quote::Quote;
use crate::released::LaterTable;
use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use demure_core::random::Randomness;
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
    let forms = quote.forms();
    let groups = ExactGroups::new(groups, &forms);
    let mut made = Vec::with_capacity(quote.blocks.len());
    for block in &quote.blocks {
        made.push(block.release(&groups, rng)?);
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
        let place = aggregate.key_count + i;
        let data_type = aggregate.schema.field(place).data_type();
        let (mut values, mut error) = (Vec::new(), Vec::new());
        for (value, within) in made[quote.from[i]].column(measure)? {
            values.push(as_type(value, data_type)?);
            error.push(within);
        }
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

/// The public keys of a DISTINCT: the policy's own list.
pub(crate) fn public_keys(aggregate: &PrivateAggregate) -> Result<RecordBatch> {
    let nobody = Exact { groups: Vec::new() };
    let quote = Quote::free();
    // No block is released, so nothing is drawn.
    release(aggregate, &quote, &nobody, &mut demure_core::random::SystemRandom::new()?)
}
