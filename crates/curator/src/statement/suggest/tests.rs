use super::*;

fn suggestions() -> Suggestions {
    let table = |name: &str, columns: &[&str]| {
        (name.to_owned(), columns.iter().map(|&name| name.to_owned()).collect())
    };
    Suggestions::new(vec![
        table("patients", &["id", "age", "sex"]),
        table("visits", &["patient_id", "cost", "day of visit"]),
    ])
}

/// What is offered where `|` stands.
fn offered(text: &str) -> Vec<String> {
    let (before, after) = text.split_once('|').unwrap();
    suggestions().at(before, after).1
}

#[test]
fn from_offers_tables() {
    for text in [
        "SELECT COUNT(*) FROM |",
        "select avg(cost)\nfrom |",
        "SELECT 1 FROM patients p JOIN |",
        "SELECT 1 FROM patients, |",
        "SELECT (SELECT MAX(age) FROM |",
        "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM |",
    ] {
        assert_eq!(offered(text), ["patients", "visits"], "{text}");
    }
    assert_eq!(offered("SELECT COUNT(*) FROM pat|"), ["patients"]);
    assert_eq!(offered("SELECT COUNT(*) FROM PAT|"), ["patients"]);
    assert_eq!(offered("WITH old AS (SELECT id FROM patients) SELECT 1 FROM o|"), ["old"]);
}

#[test]
fn columns_are_those_of_the_tables_in_from() {
    assert_eq!(offered("SELECT a|, sex FROM patients")[0], "AND");
    assert!(offered("SELECT a| FROM patients").contains(&"age".to_owned()));
    assert!(!offered("SELECT c| FROM patients").contains(&"cost".to_owned()));
    assert!(offered("SELECT c| FROM visits").contains(&"cost".to_owned()));
    assert_eq!(offered("SELECT | FROM patients"), ["age", "id", "sex"]);
    assert_eq!(offered("SELECT 1 FROM patients WHERE | AND 1 = 1"), ["age", "id", "sex"]);
    // Without a FROM, all that begin so.
    assert!(offered("SELECT co|").contains(&"cost".to_owned()));
    assert_eq!(offered("SELECT |"), Vec::<String>::new());
    // A comma of the list of columns is none of the list of tables.
    assert!(!offered("SELECT age, | FROM patients").contains(&"patients".to_owned()));
    assert!(!offered("SELECT 1 FROM patients GROUP BY age, |").contains(&"patients".to_owned()));
    assert!(!offered("SELECT 1 FROM patients WHERE age IN (1, |").contains(&"patients".to_owned()));
}

#[test]
fn a_name_before_a_dot_says_of_which_table() {
    assert_eq!(offered("SELECT v.| FROM visits v"), ["\"day of visit\"", "cost", "patient_id"]);
    assert_eq!(offered("SELECT v.c| FROM patients p JOIN visits AS v ON p.id = 1"), ["cost"]);
    assert_eq!(offered("SELECT patients.a| FROM patients"), ["age"]);
    assert_eq!(
        offered("SELECT 1 FROM patients p LEFT JOIN visits v ON p.| "),
        ["age", "id", "sex"]
    );
    assert_eq!(offered("SELECT x.co|"), ["cost"]);
    assert_eq!(suggestions().at("SELECT v.co", " FROM visits v").0, 2);
}

#[test]
fn settings_keywords_and_letters() {
    assert_eq!(offered("SET demure.ep|"), ["demure.epsilon"]);
    assert_eq!(offered("show demure.int|"), ["demure.intervals"]);
    assert_eq!(offered("sel|"), ["SELECT"]);
    assert_eq!(offered("é me|"), ["MEDIAN("]);
    assert_eq!(suggestions().at("é me", "").0, 2);
    // What is in a text or a comment is not of the statement.
    assert_eq!(offered("SELECT 'FROM visits' , | -- FROM visits\n FROM patients").len(), 3);
    assert_eq!(offered("|"), Vec::<String>::new());
}
