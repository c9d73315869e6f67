use super::*;

#[test]
fn a_file_name_suggests_a_format() {
    for (name, format) in [
        ("a.csv", Some(Format::Csv)),
        ("a.JSON", Some(Format::Json)),
        ("a.feather", Some(Format::Arrow)),
        ("a.parquet", Some(Format::Parquet)),
        ("a.txt", None),
        ("a", None),
    ] {
        assert!(Format::of(Path::new(name)) == format, "{name}");
    }
}

#[test]
fn every_column_has_a_name_of_its_own() {
    use datafusion::arrow::array::Int64Array;
    use datafusion::arrow::datatypes::DataType;
    let named = |names: &[&str]| {
        let fields: Vec<Field> =
            names.iter().map(|name| Field::new(*name, DataType::Int64, true)).collect();
        let columns = names.iter().map(|_| Arc::new(Int64Array::from(vec![1])) as _).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let batch = distinct(&batch).unwrap();
        batch.schema().fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>()
    };
    assert_eq!(named(&["n", "count", "count"]), ["n", "count", "count_2"]);
    assert_eq!(named(&["x", "x", "x_2", "x"]), ["x", "x_3", "x_2", "x_4"]);
    assert_eq!(named(&["a", "b"]), ["a", "b"]);
}
