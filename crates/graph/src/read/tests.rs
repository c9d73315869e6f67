use super::*;
use crate::triangles::Triangles;
use std::io::Write;

const TEXT: &str = "# a comment\n% another\r\n\n1 2\r\n2\t1\n2,3,0.5\n3 1 1999\n7 7\n1 2\n";

#[test]
fn directions_duplicates_loops_and_comments_are_as_documented() {
    let graph = read(TEXT.as_bytes(), None).unwrap();
    // 1, 2, 3 and the vertex of the loop.
    assert_eq!((graph.vertices(), graph.edges()), (4, 3));
    assert_eq!(Triangles::of(&graph).unwrap().count(), 1);
    let graph = read(TEXT.as_bytes(), Some(10)).unwrap();
    assert_eq!((graph.vertices(), graph.edges()), (10, 3));
    let many = read(TEXT.as_bytes(), Some(3)).unwrap_err();
    assert!(matches!(many, Error::TooManyVertices { declared: 3 }), "{many}");
}

#[test]
fn a_bad_line_is_named_by_its_number_alone() {
    for (text, line) in
        [("1 2\n3\n", 2), ("secret 5\n", 1), ("1 -2\n", 1), ("1 2\n\n1 99999999999999999999\n", 3)]
    {
        let error = read(text.as_bytes(), None).unwrap_err();
        assert!(matches!(error, Error::Line { line: l } if l == line), "{error}");
        assert!(!error.to_string().contains("secret"));
    }
    // A line that goes on and on is not cut into two edges.
    let endless = [b"1 2 ".as_slice(), &[b'3'; 70_000], b" 4\n"].concat();
    assert!(matches!(read(&endless[..], None), Err(Error::Line { line: 1 })));
}

#[test]
fn files_are_read_plain_and_compressed() {
    let directory = tempfile::tempdir().unwrap();
    let plain = directory.path().join("edges.txt");
    std::fs::write(&plain, TEXT).unwrap();
    let packed = directory.path().join("edges.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(TEXT.as_bytes()).unwrap();
    std::fs::write(&packed, encoder.finish().unwrap()).unwrap();
    for path in [plain, packed] {
        let graph = open(&path, None).unwrap();
        assert_eq!((graph.vertices(), graph.edges()), (4, 3));
    }
    assert!(matches!(open(Path::new("/nowhere"), None), Err(Error::Io(_))));
    assert_eq!(read(&b""[..], None).unwrap().vertices(), 0);
}
