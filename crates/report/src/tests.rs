use super::*;

#[test]
fn long_lines_are_broken_and_control_characters_replaced() {
    let text = wrapped(&"word ".repeat(40), 90, "  ");
    assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= 90), "{text}");
    assert!(text.lines().skip(1).all(|line| line.starts_with("  word")), "{text}");
    assert_eq!(printable("a\u{1b}[2Jb\nc"), "a\u{FFFD}[2Jb\u{FFFD}c");
    assert_eq!(printable("a\u{202e}b\u{2066}é"), "a\u{FFFD}b\u{FFFD}é");
}

#[test]
fn wide_characters_take_two_columns() {
    assert_eq!(padded("東京", 6, false), "東京  ");
    assert_eq!(padded("é", 3, true), "  é");
}
