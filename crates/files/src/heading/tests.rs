use super::*;
use std::io::Write;

fn read(text: &[u8]) -> Result<Heading> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    heading(&path, None)
}

fn names(text: &[u8]) -> Vec<String> {
    read(text).unwrap().names
}

#[test]
fn a_heading_may_have_line_breaks_in_quotes() {
    assert_eq!(names(b"\xef\xbb\xbfa,\"b\nc\"\n1,2\n"), ["a", "b\nc"]);
    assert_eq!(names(b"\r\n\na,b\r\n1,2\n"), ["a", "b"]);
    assert_eq!(names(b"\xef\xbb\xbf\"A B\";c\n"), ["A B", "c"]);
}

#[test]
fn the_delimiter_is_what_separates_most_names() {
    for (text, delimiter) in [
        (&b"a,b\n"[..], b','),
        (b"a;b\n", b';'),
        (b"a\tb\n", b'\t'),
        (b"a|b\n", b'|'),
        (b"alone\n1;2;3\n", b','),
        (b"\"a,b,c\";d\n", b';'),
        (b"price, net;price, gross;day;city\n", b';'),
    ] {
        assert_eq!(read(text).unwrap().delimiter, delimiter, "{text:?}");
    }
    assert!(matches!(read(b"a,b;c\n"), Err(Error::Delimiters { .. })));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "a,b;c\n").unwrap();
    assert_eq!(heading(&path, Some(b';')).unwrap().names, ["a,b", "c"]);
}

#[test]
fn what_is_no_heading_is_refused_with_a_remedy() {
    let says = |text: &[u8]| read(text).unwrap_err().to_string();
    assert!(says(b"").contains("no heading") && says(b",\n").contains("no heading"));
    assert!(says(b"a,\0b\n").contains("no heading"));
    assert!(says(b"gr\xf6\xdfe,b\n").contains("iconv -f WINDOWS-1252 -t UTF-8"));
    assert!(says(b"\xff\xfea\0,\0b\0\n\0").contains("iconv -f UTF-16 -t UTF-8"));
    let long = [b"a,".repeat(6 << 20), b"b\n".to_vec()].concat();
    assert!(says(&long).contains("longer than"));
    let open = [b"\"a".to_vec(), b"\n".repeat(6 << 20)].concat();
    assert!(says(&open).contains("longer than"));
    // What follows an open quote are rows, and no name.
    assert!(says(b"a,\"b\n1,2\n").contains("no heading"));
}

#[test]
fn compressed_files_are_read_and_wrong_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(b"a;b\n1;2\n").unwrap();
    gzip.finish().unwrap();
    assert_eq!(heading(&path, None).unwrap().names, ["a", "b"]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..12]).unwrap();
    assert!(heading(&path, None).unwrap_err().to_string().contains("gzip"));
    std::fs::write(&path, "a,b\n").unwrap();
    assert!(heading(&path, None).unwrap_err().to_string().contains("not compressed"));
    let plain = folder.path().join("t.csv");
    std::fs::write(&plain, whole).unwrap();
    assert_eq!(heading(&plain, None).unwrap().names, ["a", "b"]);
}
