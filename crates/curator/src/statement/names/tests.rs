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
