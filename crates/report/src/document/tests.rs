use super::*;

#[test]
fn text_and_page_hold_everything() {
    let table = Table::of_texts(&["a"], [vec!["1".to_owned()]]).titled("T < 1");
    let document = Document {
        title: "Title".to_owned(),
        lead: "lead".to_owned(),
        tables: vec![table],
        charts: Vec::new(),
        meaning: vec!["so what".to_owned()],
    };
    assert_eq!(document.text(), "lead\n\nT < 1\n\n  a\n  ─\n  1\n\nso what\n");
    let html = document.html();
    assert!(html.contains("<h2>T &lt; 1</h2>") && html.contains("<p>so what</p>"), "{html}");
}
