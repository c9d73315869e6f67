use super::*;
use std::io::Write;

fn text_of(name: &str, bytes: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let Source::Text(mut input) = Source::open(&path).unwrap() else { return None };
    let mut text = String::new();
    input.read_to_string(&mut text).unwrap();
    Some(text)
}

#[test]
fn a_file_is_known_by_its_bytes() {
    assert_eq!(text_of("a.csv", b"a,b\n1,2\n").as_deref(), Some("a,b\n1,2\n"));
    assert_eq!(text_of("a.csv", b"a").as_deref(), Some("a"));
    assert_eq!(text_of("a.csv", b"").as_deref(), Some(""));
    assert_eq!(text_of("a.csv", b"PAR1,b\n").as_deref(), Some("PAR1,b\n"));
    assert_eq!(text_of("a.parquet", b"PAR1 cut off"), None);
    assert_eq!(text_of("a.data", b"PAR1 and so on PAR1"), None);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"a,b\n1,2\n").unwrap();
    assert_eq!(text_of("a.gz", &packed.finish().unwrap()).as_deref(), Some("a,b\n1,2\n"));
    let error = Source::open(Path::new("no/such/file")).err().unwrap().to_string();
    assert!(error.starts_with("reading no/such/file: "), "{error}");
}
