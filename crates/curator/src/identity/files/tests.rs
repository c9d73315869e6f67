use super::*;

#[test]
fn patterns_match_whole_names() {
    for (pattern, name, fits) in [
        ("*.csv", "a.csv", true),
        ("*.csv", "a.csv.bak", false),
        ("a*b*.csv", "axxb1.csv", true),
        ("a*b*.csv", "axx1.csv", false),
        ("visits-*.parquet", "visits-1.parquet", true),
        ("*", "anything", true),
    ] {
        assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
    }
}

#[test]
fn names_say_what_files_hold() {
    for (name, expected) in [
        ("a.csv", Some(Format::Csv)),
        ("A.CSV", Some(Format::Csv)),
        ("a.tsv", Some(Format::Csv)),
        ("a b.csv.gz", Some(Format::CsvGzip)),
        ("a.TSV.GZ", Some(Format::CsvGzip)),
        ("a.Parquet", Some(Format::Parquet)),
        ("a.parquet.gz", None),
        ("a.gz", None),
        (".gz", None),
        ("csv", None),
        ("..", None),
    ] {
        assert_eq!(format(Path::new(name)), expected, "{name}");
    }
}
