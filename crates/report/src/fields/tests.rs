use super::*;

#[test]
fn fields_align() {
    let report =
        Report::default().field("value", 3).described("epsilon", 1.0, "1 (pure)").hidden("x", 2);
    assert_eq!(report.text(), "value    3\nepsilon  1 (pure)\n");
    assert_eq!(report.members(), "\"value\":3,\"epsilon\":1.0,\"x\":2");
}

#[test]
fn values_read_as_people_write_them() {
    let table = named([("a", Value::from(1)), ("bc", Value::from(-2.5))]);
    assert_eq!((plain(&table).as_str(), line(&table).as_str()), ("a   1\nbc  -2.5", "a=1,bc=-2.5"));
    assert_eq!(plain(&Value::from(1.0)), "1");
    assert_eq!(plain(&Value::from(1e-6)), "1e-6");
    assert_eq!(integer(-3), Value::from(-3));
    assert_eq!(integer(1 << 80), Value::from(2f64.powi(80)));
}
