//! Values that a client binds to `$1`, `$2`, …, as text or in PostgreSQL's binary form.

use super::fault::error;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use pgwire::api::Type;
use pgwire::error::PgWireResult;

/// Days and microseconds from 1970, where Arrow begins, to 2000, where PostgreSQL does.
const DAYS: i32 = 10_957;
const MICROS: i64 = DAYS as i64 * 86_400_000_000;

/// One value as the type that the query wants.
pub(super) fn value(
    bytes: Option<&[u8]>,
    binary: bool,
    stated: &Type,
    wanted: &DataType,
) -> PgWireResult<ScalarValue> {
    let wrong = || error("22P02", format!("a value that is no {}", stated.name()));
    let Some(bytes) = bytes else {
        return ScalarValue::try_from(wanted).map_err(|_| wrong());
    };
    let value = if binary { from_binary(bytes, stated) } else { from_text(bytes) };
    let value = value.ok_or_else(wrong)?;
    if value.data_type() == *wanted {
        return Ok(value);
    }
    let cast = value.cast_to(wanted).map_err(|_| wrong())?;
    // What cannot be converted must not become NULL in silence.
    if cast.is_null() { Err(wrong()) } else { Ok(cast) }
}

fn from_text(bytes: &[u8]) -> Option<ScalarValue> {
    let text = std::str::from_utf8(bytes).ok()?;
    // PostgreSQL writes booleans with a letter.
    Some(ScalarValue::Utf8(Some(text.to_owned())))
}

fn from_binary(bytes: &[u8], stated: &Type) -> Option<ScalarValue> {
    let fixed = |n: usize| bytes.len() == n;
    Some(match *stated {
        Type::BOOL => match bytes {
            [byte] => ScalarValue::Boolean(Some(*byte != 0)),
            _ => return None,
        },
        Type::INT2 => ScalarValue::Int64(Some(i16::from_be_bytes(bytes.try_into().ok()?).into())),
        Type::INT4 => ScalarValue::Int64(Some(i32::from_be_bytes(bytes.try_into().ok()?).into())),
        Type::OID => ScalarValue::Int64(Some(u32::from_be_bytes(bytes.try_into().ok()?).into())),
        Type::INT8 => ScalarValue::Int64(Some(i64::from_be_bytes(bytes.try_into().ok()?))),
        Type::FLOAT4 => {
            ScalarValue::Float64(Some(f32::from_be_bytes(bytes.try_into().ok()?).into()))
        }
        Type::FLOAT8 => ScalarValue::Float64(Some(f64::from_be_bytes(bytes.try_into().ok()?))),
        Type::DATE if fixed(4) => {
            let days = i32::from_be_bytes(bytes.try_into().ok()?);
            ScalarValue::Date32(Some(days.checked_add(DAYS)?))
        }
        Type::TIMESTAMP | Type::TIMESTAMPTZ if fixed(8) => {
            let micros = i64::from_be_bytes(bytes.try_into().ok()?);
            ScalarValue::TimestampMicrosecond(Some(micros.checked_add(MICROS)?), None)
        }
        Type::NUMERIC => ScalarValue::Utf8(Some(numeric(bytes)?)),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => from_text(bytes)?,
        _ => return None,
    })
}

/// A NUMERIC: four 16-bit words (digits, weight, sign, scale), then digits to the base 10,000.
fn numeric(bytes: &[u8]) -> Option<String> {
    let word = |i: usize| {
        let pair = bytes.get(2 * i..2 * i + 2)?;
        Some(i16::from_be_bytes([pair[0], pair[1]]))
    };
    let (count, weight, sign) = (usize::try_from(word(0)?).ok()?, i32::from(word(1)?), word(2)?);
    let scale = i32::from(word(3)?);
    if bytes.len() != 8 + 2 * count || !(-1000..=1000).contains(&weight) || sign as u16 > 0x4000 {
        return None; // NaN and ±∞ too
    }
    let digit = |place: i32| {
        let i = weight - place;
        let known = usize::try_from(i).ok().filter(|i| *i < count);
        known.map_or(Some(0), |i| word(4 + i)).filter(|d| (0..10_000).contains(d))
    };
    let mut text = if sign == 0 { String::new() } else { "-".to_owned() };
    for place in (0..=weight.max(0)).rev() {
        text += &format!("{:04}", digit(place)?);
    }
    if scale > 0 {
        text.push('.');
        for place in 1..=(scale + 3) / 4 {
            text += &format!("{:04}", digit(-place)?);
        }
    }
    Some(text)
}

/// The type that a client is told, and that its values are read as.
pub(super) fn told(data_type: &DataType) -> Type {
    match data_type {
        DataType::Boolean => Type::BOOL,
        t if t.is_integer() => Type::INT8,
        t if t.is_floating() => Type::FLOAT8,
        DataType::Decimal128(..) | DataType::Decimal256(..) => Type::NUMERIC,
        DataType::Date32 | DataType::Date64 => Type::DATE,
        DataType::Timestamp(TimeUnit::Second, _) | DataType::Timestamp(..) => Type::TIMESTAMP,
        _ => Type::TEXT,
    }
}

#[cfg(test)]
mod tests;
