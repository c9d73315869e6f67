use super::*;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

fn folded(expr: &str) -> String {
    let sql = format!("SELECT {expr}");
    let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, &sql).unwrap();
    fold(&mut parsed[0]);
    parsed[0].to_string().trim_start_matches("SELECT ").to_owned()
}

#[test]
fn numbers_with_a_point_are_exact() {
    for (written, result) in [
        ("0.06 + 0.01", "0.07"),
        ("0.06 - 0.01", "0.05"),
        ("0.1 + 0.2 + 0.3", "0.6"),
        ("1 - 0.05", "0.95"),
        ("0.05 - 1", "(-0.95)"),
        ("3 * 0.1", "0.3"),
        ("0.7 / 10", "0.07"),
        ("(0.06 + 0.01) * 2", "0.14"),
        ("-0.5 + 0.2", "(-0.3)"),
        ("5.5 % 2", "1.5"),
        ("1e-3 + 1e-3", "0.002"),
        ("0.5 + 0.5", "1.0"),
        ("2.0 * 3", "6.0"),
    ] {
        assert_eq!(folded(written), result, "{written}");
    }
}

/// Whatever is not decimal arithmetic stays as it is written.
#[test]
fn others_stay() {
    for same in [
        "1 + 2",
        "7 / 2",
        "1.0 / 3",
        "1.5 / 0",
        "x + 0.1",
        "x + 0.1 + 0.2",
        "1e300 + 0.1",
        "0.06::double precision + 0.01",
        "0.1 < 0.2",
    ] {
        let unchanged = Parser::parse_sql(&PostgreSqlDialect {}, &format!("SELECT {same}"))
            .unwrap()[0]
            .to_string();
        assert_eq!(folded(same), unchanged.trim_start_matches("SELECT "), "{same}");
    }
}
