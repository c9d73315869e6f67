use super::*;

#[test]
fn a_table_is_built_or_refused() {
    let names = || ["a".to_owned(), "b".to_owned()];
    let mut builder = Builder::new(names()).unwrap();
    for (a, b) in [("x", "1"), ("y", "1"), ("x", "")] {
        for (column, text) in [a, b].into_iter().enumerate() {
            let code = builder.code(column, text);
            builder.push(column, code);
        }
    }
    let table = builder.finish().unwrap();
    let same = Table::from_csv(&b"a,b\nx,1\ny,1\nx,\n"[..], b',').unwrap();
    for (built, read) in table.columns.iter().zip(&same.columns) {
        assert_eq!((&built.values, &built.codes), (&read.values, &read.codes));
    }
    assert_eq!(table.rows, 3);
    assert!(Builder::new(["a".to_owned(), "a".to_owned()]).is_err());
    let mut ragged = Builder::new(names()).unwrap();
    let code = ragged.code(0, "x");
    ragged.push(0, code);
    assert!(ragged.finish().is_err());
    let mut foreign = Builder::new(["a".to_owned()]).unwrap();
    foreign.push(0, 7);
    assert!(foreign.finish().is_err());
}
