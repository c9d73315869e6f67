use super::*;

#[test]
fn values_are_written_as_literals() {
    for (value, written) in [
        (ScalarValue::Int64(Some(-5)), "-5"),
        (ScalarValue::Float64(Some(0.5)), "0.5"),
        (ScalarValue::Boolean(Some(true)), "true"),
        (ScalarValue::from("o'brien"), "'o''brien'"),
        (ScalarValue::Utf8(None), "NULL"),
        (ScalarValue::Date32(Some(19_000)), "'2022-01-08'"),
        (ScalarValue::TimestampMicrosecond(Some(1_500_000), None), "'1970-01-01T00:00:01.500'"),
    ] {
        assert_eq!(literal(&value), written);
    }
}

#[test]
fn settings_are_those_that_were_changed() {
    let mut settings = Settings::default();
    let asked = |settings: &Settings| Asked::new(" SELECT 1\n", &[], settings).question;
    assert_eq!(asked(&settings), Question::new("SELECT 1", Vec::new(), Vec::new()));
    settings.set("demure.epsilon", "0.25").unwrap();
    settings.set("demure.intervals", "on").unwrap();
    let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let changed = vec![named("demure.epsilon", "0.25"), named("demure.intervals", "on")];
    assert_eq!(asked(&settings).settings, changed);
}
