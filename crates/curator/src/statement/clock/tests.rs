use super::*;

#[test]
fn the_time_is_written_out() {
    let clock = Clock { micros: 1_709_210_096_000_007 };
    assert_eq!(clock.time(), "2024-02-29 12:34:56.000007");
    assert_eq!((clock.day(0), clock.day(1)), ("2024-02-29".to_owned(), "2024-03-01".to_owned()));
    let shown = |name: &str| clock.function(name).map(|expr| expr.to_string());
    assert_eq!(shown("current_date").as_deref(), Some("CAST('2024-02-29' AS DATE)"));
    assert_eq!(shown("random"), None);
    let word = |text: &str| clock.word(text, &DataType::Date).map(|expr| expr.to_string());
    assert_eq!(word("Yesterday").as_deref(), Some("CAST('2024-02-28' AS DATE)"));
    assert_eq!(word("2024-01-01"), None);
}

#[test]
fn statements_that_read_the_clock_are_known_by_their_words() {
    assert!(is_read_by("SELECT COUNT(*) FROM visits WHERE day < CURRENT_DATE"));
    assert!(is_read_by("SELECT 'today'::date"));
    assert!(is_read_by("SELECT age(day) FROM visits"));
    assert!(!is_read_by("SELECT COUNT(*) FROM visits WHERE day < '2024-01-01'"));
    assert!(is_read_by("SELECT 'unfinished"));
}
