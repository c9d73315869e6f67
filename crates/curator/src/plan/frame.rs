//! Frames of windows over protected rows: offsets that cannot overflow, distances as whole numbers.

use super::window::{MOST_OFFSET, refuse};
use crate::error::Result;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{WindowFrame, WindowFrameBound};

/// A frame in rows, with offsets that cannot overflow.
pub(super) fn checked_rows(name: &str, frame: &WindowFrame) -> Result<WindowFrame> {
    for bound in [&frame.start_bound, &frame.end_bound] {
        if let WindowFrameBound::Preceding(by) | WindowFrameBound::Following(by) = bound
            && !by.is_null()
            && !matches!(by, ScalarValue::UInt64(Some(by)) if *by <= MOST_OFFSET)
        {
            return Err(refuse(name, "with a frame of more than 1,000,000 rows", "UNBOUNDED"));
        }
    }
    Ok(frame.clone())
}

/// The distance of a `RANGE`, in the units of its key as a whole number.
pub(super) fn distance(name: &str, by: &ScalarValue, key: &DataType) -> Result<ScalarValue> {
    const DAY: i128 = 86_400_000_000_000;
    if by.is_null() {
        return Ok(ScalarValue::Int64(None));
    }
    let nanoseconds = match by {
        ScalarValue::IntervalMonthDayNano(Some(by)) if by.months == 0 => {
            Some(i128::from(by.days) * DAY + i128::from(by.nanoseconds))
        }
        ScalarValue::IntervalDayTime(Some(by)) => {
            Some(i128::from(by.days) * DAY + i128::from(by.milliseconds) * 1_000_000)
        }
        _ => None,
    };
    let whole = |n: i128, unit: i128| (n % unit == 0).then_some(n / unit);
    let unit = match key {
        DataType::Date32 => Some(DAY),
        DataType::Timestamp(TimeUnit::Second, _) => Some(1_000_000_000),
        DataType::Timestamp(TimeUnit::Millisecond, _) => Some(1_000_000),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Some(1_000),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => Some(1),
        _ => None,
    };
    let steps = match unit {
        Some(unit) => nanoseconds.and_then(|n| whole(n, unit)),
        None if key.is_integer() => match by.cast_to(&DataType::Int64) {
            Ok(ScalarValue::Int64(Some(n))) => Some(i128::from(n)),
            _ => None,
        },
        None => None,
    };
    match steps.and_then(|steps| i64::try_from(steps).ok()).filter(|steps| *steps >= 0) {
        Some(steps) => Ok(ScalarValue::Int64(Some(steps))),
        None => Err(refuse(
            name,
            "with a RANGE that is no whole number of its key's steps",
            "whole numbers, or days of dates and seconds of times (no months)",
        )),
    }
}
