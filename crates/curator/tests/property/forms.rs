//! Further random forms: dates, times, intervals, decimals and texts made of the columns of [`super::grammar`], windows
//! and frames over them, subqueries within subqueries, numbers that the statement itself releases.

use super::draw::Draw;

const ALL: &str = "a, b, c, d, e, f, g";

/// A date, from columns that hold anything.
pub(super) fn date(draw: &mut Draw) -> String {
    draw.text(&[
        "(DATE '2024-02-29' + a)",
        "(DATE '0001-01-01' + e)",
        "make_date(2000 + a, g, 29)",
        "make_date(e, a, g)",
        "to_date(d, 'YYYY')",
        "CAST(d AS DATE)",
        "TRY_CAST(d AS DATE)",
        "CAST(date_trunc('month', DATE '2024-01-31' + a) AS DATE)",
        "(make_date(2024, 1, 31) + INTERVAL '1 month')::date",
        "(DATE '2024-02-29' - g)",
    ])
}

/// A time.
pub(super) fn time(draw: &mut Draw) -> String {
    let x = date(draw);
    match draw.below(9) {
        0 => format!("({x} + INTERVAL '36 hours')"),
        1 => format!("CAST({x} AS TIMESTAMP)"),
        2 => format!("date_trunc('week', {x} + INTERVAL '1 second')"),
        3 => "to_timestamp(e)".to_owned(),
        4 => "to_timestamp(d, 'YYYY MM')".to_owned(),
        5 => format!("(CAST({x} AS TIMESTAMP) - INTERVAL '1 year 2 days')"),
        6 => format!("date_bin(INTERVAL '17 minutes', CAST({x} AS TIMESTAMP))"),
        7 => "CAST(d AS TIMESTAMP)".to_owned(),
        _ => format!("({x} + INTERVAL '200000 years')"),
    }
}

/// An interval.
pub(super) fn span(draw: &mut Draw) -> String {
    match draw.below(5) {
        0 | 1 => format!("({} - {})", time(draw), time(draw)),
        2 => format!("age({}, {})", time(draw), time(draw)),
        _ => {
            format!("CASE WHEN f THEN INTERVAL '1 month' ELSE {} - {} END", time(draw), time(draw))
        }
    }
}

pub(super) fn decimal(draw: &mut Draw) -> String {
    let x = draw.text(&[
        "CAST(b AS DECIMAL(12,3))",
        "CAST(d AS DECIMAL(8,2))",
        "CAST(e AS DECIMAL(38,0))",
        "CAST(a AS DECIMAL(20,10))",
    ]);
    match draw.below(6) {
        0 => format!("({x} * {x})"),
        1 => format!("({x} / 3.7)"),
        2 => format!("ROUND({x}, 1)"),
        3 => format!("({x} + 0.005)"),
        4 => format!("({x} % 0.7)"),
        _ => x,
    }
}

pub(super) fn integer(draw: &mut Draw) -> String {
    match draw.below(13) {
        0 => format!(
            "CAST(extract({} FROM {}) AS BIGINT)",
            draw.text(&["month", "year", "dow", "doy", "epoch", "week", "century", "isoyear"]),
            time(draw)
        ),
        1 => format!("({} - {})", date(draw), date(draw)),
        2 => format!(
            "CAST(extract({} FROM {}) AS BIGINT)",
            draw.text(&["day", "epoch", "month", "hour"]),
            span(draw)
        ),
        3 => format!("width_bucket(b, {}, 5)", draw.text(&["0, 10", "10, 0", "b, a", "-1, 1"])),
        4 => "width_bucket(b, 0, 1, g)".to_owned(),
        5 => "ascii(d)".to_owned(),
        6 => "strpos(d, 'p')".to_owned(),
        7 => format!("CAST({} AS BIGINT)", decimal(draw)),
        8 => format!("CAST(ROUND({}) AS BIGINT)", decimal(draw)),
        9 => draw.text(&[
            "div(a, g)",
            "mod(a, g)",
            "sign(a)",
            "length(d)",
            "octet_length(c)",
            "num_nulls(a, c, d)",
        ]),
        10 => "regexp_count(d, 'p|q')".to_owned(),
        11 => "CAST(f AS INT)".to_owned(),
        _ => "CAST((SELECT AVG(a) FROM visits) AS BIGINT)".to_owned(),
    }
}

pub(super) fn real(draw: &mut Draw) -> String {
    match draw.below(8) {
        0 => format!("CAST({} AS DOUBLE)", decimal(draw)),
        1 => format!("extract(epoch FROM {})", span(draw)),
        2 => format!("ROUND(b, {})", draw.text(&["1", "-1", "g", "20"])),
        3 => format!("TRUNC(b, {})", draw.text(&["1", "-1", "g"])),
        4 => draw.text(&[
            "CBRT(b)",
            "DEGREES(b)",
            "ATAN2(b, a)",
            "LOG(b)",
            "LOG(2, b)",
            "SINH(b)",
            "nanvl(b, 1)",
            "POWER(a, b)",
        ]),
        5 => "(SELECT AVG(b) FROM visits)".to_owned(),
        6 => "(b - (SELECT AVG(b) FROM visits)) / (SELECT STDDEV(b) FROM visits)".to_owned(),
        _ => "GREATEST(b, (SELECT MEDIAN(b) FROM people), a)".to_owned(),
    }
}

pub(super) fn text(draw: &mut Draw) -> String {
    match draw.below(16) {
        0 => format!(
            "to_char({}, '{}')",
            time(draw),
            draw.text(&[
                "YYYY-MM",
                "FMDay DDth Mon HH12:MI:SS.US AM",
                "J Q RM IW IYYY CC WW W",
                "YY\"q\"SSSS MS BC",
                "TMMonth"
            ])
        ),
        1 => "lpad(d, 5, 'xy')".to_owned(),
        2 => "rpad(d, 3)".to_owned(),
        3 => "overlay(d placing 'zz' from a)".to_owned(),
        4 => "overlay(d placing c from g for a)".to_owned(),
        5 => "substring(d from a for g)".to_owned(),
        6 => "substring(d from '[pq]')".to_owned(),
        7 => "split_part(d, 'p', a)".to_owned(),
        8 => "regexp_replace(d, 'p|q', 'z', 'g')".to_owned(),
        9 => "initcap(d)".to_owned(),
        10 => "translate(d, 'pq', 'x')".to_owned(),
        11 => format!("CAST({} AS TEXT)", span(draw)),
        12 => format!("CAST({} AS TEXT)", time(draw)),
        13 => "concat_ws('-', c, d, a)".to_owned(),
        14 => format!("CAST({} AS TEXT)", decimal(draw)),
        _ => draw.text(&[
            "left(d, a)",
            "right(d, g)",
            "reverse(d)",
            "btrim(d, 'p')",
            "replace(d, 'p', '')",
            "CAST(b AS TEXT)",
            "CAST(f AS TEXT)",
        ]),
    }
}

pub(super) fn predicate(draw: &mut Draw) -> String {
    match draw.below(14) {
        0 => format!("{} > INTERVAL '3 days'", span(draw)),
        1 => format!("{} = {}", span(draw), span(draw)),
        2 => format!("{} BETWEEN DATE '2024-01-01' AND {}", date(draw), date(draw)),
        3 => format!("{} < {}", time(draw), date(draw)),
        4 => "(a, c) IN ((1, 'x'), (2, 'y'))".to_owned(),
        5 => "d = ANY(ARRAY['p', 'q'])".to_owned(),
        6 => "c <> ALL(ARRAY['x', 'w'])".to_owned(),
        7 => format!("{} > {}", decimal(draw), draw.text(&["0.5", "b", "a", "0.07 + 0.01"])),
        8 => format!("{} IN ({}, {})", span(draw), span(draw), span(draw)),
        9 => "c = (SELECT MODE(c) FROM people)".to_owned(),
        10 => {
            "a > (SELECT COUNT(*) FROM people) / (SELECT COUNT(*) FROM visits WHERE f)".to_owned()
        }
        11 => "b > (SELECT AVG(b) FROM visits WHERE a > (SELECT AVG(a) FROM people))".to_owned(),
        12 => "a <= (SELECT COUNT(*) FROM visits GROUP BY c ORDER BY 1 DESC LIMIT 1)".to_owned(),
        _ => format!("{} IS DISTINCT FROM {}", time(draw), time(draw)),
    }
}

/// Windows over values of all kinds, with frames of all kinds.
pub(super) fn windows(inner: &str, draw: &mut Draw) -> String {
    let by = draw.text(&["id", "id, f", "id, a % 2", "COALESCE(c, d), id"]);
    let key = |draw: &mut Draw| match draw.below(7) {
        0 => date(draw),
        1 => time(draw),
        2 => span(draw),
        3 => decimal(draw),
        4 => text(draw),
        5 => "f".to_owned(),
        _ => draw.text(&["a", "b DESC NULLS LAST", "e NULLS FIRST", "d DESC, c"]),
    };
    let near = |draw: &mut Draw| match draw.below(4) {
        0 => (
            draw.text(&["a", "e", "g", "e DESC NULLS FIRST"]),
            draw.text(&["1", "3", "0", "9223372036854775807"]),
        ),
        1 => (date(draw), draw.text(&["INTERVAL '1 day'", "INTERVAL '300 days'"])),
        2 => (
            time(draw),
            draw.text(&["INTERVAL '1 second'", "INTERVAL '25 hours'", "INTERVAL '0 days'"]),
        ),
        _ => (draw.text(&["a", "e"]), "2".to_owned()),
    };
    let over = |call: &str, draw: &mut Draw| {
        if draw.percent(40) {
            let (key, by_much) = near(draw);
            let frame = draw.text(&[
                "<n> PRECEDING AND CURRENT ROW",
                "<n> PRECEDING AND <n> PRECEDING",
                "<n> FOLLOWING AND <n> FOLLOWING",
                "CURRENT ROW AND <n> FOLLOWING",
                "UNBOUNDED PRECEDING AND <n> PRECEDING",
                "<n> FOLLOWING AND UNBOUNDED FOLLOWING",
                "<n> PRECEDING AND <n> FOLLOWING",
            ]);
            let frame = frame.replace("<n>", &by_much);
            return format!("{call} OVER (PARTITION BY {by} ORDER BY {key} RANGE BETWEEN {frame})");
        }
        let frame = draw.text(&[
            "",
            " ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
            " ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
            " ROWS BETWEEN CURRENT ROW AND CURRENT ROW",
            " ROWS BETWEEN 1000000 PRECEDING AND 1000000 FOLLOWING",
            " ROWS BETWEEN 0 PRECEDING AND 0 FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
            " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS 2 PRECEDING",
        ]);
        format!("{call} OVER (PARTITION BY {by} ORDER BY {}{frame})", key(draw))
    };
    let plain = |call: &str, draw: &mut Draw| {
        format!("{call} OVER (PARTITION BY {by} ORDER BY {})", key(draw))
    };
    let place = draw.text(&["PERCENT_RANK()", "CUME_DIST()", "ROW_NUMBER()", "NTILE(3)", "RANK()"]);
    let place = plain(&place, draw);
    let aggregate = |draw: &mut Draw| {
        let of = match draw.below(8) {
            0 => date(draw),
            1 => time(draw),
            2 => span(draw),
            3 => decimal(draw),
            4 => text(draw),
            5 => "f".to_owned(),
            _ => draw.text(&["a", "b", "e", "d"]),
        };
        let call = match draw.below(4) {
            0 => format!("COUNT({of})"),
            1 => format!("MIN({of})"),
            2 => format!("MAX({of})"),
            _ => format!("SUM({})", draw.text(&["a", "b", "e", "g"])),
        };
        if draw.percent(25) { format!("{call} FILTER (WHERE {})", predicate(draw)) } else { call }
    };
    let of = aggregate(draw);
    let whole = over(&of, draw);
    let of = aggregate(draw);
    let other = over(&of, draw);
    let picked = draw.text(&["LAST_VALUE(d)", "NTH_VALUE(d, 2)", "FIRST_VALUE(d)"]);
    let frame = draw.text(&[
        "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
        "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
    ]);
    let picked = format!("{picked} OVER (PARTITION BY {by} ORDER BY {} {frame})", key(draw));
    let shifted = plain(&draw.text(&["LAG(c, 0)", "LEAD(c, 1000000, 'y')", "LAG(c)"]), draw);
    format!(
        "SELECT id, CLAMP(CAST({place} AS BIGINT), -2, 6) AS a, CLAMP(CAST({place} AS DOUBLE), -1.5, 3) AS b, \
         {shifted} AS c, COALESCE(CAST({whole} AS TEXT), {picked}) AS d, e, {other} IS NULL AS f, \
         LEAD(g, 1, 5) OVER (PARTITION BY id ORDER BY a) AS g FROM ({inner})"
    )
}

/// Subqueries in strange places.
pub(super) fn nested(inner: &str, other: &str, draw: &mut Draw) -> String {
    let own = format!("FROM ({other}) AS y WHERE y.id = x.id");
    let value = match draw.below(9) {
        0 => format!("(SELECT COUNT(*) + 1 {own})"),
        1 => format!("(SELECT COALESCE(SUM(y.a), 0) {own})"),
        2 => format!("(SELECT COUNT(*) {own} HAVING COUNT(*) > 1)"),
        3 => format!("(SELECT COUNT(DISTINCT y.c) {own} AND y.e = x.e)"),
        4 => format!("(SELECT MAX(y.a) {own} AND y.b > (SELECT AVG(b) FROM people))"),
        5 => format!(
            "(SELECT y.a FROM ({other}) AS y JOIN (SELECT COUNT(*) AS n FROM codes) AS k ON y.id = x.id)"
        ),
        6 => format!(
            "(SELECT y.a FROM (SELECT * FROM ({other}) AS o WHERE o.id = x.id) AS y, (SELECT COUNT(*) AS n FROM codes) AS k)"
        ),
        7 => format!(
            "(SELECT y.a FROM ({other}) AS y JOIN (SELECT MAX(o.a) AS m FROM ({other}) AS o WHERE o.id = x.id) AS k \
             ON y.a = k.m WHERE y.id = x.id)"
        ),
        _ => format!("(SELECT MIN(y.e) {own})"),
    };
    let first = format!(
        "SELECT id, {ALL} FROM (SELECT id, {ALL}, ROW_NUMBER() OVER (PARTITION BY id ORDER BY a) AS n FROM ({inner})) AS x"
    );
    match draw.below(10) {
        0 | 1 => format!("{first} WHERE n = 1 AND {value} > 0"),
        2 => format!("{first} WHERE n = 1 AND COALESCE({value}, 1) > 0"),
        3 => format!(
            "SELECT x.id, CAST({value} AS BIGINT) AS a, x.b, x.c, x.d, x.e, x.f, x.g FROM ({inner}) AS x"
        ),
        4 => format!(
            "SELECT x.id, x.a, x.b, x.c, x.d, x.e, EXISTS (SELECT 1 {own}) AS f, x.g FROM ({inner}) AS x"
        ),
        5 => format!(
            "SELECT x.* FROM ({inner}) AS x WHERE EXISTS (SELECT 1 {own} AND EXISTS (SELECT 1 FROM items i, visits v \
             WHERE i.vid = v.vid AND v.pid = y.id AND i.a > y.a))"
        ),
        6 => format!(
            "SELECT x.* FROM ({inner}) AS x WHERE CASE WHEN x.f THEN {value} ELSE 2 END > 1"
        ),
        7 => format!(
            "SELECT DISTINCT ON (id, c) id, {ALL} FROM (SELECT id, {ALL} FROM ({inner}) UNION ALL SELECT id, {ALL} \
             FROM ({other})) ORDER BY id, c, a DESC"
        ),
        8 => format!(
            "SELECT id, a, b, c, d, e, f, g FROM ({inner}) AS x, (SELECT AVG(b) AS m, COUNT(*) AS n FROM visits) AS r \
             WHERE b < m OR a < n"
        ),
        _ => format!(
            "SELECT x.id, x.a, x.b, LAG(k.label) OVER (PARTITION BY x.id ORDER BY x.a) AS c, k.label AS d, x.e, x.f, x.g \
             FROM ({inner}) AS x JOIN codes AS k ON k.code = x.e"
        ),
    }
}

/// Written lists and series on the left of people's rows.
pub(super) fn listed(inner: &str, id: &str, draw: &mut Draw) -> String {
    let list = draw.text(&[
        "(VALUES (0, 'n'), (1, 'm'), (1, 'm'), (NULL, 'z'), (9, NULL)) AS k (code, label)",
        "(SELECT value AS code, 'q' AS label FROM generate_series(-3, 5)) AS k",
        "(SELECT code, label FROM pairs UNION ALL SELECT NULL, 'u') AS k",
        "(SELECT k.code, p.label FROM codes k LEFT JOIN pairs p ON p.code = k.code) AS k",
    ]);
    let on =
        draw.text(&["x.e = k.code", "x.g = k.code AND x.a > 0", "x.a = k.code AND k.label <> 'n'"]);
    let label = draw.text(&["k.label", "x.c"]);
    format!(
        "SELECT {id}x.a, x.b, {label} AS c, k.label AS d, k.code AS e, x.f, x.g FROM {list} LEFT JOIN ({inner}) AS x ON {on}"
    )
}
