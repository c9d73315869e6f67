//! Turns a batch of columns into numbers: person, group, arguments.
//!
//! There is one [`Encoder`] per input partition. Each has its own caches in front of the shared tables, so rows do not
//! wait for a lock: only values that are new to this encoder do, once per batch.

use super::intern::{Column, Interned, canonical};
use super::key::Key;
use super::spec::{BoundSpec, Form};
use super::steps::Steps;
use super::table::{NONE, Table, Words};
use super::words::words;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray,
    RecordBatch, StringArray, StringViewArray, UInt32Array,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{cast, take};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::row::Rows;
use datafusion::common::{Result, exec_datafusion_err};
use std::sync::Arc;

/// A batch as numbers. It is kept between batches to reuse its memory.
#[derive(Default)]
pub(super) struct Encoded {
    /// One word per row, different for different people; empty without a unit.
    pub(super) people: Vec<u64>,
    /// Which rows have an id; `None` if all do.
    pub(super) somebody: Option<NullBuffer>,
    pub(super) groups: Vec<u32>,
    /// The number of each value; [`NONE`] for NULL. After all arguments, the second words of those that have two.
    pub(super) arguments: Vec<Vec<u32>>,
}

/// Turns the batches of one input partition into numbers.
pub(super) struct Encoder {
    spec: BoundSpec,
    interned: Arc<Interned>,
    keys: Vec<Cache>,
    tuples: Cache,
    codes: Vec<Cache>,
    scratch: Vec<Vec<u32>>,
    /// The number of the next row, where each row is weighed by itself: different in all partitions.
    next: u64,
    out: Encoded,
}

/// The number of rows of an input partition is less than 2^this.
const PARTITION_BITS: u32 = 48;

impl Encoder {
    pub(super) fn new(spec: &BoundSpec, interned: &Arc<Interned>) -> Self {
        let seed = interned.key().permute(0);
        let caches = |count: usize| (0..count).map(|_| Cache::new(seed)).collect();
        Self {
            keys: caches(spec.keys.len()),
            tuples: Cache::new(seed),
            codes: caches(spec.arguments.len()),
            scratch: vec![Vec::new(); spec.keys.len()],
            next: 0,
            out: Encoded { arguments: vec![Vec::new(); spec.words()], ..Encoded::default() },
            spec: spec.clone(),
            interned: Arc::clone(interned),
        }
    }

    /// For one of several input partitions.
    pub(super) fn of_partition(self, partition: usize) -> Self {
        Self { next: (partition as u64) << PARTITION_BITS, ..self }
    }

    /// Encodes a batch. The result is valid until the next call.
    pub(super) fn encode(&mut self, batch: &RecordBatch) -> Result<&Encoded> {
        if let Some(unit) = self.spec.unit {
            self.out.somebody = batch.column(unit).logical_nulls().filter(|n| n.null_count() > 0);
            people(batch.column(unit), &self.interned, &mut self.out.people)?;
        } else if self.spec.weighing.is_some() {
            let (key, rows) = (self.interned.key(), self.next..);
            self.next += batch.num_rows() as u64;
            self.out.people.clear();
            self.out.people.extend(rows.take(batch.num_rows()).map(|row| key.permute(row)));
        }
        self.groups(batch)?;
        let mut second = self.spec.arguments.len();
        for (i, argument) in self.spec.arguments.iter().enumerate() {
            let (array, out) = (batch.column(argument.column), &mut self.out.arguments[i]);
            match argument.form {
                Form::Steps { bounds, .. } => {
                    let values = array
                        .as_primitive_opt::<Float64Type>()
                        .ok_or_else(|| exec_datafusion_err!("a column changed its type"))?;
                    let steps = Steps::new(&bounds);
                    out.clear();
                    out.extend(values.values().iter().map(|&x| steps.of(x)));
                    blank(values.nulls(), out, NONE);
                }
                Form::Code => {
                    let column = self.interned.codes(i);
                    let column = column.ok_or_else(|| exec_datafusion_err!("no table of codes"))?;
                    self.codes[i].encode(column, self.interned.key(), array, false, out)?;
                }
                Form::Norm(_) => {
                    let values = array
                        .as_primitive_opt::<Float64Type>()
                        .ok_or_else(|| exec_datafusion_err!("a column changed its type"))?;
                    out.clear();
                    out.extend(values.values().iter().map(|&x| real(x)[0]));
                    blank(values.nulls(), out, NONE);
                    let out = &mut self.out.arguments[second];
                    second += 1;
                    out.clear();
                    out.extend(values.values().iter().map(|&x| real(x)[1]));
                }
                Form::Present => {
                    out.clear();
                    out.resize(array.len(), 0);
                    blank(array.logical_nulls().as_ref(), out, NONE);
                }
            }
        }
        Ok(&self.out)
    }

    fn groups(&mut self, batch: &RecordBatch) -> Result<()> {
        let (key, out) = (self.interned.key(), &mut self.out.groups);
        let columns = self.interned.keys();
        if let (&[number], [column], [cache]) =
            (self.spec.keys.as_slice(), columns, self.keys.as_mut_slice())
        {
            return cache.encode(column, key, batch.column(number), true, out);
        }
        for (i, column) in columns.iter().enumerate() {
            let array = batch.column(self.spec.keys[i]);
            self.keys[i].encode(column, key, array, true, &mut self.scratch[i])?;
        }
        self.tuples.encode_tuples(&self.interned, &self.scratch, batch.num_rows(), out)
    }
}

/// A finite number by its bits, the high ones first: NaN is 0, and what is infinite is the largest. The first word is
/// never [`NONE`], which would be a NaN's.
fn real(x: f64) -> [u32; 2] {
    let x = if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) };
    [(x.to_bits() >> 32) as u32, x.to_bits() as u32]
}

/// The number of these words.
pub(super) fn of_words(high: u32, low: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
}

/// Writes `number` at each NULL.
fn blank(nulls: Option<&NullBuffer>, out: &mut [u32], number: u32) {
    if let Some(nulls) = nulls.filter(|n| n.null_count() > 0) {
        for (slot, valid) in out.iter_mut().zip(nulls) {
            if !valid {
                *slot = number;
            }
        }
    }
}

/// One word per row, equal exactly for equal ids and evenly spread.
///
/// Ids that fit into a word are permuted. Others are interned exactly and named by `32 bits of hash, 32 bits of
/// number`: the number identifies, the hash spreads.
fn people(array: &ArrayRef, interned: &Interned, out: &mut Vec<u64>) -> Result<()> {
    let key = interned.key();
    let Some(column) = interned.unit() else {
        let plain = match array.data_type() {
            DataType::Dictionary(_, value) => cast(array, value)?,
            DataType::RunEndEncoded(_, value) => cast(array, value.data_type())?,
            _ => Arc::clone(array),
        };
        if !words(&canonical(&plain, plain.data_type())?, out) {
            return Err(exec_datafusion_err!("a column changed its type"));
        }
        out.iter_mut().for_each(|word| *word = key.permute(*word));
        return Ok(());
    };
    let array = canonical(array, column.kind())?;
    let bytes = Bytes::of(column, &array)?;
    let hashes: Vec<u64> = (0..array.len()).map(|i| key.bytes(bytes.get(i))).collect();
    let mut numbers = vec![0; array.len()];
    column.intern_many(&hashes, |i| bytes.get(i), &mut numbers)?;
    out.clear();
    let word = |(&hash, &number): (&u64, &u32)| key.permute(hash) >> 32 << 32 | u64::from(number);
    out.extend(hashes.iter().zip(&numbers).map(word));
    Ok(())
}

/// The values of an array as bytes.
enum Bytes<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    Rows(Rows),
}

impl<'a> Bytes<'a> {
    fn of(column: &Column, array: &'a ArrayRef) -> Result<Self> {
        if let Some(converter) = column.converter() {
            return Ok(Self::Rows(converter.convert_columns(std::slice::from_ref(array))?));
        }
        Ok(match array.data_type() {
            DataType::Utf8 => Self::Utf8(array.as_string()),
            DataType::LargeUtf8 => Self::LargeUtf8(array.as_string()),
            DataType::Utf8View => Self::Utf8View(array.as_string_view()),
            DataType::LargeBinary => Self::LargeBinary(array.as_binary()),
            DataType::BinaryView => Self::BinaryView(array.as_binary_view()),
            _ => Self::Binary(array.as_binary()),
        })
    }

    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        match self {
            Self::Utf8(array) => array.value(i).as_bytes(),
            Self::LargeUtf8(array) => array.value(i).as_bytes(),
            Self::Utf8View(array) => array.value(i).as_bytes(),
            Self::Binary(array) => array.value(i),
            Self::LargeBinary(array) => array.value(i),
            Self::BinaryView(array) => array.value(i),
            Self::Rows(rows) => rows.row(i).data(),
        }
    }
}

/// Packs up to fifteen bytes and their count into one word.
#[inline]
fn pack(bytes: &[u8]) -> Option<u128> {
    let mut all = [0; 16];
    all.get_mut(..bytes.len()).filter(|_| bytes.len() < 16)?.copy_from_slice(bytes);
    all[15] = bytes.len() as u8;
    Some(u128::from_le_bytes(all))
}

/// One encoder's cache of one column's table.
struct Cache {
    words: Words,
    /// Values of sixteen bytes and more: their own numbers, and the shared ones.
    long: Table,
    shared: Vec<u32>,
    null: Option<u32>,
    scratch: Vec<u64>,
    misses: Vec<u32>,
}

/// The largest number of long values in a cache.
const MOST_LONG: usize = 1 << 16;

impl Cache {
    fn new(seed: u64) -> Self {
        Self {
            words: Words::new(seed),
            long: Table::default(),
            shared: Vec::new(),
            null: None,
            scratch: Vec::new(),
            misses: Vec::new(),
        }
    }

    /// One number per row. NULL is [`NONE`], or a value like any other if `null_is_value`.
    fn encode(
        &mut self,
        column: &Column,
        key: &Key,
        array: &ArrayRef,
        null_is_value: bool,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        if let Some(dictionary) = array.as_any_dictionary_opt()
            && (1..=array.len()).contains(&dictionary.values().len())
        {
            let mut numbers = Vec::new();
            self.encode(column, key, dictionary.values(), null_is_value, &mut numbers)?;
            out.clear();
            out.extend(dictionary.normalized_keys().into_iter().map(|i| numbers[i]));
        } else {
            let array = canonical(array, column.kind())?;
            self.values(column, key, &array, out)?;
            if array.null_count() > 0 && array.nulls().is_none() {
                return Err(exec_datafusion_err!("a column whose NULLs cannot be seen"));
            }
        }
        let nulls = array.logical_nulls().filter(|n| n.null_count() > 0);
        if nulls.is_some() {
            let number = if null_is_value { self.null(column, key)? } else { NONE };
            blank(nulls.as_ref(), out, number);
        }
        Ok(())
    }

    fn null(&mut self, column: &Column, key: &Key) -> Result<u32> {
        if let Some(number) = self.null {
            return Ok(number);
        }
        let number = column.table().intern_null(key.pair(0, 0))?;
        self.null = Some(number);
        Ok(number)
    }

    /// Numbers for all values that are not NULL; the others are arbitrary.
    fn values(
        &mut self,
        column: &Column,
        key: &Key,
        array: &ArrayRef,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        out.clear();
        self.misses.clear();
        let mut scratch = std::mem::take(&mut self.scratch);
        if words(array, &mut scratch) {
            out.extend(scratch.iter().map(|&word| self.words.get(u128::from(word))));
            self.note_misses(array, out);
            if !self.misses.is_empty() {
                let missing = take(array, &UInt32Array::from(self.misses.clone()), None)?;
                let bytes = Bytes::of(column, &missing)?;
                let mut table = column.table();
                for (at, &i) in self.misses.iter().enumerate() {
                    let bytes = bytes.get(at);
                    let number = table.intern(key.bytes(bytes), bytes)?;
                    out[i as usize] = number;
                    self.words.put(u128::from(scratch[i as usize]), number);
                }
            }
        } else {
            let bytes = Bytes::of(column, array)?;
            out.extend((0..array.len()).map(|i| self.find(key, bytes.get(i))));
            self.note_misses(array, out);
            if !self.misses.is_empty() {
                let mut table = column.table();
                for at in 0..self.misses.len() {
                    let i = self.misses[at] as usize;
                    let number = table.intern(key.bytes(bytes.get(i)), bytes.get(i))?;
                    out[i] = number;
                    self.remember(key, bytes.get(i), number)?;
                }
            }
        }
        self.scratch = scratch;
        Ok(())
    }

    fn note_misses(&mut self, array: &ArrayRef, out: &[u32]) {
        let missing = out.iter().enumerate().filter(|(_, number)| **number == NONE);
        self.misses.extend(missing.map(|(i, _)| i as u32).filter(|&i| array.is_valid(i as usize)));
    }

    #[inline]
    fn find(&self, key: &Key, bytes: &[u8]) -> u32 {
        match pack(bytes) {
            Some(word) => self.words.get(word),
            None => match self.long.find(key.bytes(bytes), bytes) {
                Some(local) => self.shared[local as usize],
                None => NONE,
            },
        }
    }

    fn remember(&mut self, key: &Key, bytes: &[u8], number: u32) -> Result<()> {
        match pack(bytes) {
            Some(word) => self.words.put(word, number),
            None if self.long.len() < MOST_LONG => {
                let local = self.long.intern(key.bytes(bytes), bytes)?;
                if local as usize == self.shared.len() {
                    self.shared.push(number);
                }
            }
            None => {}
        }
        Ok(())
    }

    /// One number per row for the tuple of several columns' numbers.
    fn encode_tuples(
        &mut self,
        interned: &Interned,
        columns: &[Vec<u32>],
        rows: usize,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        out.clear();
        self.misses.clear();
        if columns.is_empty() {
            if rows > 0 {
                let hash = interned.key().bytes(&[]);
                out.resize(rows, interned.tuples().intern(hash, &[])?);
            }
            return Ok(());
        }
        if columns.len() <= 4 {
            let word = |i: usize| columns.iter().fold(0, |word, c| word << 32 | u128::from(c[i]));
            out.extend((0..rows).map(|i| self.words.get(word(i))));
        } else {
            out.resize(rows, NONE); // rare: every row is looked up in the shared table
        }
        let missing = out.iter().enumerate().filter(|(_, number)| **number == NONE);
        self.misses.extend(missing.map(|(i, _)| i as u32));
        if self.misses.is_empty() {
            return Ok(());
        }
        let mut table = interned.tuples();
        let mut bytes = Vec::with_capacity(4 * columns.len());
        for &i in &self.misses {
            let i = i as usize;
            bytes.clear();
            columns.iter().for_each(|c| bytes.extend_from_slice(&c[i].to_le_bytes()));
            out[i] = table.intern(interned.key().bytes(&bytes), &bytes)?;
            if columns.len() <= 4 {
                let word = columns.iter().fold(0, |word, c| word << 32 | u128::from(c[i]));
                self.words.put(word, out[i]);
            }
        }
        Ok(())
    }
}
