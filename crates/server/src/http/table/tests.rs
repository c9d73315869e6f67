use super::*;
use datafusion::arrow::array::{
    BooleanArray, Date32Array, Float64Array, Int8Array, StringArray, UInt64Array,
};

#[test]
fn every_cell_is_json() {
    let columns: Vec<(ArrayRef, &str)> = vec![
        (
            Arc::new(Float64Array::from(vec![
                Some(f64::NAN),
                Some(f64::INFINITY),
                Some(f64::NEG_INFINITY),
                Some(-0.5),
                None,
            ])),
            r#"["NaN","Infinity","-Infinity",-0.5,null]"#,
        ),
        (Arc::new(Int8Array::from(vec![-128, 0])), "[-128,0]"),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), "[18446744073709551615]"),
        (Arc::new(BooleanArray::from(vec![true, false])), "[true,false]"),
        (Arc::new(StringArray::from(vec!["\"</script>\n"])), r#"["\"</script>\n"]"#),
        (Arc::new(Date32Array::from(vec![0])), r#"["1970-01-01"]"#),
    ];
    for (array, expected) in columns {
        let (cells, mut text) = (Cells::of(&array).unwrap(), String::from("["));
        for row in 0..array.len() {
            if row > 0 {
                text.push(',');
            }
            cells.write(row, &mut text);
        }
        text.push(']');
        assert_eq!(text, expected);
        serde_json::from_str::<Value>(&text).unwrap();
    }
}
