use super::*;

fn read(text: &[u8], column: &str, delimiter: u8) -> Result<Vec<Option<String>>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let mut cells = Vec::new();
    read_column(&path, column, delimiter, |cell| cells.push(cell.map(str::to_owned)))?;
    Ok(cells)
}

#[test]
fn a_column_is_found_by_name_and_blank_cells_count() {
    let some = |texts: &[&str]| texts.iter().map(|t| Some((*t).to_owned())).collect::<Vec<_>>();
    assert_eq!(read(b"\xef\xbb\xbfa,b\n1,x\n2,\n", "a", b',').unwrap(), some(&["1", "2"]));
    assert_eq!(read(b"a;b\n1;x\n2;\n", "b", b';').unwrap(), some(&["x", ""]));
    assert_eq!(read(b"v\n1\n\n3\n", "v", b',').unwrap(), some(&["1", "", "3"]));
    assert_eq!(read(b"v\n\xff\n", "v", b',').unwrap(), [None]);
}

#[test]
fn mistakes_name_places_and_no_cell() {
    let error = read(b"a;b\n31337;x\n", "a", b',').unwrap_err().to_string();
    assert!(error.contains("no column `a`") && error.contains("--delimiter"), "{error}");
    let error = read(b"a,b\n1,2\n31337\n", "a", b',').unwrap_err().to_string();
    assert!(error.contains("at line 3") && !error.contains("31337"), "{error}");
}
