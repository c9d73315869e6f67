use super::*;

#[test]
fn rows_come_back_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    let (header, rows) = (row("a", "b"), vec![row("1", "x, y"), row("2", "")]);
    write_records(&path, &header, &rows).unwrap();
    assert_eq!(read_records(&path, 9).unwrap(), (header.clone(), rows.clone()));
    assert_eq!(read_records(&path, 1).unwrap().1, rows[..1]);
    std::fs::write(&path, "a,b\n31337\n").unwrap();
    let error = read_records(&path, 9).unwrap_err().to_string();
    assert!(error.contains("at line 2") && !error.contains("31337"), "{error}");
}
