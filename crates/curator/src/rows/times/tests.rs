use super::*;
use datafusion::functions::datetime::expr_fn::{date_bin, date_part, date_trunc};
use datafusion::logical_expr::{cast, lit};

const TIME: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

fn day(year: i64, month: i64, day: i64) -> i64 {
    days(year, month, day).unwrap() * DAY
}

fn cuts(expr: &Expr, kind: &DataType) -> Option<Cuts> {
    let column = Column::new_unqualified("t");
    let constant = |expr: &Expr| expr.as_literal().cloned();
    Line { column: &column, kind, constant: &constant }.cuts(expr)
}

fn t() -> Expr {
    Expr::Column(Column::new_unqualified("t"))
}

fn literal(at: i64) -> Expr {
    lit(ScalarValue::TimestampMicrosecond(Some(at), None))
}

#[test]
fn years_and_beginnings_are_those_of_the_calendar() {
    for (moment, of, iso) in [
        (day(1970, 1, 1), 1970.0, 1970.0),
        (day(1970, 1, 1) - 1, 1969.0, 1970.0),
        // A Sunday, and a Friday: ISO weeks of the year before.
        (day(2023, 1, 1), 2023.0, 2022.0),
        (day(2021, 1, 1), 2021.0, 2020.0),
        (day(2024, 12, 30), 2024.0, 2025.0),
        (day(-200_000, 6, 1), -200_000.0, -200_000.0),
    ] {
        assert_eq!((year(moment as f64), iso_year(moment as f64)), (of, iso));
    }
    let moment = (day(2024, 5, 17) + 13 * 3_600 * SECOND + 61 * SECOND + 5) as f64;
    for (part, expected) in [
        ("year", day(2024, 1, 1)),
        ("quarter", day(2024, 4, 1)),
        ("month", day(2024, 5, 1)),
        ("week", day(2024, 5, 13)),
        ("day", day(2024, 5, 17)),
        ("hour", day(2024, 5, 17) + 13 * 3_600 * SECOND),
        ("minute", day(2024, 5, 17) + (13 * 3_600 + 60) * SECOND),
        ("second", day(2024, 5, 17) + (13 * 3_600 + 61) * SECOND),
    ] {
        assert_eq!(beginning(part).unwrap()(moment), expected as f64, "{part}");
    }
    assert!(beginning("microsecond").is_none());
}

#[test]
fn values_of_every_type_come_back_from_their_moment() {
    use ScalarValue as S;
    for value in [
        S::Date32(Some(-3)),
        S::Date64(Some(86_400_000)),
        S::TimestampSecond(Some(-1), None),
        S::TimestampMillisecond(Some(1_001), None),
        S::TimestampMicrosecond(Some(-1), None),
        S::TimestampNanosecond(Some(7_000), None),
    ] {
        let kind = value.data_type();
        assert_eq!(value_at(microseconds(&value).unwrap(), &kind), Some(value));
    }
    // What is too far away is not known, and nothing overflows.
    assert_eq!(microseconds(&S::Date32(Some(i32::MAX))), None);
    assert_eq!(microseconds(&S::TimestampSecond(Some(i64::MIN), None)), None);
    assert_eq!(value_at(i64::MAX, &DataType::Timestamp(TimeUnit::Nanosecond, None)), None);
    assert_eq!(from_number(f64::INFINITY, &DataType::Date32), Some(S::Date32(Some(i32::MAX))));
    assert_eq!(from_number(1.5, &TIME), Some(S::TimestampMicrosecond(Some(1_500_000), None)));
    let zoned = DataType::Timestamp(TimeUnit::Second, Some("Europe/Berlin".into()));
    assert!(!is_moment(&zoned));
}

#[test]
fn pieces_are_as_fine_as_what_is_computed() {
    let every = |step: i64| Some(Cuts::of(Pieces::Every(step)));
    let (months, hour) = (Some(Cuts::of(Pieces::Months)), 3_600 * SECOND);
    assert_eq!(cuts(&t(), &TIME), None);
    assert_eq!(cuts(&t(), &DataType::Date32), every(DAY));
    assert_eq!(cuts(&date_trunc(lit("month"), t()), &TIME), months);
    assert_eq!(cuts(&date_trunc(lit("week"), t()), &TIME), every(DAY));
    assert_eq!(cuts(&date_part(lit("hour"), t()), &TIME), every(hour));
    assert_eq!(cuts(&date_part(lit("epoch"), t()), &TIME), None);
    assert_eq!(cuts(&cast(t(), DataType::Date32), &TIME), every(DAY));
    let both = date_part(lit("year"), t()) * lit(100) + date_part(lit("month"), t());
    assert_eq!(cuts(&both, &TIME), months);
    assert_eq!(cuts(&date_trunc(lit("hour"), t() + lit(1)), &TIME), None);
    let compared = cuts(&t().lt(literal(7)), &TIME).unwrap();
    assert_eq!((compared.pieces, compared.points), (Pieces::Whole, vec![7, 8]));
    let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("Asia/Tokyo".into()));
    assert_eq!(cuts(&date_trunc(lit("day"), cast(t(), zoned)), &TIME), None);
}

#[test]
fn bins_begin_at_multiples_of_their_stride() {
    let stride = |months, days, nanos| lit(ScalarValue::new_interval_mdn(months, days, nanos));
    let minute = 60 * SECOND;
    let quarter_hour = date_bin(stride(0, 0, 900_000_000_000), t(), literal(0));
    assert_eq!(cuts(&quarter_hour, &TIME), Some(Cuts::of(Pieces::Every(15 * minute))));
    let shifted = date_bin(stride(0, 0, 900_000_000_000), t(), literal(5 * minute));
    assert_eq!(cuts(&shifted, &TIME), Some(Cuts::of(Pieces::Every(5 * minute))));
    let quarters = date_bin(stride(3, 0, 0), t(), literal(day(2001, 1, 1)));
    assert_eq!(cuts(&quarters, &TIME), Some(Cuts::of(Pieces::Months)));
    let from_the_fifth = date_bin(stride(1, 0, 0), t(), literal(day(2001, 1, 5)));
    assert_eq!(cuts(&from_the_fifth, &TIME), None);
}

#[test]
fn a_format_has_the_pieces_of_its_finest_pattern() {
    for (format, pieces) in [
        ("YYYY-MM", Some(Pieces::Months)),
        ("\"Q\"Q", Some(Pieces::Months)),
        ("FMMonth, a.d.", Some(Pieces::Months)),
        ("IYYY-IW", Some(Pieces::Every(DAY))),
        ("Day DDth", Some(Pieces::Every(DAY))),
        ("YYYY-MM-DD HH12 p.m.", Some(Pieces::Every(3_600 * SECOND))),
        ("HH24:MI", Some(Pieces::Every(60 * SECOND))),
        ("SSSS", Some(Pieces::Every(SECOND))),
        ("HH24:MI:SS.MS", None),
        ("", Some(Pieces::Whole)),
    ] {
        assert_eq!(finest(format), pieces, "{format}");
    }
}

#[test]
fn pieces_begin_within_the_range() {
    let range = (day(2024, 1, 15), day(2024, 4, 1));
    let months = Cuts::of(Pieces::Months).starts(range, DAY, 10).unwrap();
    assert_eq!(months, [day(2024, 1, 15), day(2024, 2, 1), day(2024, 3, 1), day(2024, 4, 1)]);
    let cut = Cuts { pieces: Pieces::Whole, points: vec![day(2024, 2, 1) + 1, day(2030, 1, 1)] };
    assert_eq!(cut.starts(range, DAY, 10).unwrap(), [day(2024, 1, 15), day(2024, 2, 2)]);
    assert_eq!(Cuts::of(Pieces::Every(DAY)).starts(range, DAY, 100).unwrap().len(), 78);
    assert_eq!(Cuts::of(Pieces::Every(DAY)).starts(range, DAY, 77), None);
    // The ends of what an integer can hold.
    let all = (i64::MIN, i64::MAX);
    assert_eq!(Cuts::of(Pieces::Every(1 << 62)).starts(all, 1, 10).unwrap().len(), 4);
    assert_eq!(Cuts::of(Pieces::Months).starts(all, 1, 1_000), None);
}
