use super::*;

#[test]
fn delimiters_are_one_character_or_tab() {
    assert_eq!((delimiter(";"), delimiter("tab")), (Ok(b';'), Ok(b'\t')));
    for wrong in ["", ";;", "\"", "\n", "é"] {
        assert!(delimiter(wrong).is_err(), "{wrong:?}");
    }
}
