use super::*;

#[test]
fn an_interval_sits_around_the_end_of_its_bar() {
    let axis = Axis::linear("", 0.0, 43.0);
    let drawn = |x, error: f64| bar(&axis, x, Some((x - error, x + error)), 44);
    assert_eq!(drawn(0.0, 0.0), "┼");
    assert_eq!(drawn(10.0, 0.0), format!("{}┼", "█".repeat(10)));
    assert_eq!(drawn(10.0, 2.0), format!("{}├─┼─┤", "█".repeat(8)));
    assert_eq!(drawn(43.0, 0.0).chars().count(), 44);
    assert_eq!(drawn(-1.0, 0.1), "┼");
    assert_eq!(bar(&axis, 10.0, None, 44), "█".repeat(11));
    assert_eq!(bar(&axis, 0.0, None, 44), "");
    assert_eq!(bar(&Axis::logarithmic("", 1.0, 10.0), 1.0, None, 44), "█");
    assert_eq!(gauge(0.26), format!("[{}{}]", "█".repeat(6), "·".repeat(14)));
}

#[test]
fn a_table_with_errors_becomes_bars() {
    use crate::table::Cell;
    let name = |text: &str| Cell { text: text.to_owned(), ..Cell::default() };
    let value = |x: f64| Cell {
        text: x.to_string(),
        half: Some("1".to_owned()),
        number: Some(x),
        error: Some(1.0),
    };
    let column = |name: &str, cells| Column { name: name.to_owned(), cells, numeric: false };
    let mut table = Table {
        columns: vec![
            column("who", vec![name("a"), name("b")]),
            column("n", vec![value(42.0), value(3.0)]),
        ],
        ..Table::default()
    };
    let text = of_table(&table, " ").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], " who  n");
    assert!(lines[1].starts_with(" a    █") && lines[1].ends_with("├┼┤ 42 ± 1"), "{text}");
    table.columns[1].cells[0].number = Some(-7.0);
    table.columns[1].cells[1].number = Some(-7.0);
    assert!(of_table(&table, "").is_none());
}

#[test]
fn a_picture_holds_its_words_as_text() {
    let rows = vec![Bar { name: "<b>".into(), value: 0.5, interval: Some((0.25, 0.75)) }];
    let part = Bars { title: "n".into(), axis: Axis::linear("", 0.0, 1.0), rows };
    let svg = svg("a < b & 'c'", &[part]);
    assert!(svg.contains("a &lt; b &amp; &#39;c&#39;") && svg.contains("&lt;b&gt;"), "{svg}");
    // From ¼ to ¾ of 420 points, from 190 on.
    assert!(svg.contains("M295.0 ") && svg.contains("H505.0"), "{svg}");
    assert!(svg.contains("[0.250, 0.750]") && svg.ends_with("</svg>\n"));
}
