use super::*;

#[test]
fn numbers_in_a_text_are_rounded() {
    for (text, shown) in [
        ("pure(eps=0.299999999999997)", "pure(eps=0.3)"),
        (
            "laplace(b=10.000000000001, n=12) + zcdp(rho=1.2500000001e-7)",
            "laplace(b=10, n=12) + zcdp(rho=1.25e-7)",
        ),
        ("eps2(a=3) e1", "eps2(a=3) e1"),
        ("1234567", "1234567"),
        ("", ""),
    ] {
        assert_eq!(rounded(text), shown);
    }
}

#[test]
fn a_question_is_shown_as_it_was_written() {
    let settings = vec![("demure.epsilon".to_owned(), "0.3".to_owned())];
    let sql = "SELECT COUNT(*)\r\n\tFROM t WHERE k = $1  ";
    let told = question(&Question::new(sql, vec!["'a'".into()], settings));
    let lines = ["SELECT COUNT(*)", "    FROM t WHERE k = $1", "-- $1 = 'a', demure.epsilon = 0.3"];
    assert_eq!(told, lines);
    let long = question(&Question::new(&"x".repeat(1 << 20), Vec::new(), Vec::new()));
    assert_eq!(long.len(), 2);
    assert!(long[1].contains("the question was longer"));
}
