//! `width_bucket`.

use super::{Faults, Value, present};
use datafusion::arrow::array::{ArrayRef, AsArray, Int32Array};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use std::sync::Arc;

/// The bucket of `x` among `n` of equal width from `low` to `high`: 0 below them, n + 1 above.
pub(super) fn buckets(
    x: &ArrayRef,
    low: &ArrayRef,
    high: &ArrayRef,
    n: &ArrayRef,
    faults: &mut Faults,
) -> ArrayRef {
    let all = [x, low, high, n];
    let counts = n.as_primitive::<Int64Type>();
    let bucket = |row: usize| -> Value<i32> {
        if !present(&all, row) {
            return Ok(None);
        }
        let count = i32::try_from(counts.value(row)).ok().filter(|n| *n > 0 && *n < i32::MAX);
        let count = count.ok_or("the number of buckets must be between 1 and 2147483646")?;
        match x.data_type() {
            DataType::Int64 => {
                let of =
                    |array: &ArrayRef| i128::from(array.as_primitive::<Int64Type>().value(row));
                whole(of(x), of(low), of(high), count)
            }
            _ => {
                let of = |array: &ArrayRef| array.as_primitive::<Float64Type>().value(row);
                real(of(x), of(low), of(high), count)
            }
        }
    };
    Arc::new((0..x.len()).map(|row| faults.keep(bucket(row))).collect::<Int32Array>())
}

const EQUAL: &str = "the lower bound equals the upper bound";

fn whole(x: i128, low: i128, high: i128, n: i32) -> Value<i32> {
    // Downwards is upwards, mirrored.
    let (x, low, high) = if low <= high { (x, low, high) } else { (-x, -low, -high) };
    Ok(Some(match () {
        () if low == high => return Err(EQUAL),
        () if x < low => 0,
        () if x >= high => n + 1,
        () => i32::try_from(i128::from(n) * (x - low) / (high - low)).unwrap_or(n - 1) + 1,
    }))
}

fn real(x: f64, low: f64, high: f64, n: i32) -> Value<i32> {
    if x.is_nan() || !low.is_finite() || !high.is_finite() {
        return Err("the value must be a number, and the bounds finite");
    }
    let (x, low, high) = if low <= high { (x, low, high) } else { (-x, -low, -high) };
    Ok(Some(match () {
        () if low == high => return Err(EQUAL),
        () if x < low => 0,
        () if x >= high => n + 1,
        () => {
            // Halves, so that the width is finite.
            let place = (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) * f64::from(n);
            (place as i32).clamp(0, n - 1) + 1
        }
    }))
}
