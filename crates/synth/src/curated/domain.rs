//! Public domains of columns: from what the policy declares to codes, and what the codes stand for.
//!
//! Whole numbers between bounds are one code each if there are at most 256, dates too; otherwise bins of equal width.
//! If 0 is within the bounds of numbers in bins, it is a bin of its own, since many amounts are 0.

use crate::error::{Error, Result};
use crate::schema::{Column, MOST_CODES};
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use demure_curator::{Codes, Coding, KnownValues, TableColumn};
use demure_report::short;
use std::fmt::Write;
use std::sync::Arc;

/// The most codes of a column of whole numbers, dates or times.
const MOST_WHOLE: f64 = 256.0;
/// The bins of a column of real numbers.
const BINS: f64 = 128.0;

/// A column's public domain: its type, and what its codes stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    pub(super) name: String,
    pub(super) data_type: DataType,
    pub(super) nullable: bool,
    pub(super) codes: Codes,
    /// Of bins: the last number of the last bin.
    pub(super) high: f64,
    /// Of bins: the spacing of the numbers that are made.
    pub(super) step: f64,
}

/// The numbers of a bin: from the first, up to the end, which belongs to it if they are whole or it is the last bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bin {
    pub(super) first: f64,
    pub(super) end: f64,
    /// Whether `end` belongs to it.
    pub(super) closed: bool,
}

impl Domain {
    /// The domain of a column; `None` if the policy does not say what its values can be.
    fn of(column: &TableColumn) -> Option<Self> {
        let (codes, high, step) = match &column.known {
            KnownValues::Listed(codes) => (codes.clone(), 0.0, 0.0),
            KnownValues::Between { low, high, whole: true, .. } => {
                let (low, high) = (low.ceil(), high.floor());
                let count = high - low + 1.0;
                if count < 1.0 {
                    return None;
                }
                let width = (count / MOST_WHOLE).ceil();
                let zero = column.data_type.is_integer().then_some(1.0);
                let codes = match count <= MOST_WHOLE {
                    // Bins of one number each: a number beyond the bounds counts as the nearest.
                    true => Codes::Bins((0..count as usize).map(|i| low + i as f64).collect()),
                    false => Codes::Bins(bins(low, high, width, zero)),
                };
                (codes, high, second(&column.data_type))
            }
            KnownValues::Between { low, high, whole: false, grid } => {
                let width = (high - low) / BINS;
                if !(width.is_finite() && width > 0.0) {
                    return Some(Self::plain(column, Codes::Numbers(vec![*low])));
                }
                let step = step(width, *grid);
                (Codes::Bins(bins(*low, *high, width, Some(f64::MIN_POSITIVE))), *high, step)
            }
            KnownValues::Nothing => return None,
        };
        if column.data_type == DataType::Date64 {
            return None;
        }
        let ok = (1..MOST_CODES).contains(&codes.len());
        ok.then(|| Self { high, step, ..Self::plain(column, codes) })
    }

    fn plain(column: &TableColumn, codes: Codes) -> Self {
        let TableColumn { name, data_type, nullable, .. } = column.clone();
        Self { name, data_type, nullable, codes, high: 0.0, step: 0.0 }
    }

    /// The domains of all columns.
    ///
    /// # Errors
    /// Columns without a public domain: all of them, with what to write into the policy.
    pub fn of_all(columns: &[TableColumn]) -> Result<Vec<Self>> {
        let found: Vec<Option<Self>> = columns.iter().map(Self::of).collect();
        let missing: Vec<&TableColumn> =
            columns.iter().zip(&found).filter(|(_, d)| d.is_none()).map(|(c, _)| c).collect();
        if missing.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let names: Vec<String> = missing.iter().map(|c| format!("`{}`", c.name)).collect();
        let have: Vec<&str> = found.iter().flatten().map(|domain| domain.name.as_str()).collect();
        Err(Error::NoDomain { columns: names.join(", "), remedy: remedy(&missing, &have) })
    }

    /// The column's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the curator codes it.
    #[must_use]
    pub fn coding(&self) -> Coding {
        Coding { codes: self.codes.clone(), nullable: self.nullable }
    }

    /// The column of codes.
    pub(super) fn column(&self) -> Result<Column> {
        let count = self.codes.len() + usize::from(self.nullable);
        let column = match self.codes {
            Codes::Booleans | Codes::Texts(_) => Column::categorical(self.name.as_str(), count),
            Codes::Numbers(_) | Codes::Bins(_) => Column::ordered(self.name.as_str(), count),
        }?;
        Ok(if self.nullable { column.nullable() } else { column })
    }

    /// The field of a table.
    pub(super) fn field(&self) -> Field {
        Field::new(&self.name, self.data_type.clone(), self.nullable)
    }

    /// How many codes there are, NULL included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.codes.len() + usize::from(self.nullable)
    }

    /// The place in the domain of a code; `None` for NULL.
    pub(super) fn place(&self, code: u16) -> Option<usize> {
        usize::from(code).checked_sub(usize::from(self.nullable))
    }

    /// The bin at a place.
    pub(super) fn bin(&self, place: usize) -> Option<Bin> {
        let Codes::Bins(lower) = &self.codes else { return None };
        let first = *lower.get(place)?;
        Some(match lower.get(place + 1) {
            Some(next) if self.step >= 1.0 && self.is_whole() => {
                Bin { first, end: next - 1.0, closed: true }
            }
            Some(next) => Bin { first, end: *next, closed: false },
            None => Bin { first, end: self.high, closed: true },
        })
    }

    /// Whether its numbers are whole.
    pub(super) fn is_whole(&self) -> bool {
        self.data_type.is_integer() || self.data_type.is_temporal()
    }

    /// A number as a value of the column, in words.
    pub(super) fn shown(&self, x: f64) -> String {
        if self.data_type.is_temporal() {
            let whole = Int64Array::from(vec![x as i64]);
            let days = matches!(self.data_type, DataType::Date32).then_some(DataType::Int32);
            let text = match days {
                Some(days) => cast(&whole, &days),
                None => Ok(Arc::new(whole) as ArrayRef),
            };
            let text = text.and_then(|text| cast(&text, &self.data_type));
            let text = text.and_then(|text| cast(&text, &DataType::Utf8));
            if let Ok(text) = text {
                return text.as_string::<i32>().value(0).to_owned();
            }
        }
        short(if x.abs() <= f64::MIN_POSITIVE { 0.0 } else { x })
    }

    /// What its codes are, in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let null = if self.nullable { ", and NULL" } else { "" };
        let count = self.codes.len();
        match &self.codes {
            Codes::Booleans => format!("false, true{null}"),
            Codes::Texts(_) => format!("{count} values{null}"),
            Codes::Numbers(all) => match (all.first(), all.last()) {
                (Some(first), Some(last)) if count > 1 => {
                    let (first, last) = (self.shown(*first), self.shown(*last));
                    format!("{count} values from {first} to {last}{null}")
                }
                _ => format!("{count} values{null}"),
            },
            Codes::Bins(lower) => match lower.first() {
                Some(low) => {
                    let each = self.is_whole() && count as f64 == self.high - low + 1.0;
                    let what = if each { "values" } else { "bins" };
                    let (low, high) = (self.shown(*low), self.shown(self.high));
                    format!("{count} {what} from {low} to {high}{null}")
                }
                None => String::new(),
            },
        }
    }
}

/// How many units of its type are in a second of a time; 1 for dates and numbers.
fn second(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Timestamp(TimeUnit::Millisecond, _) => 1e3,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 1e6,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => 1e9,
        _ => 1.0,
    }
}

/// The beginnings of bins of this width from `low` to `high`. If 0 is among them and `least` is given, 0 is a bin of its
/// own, and the next begins at `least`.
fn bins(low: f64, high: f64, width: f64, least: Option<f64>) -> Vec<f64> {
    let mut lower: Vec<f64> = Vec::new();
    let mut add = |from: f64, to: f64| {
        let count = ((to - from) / width).ceil().max(0.0);
        lower.extend((0..count as usize).map(|i| from + i as f64 * width).filter(|x| *x < to));
    };
    if let Some(least) = least
        && low <= 0.0
        && 0.0 <= high
    {
        add(low, 0.0);
        lower.push(0.0);
        let above = lower.len();
        if high >= least {
            // The bin after 0 begins right above it, wherever its width begins.
            let count = (high / width).ceil().max(1.0) as usize;
            lower.extend((0..count).map(|i| i as f64 * width).filter(|x| *x < high));
            if let Some(first) = lower.get_mut(above) {
                *first = least;
            }
        }
    } else {
        add(low, high);
    }
    if lower.is_empty() {
        lower.push(low);
    }
    lower
}

/// The spacing of numbers that are made within bins of this width: a hundredth of it or finer, a power of ten; or the
/// policy's grid.
fn step(width: f64, grid: Option<f64>) -> f64 {
    let ten = |x: f64| 10f64.powi(x.log10().floor() as i32);
    match grid {
        Some(grid) if grid >= 0.5 => grid,
        // 0.01 was rounded down to a power of two.
        Some(grid) => ten(grid) * 10.0,
        None => ten(width) * 0.01,
    }
}

/// What to write into the policy, for each column.
fn remedy(missing: &[&TableColumn], have: &[&str]) -> String {
    let mut text = String::new();
    for column in missing {
        let known = match &column.data_type {
            kind if kind.is_numeric() => "bounds = [low, high]",
            DataType::Date32 => "bounds = [2020-01-01, 2024-12-31]",
            DataType::Timestamp(..) => "bounds = [2020-01-01T00:00:00, 2024-12-31T23:59:59]",
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "values = [\"a\", \"b\"]",
            _ => "",
        };
        // Writing to a string cannot fail.
        let _ = match (&column.origin, known) {
            (_, "") => {
                writeln!(text, "leave `{}` out: its type cannot be synthesized", column.name)
            }
            (Some((table, name)), known) => writeln!(
                text,
                "write into the policy, in the line of the column under [tables.{table}.columns]: {} = {{ {known} }}",
                key(name)
            ),
            (None, _) if column.data_type.is_numeric() => writeln!(
                text,
                "`{0}` is computed: write CLAMP(…, low, high) AS {0} with two numbers",
                column.name
            ),
            (None, _) => writeln!(
                text,
                "`{}` is computed: select the columns that it is computed from",
                column.name
            ),
        };
    }
    match have.is_empty() {
        true => text += "what a column can hold must be public, and it is not read off the rows",
        false => {
            let _ = write!(text, "or leave them out: SELECT {} FROM …", have.join(", "));
        }
    }
    text
}

/// A name as a key of TOML.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests;
