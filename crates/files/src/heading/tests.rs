use super::*;

#[test]
fn a_heading_may_have_line_breaks_in_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let read = |text: &[u8]| {
        std::fs::write(&path, text).unwrap();
        heading(&path)
    };
    assert_eq!(read(b"\xef\xbb\xbfa,\"b\nc\"\n1,2\n").unwrap(), ["a", "b\nc"]);
    assert!(read(b"").is_err() && read(b"\xff\xfe\n").is_err() && read(b",\n").is_err());
}
