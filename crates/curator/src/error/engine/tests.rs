use super::*;

fn planner_text(text: &str) -> String {
    let known = Known {
        tables: vec!["visits".to_owned(), "patients".to_owned()],
        functions: vec!["median".to_owned(), "round".to_owned()],
    };
    planner(text, &known).unwrap_or_else(|| "nothing".to_owned())
}

#[test]
fn the_planners_words_become_ours() {
    for (theirs, ours) in [
        (
            "Error during planning: table 'datafusion.public.vists' not found",
            "there is no table `vists`; did you mean `visits`?",
        ),
        (
            "Error during planning: Invalid function 'medain'.\nDid you mean 'radians'?",
            "there is no function medain(); did you mean median()?",
        ),
        (
            "Error during planning: Cannot infer common argument type for comparison operation Utf8 = Timestamp(ns)",
            "these types cannot be compared: text = timestamp; convert one: CAST(x AS …)",
        ),
        (
            "Internal error: OuterReferenceColumn(Field { name: x })",
            "a subquery that uses a column of the query around it in this place; join the tables on the person's id instead",
        ),
        (
            "Internal error: something. This issue was likely caused by a bug in DataFusion's code.",
            "nothing",
        ),
    ] {
        assert_eq!(planner_text(theirs), ours);
    }
}

#[test]
fn a_syntax_error_has_a_place() {
    let error = |text: &str| ParserError::ParserError(text.to_owned());
    assert_eq!(
        syntax(&error("Expected: an SQL statement, found: selct at Line: 1, Column: 1"), (0, 2)),
        "syntax error at line 1, column 3: found `selct`, expected SELECT, SHOW, SET or EXPLAIN \
         PRIVACY; did you mean SELECT?"
    );
    assert_eq!(
        syntax(&error("Expected: ), found: EOF at Line: 2, Column: 4"), (1, 7)),
        "syntax error at line 3, column 4: found the end of the statement, expected )"
    );
    let open =
        ParserError::TokenizerError("Unterminated string literal at Line: 1, Column: 8".to_owned());
    assert_eq!(
        syntax(&open, (0, 0)),
        "syntax error at line 1, column 8: a text whose closing quote is missing"
    );
}
