//! `age`, `isfinite`, `make_date`, `to_timestamp` of a number.

use super::{Faults, Value, present};
use crate::calendar::{civil, days, month_length};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, IntervalMonthDayNanoArray,
    TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int64Type, IntervalMonthDayNano, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use datafusion::common::{Result, exec_err};
use std::sync::Arc;

const DAY: i64 = 86_400_000_000_000;

/// The moment of a row, as days since 1970 and nanoseconds of that day.
fn moment(array: &ArrayRef, row: usize) -> Result<(i64, i64)> {
    let split = |count: i64, per_day: i64| {
        (count.div_euclid(per_day), count.rem_euclid(per_day) * (DAY / per_day))
    };
    Ok(match array.data_type() {
        DataType::Date32 => (i64::from(array.as_primitive::<Date32Type>().value(row)), 0),
        DataType::Timestamp(TimeUnit::Second, _) => {
            split(array.as_primitive::<TimestampSecondType>().value(row), 86_400)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            split(array.as_primitive::<TimestampMillisecondType>().value(row), 86_400_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            split(array.as_primitive::<TimestampMicrosecondType>().value(row), 86_400_000_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            split(array.as_primitive::<TimestampNanosecondType>().value(row), DAY)
        }
        _ => return exec_err!("age() of something that is not a time"),
    })
}

/// The time from `earlier` to `later` in years, months, days and hours, as people count their age.
pub(super) fn ages(later: &ArrayRef, earlier: &ArrayRef, faults: &mut Faults) -> Result<ArrayRef> {
    let mut values = Vec::with_capacity(later.len());
    for row in 0..later.len() {
        values.push(match present(&[later, earlier], row) {
            true => faults.keep(age(moment(later, row)?, moment(earlier, row)?)),
            false => None,
        });
    }
    Ok(Arc::new(values.into_iter().collect::<IntervalMonthDayNanoArray>()))
}

fn age(a: (i64, i64), b: (i64, i64)) -> Value<IntervalMonthDayNano> {
    // The same days as PostgreSQL borrows: those of the earlier date's month.
    let (later, earlier, sign) = if a >= b { (a, b, 1) } else { (b, a, -1) };
    let ((y2, m2, d2), (y1, m1, d1)) = (civil(later.0), civil(earlier.0));
    let (mut months, mut days) = (12 * (y2 - y1) + m2 - m1, d2 - d1);
    let mut nanos = later.1 - earlier.1;
    if nanos < 0 {
        nanos += DAY;
        days -= 1;
    }
    if days < 0 {
        days += month_length(y1, m1);
        months -= 1;
    }
    let months = i32::try_from(sign * months).map_err(|_| "the times are too far apart")?;
    let days = i32::try_from(sign * days).map_err(|_| "the times are too far apart")?;
    Ok(Some(IntervalMonthDayNano::new(months, days, sign * nanos)))
}

/// There are no infinite times here.
pub(super) fn finite(times: &ArrayRef) -> ArrayRef {
    let value = |row: usize| times.is_valid(row).then_some(true);
    Arc::new((0..times.len()).map(value).collect::<BooleanArray>())
}

/// The date of a year, month and day.
pub(super) fn made(
    year: &ArrayRef,
    month: &ArrayRef,
    day: &ArrayRef,
    faults: &mut Faults,
) -> ArrayRef {
    let of = |array: &ArrayRef, row: usize| array.as_primitive::<Int64Type>().value(row);
    let date = |row: usize| -> Value<i32> {
        match present(&[year, month, day], row) {
            true => date(of(year, row), of(month, row), of(day, row)).map(Some),
            false => Ok(None),
        }
    };
    Arc::new((0..year.len()).map(|row| faults.keep(date(row))).collect::<Date32Array>())
}

/// A date as days since 1970. Years below 0 are BC; there is no year 0.
pub(super) fn date(year: i64, month: i64, day: i64) -> std::result::Result<i32, &'static str> {
    const NONE: &str = "there is no such date";
    let year = match year {
        0 => return Err(NONE),
        before if before < 0 => before.checked_add(1).ok_or(NONE)?,
        after => after,
    };
    if !(-4_713..=5_874_897).contains(&year) {
        return Err(NONE);
    }
    days(year, month, day).and_then(|days| i32::try_from(days).ok()).ok_or(NONE)
}

/// The time that is so many seconds after the beginning of 1970.
pub(super) fn since_1970(seconds: &ArrayRef, faults: &mut Faults) -> ArrayRef {
    let time = |seconds: f64| -> Value<i64> {
        let micros = (seconds * 1e6).round();
        // Beyond these years a time has no text.
        match micros.abs() < 8.2e18 {
            true => Ok(Some(micros as i64)),
            false => Err("the time is out of range"),
        }
    };
    let values = seconds.as_primitive::<Float64Type>().iter();
    let values = values.map(|value| faults.keep(value.map_or(Ok(None), time)));
    Arc::new(values.collect::<TimestampMicrosecondArray>())
}
