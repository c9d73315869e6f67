//! Exact aggregates in, noised table out. This is the only place where the two meet.

use super::learn::written;
use super::norm::mean;
use super::numbers::divisor;
use super::quote::Quote;
use super::rollup::parts;
use super::{ExactGroups, Keys, PrivateAggregate, as_type, error_as_type, internal};
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
/// Beside its 95 % interval, each number has one at confidence 1 − `BETA`/k for these k: so many of them hold at once.
pub(crate) const AMONG: [u32; 2] = [2, 8];

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

    /// The names of the columns that hold the ends of the i-th column's interval, where they are not as far below the
    /// value as above. They are for every confidence at which its half-width is known.
    pub(crate) fn ends(i: usize) -> [String; 2] {
        [format!("low{i}"), format!("high{i}")]
    }

    /// The name of the column that holds it for an interval that holds together with others: [`AMONG`].
    pub(crate) fn error_among(i: usize, among: u32) -> String {
        format!("e{among}_{i}")
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
    let merged = match &aggregate.rollup {
        Some(rollup) => rollup.merged(&keys)?,
        None => Vec::new(),
    };
    let made = parts(made, &merged)?;
    let keys = match merged.is_empty() {
        true => keys,
        false => merged.iter().flat_map(|set| set.keys.iter().cloned()).collect(),
    };
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
    if aggregate.rollup.is_some() {
        let data_type = aggregate.schema.field(aggregate.key_count).data_type();
        let mut ids = Vec::with_capacity(keys.len());
        for set in &merged {
            ids.extend(vec![set.id(data_type)?; set.keys.len()]);
        }
        columns.push(array(ids, data_type)?);
        fields.push(Field::new(Released::column(aggregate.key_count), data_type.clone(), true));
    }
    let mut errors: Vec<ArrayRef> = vec![nothing(keys.len()); aggregate.key_columns()];
    let mut together = AMONG.map(|_| errors.clone());
    let mut ends = [errors.clone(), errors.clone()];
    for (i, measure) in aggregate.measures.iter().enumerate() {
        let place = aggregate.key_columns() + i;
        let data_type = aggregate.schema.field(place).data_type();
        let (mut values, mut error) = (Vec::new(), Vec::new());
        let mut among = AMONG.map(|_| Vec::new());
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        let in_type = |error: Option<f64>| error.map(|error| error_as_type(error, data_type));
        for part in &made {
            let from = quote.from[i];
            let block = &part[from.block];
            let mut column = block.column(measure)?;
            for (wider, k) in among.iter_mut().zip(AMONG) {
                let known = match from.over {
                    Some(_) => Vec::new(),
                    None => block.errors(measure, k)?,
                };
                let known = if known.is_empty() { vec![None; column.len()] } else { known };
                wider.extend(known.into_iter().map(in_type));
            }
            let known = block.ends();
            let rows = column.len();
            let end = |i: usize, whole: fn(f64) -> f64, of: fn(&(f64, f64)) -> f64| {
                // A whole number is rounded, so its interval goes to the next ones.
                known.get(i).map(of).map(|x| if data_type.is_integer() { whole(x) } else { x })
            };
            lows.extend((0..rows).map(|i| end(i, f64::floor, |ends| ends.0)));
            highs.extend((0..rows).map(|i| end(i, f64::ceil, |ends| ends.1)));
            if let Some(over) = from.over {
                let rows = part[over].column(&divisor(measure))?;
                column = column.into_iter().zip(rows).map(|(sum, rows)| mean(sum, rows)).collect();
            }
            for (value, within) in column {
                values.push(as_type(value, data_type)?);
                error.push(in_type(within));
            }
        }
        columns.push(array(values, data_type)?);
        errors.push(Arc::new(Float64Array::from(error)));
        for (all, one) in together.iter_mut().zip(among) {
            all.push(Arc::new(Float64Array::from(one)));
        }
        for (all, one) in ends.iter_mut().zip([lows, highs]) {
            all.push(Arc::new(Float64Array::from(one)));
        }
        fields.push(Field::new(Released::column(place), data_type.clone(), true));
    }
    let real = |name: String| Field::new(name, DataType::Float64, true);
    fields.extend((0..errors.len()).map(|i| real(Released::error(i))));
    for k in AMONG {
        fields.extend((0..errors.len()).map(|i| real(Released::error_among(i, k))));
    }
    for end in 0..2 {
        fields.extend((0..errors.len()).map(|i| real(Released::ends(i)[end].clone())));
    }
    columns.extend(errors);
    columns.extend(together.into_iter().flatten());
    columns.extend(ends.into_iter().flatten());
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
