use super::*;

#[test]
fn words_are_completed_where_they_begin() {
    let words = ["SELECT", "patients", "cost", "demure.epsilon", "\\d"];
    let words = Words(words.map(str::to_owned).to_vec());
    for (before, start, offered) in [
        ("sel", 0, vec!["SELECT"]),
        ("SELECT * FROM pat", 14, vec!["patients"]),
        ("SELECT AVG(v.co", 13, vec!["cost"]),
        ("SET demure.e", 4, vec!["demure.epsilon"]),
        ("\\", 0, vec!["\\d"]),
        ("é co", 3, vec!["cost"]),
        ("SELECT ", 7, vec![]),
    ] {
        let offered: Vec<String> = offered.into_iter().map(str::to_owned).collect();
        assert_eq!(words.offered(before), (start, offered), "{before}");
    }
}
