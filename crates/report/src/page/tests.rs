use super::*;

#[test]
fn nothing_is_markup_unless_it_is_meant() {
    assert_eq!(escape("<a href='x'>&\"\u{1}"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot; ");
    let made = table(&["a<", "n"], &[vec!["<b>x</b>".to_owned(), "1".to_owned()]], 1);
    assert!(made.contains("<th>a&lt;</th><th class=\"number\">n</th>"));
    assert!(made.contains("<td><b>x</b></td><td class=\"number\">1</td>"));
    assert!(page("a & b", "<h1>x</h1>").contains("<title>a &amp; b</title>"));
}
