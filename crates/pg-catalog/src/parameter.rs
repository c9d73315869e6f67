//! Converts parameters from the wire to the text form that the catalog reads.

use super::types;
use super::value::{Value, int, list, text};

/// The text form of a parameter that was sent in the binary format of the type with this identifier. A parameter in
/// the text format already is in text form.
pub fn parameter_text(type_oid: u32, bytes: &[u8]) -> Result<String, String> {
    binary(type_oid, bytes).map(|value| value.output())
}

fn binary(oid: u32, bytes: &[u8]) -> Result<Value, String> {
    let wrong = || format!("a parameter of type {oid} has {} bytes", bytes.len());
    let exactly = |length: usize| if bytes.len() == length { Ok(()) } else { Err(wrong()) };
    let unsigned = || bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Ok(match oid {
        types::BOOL => {
            exactly(1)?;
            Value::Bool(bytes[0] != 0)
        }
        types::INT2 => {
            exactly(2)?;
            int(unsigned() as u16 as i16)
        }
        types::INT4 => {
            exactly(4)?;
            int(unsigned() as u32 as i32)
        }
        types::INT8 => {
            exactly(8)?;
            int(unsigned() as i64)
        }
        types::FLOAT8 => {
            exactly(8)?;
            Value::Float(f64::from_bits(unsigned()))
        }
        types::FLOAT4 => {
            exactly(4)?;
            Value::Float(f32::from_bits(unsigned() as u32).into())
        }
        _ if types::is_int(oid) => {
            exactly(4)?;
            int(unsigned() as u32)
        }
        _ => match types::element_of(oid) {
            Some(element) => list(array(element, bytes).ok_or_else(wrong)?),
            None => text(std::str::from_utf8(bytes).map_err(|_| "a parameter is not UTF-8")?),
        },
    })
}

/// The elements of a one-dimensional array: dimensions, flags, element type, length, lower bound, and then each
/// element after its length.
fn array(element: u32, bytes: &[u8]) -> Option<Vec<Value>> {
    let mut rest = bytes;
    let mut next = || {
        let (word, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        Some(i32::from_be_bytes(*word))
    };
    let dimensions = next()?;
    next()?;
    next()?;
    if dimensions == 0 {
        return Some(Vec::new());
    }
    if dimensions != 1 {
        return None;
    }
    let length = next()?;
    next()?;
    let mut items = Vec::new();
    for _ in 0..length {
        let (word, after) = rest.split_first_chunk::<4>()?;
        rest = after;
        match usize::try_from(i32::from_be_bytes(*word)) {
            Ok(size) => {
                items.push(binary(element, rest.get(..size)?).ok()?);
                rest = &rest[size..];
            }
            Err(_) => items.push(Value::Null),
        }
    }
    rest.is_empty().then_some(items)
}
