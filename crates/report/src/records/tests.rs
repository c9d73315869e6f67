use super::*;
use crate::short;

#[test]
fn one_description_makes_a_table_and_objects() {
    let records = Records::of(&[1.5, f64::NAN])
        .shown("who", |x| format!("<{x}>"))
        .number("x", "value", |x| *x, short)
        .named("half", |x| x / 2.0);
    let (table, objects) = records.finish("T", 1);
    assert_eq!(table.text(""), "who      x\n─────  ───\n<1.5>  1.5\n<NaN>  NaN\n");
    assert_eq!(objects[0].to_string(), "{\"value\":1.5,\"half\":0.75}");
    assert_eq!(objects[1].to_string(), "{\"value\":null,\"half\":null}");
}
