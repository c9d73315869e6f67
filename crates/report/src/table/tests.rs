use super::*;

#[test]
fn columns_align_in_text_and_are_escaped_in_html() {
    let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    let table = Table::of_texts(&["who", "n<"], [row("<a>", "7"), row("bc", "1234")]);
    let table = table.numbers_from(1);
    assert_eq!(table.text(" "), " who    n<\n ───  ────\n <a>     7\n bc   1234\n");
    assert!(table.html().contains("<td>&lt;a&gt;</td><td class=\"number\">7</td>"));
    assert_eq!(Table::of_texts(&["x"], []).text(""), "x\n─\n(no rows)\n");
}

#[test]
fn errors_stand_below_each_other() {
    let cell = |text: &str, half: Option<&str>| Cell {
        text: text.to_owned(),
        half: half.map(str::to_owned),
        ..Cell::default()
    };
    let cells = vec![cell("7", Some("1.5")), cell("123", Some("20")), cell("NULL", None)];
    let column = Column { name: "n".to_owned(), cells, numeric: true };
    let text = Table { columns: vec![column], ..Table::default() }.text("");
    assert_eq!(text, "         n\n──────────\n   7 ± 1.5\n 123 ±  20\nNULL\n");
}
