//! The tables of one query that map values to numbers.
//!
//! Numbers are given in order of arrival, so they depend on everyone's rows. They never decide a choice: choices use
//! the *content* of values, by its keyed hash and, if two hashes collide, by its bytes.
//!
//! | type | content |
//! |---|---|
//! | text, binary | its bytes |
//! | everything else | Arrow's row format, with −0 as 0 and a single NaN |
//! | dictionary, run-end encoded | the value's |

use super::key::Key;
use super::spec::{BoundSpec, Form};
use super::table::{Full, Table};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float16Type, Float32Type, Float64Type, Schema,
};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_datafusion_err};
use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of shards of the table of people, so that threads seldom contend.
const SHARDS: usize = 64;

/// Locks a table. A panic elsewhere cannot have left it inconsistent, because every change is complete.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Full> for DataFusionError {
    fn from(_: Full) -> Self {
        exec_datafusion_err!(
            "a column has more distinct values than contribution bounding can number"
        )
    }
}

/// The values of one column, numbered.
pub(super) struct Column {
    kind: DataType,
    shards: Vec<Mutex<Table>>,
    converter: Option<RowConverter>,
}

impl Column {
    fn new(kind: &DataType, shards: usize) -> Result<Self> {
        let kind = value_type(kind).clone();
        let converter = if is_bytes(&kind) {
            None
        } else {
            Some(RowConverter::new(vec![SortField::new(kind.clone())])?)
        };
        Ok(Self { kind, shards: (0..shards).map(|_| Mutex::default()).collect(), converter })
    }

    /// The type of the values, with dictionaries decoded.
    pub(super) fn kind(&self) -> &DataType {
        &self.kind
    }

    /// Converts the values into bytes, unless they are bytes already.
    pub(super) fn converter(&self) -> Option<&RowConverter> {
        self.converter.as_ref()
    }

    /// The only table of a column that is not sharded.
    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.shards[0])
    }

    /// Numbers many values, with one lock per shard and call: `n·SHARDS + shard`.
    pub(super) fn intern_many<'a>(
        &self,
        hashes: &[u64],
        bytes: impl Fn(usize) -> &'a [u8],
        numbers: &mut [u32],
    ) -> Result<()> {
        let shard = |hash: u64| hash as usize >> (u64::BITS - SHARDS.ilog2()) & (SHARDS - 1);
        let mut guesses = Vec::new();
        let mut by_shard: Vec<u32> = (0..hashes.len() as u32).collect();
        by_shard.sort_unstable_by_key(|&i| shard(hashes[i as usize]));
        for run in
            by_shard.chunk_by(|&a, &b| shard(hashes[a as usize]) == shard(hashes[b as usize]))
        {
            let which = shard(hashes[run[0] as usize]);
            let mut most = 0;
            lock(&self.shards[which]).intern_run(run, hashes, &bytes, &mut guesses, |i, n| {
                most = most.max(n);
                numbers[i] = n.wrapping_mul(SHARDS as u32).wrapping_add(which as u32);
            })?;
            if most as usize >= u32::MAX as usize / SHARDS {
                return Err(Full.into());
            }
        }
        Ok(())
    }

    fn hashes(&self) -> Vec<Vec<u64>> {
        self.shards.iter().map(|shard| lock(shard).hashes().to_vec()).collect()
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        let table = self.table();
        table.get(a).cmp(&table.get(b))
    }

    /// The values of these numbers.
    fn values(&self, numbers: impl IntoIterator<Item = u32>) -> Result<Vec<ScalarValue>> {
        // Few enough at a time that no column of them exceeds its offsets.
        const TOGETHER: usize = 1 << 16;
        let numbers: Vec<u32> = numbers.into_iter().collect();
        let mut values = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(TOGETHER) {
            values.extend(self.some_values(some.iter().copied())?);
        }
        Ok(values)
    }

    fn some_values(&self, numbers: impl IntoIterator<Item = u32>) -> Result<Vec<ScalarValue>> {
        let table = self.table();
        let bytes = numbers.into_iter().map(|number| table.get(number));
        let Some(converter) = &self.converter else {
            let mut builder = BinaryBuilder::new();
            bytes.for_each(|b| builder.append_option(b));
            let array: ArrayRef = Arc::new(builder.finish());
            let array = match self.kind {
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                    cast(&cast(&array, &DataType::Utf8)?, &self.kind)?
                }
                _ => cast(&array, &self.kind)?,
            };
            return scalars(&array);
        };
        let null = ScalarValue::try_from(&self.kind)?;
        let parser = converter.parser();
        let bytes: Vec<Option<&[u8]>> = bytes.collect();
        let rows = bytes.iter().flatten().map(|b| parser.parse(b));
        let columns = converter.convert_rows(rows)?;
        let array = columns.first().ok_or_else(|| exec_datafusion_err!("no column"))?;
        let mut found = scalars(array)?.into_iter();
        let value = |b: Option<&[u8]>| b.and_then(|_| found.next()).unwrap_or_else(|| null.clone());
        Ok(bytes.into_iter().map(value).collect())
    }
}

fn scalars(array: &ArrayRef) -> Result<Vec<ScalarValue>> {
    (0..array.len()).map(|i| ScalarValue::try_from_array(array, i)).collect()
}

pub(super) fn value_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, value) => value_type(value),
        DataType::RunEndEncoded(_, value) => value_type(value.data_type()),
        other => other,
    }
}

fn is_bytes(kind: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(kind, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// The array in the type of its column, with a single zero and a single NaN.
pub(super) fn canonical(array: &ArrayRef, kind: &DataType) -> Result<ArrayRef> {
    let array = if array.data_type() == kind { Arc::clone(array) } else { cast(array, kind)? };
    Ok(match kind {
        DataType::Float64 => Arc::new(
            array
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        ),
        DataType::Float32 => Arc::new(
            array
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        ),
        DataType::Float16 => Arc::new(
            array
                .as_primitive::<Float16Type>()
                .unary::<_, Float16Type>(|x| if x.is_nan() { Half::NAN } else { x + Half::ZERO }),
        ),
        _ => array,
    })
}

/// The tables of one query, shared by its operator and the reader of its output.
///
/// They may contain groups and codes that no kept row has: read what is released from the rows, and use the tables
/// only to translate it.
pub struct Interned {
    key: Key,
    unit: Option<Column>,
    keys: Vec<Column>,
    /// Tuples of the keys' numbers, used unless there is exactly one key.
    tuples: Mutex<Table>,
    codes: Vec<Option<Column>>,
}

impl Interned {
    /// Empty tables for a query over rows with this schema.
    pub fn new(spec: &BoundSpec, input: &Schema, key: Key) -> Result<Self> {
        spec.check(input)?;
        let kind = |column: usize| input.field(column).data_type();
        let unit = match spec.unit {
            Some(unit) if !super::words::fit(value_type(kind(unit))) => {
                Some(Column::new(kind(unit), SHARDS)?)
            }
            _ => None,
        };
        let keys = spec.keys.iter().map(|&k| Column::new(kind(k), 1)).collect::<Result<_>>()?;
        let code = |a: &super::spec::Argument| match a.form {
            Form::Code => Column::new(kind(a.column), 1).map(Some),
            Form::Steps { .. } | Form::Present | Form::Norm(_) => Ok(None),
        };
        let codes = spec.arguments.iter().map(code).collect::<Result<_>>()?;
        Ok(Self { key, unit, keys, tuples: Mutex::default(), codes })
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    pub(super) fn unit(&self) -> Option<&Column> {
        self.unit.as_ref()
    }

    pub(super) fn keys(&self) -> &[Column] {
        &self.keys
    }

    pub(super) fn tuples(&self) -> MutexGuard<'_, Table> {
        lock(&self.tuples)
    }

    pub(super) fn codes(&self, argument: usize) -> Option<&Column> {
        self.codes.get(argument).and_then(Option::as_ref)
    }

    /// The number of groups seen, kept or not.
    #[must_use]
    pub fn groups(&self) -> usize {
        match self.keys.as_slice() {
            [one] => one.table().len(),
            _ => self.tuples().len(),
        }
    }

    /// The key values of a group number.
    pub fn group_key(&self, group: u32) -> Result<Vec<ScalarValue>> {
        Ok(self.group_keys(&[group])?.into_iter().flatten().collect())
    }

    /// The key values of many groups.
    pub fn group_keys(&self, groups: &[u32]) -> Result<Vec<Vec<ScalarValue>>> {
        let known = self.groups();
        if groups.iter().any(|&group| group as usize >= known) {
            return Err(exec_datafusion_err!("a group number that was never given"));
        }
        let mut all = vec![Vec::with_capacity(self.keys.len()); groups.len()];
        for (i, column) in self.keys.iter().enumerate() {
            let values = column.values(groups.iter().map(|&group| self.part(group, i)))?;
            all.iter_mut().zip(values).for_each(|(key, value)| key.push(value));
        }
        Ok(all)
    }

    /// The number of group `group` in its i-th key column.
    fn part(&self, group: u32, i: usize) -> u32 {
        if self.keys.len() == 1 {
            return group;
        }
        let table = self.tuples();
        let bytes = table.get(group).unwrap_or_default();
        bytes.as_chunks().0.get(i).map_or(0, |part| u32::from_le_bytes(*part))
    }

    /// The value of an argument's code.
    pub fn code(&self, argument: usize, code: u32) -> Result<ScalarValue> {
        let mut values = self.code_values(argument, &[code])?;
        values.pop().ok_or_else(|| exec_datafusion_err!("a code that was never given"))
    }

    /// The values of many codes of an argument.
    pub fn code_values(&self, argument: usize, codes: &[u32]) -> Result<Vec<ScalarValue>> {
        let column = self.codes(argument);
        let column = column.ok_or_else(|| exec_datafusion_err!("an argument without codes"))?;
        let known = column.table().len();
        if codes.iter().any(|&code| code as usize >= known) {
            return Err(exec_datafusion_err!("a code that was never given"));
        }
        column.values(codes.iter().copied())
    }

    /// Orders two groups by content.
    pub(super) fn compare_groups(&self, a: u32, b: u32) -> Ordering {
        let parts = self.keys.iter().enumerate();
        let orders = parts.map(|(i, column)| column.compare(self.part(a, i), self.part(b, i)));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// Orders two values of an argument by content.
    pub(super) fn compare_codes(&self, argument: usize, a: u32, b: u32) -> Ordering {
        match self.codes(argument) {
            Some(column) if a != b && a != super::table::NONE && b != super::table::NONE => {
                column.compare(a, b)
            }
            _ => a.cmp(&b),
        }
    }

    /// The hashes of all content, to be called once no more will arrive.
    pub(super) fn contents(&self) -> Contents {
        let single = |column: &Column| column.hashes().pop().unwrap_or_default();
        let groups = match self.keys.as_slice() {
            [one] => single(one),
            many => {
                let columns: Vec<Vec<u64>> = many.iter().map(single).collect();
                let table = self.tuples();
                let tuple = |group: u32| {
                    let parts = table.get(group).unwrap_or_default().as_chunks().0;
                    columns.iter().zip(parts).fold(0, |hash, (column, part)| {
                        let part = u32::from_le_bytes(*part) as usize;
                        self.key.pair(hash, column.get(part).copied().unwrap_or_default())
                    })
                };
                (0..table.len() as u32).map(tuple).collect()
            }
        };
        let arguments = self.codes.iter().map(|c| c.as_ref().map(single)).collect();
        Contents { groups, arguments, units: self.unit.as_ref().map(Column::hashes) }
    }
}

impl fmt::Debug for Interned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interned(protected)")
    }
}

/// The keyed hashes of everything interned, by number.
pub(super) struct Contents {
    pub(super) groups: Vec<u64>,
    pub(super) arguments: Vec<Option<Vec<u64>>>,
    units: Option<Vec<Vec<u64>>>,
}

impl Contents {
    /// The seed of a person's choices, from the word that names the person.
    #[inline]
    pub(super) fn seed(&self, person: u64) -> u64 {
        match &self.units {
            None => person, // a keyed permutation of the id itself
            Some(shards) => {
                let number = person as u32 as usize;
                shards[number % SHARDS].get(number / SHARDS).copied().unwrap_or_default()
            }
        }
    }
}
