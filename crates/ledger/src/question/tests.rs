use super::*;

fn asked(sql: &str) -> Question {
    let settings = vec![("demure.epsilon".to_owned(), "0.5".to_owned())];
    Question::new(sql, vec!["65".to_owned(), "'o''brien\n9:'".to_owned()], settings)
}

#[test]
fn a_question_comes_back_with_the_canonical_text() {
    for sql in [
        "SELECT COUNT(*) FROM visits WHERE age > $1",
        "",
        "SELECT '9:x\n\u{1e}question 1 whole 0 0\n'\n-- ⏎ é",
    ] {
        for canonical in
            ["count(*); at most 1 rows\n  TableScan", "", "\u{1e}question 1 whole 0 0\n0:\n"]
        {
            let question = asked(sql);
            let text = question.before(canonical);
            assert_eq!(parted(&text), (Some(question), canonical), "{sql}");
            assert_eq!(format!("{}{canonical}", alone(&text)), text);
        }
    }
}

#[test]
fn a_text_without_a_question_is_canonical() {
    for text in [
        "count(*); at most 1 rows",
        "",
        "\u{1e}question 2 whole 0 0\n0:\n",
        "\u{1e}question 1 whole 0 0\n5:SELE",
        "\u{1e}question 1 whole 1 0\n1:x\n",
        "\u{1e}question 1 whole 0 0 0\n1:x\n",
        "\u{1e}question 1 whole 0 0\n1:é\n",
        "\u{1e}question 1 whole 99999999999 0\n1:x\n",
        "\u{1e}question 1 half 0 0\n1:x\n",
    ] {
        assert_eq!(parted(text), (None, text));
        assert_eq!(alone(text), "");
    }
}

#[test]
fn what_is_too_long_is_cut_between_characters() {
    let long = "é".repeat(SQL);
    let cut = Question::new(&long, Vec::new(), Vec::new());
    assert!(!cut.complete && cut.sql.len() == SQL && long.starts_with(&cut.sql));
    let whole = Question::new(&long[..SQL], Vec::new(), Vec::new());
    assert!(whole.complete && whole.sql.len() == SQL);
    let odd = Question::new(&format!("x{long}"), Vec::new(), Vec::new());
    assert_eq!(odd.sql.len(), SQL - 1);
    let value = Question::new("SELECT $1", vec!["9".repeat(VALUE + 1)], Vec::new());
    assert!(!value.complete && value.values[0].len() == VALUE);
    let many = Question::new("SELECT $1", vec![String::new(); MOST + 1], Vec::new());
    assert!(!many.complete && many.values.len() == MOST);
    // Replaced, so that every store can hold it.
    let nul = Question::new("SELECT '\0'", Vec::new(), Vec::new());
    assert_eq!((nul.sql.as_str(), nul.complete), ("SELECT '\u{fffd}'", false));
    let text = many.before("count(*)");
    assert_eq!(parted(&text), (Some(many), "count(*)"));
}
