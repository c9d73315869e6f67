use super::*;

#[test]
fn names_suggest_kinds() {
    let numeric = ["x".to_owned()];
    for (name, expected) in [
        ("x", ColumnKind::Real),
        ("Birth Year", ColumnKind::Integer),
        ("total_cost", ColumnKind::Real),
        ("visit-day", ColumnKind::Date),
        ("is_smoker", ColumnKind::Boolean),
        ("disease", ColumnKind::Text),
        ("", ColumnKind::Text),
    ] {
        assert_eq!(kind(name, &numeric), expected, "{name}");
    }
}
