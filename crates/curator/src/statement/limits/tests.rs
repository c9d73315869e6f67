use super::*;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

fn measured(sql: &str) -> Measure {
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
    let mut measure = Measure::default();
    let _ = parsed[0].visit(&mut measure);
    measure
}

#[test]
fn a_table_expression_counts_wherever_it_is_used() {
    let parts = |sql: &str| measured(sql).parts;
    assert_eq!(parts("SELECT 1"), 2);
    assert_eq!(parts("SELECT * FROM t"), 3);
    assert_eq!(parts("SELECT * FROM t WHERE x IN (SELECT y FROM u)"), 6);
    assert_eq!(parts("SELECT 1 EXCEPT SELECT 2 EXCEPT SELECT 3"), 4);
    assert_eq!(parts("WITH a AS (SELECT * FROM t) SELECT * FROM A x, a y"), 2 + 2 * 3);
    let unused = measured("WITH a AS (SELECT * FROM t, t, t, t) SELECT 1");
    assert_eq!((unused.parts, unused.largest), (2, 6));
    let doubled = |levels: usize| {
        let each = (1..=levels).map(|i| {
            let below = i - 1;
            format!(", a{i} AS (SELECT x.v FROM a{below} x JOIN a{below} y ON x.v = y.v)")
        });
        let each: String = each.collect();
        parts(&format!("WITH a0 AS (SELECT v FROM r){each} SELECT v FROM a{levels}"))
    };
    assert!(doubled(4) < MOST_PARTS && doubled(7) > MOST_PARTS);
    assert!(doubled(16) > 1 << 16 && doubled(80) == u64::MAX);
}

#[test]
fn sets_to_group_by_are_parts_and_lengths_are_constants() {
    let cube: Vec<String> = (0..30).map(|i| format!("v+{i}")).collect();
    let cube = format!("SELECT 1 FROM r GROUP BY CUBE({})", cube.join(", "));
    assert!(measured(&cube).parts > 1 << 30);
    assert_eq!(measured("SELECT 1 FROM r GROUP BY CUBE(a, b, c)").parts, 3 + 8);
    assert_eq!(measured("SELECT 1 FROM r GROUP BY ROLLUP(a, b, c)").parts, 3 + 3);
    for (sql, endless) in [
        ("SELECT repeat('a', 1000000000 + v) FROM r", true),
        ("SELECT REPEAT('a', v) FROM r", true),
        ("SELECT repeat('a', 900000000)", true),
        ("SELECT lpad(x, 1e9, 'b') FROM r", true),
        ("SELECT lpad(x, 2, '0'), rpad(x, 10000) FROM r", false),
        ("SELECT range(1, 5)", true),
        ("SELECT array_repeat(1, 1000000000)", true),
        ("SELECT upper(x), left(x, v) FROM r", false),
    ] {
        assert_eq!(measured(sql).endless.is_some(), endless, "{sql}");
    }
    let growth = |sql: &str| measured(sql).growth;
    assert_eq!(growth("SELECT replace(x, ',', ''), replace(x, 'ab', 'ba') FROM r"), Some(1));
    assert_eq!(growth("SELECT replace(replace(x, 'a', 'aaaa'), 'a', 'bbb') FROM r"), Some(12));
    assert_eq!(growth("SELECT replace(x, 'a', x) FROM r"), None);
    assert_eq!(growth("SELECT regexp_replace(x, '.', 'abc') FROM r"), Some(3));
}

#[test]
fn chains_are_as_deep_as_they_are_long() {
    assert_eq!(measured("SELECT x").deepest, 1);
    assert_eq!(measured("SELECT (x + 1) + y, 2").deepest, 4);
    let long = format!("SELECT x{}", " + x".repeat(500));
    assert_eq!(measured(&long).deepest, 501);
    // Items of a list do not add to the depth.
    let list = format!("SELECT * FROM t WHERE x IN (1{})", ", 2".repeat(500));
    assert_eq!(measured(&list).deepest, 2);
}
