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
