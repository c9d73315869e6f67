use super::*;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

fn written(sql: &str) -> String {
    let mut parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
    match statement(&mut parsed[0], Clock::now()) {
        Ok(()) => parsed[0].to_string(),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn postgresql_spellings_become_the_engines() {
    for (sql, expected) in [
        ("SELECT mod(a, b + 1) AS m FROM t", "SELECT (a % (b + 1)) AS m FROM t"),
        ("SELECT sign(a) FROM t", "SELECT signum(a) AS \"sign\" FROM t"),
        ("SELECT a = ANY(ARRAY[1, 2]) AS x FROM t", "SELECT a IN (1, 2) AS x FROM t"),
        ("SELECT a <> ALL(ARRAY[1, 2]) AS x FROM t", "SELECT a NOT IN (1, 2) AS x FROM t"),
        ("SELECT a = ANY('{x,\"y z\"}') AS x FROM t", "SELECT a IN ('x', 'y z') AS x FROM t"),
        ("SELECT a = ANY('{1,-2}'::int[]) AS x FROM t", "SELECT a IN (1, -2) AS x FROM t"),
        (
            "SELECT (a, b) IN ((1, 2), (3, 4)) AS x FROM t",
            "SELECT (((a = 1) AND (b = 2)) OR ((a = 3) AND (b = 4))) AS x FROM t",
        ),
        (
            "SELECT substring(a FROM '[0-9]+') AS x FROM t",
            "SELECT substring_match(a, '[0-9]+') AS x FROM t",
        ),
        ("SELECT a FROM t FETCH FIRST 5 ROWS ONLY", "SELECT a FROM t LIMIT 5"),
        ("SELECT a FROM t OFFSET 2 FETCH NEXT ROW ONLY", "SELECT a FROM t LIMIT 1 OFFSET 2"),
        ("SELECT ifnull(a, 0) AS x FROM t", "SELECT coalesce(a, 0) AS x FROM t"),
    ] {
        assert_eq!(written(sql), expected);
    }
    assert!(written("SELECT (a, b) IN ((1, 2, 3)) AS x FROM t").starts_with("a row of 2 values"));
    assert!(written("SELECT a FROM t FETCH FIRST 5 ROWS WITH TIES").starts_with("FETCH with"));
}

#[test]
fn nested_lists_do_not_multiply_without_end() {
    let mut sql = "a".to_owned();
    for _ in 0..12 {
        sql = format!("({sql}, b) IN ((true, 1), (false, 2), (true, 3), (false, 4), (true, 5))");
    }
    assert!(written(&format!("SELECT {sql} AS x FROM t")).starts_with("IN or ANY with lists"));
}
