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

#[test]
fn a_column_that_is_missing_is_told_what_there_is_and_no_row_is_shown() {
    let says = |header: &str, name: &str| {
        let text = format!("{header}\n");
        let table = Table::from_csv(text.as_bytes(), b',').unwrap();
        table.position(name).unwrap_err().to_string()
    };
    assert_eq!(says("a,b", "c"), "there is no column `c`; the header has: a, b");
    assert_eq!(
        says("Age ,,b", "age"),
        "there is no column `age`; the header has: Age , (no name), b\nhint: did you mean `Age `?"
    );
    let many: Vec<String> = (0..1000).map(|i| format!("c{i}")).collect();
    let said = says(&many.join(","), "x");
    assert!(said.ends_with("c18, c19 and 980 more"), "{said}");
    assert!(says("a\u{1b}[31m", "x").ends_with("a\u{FFFD}[31m"), "a terminal would obey it");
    for row in ["31337,Smith", "Smith;31337;1.5", "Smith,-0.5"] {
        let said = says(row, "zip");
        assert!(said.contains("hint: a table needs a header"), "{said}");
        assert!(!said.contains("Smith") && !said.contains("31337"), "{said}");
    }
}

#[test]
fn columns_need_names_of_their_own() {
    let says = |text: &str| Table::from_csv(text.as_bytes(), b',').unwrap_err().to_string();
    assert!(says("a,b,a\n").contains("have the same name"));
    assert!(says("a,,\n").contains("have no name"));
    assert_eq!(says(""), "the table, line 1: there is no header: the file is empty");
    // One without a name can be left out.
    assert_eq!(Table::from_csv(&b",a\n1,2\n"[..], b',').unwrap().position("a").unwrap(), 1);
}
