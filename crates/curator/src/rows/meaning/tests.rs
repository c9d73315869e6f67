use super::*;

/// The shortest text of a float is the number that was written.
#[test]
fn a_float_stands_for_the_decimal_that_was_written() {
    let of = |x: f64| decimal_of(&Expr::Literal(ScalarValue::Float64(Some(x)), None));
    assert_eq!(of(0.07), Some((7, 2, 2)));
    assert_eq!(of(-12.5), Some((-125, 3, 1)));
    assert_eq!(of(100.0), Some((100, 3, 0)));
    assert_eq!((of(f64::NAN), of(f64::INFINITY), of(1e300), of(1e-300)), (None, None, None, None));
}

#[test]
fn a_text_is_read_or_refused() {
    let typed = |text: &str, to: &DataType| typed(Expr::Literal(ScalarValue::from(text), None), to);
    let time = DataType::Timestamp(TimeUnit::Microsecond, None);
    for (text, to) in [
        ("2024-03-17", &DataType::Date32),
        ("2024-03-17", &time),
        ("2024-03-17 13:45", &time),
        (" 42 ", &DataType::Int64),
        ("18446744073709551615", &DataType::UInt64),
        ("0.5", &DataType::Int64),
        ("1e5", &DataType::Float64),
        ("0.075", &DataType::Decimal128(12, 2)),
        ("true", &DataType::Boolean),
    ] {
        assert!(
            matches!(typed(text, to), Ok(Expr::Literal(value, _)) if !text_of(&value)),
            "{text}"
        );
    }
    for (text, to) in [
        ("2024-17-03", &DataType::Date32),
        ("03/17/2024", &DataType::Date32),
        ("", &DataType::Date32),
        ("2024-03-17 25:00:00", &time),
        ("abc", &DataType::Int64),
        ("1,5", &DataType::Float64),
        ("maybe", &DataType::Boolean),
    ] {
        let error = typed(text, to).unwrap_err().to_string();
        assert!(error.contains(&format!("'{text}' is not a")), "{error}");
    }
}

fn text_of(value: &ScalarValue) -> bool {
    text(&value.data_type())
}
