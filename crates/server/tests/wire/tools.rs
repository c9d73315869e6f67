//! What Metabase, Superset and Tableau send, over the wire: their first questions, a grouped bar chart, a time series, a
//! list for a filter, a preview of a table. By the simple protocol, as psycopg2 does, and with parameters, as JDBC does.

use super::client::{WireError, message};
use super::*;

const EVENTS: &str = "[budget]\nepsilon = 1e15\ndelta = 0.5\nper_query = 1e9\n[tables.events]\n\
    source = \"events.csv\"\nunit = \"user_id\"\ncontributions = \"auto\"\n[tables.events.columns]\n\
    user_id = { type = \"integer\" }\nts = { type = \"time\" }\ncountry = { values = [\"DE\", \"FR\", \"US\"], \
    nullable = false }\namount = { bounds = [0, 100], nullable = false }\n";

/// Each of 60 people has three events of 10, 20 and 30 in one country, in January, February and March.
fn server() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let event = |i: usize, k: usize| {
        let country = ["DE", "FR", "US"][i % 3];
        format!("{i},2024-{:02}-15 1{k}:00:00,{country},{}\n", k + 1, 10 * (k + 1))
    };
    let rows: String = (0..60).flat_map(|i| (0..3).map(move |k| event(i, k))).collect();
    std::fs::write(folder.path().join("events.csv"), format!("user_id,ts,country,amount\n{rows}"))
        .unwrap();
    let policy = Policy::parse(EVENTS, folder.path()).unwrap();
    let queries = threads(2);
    let curator = queries.block_on(Curator::in_memory(policy)).unwrap();
    Server::of(curator, folder, queries, Limits::default(), Encryption::None)
}

/// The cells of a DataRow, joined by `|`.
fn cells(body: &[u8]) -> String {
    let count = u16::from_be_bytes(body[..2].try_into().unwrap());
    let (mut rest, mut cells) = (&body[2..], Vec::new());
    for _ in 0..count {
        let length = i32::from_be_bytes(rest[..4].try_into().unwrap());
        let value = &rest[4..4 + usize::try_from(length).unwrap_or(0)];
        rest = &rest[4 + value.len()..];
        cells.push(if length < 0 {
            "NULL".into()
        } else {
            String::from_utf8_lossy(value).into_owned()
        });
    }
    cells.join("|")
}

async fn answered(client: &mut Client) -> Result<Vec<String>, WireError> {
    let (mut rows, mut failure) = (Vec::new(), None);
    loop {
        match client.receive().await.unwrap() {
            (b'Z', _) => return failure.map_or(Ok(rows), Err),
            (b'E', body) => failure = Some(WireError::of(&body)),
            (b'D', body) => rows.push(cells(&body)),
            _ => {}
        }
    }
}

async fn simple(client: &mut Client, sql: &str) -> Result<Vec<String>, WireError> {
    client.send(&message(b'Q', format!("{sql}\0").as_bytes())).await;
    answered(client).await
}

/// Parse, Bind, Describe, Execute, Sync: with texts as parameters.
async fn prepared(
    client: &mut Client,
    sql: &str,
    parameters: &[&str],
) -> Result<Vec<String>, WireError> {
    let mut bind = b"\0\0\0\0".to_vec();
    bind.extend((parameters.len() as u16).to_be_bytes());
    for value in parameters {
        bind.extend((value.len() as u32).to_be_bytes());
        bind.extend(value.as_bytes());
    }
    bind.extend([0, 0]);
    let mut bytes = message(b'P', format!("\0{sql}\0\0\0").as_bytes());
    bytes.extend(message(b'B', &bind));
    bytes.extend(message(b'D', b"P\0"));
    bytes.extend(message(b'E', b"\0\0\0\0\0"));
    bytes.extend(message(b'S', b""));
    client.send(&bytes).await;
    answered(client).await
}

/// The bounded sums of a release end in digits that are noise: cells are compared as whole numbers, times as seconds.
fn rounded(rows: Vec<String>) -> Vec<String> {
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(number) => format!("{}", number.round()),
        Err(_) => cell.trim_end_matches(".000000").to_owned(),
    };
    rows.iter().map(|row| row.split('|').map(cell).collect::<Vec<_>>().join("|")).collect()
}

const BAR: [&str; 3] = ["DE|60", "FR|60", "US|60"];
const MONTHS: [&str; 3] =
    ["2024-01-01 00:00:00|600", "2024-02-01 00:00:00|1200", "2024-03-01 00:00:00|1800"];
const COUNTRIES: [&str; 3] = ["DE", "FR", "US"];

/// A statement, and its rows; `None` if it would show people's rows.
type Asked = (&'static str, Option<&'static [&'static str]>);

const METABASE: &[Asked] = &[
    (r#"SELECT TRUE AS "_" FROM "public"."events" WHERE 1 <> 1 LIMIT 0"#, Some(&[])),
    (
        "-- Metabase:: userID: 1 queryType: MBQL queryHash: 0a1b\n\
         SELECT \"public\".\"events\".\"country\" AS \"country\", COUNT(*) AS \"count\" FROM \"public\".\"events\" \
         GROUP BY \"public\".\"events\".\"country\" ORDER BY \"public\".\"events\".\"country\" ASC",
        Some(&BAR),
    ),
    (
        r#"SELECT DATE_TRUNC('month', "public"."events"."ts") AS "ts", SUM("public"."events"."amount") AS "sum"
           FROM "public"."events" WHERE ("public"."events"."ts" >= DATE_TRUNC('month', TIMESTAMP '2024-01-01'))
           AND ("public"."events"."ts" < DATE_TRUNC('month', (NOW() + INTERVAL '-1 month')))
           GROUP BY DATE_TRUNC('month', "public"."events"."ts")
           ORDER BY DATE_TRUNC('month', "public"."events"."ts") ASC"#,
        Some(&MONTHS),
    ),
    (
        r#"SELECT (CAST(DATE_TRUNC('week', ("public"."events"."ts" + INTERVAL '1 day')) AS timestamp)
           + INTERVAL '-1 day') AS "ts", COUNT(*) AS "count" FROM "public"."events"
           GROUP BY (CAST(DATE_TRUNC('week', ("public"."events"."ts" + INTERVAL '1 day')) AS timestamp)
           + INTERVAL '-1 day')
           ORDER BY (CAST(DATE_TRUNC('week', ("public"."events"."ts" + INTERVAL '1 day')) AS timestamp)
           + INTERVAL '-1 day') ASC"#,
        Some(&["2024-01-14 00:00:00|60", "2024-02-11 00:00:00|60", "2024-03-10 00:00:00|60"]),
    ),
    (
        r#"SELECT ((FLOOR((("public"."events"."amount" - 0.0) / 50.0)) * 50.0) + 0.0) AS "amount",
           COUNT(*) AS "count" FROM "public"."events"
           GROUP BY ((FLOOR((("public"."events"."amount" - 0.0) / 50.0)) * 50.0) + 0.0)
           ORDER BY ((FLOOR((("public"."events"."amount" - 0.0) / 50.0)) * 50.0) + 0.0) ASC"#,
        Some(&["0|180", "50|0", "100|0", "NULL|0"]),
    ),
    (
        r#"SELECT "source"."country" AS "country" FROM (SELECT "public"."events"."country" AS "country"
           FROM "public"."events") AS "source" GROUP BY "source"."country" ORDER BY "source"."country" ASC
           LIMIT 1000"#,
        Some(&COUNTRIES),
    ),
    (
        r#"SELECT "public"."events"."user_id" AS "user_id", "public"."events"."ts" AS "ts" FROM "public"."events"
           LIMIT 2000"#,
        None,
    ),
];

const SUPERSET: &[Asked] = &[
    (
        "SELECT country AS country, COUNT(*) AS count FROM public.events GROUP BY country ORDER BY country LIMIT 1000",
        Some(&BAR),
    ),
    (
        "SELECT DATE_TRUNC('month', ts) AS ts, sum(amount) AS \"SUM(amount)\" FROM public.events \
         WHERE ts >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') \
         AND ts < TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') \
         GROUP BY DATE_TRUNC('month', ts) ORDER BY \"SUM(amount)\" ASC LIMIT 10000",
        Some(&MONTHS),
    ),
    (
        "SELECT country AS country, sum(amount) AS \"SUM(amount)\" FROM public.events \
         JOIN (SELECT country AS country__, count(*) AS mme_inner__ FROM public.events WHERE country = 'DE' \
         GROUP BY country ORDER BY mme_inner__ DESC LIMIT 1) AS series_limit ON country = country__ \
         WHERE country = 'DE' GROUP BY country ORDER BY \"SUM(amount)\" DESC LIMIT 10000",
        Some(&["DE|1200"]),
    ),
    (
        "SELECT DISTINCT country AS country FROM public.events ORDER BY country LIMIT 1000",
        Some(&COUNTRIES),
    ),
    (
        "SELECT country AS country FROM public.events GROUP BY country ORDER BY country ASC LIMIT 1000",
        Some(&COUNTRIES),
    ),
    (
        "SELECT country AS country, COUNT(*) AS count FROM (SELECT * FROM events WHERE amount > 0) AS virtual_table \
         GROUP BY country ORDER BY country LIMIT 50000",
        Some(&BAR),
    ),
    ("SELECT user_id AS user_id, ts AS ts, amount AS amount FROM public.events LIMIT 1000", None),
];

const TABLEAU: &[Asked] = &[
    (
        r#"SELECT "events"."country" AS "country", SUM(1) AS "cnt:events:ok" FROM "public"."events" "events"
           GROUP BY 1 ORDER BY 1"#,
        Some(&BAR),
    ),
    (
        r#"SELECT DATE_TRUNC( 'MONTH', CAST("events"."ts" AS TIMESTAMP) ) AS "tmn:ts:ok",
           SUM("events"."amount") AS "sum:amount:ok" FROM "public"."events" "events"
           WHERE (("events"."ts" >= (TIMESTAMP '2024-01-01 00:00:00.000')) AND ("events"."ts" <
           (TIMESTAMP '2025-01-01 00:00:00.000'))) GROUP BY 1 ORDER BY 1"#,
        Some(&MONTHS),
    ),
    (
        r#"SELECT CAST((DATE_TRUNC( 'DAY', CAST("events"."ts" AS DATE) ) + (-EXTRACT(DOW FROM "events"."ts")
           * INTERVAL '1 DAY')) AS DATE) AS "twk:ts:ok", COUNT(1) AS "n" FROM "public"."events" "events"
           GROUP BY 1 ORDER BY 1"#,
        Some(&["2024-01-14|60", "2024-02-11|60", "2024-03-10|60"]),
    ),
    (
        r#"SELECT "events"."country" AS "country" FROM "public"."events" "events" GROUP BY 1
           HAVING (COUNT(1) > 0) ORDER BY 1 ASC NULLS FIRST"#,
        Some(&COUNTRIES),
    ),
    (r#"SELECT * FROM (SELECT country, amount FROM events) "Custom SQL Query" LIMIT 0"#, Some(&[])),
    (
        r#"SELECT "events"."country" AS "country", "events"."amount" AS "amount" FROM "public"."events" "events"
           LIMIT 1000"#,
        None,
    ),
];

#[test]
fn bi_tools_are_answered_over_the_wire() {
    let server = server();
    server.run(async {
        let mut client = server.member("ana").await;
        let mut wrong: Vec<String> = Vec::new();
        for (tool, statements) in [("Metabase", METABASE), ("Superset", SUPERSET), ("Tableau", TABLEAU)] {
            for (sql, expected) in statements {
                for by_simple in [true, false] {
                    let found = match by_simple {
                        true => simple(&mut client, sql).await,
                        false => prepared(&mut client, sql, &[]).await,
                    };
                    let found = found.map(rounded);
                    let right = match (&found, expected) {
                        (Ok(rows), Some(expected)) => rows == expected,
                        (Err(error), None) => {
                            error.code == "0A000" && error.text.contains("people's data")
                        }
                        _ => false,
                    };
                    if !right {
                        wrong.push(format!("{tool}: {sql}\n  {found:?}"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // Metabase's filters are parameters.
        let filtered = r#"SELECT COUNT(*) AS "count" FROM "public"."events" WHERE "public"."events"."country" = $1"#;
        assert_eq!(rounded(prepared(&mut client, filtered, &["DE"]).await.unwrap()), ["60"]);
        // Superset's connection begins so.
        for first in ["BEGIN", "select pg_catalog.version()", "select current_schema()", "show standard_conforming_strings", "ROLLBACK"] {
            simple(&mut client, first).await.unwrap();
        }
    });
}
