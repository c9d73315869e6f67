use super::*;

#[test]
fn a_number_that_its_type_cannot_hold_becomes_the_nearest() {
    let of = |x: f64, data_type| as_type(ScalarValue::Float64(Some(x)), &data_type).unwrap();
    assert_eq!(of(-3.6, DataType::UInt64), ScalarValue::UInt64(Some(0)));
    assert_eq!(of(-3.6, DataType::Int64), ScalarValue::Int64(Some(-4)));
    assert_eq!(of(300.0, DataType::Int8), ScalarValue::Int8(Some(127)));
    assert_eq!(of(1e300, DataType::Int64), ScalarValue::Int64(Some(i64::MAX)));
    assert_eq!(of(2.5, DataType::Float64), ScalarValue::Float64(Some(2.5)));
}
