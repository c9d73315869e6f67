//! Reads texts as the policy says that they are written: dates in a format, and numbers with a decimal comma.
//!
//! Each value is computed from its text alone. A text that is written otherwise gives NULL.

use crate::policy::TimeFormat;
use datafusion::arrow::array::{
    ArrayRef, AsArray, Date32Array, Float64Array, Int64Array, TimestampMicrosecondArray,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::{Result, exec_err};
use std::sync::Arc;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The longest number that is read, in bytes.
const LONGEST: usize = 100;

/// How the texts of a column are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Written {
    /// Dates or times.
    Time(TimeFormat),
    /// Numbers such as `1.234,5`.
    Comma,
}

impl Written {
    /// The values of texts, NULL where there is none.
    pub(crate) fn read(&self, texts: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
        let safe = CastOptions { safe: true, format_options: FormatOptions::new() };
        let texts = cast_with_options(texts, &DataType::Utf8, &safe)?;
        let texts = texts.as_string::<i32>().iter();
        Ok(match (self, to) {
            (Self::Time(format), DataType::Date32) => {
                let day = |text: &str| i32::try_from(format.read(text)?.div_euclid(DAY)).ok();
                Arc::new(texts.map(|text| day(text?)).collect::<Date32Array>())
            }
            (Self::Time(format), DataType::Timestamp(TimeUnit::Microsecond, None)) => {
                let times = texts.map(|text| format.read(text?));
                Arc::new(times.collect::<TimestampMicrosecondArray>())
            }
            (Self::Comma, DataType::Float64) => {
                Arc::new(texts.map(|text| real(text?)).collect::<Float64Array>())
            }
            (Self::Comma, DataType::Int64) => {
                Arc::new(texts.map(|text| whole(text?)).collect::<Int64Array>())
            }
            _ => return exec_err!("texts are not read as this type"),
        })
    }
}

/// The sign and digits of a whole number: `-1.234.567`, where points are groups of three, or none.
fn digits(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let (sign, number) = match text.strip_prefix(['-', '+']) {
        Some(number) => (&text[..1], number),
        None => ("", text),
    };
    let mut groups = number.split('.');
    let first = groups.next()?;
    let grouped = number.contains('.');
    if first.is_empty() || (grouped && first.len() > 3) {
        return None;
    }
    let mut plain = format!("{sign}{first}");
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        plain.push_str(group);
    }
    plain[sign.len()..].bytes().all(|byte| byte.is_ascii_digit()).then_some(plain)
}

fn whole(text: &str) -> Option<i64> {
    digits(text.trim())?.parse().ok()
}

fn real(text: &str) -> Option<f64> {
    let text = text.trim();
    let Some((before, after)) = text.split_once(',') else { return digits(text)?.parse().ok() };
    let decimals = !after.is_empty()
        && after.len() <= LONGEST
        && after.bytes().all(|byte| byte.is_ascii_digit());
    let before = match before {
        "" | "-" | "+" => format!("{before}0"),
        before => digits(before)?,
    };
    decimals.then(|| format!("{before}.{after}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
