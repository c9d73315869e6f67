use super::*;

#[test]
fn names_suggest_kinds() {
    for (name, expected) in [
        ("Birth Year", ColumnKind::Integer),
        ("total_cost", ColumnKind::Real),
        ("visit-day", ColumnKind::Date),
        ("is_smoker", ColumnKind::Boolean),
        ("disease", ColumnKind::Text),
        ("", ColumnKind::Text),
    ] {
        assert_eq!(kind(name), expected, "{name}");
    }
}

#[test]
fn columns_are_found_whatever_their_case() {
    let columns = ["ORDER DATE", "Customer_ID", "x", "X", "A-B", "a b"];
    let columns: Vec<SchemaColumn> =
        columns.map(|name| (name.to_owned(), ColumnKind::Text, true)).to_vec();
    let found = |name: &str| known(&columns, name, "unit").ok();
    assert_eq!(found("order_date").as_deref(), Some("ORDER DATE"));
    assert_eq!(found("order date").as_deref(), Some("ORDER DATE"));
    assert_eq!(found("CUSTOMER_ID").as_deref(), Some("Customer_ID"));
    assert_eq!(found("X").as_deref(), Some("X"));
    assert_eq!((found("a_b"), found("nobody")), (None, None));
}
