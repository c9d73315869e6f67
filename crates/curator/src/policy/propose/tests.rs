use super::*;
use crate::policy::Policy;
use std::path::Path;

fn proposed(unit: Option<&str>, budget: &[String]) -> String {
    declaring(unit, budget, &[], &[])
}

fn declaring(
    unit: Option<&str>,
    budget: &[String],
    declared: &[Declared],
    from: &[String],
) -> String {
    let columns = [
        ("person".to_owned(), ColumnKind::Text, true),
        ("age".to_owned(), ColumnKind::Integer, true),
    ];
    let source = "ages.csv";
    let csv = Some(CsvDialect { delimiter: b',', decimal_comma: false });
    let (epsilon, groups) = (None, false);
    let table = "ages";
    let columns = &columns;
    Proposal { table, source, columns, csv, unit, budget, epsilon, groups, declared, from }.text()
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
    let mut declared = Vec::new();
    add_bought(&mut declared, &found, Epsilon::new(0.5).unwrap());
    let text = declaring(None, &[], &declared, &["a dictionary".to_owned()]);
    assert!(text.contains("tails may be cut.\nage = { bounds = [16, 128] }\n"), "{text}");
    assert!(text.contains("and from a dictionary.\n") && !text.contains("no value was read"));
    assert!(!text.contains("# age = {"), "{text}");
    let again = bought_before(&text);
    assert_eq!(again, declared);
}
