use super::*;

#[test]
fn semicolons_within_quotes_and_comments_do_not_count() {
    for (text, expected) in [
        ("SELECT 1", vec!["SELECT 1"]),
        ("a; b ;; c;", vec!["a", "b", "c"]),
        ("SELECT ';', \";\" ; x", vec!["SELECT ';', \";\"", "x"]),
        ("SELECT 'it''s; me'; y", vec!["SELECT 'it''s; me'", "y"]),
        ("a -- b; c\n; d", vec!["a -- b; c", "d"]),
        ("a /* ; /* ; */ ; */; b", vec!["a /* ; /* ; */ ; */", "b"]),
        ("SELECT $$;$$, $x$;$y$;$x$; b", vec!["SELECT $$;$$, $x$;$y$;$x$", "b"]),
        ("SELECT $1; $2", vec!["SELECT $1", "$2"]),
        ("'é;", vec!["'é;"]),
        ("/* é", vec!["/* é"]),
        ("$é; b", vec!["$é", "b"]),
        ("", vec![]),
        (" ;; ", vec![]),
    ] {
        assert_eq!(statements(text), expected, "{text}");
    }
}

#[test]
fn a_statement_is_split_at_its_end_or_has_none() {
    for (text, first, rest) in [
        ("a; b", "a", " b"),
        ("a 'it''s;' ;", "a 'it''s;' ", ""),
        ("a -- ; \n;", "a -- ; \n", ""),
        ("a - 1;", "a - 1", ""),
        (";", "", ""),
    ] {
        assert_eq!(split_statement(text), Some((first, rest)), "{text}");
    }
    for open in ["a", "a ';", "a -- ;", "/* ; *", "", "$x$;"] {
        assert_eq!(split_statement(open), None, "{open}");
    }
}
