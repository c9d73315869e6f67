//! Random queries. Every relation is a SELECT of the same columns, `id` (where rows have a named owner) and `a` to
//! `g`, so that any of them can again be filtered, mapped, joined, stacked or aggregated per person.

use super::draw::Draw;
use super::forms;
use super::from_environment;

/// A SELECT, and whether it has an `id`.
struct Relation {
    sql: String,
    person: bool,
}

/// A query, most likely one that is accepted.
pub(super) fn query(draw: &mut Draw) -> String {
    // All of them, to look at dates and times for longer.
    if draw.percent(from_environment("DEMURE_PROPERTY_DATED", 15)) {
        return dated(draw);
    }
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
        // The engine knows places in GROUP BY, but not within grouping sets.
        let written = keys.join(", ");
        let by = match draw.below(12) {
            0 => format!("ROLLUP ({written})"),
            1 => format!("CUBE ({written})"),
            2 => format!("GROUPING SETS (({written}), ())"),
            _ => places.join(", "),
        };
        sql.push_str(&format!(" GROUP BY {by}"));
    }
    if draw.percent(10) {
        sql = format!("SELECT * FROM ({sql}) AS z ORDER BY 1 LIMIT 3");
    }
    if with { format!("WITH q AS ({}) {sql}", relation.sql) } else { sql }
}

/// A query about dates and times: of one table, of two, or of people.
fn dated(draw: &mut Draw) -> String {
    let from = match draw.below(7) {
        0 => "people".to_owned(),
        1 => "visits".to_owned(),
        2 => "items".to_owned(),
        3 => "lone".to_owned(),
        4 => "(SELECT x.h, y.t, x.b, y.c FROM people x JOIN visits y ON x.id = y.pid) AS q".to_owned(),
        5 => format!("(SELECT {} AS h, t, b, c FROM visits) AS q", date(draw)),
        _ => "(SELECT id, MIN(h) AS h, MAX(t) AS t, MAX(b) AS b, MAX(c) AS c FROM people GROUP BY id) AS q"
            .to_owned(),
    };
    let aggregate = match draw.below(8) {
        0 | 1 => "COUNT(*)".to_owned(),
        2 => format!("MIN({})", date(draw)),
        3 => format!("MAX({})", draw.text(&["t", "CLAMP(t, '2024-01-01', '2024-02-01')"])),
        4 => format!("MEDIAN({})", draw.text(&["h", "t"])),
        5 => format!("PERCENTILE_CONT({}, 0.25)", draw.text(&["h", "t"])),
        6 => format!(
            "AVG({})",
            draw.text(&["h - DATE '2024-01-01'", "extract(year FROM t)", "extract(epoch FROM t)"])
        ),
        _ => "COUNT(DISTINCT h)".to_owned(),
    };
    let mut sql = format!("SELECT {aggregate} FROM {from}");
    let keys: Vec<String> = (0..draw.below(3)).map(|_| moment_key(draw)).collect();
    if draw.percent(50) {
        let condition = draw.text(&[
            "h >= '2024-01-15'",
            "h < DATE '1970-01-01' + 3",
            "t BETWEEN '2024-01-31' AND '2024-02-01 06:00:00'",
            "date_trunc('month', t) = '2024-01-01'",
            "extract(month FROM h) IN (1, 2)",
            "h IS NOT NULL AND NOT (t > '2024-01-31 12:00:00')",
        ]);
        sql.push_str(&format!(" WHERE {condition}"));
    }
    if !keys.is_empty() {
        sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
    }
    sql
}

fn date(draw: &mut Draw) -> String {
    draw.text(&[
        "h",
        "h",
        "CAST(t AS DATE)",
        "h + 3",
        "CLAMP(h, DATE '2024-01-10', DATE '2024-02-10')",
    ])
}

fn moment_key(draw: &mut Draw) -> String {
    let column = draw.text(&["h", "t"]);
    match draw.below(9) {
        0 => date(draw),
        1 => format!("date_trunc('{}', {column})", draw.text(&["month", "week", "year", "hour"])),
        2 => format!("extract({} FROM {column})", draw.text(&["year", "month", "dow", "hour"])),
        3 => format!("to_char({column}, '{}')", draw.text(&["YYYY-MM", "Q", "HH24", "IYYY-IW"])),
        4 => "date_bin(INTERVAL '15 minutes', t)".to_owned(),
        5 => format!("{column} < '2024-01-31'"),
        6 => format!("CASE WHEN {column} < '2024-02-01' THEN date_trunc('day', {column}) END"),
        7 => "date_trunc('month', h + INTERVAL '1 month')".to_owned(),
        _ => "c".to_owned(),
    }
}

fn relation(person: bool, depth: usize, draw: &mut Draw) -> Relation {
    let id = if person { "id, " } else { "" };
    if depth == 0 {
        let sql = match (person, draw.below(if person { 2 } else { 6 })) {
            (true, 0) => "SELECT id, a, b, c, d, e, f, g FROM people",
            (true, _) => "SELECT pid AS id, a, b, c, d, e, f, g FROM visits",
            // The owner of an item is not among its columns.
            (false, 0 | 1) => "SELECT a, b, c, d, e, f, g FROM items",
            (false, 2..5) => return Relation { sql: by_carried_key(draw), person },
            (false, _) => "SELECT a, b, c, d, e, f, g FROM lone",
        };
        return Relation { sql: sql.to_owned(), person };
    }
    let inner = relation(person, depth - 1, draw).sql;
    if draw.percent(30) {
        let sql = match draw.below(if person { 5 } else { 1 }) {
            0 => forms::listed(&inner, if person { "x.id, " } else { "" }, draw),
            1 | 2 => forms::windows(&inner, draw),
            _ => {
                let other = relation(true, draw.below(depth), draw).sql;
                forms::nested(&inner, &other, draw)
            }
        };
        return Relation { sql, person };
    }
    let sql = match draw.below(if person { 21 } else { 8 }) {
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
        6 if draw.percent(40) => looked_up(&inner, person, draw),
        6 => format!("SELECT x.* FROM ({inner}) AS x WHERE {}", of_public(draw)),
        7 if !person => padded(&inner, false, draw),
        7 | 12 => {
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
        11 => format!("SELECT DISTINCT id, a, b, c, d, e, f, g FROM ({inner})"),
        13 | 18 => windows(&inner, draw),
        14 => first_rows(&inner, draw),
        15 => {
            let other = relation(true, draw.below(depth), draw).sql;
            let order = draw.text(&["o.a", "o.b DESC", "o.d, o.e"]);
            let most = draw.text(&["1", "2"]);
            format!(
                "SELECT x.id, y.a, y.b, x.c, y.d, x.e, y.f, x.g FROM ({inner}) AS x, LATERAL \
                 (SELECT * FROM ({other}) AS o WHERE o.id = x.id ORDER BY {order} LIMIT {most}) AS y"
            )
        }
        16 => padded(&inner, true, draw),
        17 => {
            let other = relation(true, draw.below(depth), draw).sql;
            let more = draw.text(&["", " AND x.c = y.c", " AND k.weight > 0"]);
            let b = draw.text(&["x.b", "y.b"]);
            format!(
                "SELECT y.id, x.a, {b}, x.c, k.label AS d, y.e, x.f, y.g \
                 FROM ({inner}) AS x, codes AS k, ({other}) AS y WHERE k.code = y.e AND x.id = y.id{more}"
            )
        }
        _ => {
            let other = relation(true, draw.below(depth), draw).sql;
            format!("SELECT x.* FROM ({inner}) AS x WHERE {}", of_people(&other, draw))
        }
    };
    Relation { sql, person }
}

/// Items, compared or grouped by the key that carries their owner.
fn by_carried_key(draw: &mut Draw) -> String {
    let all = "a, b, c, d, e, f, g";
    match draw.below(6) {
        0 => format!("SELECT {all} FROM items WHERE vid IN (SELECT vid FROM visits WHERE a > 0)"),
        1 => format!("SELECT {all} FROM items WHERE vid NOT IN (SELECT vid FROM items WHERE f)"),
        2 => "SELECT x.a, y.b, x.c, y.d, x.e, y.f, x.g FROM items x JOIN items y ON x.vid = y.vid"
            .to_owned(),
        3 => "SELECT x.a, y.b, x.c, y.d, x.e, y.f, x.g FROM items x, visits y WHERE y.vid = x.vid"
            .to_owned(),
        4 => "SELECT x.a, x.b, x.c, x.d, (SELECT COUNT(*) FROM items i WHERE i.vid = x.vid) AS e, \
              x.f, x.g FROM visits x"
            .to_owned(),
        _ => "SELECT CLAMP(COUNT(*), 0, 4) AS a, CLAMP(SUM(b), -1.5, 3) AS b, MIN(c) AS c, \
              MAX(d) AS d, SUM(e) AS e, COUNT(*) > 1 AS f, MAX(g) AS g FROM items GROUP BY vid"
            .to_owned(),
    }
}

/// A condition on `x` by a subquery over people.
fn of_people(other: &str, draw: &mut Draw) -> String {
    let more = draw.text(&["", "", " AND y.a < x.a", " AND y.c = x.c", " AND y.b > 0"]);
    let exists = format!("EXISTS (SELECT 1 FROM ({other}) AS y WHERE y.id = x.id{more})");
    let own = format!("FROM ({other}) AS y WHERE y.id = x.id");
    match draw.below(10) {
        0 => exists,
        1 => format!("NOT {exists}"),
        2 => format!("{exists} AND x.a > 0"),
        3 => format!("EXISTS (SELECT 1 {own} AND y.b > 0) OR x.f"),
        4 => format!("x.id NOT IN (SELECT y.id FROM ({other}) AS y)"),
        5 => format!("x.e NOT IN (SELECT y.e {own})"),
        6 => format!("NOT (x.a IN (SELECT y.a {own}{more}))"),
        7 => format!("(SELECT COUNT(*) {own}) > 1"),
        8 => format!("x.a >= (SELECT MAX(y.a) {own})"),
        _ => {
            let set = draw.text(&["INTERSECT", "EXCEPT"]);
            format!("x.id IN (SELECT id FROM people {set} SELECT y.id FROM ({other}) AS y)")
        }
    }
}

/// A condition on `x` by a subquery over a public table.
fn of_public(draw: &mut Draw) -> String {
    draw.text(&[
        "x.e NOT IN (SELECT code FROM codes)",
        "x.e NOT IN (SELECT NULLIF(code, 2) FROM codes)",
        "x.e IN (SELECT code FROM pairs) OR x.f",
        "EXISTS (SELECT 1 FROM codes k WHERE k.code = x.e AND k.weight > 0)",
        "NOT EXISTS (SELECT 1 FROM pairs k WHERE k.code = x.e)",
        "EXISTS (SELECT 1 FROM pairs k WHERE k.code = x.g) OR x.a > 0",
        "x.a > (SELECT AVG(weight) FROM codes)",
        "(SELECT COUNT(*) FROM pairs k WHERE k.code = x.e) > 1",
    ])
}

/// Public rows with those people's rows that match.
fn padded(inner: &str, person: bool, draw: &mut Draw) -> String {
    let id = if person { "x.id, " } else { "" };
    let on = draw.text(&["x.e = k.code", "x.g = k.code AND x.a > 0"]);
    let label = draw.text(&["k.label", "x.c"]);
    format!(
        "SELECT {id}x.a, x.b, {label} AS c, k.label AS d, k.code AS e, x.f, x.g \
         FROM codes AS k LEFT JOIN ({inner}) AS x ON {on}"
    )
}

/// Rows beside the released row that has their key.
fn looked_up(inner: &str, person: bool, draw: &mut Draw) -> String {
    let id = if person { "x.id, " } else { "" };
    let by = draw.text(&["c", "g", "e"]);
    let released =
        format!("(SELECT {by} AS k, AVG(b) AS m, COUNT(*) AS n FROM visits GROUP BY {by}) AS r");
    match draw.below(4) {
        0 => format!(
            "SELECT x.* FROM ({inner}) AS x WHERE x.b > (SELECT AVG(v.b) FROM visits v WHERE v.{by} = x.{by})"
        ),
        1 => format!(
            "SELECT {id}x.a, x.b - r.m AS b, x.c, x.d, x.e, x.f, x.g FROM ({inner}) AS x LEFT JOIN {released} \
             ON x.{by} = r.k"
        ),
        2 => format!(
            "SELECT {id}x.a, x.b, x.c, x.d, x.e, x.f, x.g FROM ({inner}) AS x, {released} \
             WHERE x.{by} = r.k AND x.a < r.n"
        ),
        _ => format!(
            "SELECT {id}x.a, CASE WHEN x.b > r.m THEN 1.0 ELSE -1.0 END AS b, x.c, x.d, x.e, x.f, x.g \
             FROM ({inner}) AS x JOIN {released} ON x.{by} = r.k"
        ),
    }
}

fn own_id(draw: &mut Draw) -> &'static str {
    match draw.below(8) {
        0 => "CASE WHEN a > 0 THEN id END AS id, ",
        1 => "CASE WHEN b > 0 THEN id ELSE NULL END AS id, ",
        _ => "id, ",
    }
}

/// Windows within one person's rows.
fn windows(inner: &str, draw: &mut Draw) -> String {
    let by = draw.text(&["id", "id", "id, c", "g, id"]);
    let order = |draw: &mut Draw| draw.text(&["a", "b", "b DESC", "c, d", "e", "d DESC, a"]);
    let over = |call: &str, framed: bool, draw: &mut Draw| {
        let frame = draw.text(&[
            "",
            "",
            " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            " RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING",
        ]);
        let (order, frame) = match (framed, frame.contains("1 PRECEDING AND 2")) {
            (true, true) => (draw.text(&["a", "e DESC"]), frame),
            (true, false) => (order(draw), frame),
            (false, _) => (order(draw), String::new()),
        };
        format!("{call} OVER (PARTITION BY {by} ORDER BY {order}{frame})")
    };
    let place = draw.text(&["ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(2)"]);
    let place = over(&place, false, draw);
    let whole = draw.text(&["SUM(a)", "COUNT(*)", "MIN(a)", "MAX(e)", "SUM(e)", "COUNT(b)"]);
    let whole = over(&whole, true, draw);
    let real = draw.text(&["SUM(b)", "AVG(b)", "MIN(b)", "MAX(b)", "AVG(a)"]);
    let real = over(&real, true, draw);
    let shifted = draw.text(&["LAG(c)", "LEAD(c)", "LAG(c, 2, 'x')", "FIRST_VALUE(c)"]);
    let shifted = over(&shifted, false, draw);
    let before = over("LAG(g)", false, draw);
    let (a, e) = match draw.below(2) {
        0 => (place.clone(), whole),
        _ => (whole, place.clone()),
    };
    format!(
        "SELECT id, CLAMP(CAST({a} AS BIGINT), -2, 6) AS a, CLAMP({real}, -1.5, 3) AS b, \
         {shifted} AS c, d, CAST({e} AS BIGINT) AS e, {place} = 1 AS f, {before} AS g FROM ({inner})"
    )
}

/// The first rows of each person.
fn first_rows(inner: &str, draw: &mut Draw) -> String {
    let order = draw.text(&["a", "b DESC", "c, d", "e"]);
    let columns = "id, a, b, c, d, e, f, g";
    if draw.percent(40) {
        return format!("SELECT DISTINCT ON (id) {columns} FROM ({inner}) ORDER BY id, {order}");
    }
    let kept = draw.text(&["n = 1", "n <= 1", "n < 2", "1 = n", "n <= 2", "n = 2 AND a > 0"]);
    format!(
        "SELECT {columns} FROM (SELECT {columns}, ROW_NUMBER() OVER (PARTITION BY id ORDER BY {order}) \
         AS n FROM ({inner})) WHERE {kept}"
    )
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
    let measure = draw.text(&[
        "SUM(b)",
        "AVG(b)",
        "MIN(b)",
        "MAX(b)",
        "AVG(a)",
        "MEDIAN(b)",
        "STDDEV(b)",
        "VAR_POP(a)",
        "SUM(CAST(d AS DOUBLE))",
    ]);
    let any = draw.text(&["COUNT(*) > 1", "BOOL_OR(f)", "BOOL_AND(a > 0)"]);
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
         {whole} AS e, {any} AS f, {g} AS g FROM ({inner}) GROUP BY id{also}{having}"
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
    let call = match draw.below(24) {
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
        15 | 16 => format!("SUM(DISTINCT {})", bounded(draw)),
        17 => format!("AVG(DISTINCT {})", bounded(draw)),
        18 => format!("BOOL_OR({})", predicate(1, draw)),
        19 => format!("BOOL_AND({})", predicate(1, draw)),
        20 => {
            let name = draw.text(&["CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_SXY"]);
            format!("{name}({}, {})", bounded(draw), bounded(draw))
        }
        21 => {
            format!("COUNT(DISTINCT {}, {})", draw.text(&["a", "b", "c"]), draw.text(&["d", "f"]))
        }
        22 => format!("PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY {})", bounded(draw)),
        _ => draw.text(&["SUM(1)", "SUM(e)", "AVG(e)", "SUM(b / a)", "AVG(b * e)"]),
    };
    if draw.percent(15) { format!("{call} FILTER (WHERE {})", predicate(1, draw)) } else { call }
}

fn integer(depth: usize, draw: &mut Draw) -> String {
    if draw.percent(20) {
        return forms::integer(draw);
    }
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
    if draw.percent(20) {
        return forms::real(draw);
    }
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
    if draw.percent(20) {
        return forms::text(draw);
    }
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
    if draw.percent(20) {
        return forms::predicate(draw);
    }
    if depth > 0 && draw.percent(25) {
        let (x, y) = (predicate(depth - 1, draw), predicate(depth - 1, draw));
        return match draw.below(3) {
            0 => format!("({x} AND {y})"),
            1 => format!("({x} OR {y})"),
            _ => format!("(NOT {x})"),
        };
    }
    match draw.below(15) {
        13 => format!(
            "c {} (SELECT c FROM visits GROUP BY c ORDER BY COUNT(*) DESC LIMIT {})",
            draw.text(&["IN", "NOT IN"]),
            draw.text(&["1", "2"])
        ),
        14 => "e <= g + CAST(EXTRACT(day FROM DATE '2024-01-31' + INTERVAL '1 month') AS INT)"
            .to_owned(),
        12 => format!(
            "b > (SELECT {} FROM visits)",
            draw.text(&["AVG(b)", "MEDIAN(b)", "AVG(a) + STDDEV(b)"])
        ),
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
