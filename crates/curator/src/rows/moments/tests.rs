use super::*;
use datafusion::arrow::array::{DurationSecondArray, TimestampSecondArray};

fn date(days: &[Option<i32>]) -> ArrayRef {
    Arc::new(Date32Array::from(days.to_vec()))
}

fn whole(values: &[Option<i64>]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

#[test]
fn dates_differ_by_days_at_any_distance() {
    let (to, from) =
        (date(&[Some(10), Some(i32::MAX), None]), date(&[Some(3), Some(i32::MIN), Some(1)]));
    let days = Moment::Days.values(&[to, from]).unwrap();
    let expected = whole(&[Some(7), Some(i64::from(u32::MAX)), None]);
    assert_eq!(&days, &expected);
}

#[test]
fn a_date_that_does_not_exist_is_null() {
    let dates = date(&[Some(1), Some(i32::MAX), Some(0), Some(0)]);
    let days = whole(&[Some(30), Some(1), Some(i64::MIN), None]);
    let later = Moment::Later.values(&[Arc::clone(&dates), Arc::clone(&days)]).unwrap();
    assert_eq!(&later, &date(&[Some(31), None, None, None]));
    let earlier = Moment::Earlier.values(&[dates, days]).unwrap();
    // The day before the last one that can be stored is in no calendar either.
    assert_eq!(&earlier, &date(&[Some(-29), None, None, None]));
}

#[test]
fn times_differ_by_days_and_a_part_of_a_day() {
    let (to, from) =
        (vec![Some(90_000), Some(0), Some(i64::MAX)], vec![Some(0), Some(90_000), Some(i64::MIN)]);
    let times = |of: Vec<Option<i64>>| Arc::new(TimestampSecondArray::from(of)) as ArrayRef;
    let since = Moment::Since.values(&[times(to), times(from)]).unwrap();
    let hour = 3_600_000_000_000;
    let expected = IntervalMonthDayNanoArray::from(vec![
        Some(IntervalMonthDayNano::new(0, 1, hour)),
        Some(IntervalMonthDayNano::new(0, -1, -hour)),
        None,
    ]);
    assert_eq!(since.as_ref(), &expected as &dyn Array);
}

/// A month has 30 days and a day 24 hours; no interval is too long to be compared.
#[test]
fn intervals_have_a_length() {
    let length = |interval: IntervalMonthDayNano| {
        let array: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![interval]));
        Moment::Length.values(&[array]).unwrap().as_primitive::<Decimal128Type>().value(0)
    };
    let of = IntervalMonthDayNano::new;
    assert_eq!(length(of(1, 0, 0)), length(of(0, 30, 0)));
    assert_eq!(length(of(0, 1, 0)), length(of(0, 0, 86_400_000_000_000)));
    assert!(length(of(0, 60, 0)) > length(of(0, 7, 0)));
    assert!(length(of(i32::MAX, i32::MAX, i64::MAX)) > length(of(i32::MAX, i32::MAX, 0)));
    let seconds: ArrayRef = Arc::new(DurationSecondArray::from(vec![i64::MAX]));
    assert!(Moment::Length.values(&[seconds]).unwrap().is_valid(0));
}

#[test]
fn fields_are_those_of_postgresql() {
    let of = |field, (months, days, nanoseconds): (i32, i32, i64)| {
        let interval = IntervalMonthDayNano::new(months, days, nanoseconds);
        let array: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![interval]));
        let value = Moment::Field(field).values(&[array]).unwrap();
        converted(&value, &DataType::Float64).unwrap().as_primitive::<Float64Type>().value(0)
    };
    // 1 year 2 months 3 days 30:05:06.5
    let time = ((30 * 60 + 5) * 60 + 6) * 1_000_000_000 + 500_000_000;
    for (field, expected) in [
        (Field::Year, 1.0),
        (Field::Quarter, 1.0),
        (Field::Month, 2.0),
        (Field::Day, 3.0),
        (Field::Hour, 30.0),
        (Field::Minute, 5.0),
        (Field::Second, 6.5),
        (Field::Millisecond, 6_500.0),
        (Field::Microsecond, 6_500_000.0),
        (Field::Epoch, 37_109_106.5),
    ] {
        assert_eq!(of(field, (14, 3, time)), expected, "{field:?}");
    }
    assert!(Field::named("fortnight").is_err());
}

#[test]
fn intervals_are_scaled_field_by_field_as_in_postgresql() {
    let spans: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![
        Some(IntervalMonthDayNano::new(0, 1, 0)),
        Some(IntervalMonthDayNano::new(1, 2, 0)),
        Some(IntervalMonthDayNano::new(0, 1, 0)),
        Some(IntervalMonthDayNano::new(0, i32::MAX, 0)),
        Some(IntervalMonthDayNano::new(0, 1, 0)),
        None,
    ]));
    let by = [Some(-3.0), Some(1.5), Some(0.25), Some(2.0), Some(f64::NAN), Some(1.0)];
    let by: ArrayRef = Arc::new(Float64Array::from(by.to_vec()));
    let found = Moment::Times.values(&[spans, by]).unwrap();
    let expected: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![
        Some(IntervalMonthDayNano::new(0, -3, 0)),
        Some(IntervalMonthDayNano::new(1, 18, 0)),
        Some(IntervalMonthDayNano::new(0, 0, 21_600_000_000_000)),
        None,
        None,
        None,
    ]));
    assert_eq!(&found, &expected);
}
