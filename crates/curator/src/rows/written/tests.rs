use super::*;
use datafusion::arrow::array::{Array, StringArray};
use datafusion::arrow::datatypes::{Date32Type, Float64Type, Int64Type};

fn texts(all: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(all.to_vec()))
}

#[test]
fn numbers_with_a_decimal_comma_are_read_and_others_are_nothing() {
    for (text, expected) in [
        ("12,5", Some(12.5)),
        ("-0,25", Some(-0.25)),
        (" 1.234,50 ", Some(1234.5)),
        ("1.234.567", Some(1_234_567.0)),
        ("1234,5", Some(1234.5)),
        (",5", Some(0.5)),
        ("-,5", Some(-0.5)),
        ("7", Some(7.0)),
        ("1.5", None),
        ("12.34,5", None),
        ("1234.567", None),
        ("1,234.5", None),
        ("1,2,3", None),
        ("5,", None),
        (",", None),
        ("-", None),
        ("", None),
        (".500", None),
        ("1e5", None),
        ("inf", None),
        ("NaN", None),
        ("12 €", None),
        ("+-3", None),
        ("٣", None),
    ] {
        let read = Written::Comma.read(&texts(&[Some(text)]), &DataType::Float64).unwrap();
        let read = read.as_primitive::<Float64Type>().iter().next().unwrap();
        assert_eq!(read, expected, "{text}");
    }
    let long = "9".repeat(10_000);
    let all = texts(&[Some("1.234"), Some("1,0"), None, Some(&long), Some("99999999999999999999")]);
    let read = Written::Comma.read(&all, &DataType::Int64).unwrap();
    let read: Vec<Option<i64>> = read.as_primitive::<Int64Type>().iter().collect();
    assert_eq!(read, [Some(1234), None, None, None, None]);
}

#[test]
fn a_value_depends_on_its_own_text_alone() {
    let format = Written::Time(TimeFormat::parse("%d.%m.%Y").unwrap());
    let read = |all: &[Option<&str>]| {
        let read = format.read(&texts(all), &DataType::Date32).unwrap();
        read.as_primitive::<Date32Type>().iter().collect::<Vec<_>>()
    };
    let all = [Some("02.01.1970"), Some("nonsense"), None, Some("31.12.1969"), Some("1970-01-02")];
    assert_eq!(read(&all), [Some(1), None, None, Some(-1), None]);
    for one in all {
        assert_eq!(read(&[one])[0], read(&all)[all.iter().position(|a| *a == one).unwrap()]);
    }
    assert_eq!(format.read(&texts(&[]), &DataType::Date32).unwrap().len(), 0);
}
