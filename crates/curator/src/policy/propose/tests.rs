use super::*;
use crate::policy::Policy;
use std::path::Path;

fn proposed(unit: Option<&str>, budget: &[String]) -> String {
    let columns = [
        ("person".to_owned(), ColumnKind::Text, true),
        ("age".to_owned(), ColumnKind::Integer, true),
    ];
    let source = "ages.csv";
    Proposal { table: "ages", source, columns: &columns, csv: true, unit, budget }.text()
}

#[test]
fn it_has_the_unit_and_the_budget_that_are_given() {
    let guessed = proposed(None, &[]);
    assert!(guessed.contains("was guessed") && guessed.contains("\nunit = \"person\"\n"));
    let given = proposed(Some("row"), &["epsilon = 0.25".to_owned()]);
    assert!(given.contains("\nunit = \"row\"\n") && !given.contains("was guessed"));
    assert_eq!(budget_lines(&given), ["epsilon = 0.25"]);
    let policy = Policy::parse(&given, Path::new("")).unwrap();
    assert_eq!(policy.budget.epsilon.get(), 0.25);
}

#[test]
fn bought_bounds_take_the_place_of_a_comment() {
    let found = [FoundBounds { name: "age".to_owned(), bounds: Some((16.0, 128.0)) }];
    let text = with_bounds(&proposed(None, &[]), &found, Epsilon::new(0.5).unwrap());
    assert!(text.contains("\nage = { bounds = [16, 128] }\n"), "{text}");
    assert!(text.contains("data for ε 0.5 in all") && !text.contains("no value was read"));
}
