use super::*;
use datafusion::arrow::datatypes::Field;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

fn resolved(sql: &str) -> String {
    let mut names = Names::default();
    let schema = |names: &[&str]| {
        let fields = names.iter().map(|&name| Field::new(name, DataType::Int64, true));
        Schema::new(fields.collect::<Vec<_>>())
    };
    names.add("orders", &schema(&["Id", "Total", "day"]));
    names.add("people", &schema(&["Id", "total"]));
    let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
    names.resolve(&mut parsed[0]);
    parsed[0].to_string()
}

#[test]
fn names_without_quotes_have_the_case_of_the_column() {
    for (sql, expected) in [
        (
            "SELECT SUM(total) AS total FROM orders ORDER BY total",
            "SELECT SUM(\"Total\") AS total FROM orders ORDER BY \"total\"",
        ),
        ("SELECT \"total\" FROM orders", "SELECT \"total\" FROM orders"),
        (
            "SELECT o.TOTAL, p.TOTAL FROM orders o JOIN people p ON o.id = p.id",
            "SELECT o.\"Total\", p.\"total\" FROM orders o JOIN people p ON o.\"Id\" = p.\"Id\"",
        ),
        (
            "SELECT total FROM (SELECT total FROM orders) t",
            "SELECT \"Total\" FROM (SELECT \"Total\" FROM orders) t",
        ),
        (
            "SELECT total FROM (SELECT day AS total FROM orders) t",
            "SELECT \"total\" FROM (SELECT \"day\" AS total FROM orders) t",
        ),
        (
            "WITH t AS (SELECT * FROM orders) SELECT MAX(TOTAL) FROM t",
            "WITH t AS (SELECT * FROM orders) SELECT MAX(\"Total\") FROM t",
        ),
        (
            "SELECT COUNT(*) FROM orders JOIN people USING (id)",
            "SELECT COUNT(*) FROM orders JOIN people USING(\"Id\")",
        ),
        ("SELECT nothing FROM orders", "SELECT nothing FROM orders"),
        (
            "SELECT COUNT(*) FROM people WHERE id IN (SELECT id FROM orders WHERE total > 5)",
            "SELECT COUNT(*) FROM people WHERE \"Id\" IN (SELECT \"Id\" FROM orders WHERE \"Total\" > 5)",
        ),
    ] {
        assert_eq!(resolved(sql), expected);
    }
}

#[test]
fn names_with_spaces_can_be_written_without_quotes() {
    let mut names = Names::default();
    let schema = |names: &[&str]| {
        let fields = names.iter().map(|&name| Field::new(name, DataType::Int64, true));
        Schema::new(fields.collect::<Vec<_>>())
    };
    names.add("sales", &schema(&["ORDER DATE", "Price (EUR)", "a b", "A-B", "a_c", "A C", "__x"]));
    let resolved = |sql: &str| {
        let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
        names.resolve(&mut parsed[0]);
        parsed[0].to_string()
    };
    for (sql, expected) in [
        ("SELECT order_date FROM sales", "SELECT \"ORDER DATE\" FROM sales"),
        ("SELECT s.Price_EUR FROM sales s", "SELECT s.\"Price (EUR)\" FROM sales s"),
        // Two columns are called so.
        ("SELECT a_b FROM sales", "SELECT a_b FROM sales"),
        // A column that has this very name comes first.
        ("SELECT A_C FROM sales", "SELECT \"a_c\" FROM sales"),
        ("SELECT \"order_date\" FROM sales", "SELECT \"order_date\" FROM sales"),
    ] {
        assert_eq!(resolved(sql), expected);
    }
    for (name, plain) in [("Straße Nr.", "straße_nr"), ("__x", "__x"), ("A", "a"), ("--", "")] {
        assert_eq!(unquoted(name), plain);
    }
}
