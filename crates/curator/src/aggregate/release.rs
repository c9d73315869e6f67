//! Exact aggregates in, noised table out. This is the only place where the two meet.

use super::learn::written;
use super::quote::Quote;
use super::{ExactGroups, Keys, PrivateAggregate, as_type, internal};
use crate::bound::{Exact, ExactGroup};
use crate::error::Result;
use crate::rows::domain::normal;
use datafusion::arrow::array::{ArrayRef, Float64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::common::ScalarValue;
use demure_core::random::Randomness;
use std::collections::HashMap;
use std::sync::Arc;

/// The metadata of a stored table that holds what was learnt.
const LEARNT: &str = "learnt";

/// A noised table. It is made by [`release`], from public keys alone, or from bytes in the ledger, so every number in
/// it has been paid for.
#[derive(Clone, Debug)]
pub(crate) struct Released(RecordBatch);

impl Released {
    /// Reads the table that [`Self::stored`] wrote.
    pub(crate) fn from_stored(bytes: &[u8]) -> Option<Self> {
        // A stream begins with a marker and the length of its schema. The reader would trust any length.
        let (mark, length) = (bytes.get(..4)?, bytes.get(4..8)?.try_into().ok()?);
        if mark != [0xff; 4] || usize::try_from(u32::from_le_bytes(length)).ok()? > bytes.len() {
            return None;
        }
        StreamReader::try_new(bytes, None).ok()?.next()?.ok().map(Self)
    }

    /// The table as bytes, for the ledger.
    pub(crate) fn stored(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &self.0.schema()).ok()?;
        writer.write(&self.0).ok()?;
        writer.finish().ok()?;
        drop(writer);
        Some(bytes)
    }

    /// The public keys of a DISTINCT: the policy's own list. No block is released, so no noise is drawn.
    pub(crate) fn public_keys(aggregate: &PrivateAggregate) -> Result<Self> {
        let nobody = Exact { groups: Vec::new(), sizes: None };
        let mut rng = demure_core::random::SystemRandom::new()?;
        release(aggregate, &Quote::free(), &nobody, &mut rng)
    }

    /// The bounds that were learnt, as text; `None` if none were.
    pub(crate) fn learnt(&self) -> Option<String> {
        self.0.schema_ref().metadata().get(LEARNT).cloned()
    }

    /// Its rows.
    pub(crate) fn batch(&self) -> &RecordBatch {
        &self.0
    }

    /// The name of the i-th column: the aggregate's keys and measures, in order.
    pub(crate) fn column(i: usize) -> String {
        format!("c{i}")
    }

    /// The name of the column that holds the half-width of the i-th column's 95 % interval.
    pub(crate) fn error(i: usize) -> String {
        format!("e{i}")
    }
}

/// The released table: one row per group, in the order of the public keys or of the selected keys.
pub(crate) fn release(
    aggregate: &PrivateAggregate,
    quote: &Quote,
    exact: &Exact,
    rng: &mut dyn Randomness,
) -> Result<Released> {
    let (keys, groups) = groups(aggregate, quote, exact, rng)?;
    let forms = quote.forms();
    let groups = ExactGroups::new(groups, &forms);
    let learnt = quote.learnt(aggregate, exact, keys.len(), rng)?;
    let blocks = learnt.as_ref().map_or(&quote.blocks, |learnt| &learnt.blocks);
    let mut made = Vec::with_capacity(blocks.len());
    for block in blocks {
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
        fields.push(Field::new(Released::column(i), data_type.clone(), true));
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
        fields.push(Field::new(Released::column(place), data_type.clone(), true));
    }
    let error_fields =
        (0..errors.len()).map(|i| Field::new(Released::error(i), DataType::Float64, true));
    fields.extend(error_fields);
    columns.extend(errors);
    let options = RecordBatchOptions::new().with_row_count(Some(keys.len()));
    let bounds = learnt.map(|learnt| (LEARNT.to_owned(), written(&learnt.weights)));
    let schema = Schema::new_with_metadata(fields, bounds.into_iter().collect());
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
        .map(Released)
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

/// The released keys, each with its group if any row has the key.
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
            // An engine returns one group for each normal form.
            let normal_key = |key: &[ScalarValue]| key.iter().cloned().map(normal).collect();
            let found: HashMap<Vec<ScalarValue>, &ExactGroup> =
                exact.groups.iter().map(|group| (normal_key(&group.key), group)).collect();
            let groups = keys.iter().map(|key| found.get(key).copied()).collect();
            Ok((keys.clone(), groups))
        }
        Keys::Private => {
            let selection =
                quote.selection.as_ref().ok_or_else(|| internal("keys without a choice"))?;
            let kept = selection.release(&exact.groups, rng)?;
            let kept = kept.into_iter().filter_map(|i| exact.groups.get(i));
            Ok(kept.map(|group| (group.key.clone(), Some(group))).unzip())
        }
    }
}
