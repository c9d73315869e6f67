use super::*;

fn words(pending: &str) -> Words {
    let columns = ["id", "cost"].map(str::to_owned).to_vec();
    let suggestions = Suggestions::new(vec![("visits".to_owned(), columns)]);
    Words { suggestions, pending: pending.to_owned() }
}

#[test]
fn commands_and_what_they_take_are_completed() {
    for (before, replaced, offered) in [
        ("\\d", 2, vec!["\\d"]),
        ("\\ti", 3, vec!["\\timing"]),
        ("\\d vi", 2, vec!["visits"]),
        ("\\d ", 0, vec!["visits"]),
        ("\\set eps", 3, vec!["epsilon"]),
        ("\\explain SELECT SUM(v.co", 2, vec!["cost"]),
        ("\\o fi", 0, vec![]),
        ("sel", 3, vec!["SELECT"]),
    ] {
        let offered: Vec<String> = offered.into_iter().map(str::to_owned).collect();
        assert_eq!(words("").offered(before, ""), (replaced, offered), "{before}");
    }
}

#[test]
fn a_statement_is_completed_over_all_its_lines() {
    assert_eq!(words("SELECT SUM(cost)\nFROM\n").offered("", ""), (0, vec!["visits".to_owned()]));
    let columns = words("SELECT\n").offered("c", " FROM visits");
    assert!(columns.1.contains(&"cost".to_owned()), "{columns:?}");
}
