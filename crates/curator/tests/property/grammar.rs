//! Random queries. Every relation is a SELECT of the same columns, `id` (where rows have a named owner) and `a` to
//! `g`, so that any of them can again be filtered, mapped, joined, stacked or aggregated per person.

use super::draw::Draw;

/// A SELECT, and whether it has an `id`.
struct Relation {
    sql: String,
    person: bool,
}

/// A query, most likely one that is accepted.
pub(super) fn query(draw: &mut Draw) -> String {
    let person = draw.percent(80);
    let depth = draw.below(4);
    let relation = relation(person, depth, draw);
    let mut keys = Vec::new();
    if draw.percent(60) {
        for _ in 0..1 + draw.below(2) {
            keys.push(key(draw));
        }
    }
    let many = 1 + draw.below(3);
    let mut columns: Vec<String> = keys.clone();
    columns.extend((0..many).map(|_| aggregate(relation.person, draw)));
    if !keys.is_empty() && draw.percent(10) {
        columns.truncate(keys.len()); // only the keys
    }
    let named: Vec<String> =
        columns.iter().enumerate().map(|(i, column)| format!("{column} AS o{i}")).collect();
    let with = draw.percent(20);
    let from = if with { "q".to_owned() } else { format!("({}) AS q", relation.sql) };
    let mut sql = format!("SELECT {} FROM {from}", named.join(", "));
    if draw.percent(40) {
        sql.push_str(&format!(" WHERE {}", predicate(2, draw)));
    }
    if !keys.is_empty() {
        let places: Vec<String> = (1..=keys.len()).map(|i| i.to_string()).collect();
        sql.push_str(&format!(" GROUP BY {}", places.join(", ")));
    }
    if draw.percent(10) {
        sql = format!("SELECT * FROM ({sql}) AS z ORDER BY 1 LIMIT 3");
    }
    if with { format!("WITH q AS ({}) {sql}", relation.sql) } else { sql }
}

fn relation(person: bool, depth: usize, draw: &mut Draw) -> Relation {
    let id = if person { "id, " } else { "" };
    if depth == 0 {
        let sql = match (person, draw.below(2)) {
            (true, 0) => "SELECT id, a, b, c, d, e, f, g FROM people",
            (true, _) => "SELECT pid AS id, a, b, c, d, e, f, g FROM visits",
            // The owner of an item is not among its columns.
            (false, 0) => "SELECT a, b, c, d, e, f, g FROM items",
            (false, _) => "SELECT a, b, c, d, e, f, g FROM lone",
        };
        return Relation { sql: sql.to_owned(), person };
    }
    let inner = relation(person, depth - 1, draw).sql;
    let sql = match draw.below(if person { 12 } else { 6 }) {
        0 => format!("SELECT * FROM ({inner}) WHERE {}", predicate(2, draw)),
        1 => format!(
            "SELECT {}{} AS a, {} AS b, {} AS c, {} AS d, {} AS e, {} AS f, {} AS g FROM ({inner})",
            if person { own_id(draw) } else { "" },
            integer(2, draw),
            real(2, draw),
            text(1, draw),
            text(1, draw),
            integer(1, draw),
            predicate(1, draw),
            draw.text(&["g", "g", "a", "a % 3"]),
        ),
        2 | 3 => {
            let table = draw.text(&["codes", "codes", "pairs"]);
            let join = draw.text(&["JOIN", "LEFT JOIN"]);
            let on = draw.text(&["x.e = k.code", "x.g = k.code", "x.a = k.code AND x.b > 0"]);
            let x = if person { "x.id, " } else { "" };
            let label = draw.text(&["x.c, k.label AS d", "k.label AS c, x.d"]);
            let a = draw.text(&["x.a", "k.code AS a"]);
            format!(
                "SELECT {x}{a}, x.b, {label}, x.e, x.f, x.g FROM ({inner}) AS x {join} {table} AS k \
                 ON {on}"
            )
        }
        4 => {
            let other = relation(person, draw.below(depth), draw).sql;
            let all = format!("{id}a, b, c, d, e, f, g");
            format!("SELECT {all} FROM ({inner}) UNION ALL SELECT {all} FROM ({other})")
        }
        5 => {
            format!("SELECT * FROM ({inner}) WHERE e IN (SELECT code FROM codes WHERE weight > 0)")
        }
        6 | 7 => {
            let other = relation(true, draw.below(depth), draw).sql;
            let join = draw.text(&["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN"]);
            let whose = if join == "RIGHT JOIN" { "y" } else { "x" };
            let side =
                |column: &str, draw: &mut Draw| format!("{}.{column}", draw.text(&["x", "y"]));
            let columns: Vec<String> =
                ["a", "b", "c", "d", "e", "f", "g"].iter().map(|c| side(c, draw)).collect();
            let more = draw.text(&["", "", " AND x.a < y.a", " AND x.c = y.c", " AND y.b > 0"]);
            format!(
                "SELECT {whose}.id, {} FROM ({inner}) AS x {join} ({other}) AS y ON x.id = y.id{more}",
                columns.join(", ")
            )
        }
        8 | 9 => per_person(&inner, draw),
        10 => {
            let other = relation(true, draw.below(depth), draw).sql;
            match draw.below(3) {
                0 => format!("SELECT * FROM ({inner}) WHERE id IN (SELECT id FROM ({other}))"),
                1 => format!(
                    "SELECT x.* FROM ({inner}) AS x LEFT SEMI JOIN ({other}) AS y ON x.id = y.id"
                ),
                _ => format!(
                    "SELECT x.* FROM ({inner}) AS x LEFT ANTI JOIN ({other}) AS y \
                     ON x.id = y.id AND x.a = y.a"
                ),
            }
        }
        _ => format!("SELECT DISTINCT id, a, b, c, d, e, f, g FROM ({inner})"),
    };
    Relation { sql, person }
}

fn own_id(draw: &mut Draw) -> &'static str {
    match draw.below(8) {
        0 => "CASE WHEN a > 0 THEN id END AS id, ",
        1 => "CASE WHEN b > 0 THEN id ELSE NULL END AS id, ",
        _ => "id, ",
    }
}

fn per_person(inner: &str, draw: &mut Draw) -> String {
    // A second key and its position.
    let by = draw.text(&["", "", "c", "d", "g"]);
    let whole = draw.text(&[
        "COUNT(*)",
        "SUM(a)",
        "MIN(a)",
        "MAX(e)",
        "COUNT(DISTINCT c)",
        "COUNT(b)",
        "SUM(e)",
        "COUNT(*) FILTER (WHERE a > 0)",
    ]);
    let measure = draw.text(&["SUM(b)", "AVG(b)", "MIN(b)", "MAX(b)", "AVG(a)"]);
    let (c, d, g) = match by.as_str() {
        "c" => ("c", "MIN(d)", "MAX(g)"),
        "d" => ("MAX(c)", "d", "MIN(g)"),
        "g" => ("MIN(c)", "MAX(d)", "g"),
        _ => ("MIN(c)", "MAX(d)", "MAX(g)"),
    };
    let also = if by.is_empty() { String::new() } else { format!(", {by}") };
    let having = draw.text(&["", "", " HAVING COUNT(*) > 1"]);
    format!(
        "SELECT id, CLAMP({whole}, -2, 6) AS a, CLAMP({measure}, -1.5, 3) AS b, {c} AS c, {d} AS d, \
         {whole} AS e, COUNT(*) > 1 AS f, {g} AS g FROM ({inner}) GROUP BY id{also}{having}"
    )
}

fn key(draw: &mut Draw) -> String {
    match draw.below(12) {
        0 | 1 => "c".to_owned(),
        2 => "g".to_owned(),
        3 => "f".to_owned(),
        4 => "a".to_owned(),
        5 | 6 => "d".to_owned(),
        7 => "e".to_owned(),
        8 => "a % 3".to_owned(),
        9 => "FLOOR(b)".to_owned(),
        10 => format!("CASE WHEN {} THEN 'u' ELSE c END", predicate(1, draw)),
        _ => text(1, draw),
    }
}

fn aggregate(person: bool, draw: &mut Draw) -> String {
    let number = |draw: &mut Draw| {
        if draw.percent(50) { integer(2, draw) } else { real(2, draw) }
    };
    let bounded = |draw: &mut Draw| {
        let inner = number(draw);
        if draw.percent(50) { format!("CLAMP({inner}, -3, 4)") } else { inner }
    };
    let call = match draw.below(16) {
        0 | 1 => "COUNT(*)".to_owned(),
        2 => format!("COUNT({})", draw.text(&["a", "b", "c", "d", "e"])),
        3 => format!("COUNT(DISTINCT {})", draw.text(&["a", "b", "c", "d", "e"])),
        4 if person => "COUNT(DISTINCT id)".to_owned(),
        4 => "COUNT(DISTINCT d)".to_owned(),
        5 => format!("SUM({})", bounded(draw)),
        6 => format!("AVG({})", bounded(draw)),
        7 => format!("VAR_POP({})", bounded(draw)),
        8 => format!("STDDEV({})", bounded(draw)),
        9 => format!("MIN({})", bounded(draw)),
        10 => format!("MAX({})", bounded(draw)),
        11 => format!("MEDIAN({})", bounded(draw)),
        12 => format!("APPROX_PERCENTILE_CONT({}, {})", bounded(draw), draw.text(&["0.1", "0.9"])),
        14 => format!("MEDIAN_ABSOLUTE_DEVIATION({})", bounded(draw)),
        13 => format!("MODE({})", draw.text(&["c", "g"])),
        _ => "SUM(1)".to_owned(),
    };
    if draw.percent(15) { format!("{call} FILTER (WHERE {})", predicate(1, draw)) } else { call }
}

fn integer(depth: usize, draw: &mut Draw) -> String {
    if depth == 0 || draw.percent(30) {
        return draw.text(&["a", "a", "g", "e"]);
    }
    let x = integer(depth - 1, draw);
    match draw.below(14) {
        0 => format!("({x} + g)"),
        1 => format!("({x} * 2)"),
        2 => format!("(-{x})"),
        3 => format!("({x} % 3)"),
        4 => format!("({x} / g)"),
        5 => format!("ABS({x})"),
        6 => format!("CLAMP({x}, -4, 9)"),
        7 => format!("CASE WHEN {} THEN {x} ELSE g END", predicate(1, draw)),
        8 => format!("COALESCE({x}, 0)"),
        9 => format!("CAST({} AS BIGINT)", real(depth - 1, draw)),
        10 => format!("LEAST({x}, 5)"),
        11 => format!("GREATEST({x}, -3)"),
        12 => format!("NULLIF({x}, 1)"),
        _ => format!("({x} * {x})"),
    }
}

fn real(depth: usize, draw: &mut Draw) -> String {
    if depth == 0 || draw.percent(30) {
        return "b".to_owned();
    }
    let x = real(depth - 1, draw);
    match draw.below(14) {
        0 => format!("({x} * 2)"),
        1 => format!("({x} + a)"),
        2 => "(a / 2.0)".to_owned(),
        3 => format!("({x} / a)"),
        4 => format!("SQRT(ABS({x}))"),
        5 => format!("EXP(CLAMP({x}, -1, 2))"),
        6 => format!("LN({x})"),
        7 => "CLAMP(CAST(d AS DOUBLE), 0, 20)".to_owned(),
        8 => format!("CLAMP({x}, -0.75, 1.5)"),
        9 => format!("ROUND({x})"),
        10 => format!("POWER({x}, 2)"),
        11 => format!("SIN({x})"),
        12 => format!("({x} % 0.7)"),
        _ => format!("(-{x})"),
    }
}

fn text(depth: usize, draw: &mut Draw) -> String {
    if depth == 0 || draw.percent(60) {
        return draw.text(&["c", "d"]);
    }
    match draw.below(5) {
        0 => format!("CASE WHEN {} THEN 'x' ELSE 'w' END", predicate(1, draw)),
        1 => "UPPER(c)".to_owned(),
        2 => "c || d".to_owned(),
        3 => "SUBSTR(d, 1, 1)".to_owned(),
        _ => "NULLIF(c, 'x')".to_owned(),
    }
}

fn predicate(depth: usize, draw: &mut Draw) -> String {
    if depth > 0 && draw.percent(25) {
        let (x, y) = (predicate(depth - 1, draw), predicate(depth - 1, draw));
        return match draw.below(3) {
            0 => format!("({x} AND {y})"),
            1 => format!("({x} OR {y})"),
            _ => format!("(NOT {x})"),
        };
    }
    match draw.below(12) {
        0 => format!("a > {}", draw.text(&["0", "1", "-5", "NULL"])),
        1 => "b <= 0.5".to_owned(),
        2 => "c = 'x'".to_owned(),
        3 => "c IN ('x', 'w')".to_owned(),
        4 => "f".to_owned(),
        5 => "d LIKE 'p%'".to_owned(),
        6 => "e IS NULL".to_owned(),
        7 => "a BETWEEN 0 AND 5".to_owned(),
        8 => "d ~ '^[pq]'".to_owned(),
        9 => format!("{} > 1", integer(1, draw)),
        10 => format!("{} < 2", real(1, draw)),
        _ => "a <> g".to_owned(),
    }
}
