use super::*;

#[test]
fn values_of_one_text_are_two() {
    let day = |n: i32| [ScalarValue::Date32(Some(n))];
    let of = |values: &[ScalarValue]| key("ann", "SELECT $1", &Settings::default(), values);
    let (one, other) = (day(i32::MAX - 1), day(i32::MIN + 5));
    assert_eq!(format!("{one:?}"), format!("{other:?}"), "their texts are one");
    assert!(of(&one) != of(&other) && of(&one) == of(&one));
    assert!(of(&[ScalarValue::Int32(Some(1))]) != of(&[ScalarValue::Int64(Some(1))]));
    let one = [ScalarValue::Int32(Some(1))];
    assert!(of(&one) != key("ben", "SELECT $1", &Settings::default(), &one));
    assert!(of(&[ScalarValue::Utf8(None)]) != of(&[ScalarValue::from("NULL")]));
}
