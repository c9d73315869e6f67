use super::*;
use datafusion::arrow::array::Int64Array;
use datafusion::arrow::datatypes::DataType;

#[test]
fn headings_are_quoted_and_nothing_is_an_empty_list() {
    let schema = Arc::new(Schema::new(vec![Field::new("sum(a, \"b\")", DataType::Int64, true)]));
    let mut out = Vec::new();
    write_csv(&schema, &[], &mut out).unwrap();
    assert_eq!(out, b"\"sum(a, \"\"b\"\")\"\n");
    assert_eq!(to_json(&[]).unwrap(), "[]");
    let column = Arc::new(Int64Array::from(vec![Some(1), None]));
    let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
    let json = to_json(&[batch]).unwrap();
    assert_eq!(json, r#"[{"sum(a, \"b\")":1},{"sum(a, \"b\")":null}]"#);
}
