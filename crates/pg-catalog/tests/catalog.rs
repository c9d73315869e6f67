//! The catalog against what real clients ask.
//!
//! `tests/catalog/*.sql` are statements that psql 15, SQLAlchemy 2, psycopg 3, asyncpg and pgjdbc
//! sent to a PostgreSQL 15 that had the tables of [`catalog`]; with each are the columns, types
//! and rows that server answered with. `{visits}` stands for the table's identifier, `{visits
//! type}` and `{visits array}` for those of its types. Rows are compared as a set; `-- row: any`
//! says that there are too many to list. Where Demure means to answer otherwise the rows are its
//! own, and `-- differs` says why.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use arrow_pg::row_encoder::RowEncoder;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef, TimeUnit};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use demure_pg_catalog::{Catalog, PG_TYPE, TableInfo, encodable, parameter_text, wire_type};
use pgwire::api::Type;
use pgwire::api::results::{FieldFormat, FieldInfo};
use std::sync::Arc;

fn catalog() -> Catalog {
    let column = |(name, kind, nullable): (&str, DataType, bool)| (name.to_owned(), kind, nullable);
    let visits = [
        ("person", DataType::Int64, false),
        ("day", DataType::Date32, true),
        ("minutes", DataType::Float64, true),
        ("place", DataType::Utf8, true),
        ("paid", DataType::Boolean, true),
        ("price", DataType::Decimal128(12, 2), true),
        ("seen", DataType::Timestamp(TimeUnit::Microsecond, None), true),
        ("rank", DataType::Int32, true),
    ];
    let people = [
        ("id", DataType::Int64, false),
        ("name", DataType::Utf8, true),
        ("born", DataType::Date32, true),
    ];
    let table = |name: &str, columns: &[(&str, DataType, bool)], comment: Option<&str>| TableInfo {
        name: name.to_owned(),
        columns: columns.iter().cloned().map(column).collect(),
        comment: comment.map(str::to_owned),
    };
    let tables =
        [table("visits", &visits, Some("One row per visit.")), table("people", &people, None)];
    Catalog::new("sample", "ana", &tables)
}

type Answer = Option<Result<(SchemaRef, Vec<RecordBatch>), String>>;

async fn ask(sql: &str) -> Answer {
    catalog().answer(sql, &[]).await
}

/// The cells of an answer in PostgreSQL's text form.
fn rows(batches: &[RecordBatch]) -> Vec<String> {
    let mut rows = Vec::new();
    for batch in batches {
        for at in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|array| cell(array.as_ref(), at));
            rows.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    rows
}

fn cell(array: &dyn Array, at: usize) -> String {
    if array.is_null(at) {
        return "\\N".to_owned();
    }
    match array.data_type() {
        DataType::Boolean => if array.as_boolean().value(at) { "t" } else { "f" }.to_owned(),
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(at);
            let items: Vec<_> = (0..items.len()).map(|at| cell(&items, at)).collect();
            format!("{{{}}}", items.join(","))
        }
        DataType::Float32 | DataType::Float64 => {
            let shown = show(array, at);
            shown.strip_suffix(".0").unwrap_or(&shown).to_owned()
        }
        _ => {
            let shown = show(array, at);
            shown.replace('\\', "\\\\").replace('\n', "\\n").replace('|', "\\p")
        }
    }
}

fn show(array: &dyn Array, at: usize) -> String {
    let options = FormatOptions::default();
    ArrayFormatter::try_new(array, &options).unwrap().value(at).to_string()
}

#[derive(Debug, Default)]
struct Fixture {
    name: String,
    parameters: Vec<(String, String)>,
    columns: Vec<String>,
    rows: Vec<String>,
    sql: String,
}

fn fixtures(text: &str) -> Vec<Fixture> {
    let mut fixtures = vec![];
    let mut fixture = Fixture::default();
    for line in text.lines() {
        let header = |key: &str| line.strip_prefix(&format!("-- {key}: ")).map(str::to_owned);
        if let Some(name) = header("name") {
            fixture.name = name;
        } else if let Some(parameter) = header("parameter") {
            let (kind, value) = parameter.split_once(' ').unwrap_or((&parameter, ""));
            fixture.parameters.push((kind.to_owned(), value.to_owned()));
        } else if let Some(column) = header("column") {
            fixture.columns.push(column);
        } else if let Some(row) = header("row") {
            fixture.rows.push(row);
        } else if line == ";" {
            fixtures.push(std::mem::take(&mut fixture));
        } else if !line.is_empty() {
            fixture.sql.push_str(line);
            fixture.sql.push('\n');
        }
    }
    fixtures
}

/// The identifiers that the placeholders stand for.
async fn identifiers(catalog: &Catalog) -> Vec<(String, String)> {
    let sql =
        "SELECT t.typname, t.typrelid, t.oid, t.typarray FROM pg_type t WHERE t.typrelid <> 0";
    let (_, batches) = catalog.answer(sql, &[]).await.unwrap().unwrap();
    let mut all = vec![];
    for row in rows(&batches) {
        let cells: Vec<&str> = row.split('|').collect();
        for (kind, oid) in [("", cells[1]), (" type", cells[2]), (" array", cells[3])] {
            all.push((format!("{{{}{kind}}}", cells[0]), oid.to_owned()));
        }
    }
    assert_eq!(all.len(), 6);
    all
}

/// What is wrong with the answer to a fixture, if anything.
async fn check(catalog: &Catalog, fixture: &Fixture, known: &[(String, String)]) -> Option<String> {
    let fill =
        |text: &str| known.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let sql = fill(&fixture.sql);
    let described = match catalog.describe(&sql).await {
        Some(Ok(described)) => described,
        other => return Some(format!("describe: {other:?}")),
    };
    let types: Vec<_> = described.parameters.iter().map(|p| p.name().to_owned()).collect();
    let expected: Vec<_> = fixture.parameters.iter().map(|(kind, _)| kind.clone()).collect();
    if types != expected {
        return Some(format!("parameters {types:?}, expected {expected:?}"));
    }
    let parameters: Vec<_> = fixture.parameters.iter().map(|(_, v)| Some(fill(v))).collect();
    let (schema, batches) = match catalog.answer(&sql, &parameters).await {
        Some(Ok(answer)) => answer,
        other => return Some(format!("answer: {other:?}")),
    };
    assert_eq!(schema, described.schema, "{sql}");
    let columns: Vec<_> =
        schema.fields().iter().map(|f| format!("{} {}", f.metadata()[PG_TYPE], f.name())).collect();
    if columns != fixture.columns {
        return Some(format!("columns {columns:#?}, expected {:#?}", fixture.columns));
    }
    for format in [FieldFormat::Text, FieldFormat::Binary] {
        for batch in &batches {
            if let Err(problem) = encode(batch, format) {
                return Some(format!("{format:?}: {problem}"));
            }
        }
    }
    let mut expected: Vec<_> = fixture.rows.iter().map(|row| fill(row)).collect();
    let mut found = rows(&batches);
    match expected.first().map(String::as_str) {
        Some("any") => return None,
        Some("none") => expected.clear(),
        _ => {}
    }
    expected.sort();
    found.sort();
    let (first, second) = (found.join("\n  "), expected.join("\n  "));
    (found != expected).then(|| format!("rows\n  {first}\nexpected\n  {second}"))
}

/// Sends an answer as the wire does.
fn encode(batch: &RecordBatch, format: FieldFormat) -> Result<(), String> {
    let field = |field: &Arc<Field>| {
        let kind = wire_type(field).unwrap();
        FieldInfo::new(field.name().clone(), None, None, kind, format)
    };
    let fields = Arc::new(batch.schema().fields().iter().map(field).collect());
    let batch = encodable(batch, |_| format == FieldFormat::Binary);
    let mut encoder = RowEncoder::new(batch, fields);
    while let Some(row) = encoder.next_row() {
        row.map_err(|error| error.to_string())?;
    }
    Ok(())
}

async fn check_all(text: &str) {
    let catalog = catalog();
    let known = identifiers(&catalog).await;
    let (mut wrong, mut count) = (vec![], 0);
    for fixture in fixtures(text) {
        count += 1;
        if let Some(problem) = check(&catalog, &fixture, &known).await {
            wrong.push(format!("## {}\n{}\n{problem}", fixture.name, fixture.sql));
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{} of {count} wrong\n{}", wrong.len(), wrong.join("\n\n"));
}

#[tokio::test]
async fn psql() {
    check_all(include_str!("catalog/psql.sql")).await;
}

#[tokio::test]
async fn sqlalchemy() {
    check_all(include_str!("catalog/sqlalchemy.sql")).await;
}

#[tokio::test]
async fn psycopg() {
    check_all(include_str!("catalog/psycopg.sql")).await;
}

#[tokio::test]
async fn asyncpg() {
    check_all(include_str!("catalog/asyncpg.sql")).await;
}

#[tokio::test]
async fn pgjdbc() {
    check_all(include_str!("catalog/pgjdbc.sql")).await;
}

#[tokio::test]
async fn what_reads_a_table_of_the_policy_is_not_the_catalogs() {
    for sql in [
        "SELECT count(*) FROM visits",
        "SELECT count(*) FROM public.visits",
        "SELECT * FROM pg_class c, visits v",
        "SELECT * FROM pg_class WHERE relname IN (SELECT place FROM visits)",
        "SELECT (SELECT max(place) FROM visits) FROM pg_class",
        "SELECT EXISTS (SELECT 1 FROM visits)",
        "WITH v AS (SELECT * FROM visits) SELECT * FROM v",
        "SELECT 1 UNION SELECT person FROM visits",
        "SELECT relname FROM pg_class ORDER BY (SELECT count(*) FROM visits)",
        "SELECT * FROM pg_class LIMIT (SELECT count(*) FROM visits)",
        "SELECT * FROM LATERAL (SELECT * FROM visits) v",
        "SELECT * FROM (pg_class c JOIN visits v ON true)",
        "SELECT nothing FROM nowhere",
        "TABLE visits",
        "EXPLAIN SELECT 1",
        "INSERT INTO pg_class VALUES (1)",
        "WITH x AS (DELETE FROM pg_class RETURNING *) SELECT * FROM x",
        "COPY pg_class TO '/tmp/x'",
        "COPY pg_class TO PROGRAM 'id'",
        "DO $$ BEGIN END $$",
        "SET search_path = x",
        "SHOW epsilon",
        "SELECT 1; SELECT 2",
        "not sql",
        "",
    ] {
        let answer = ask(sql).await;
        assert!(answer.is_none(), "{sql}: {answer:?}");
    }
}

#[tokio::test]
async fn a_name_of_the_statement_does_not_hide_a_table() {
    // The common table expression is not in scope where `visits` is read.
    let sql = "SELECT * FROM (WITH visits AS (SELECT 1) SELECT * FROM visits) x, visits";
    match ask(sql).await {
        None => {}
        Some(answer) => assert!(answer.is_err(), "{answer:?}"),
    }
}

async fn value(sql: &str) -> String {
    let (_, batches) = ask(sql).await.unwrap_or_else(|| panic!("{sql}")).unwrap();
    rows(&batches).join("\n")
}

#[tokio::test]
async fn sessions_ask_about_themselves() {
    for (sql, expected) in [
        ("SELECT 1", "1"),
        ("SELECT 'a' || 'b', 1 + 2 * 3, NULL, true", "ab|7|\\N|t"),
        (
            "SELECT current_user, session_user, current_database(), current_schema",
            "ana|ana|sample|public",
        ),
        ("SELECT current_schemas(true)", "{pg_catalog,public}"),
        ("SHOW server_version", "15.0"),
        ("SHOW TIME ZONE", "UTC"),
        ("SELECT current_setting('server_version_num')::int > 90000", "t"),
        ("SELECT current_setting('no.such', true)", "\\N"),
        ("SELECT 'visits'::regclass::oid = c.oid FROM pg_class c WHERE relname = 'visits'", "t"),
        ("SELECT 'visits'::regclass, 'pg_class'::regclass::oid", "visits|1259"),
        ("SELECT 23::regtype, 'int8'::regtype::oid, to_regtype('no such')", "integer|20|\\N"),
        ("SELECT pg_is_in_recovery(), pg_backend_pid() IS NOT NULL", "f|t"),
        ("VALUES (1, 'a'), (2, 'b')", "1|a\n2|b"),
        ("SELECT x, n FROM unnest(ARRAY['a','b']) WITH ORDINALITY AS u(x, n)", "a|1\nb|2"),
        (
            "SELECT column_name, data_type FROM information_schema.columns \
             WHERE table_schema = 'public' AND table_name = 'people' ORDER BY ordinal_position",
            "id|bigint\nname|text\nborn|date",
        ),
        (
            "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN \
             ('pg_catalog', 'information_schema') ORDER BY 1 DESC",
            "visits\npeople",
        ),
        (
            "SELECT has_table_privilege('visits', 'SELECT'), has_table_privilege('visits', 'INSERT')",
            "t|f",
        ),
        // .NET's driver tells arrays by the function that receives them.
        (
            "SELECT t.typname, p.proname = 'array_recv' FROM pg_type t \
             LEFT JOIN pg_proc p ON p.oid = t.typreceive \
             WHERE t.typname IN ('int4', '_int4', 'visits', '_visits') ORDER BY 1",
            "_int4|t\n_visits|t\nint4|f\nvisits|f",
        ),
        // Nothing about rows.
        ("SELECT DISTINCT reltuples, relpages, pg_table_size(oid) FROM pg_class", "-1|0|\\N"),
    ] {
        assert_eq!(value(sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn hostile_statements_end_soon_and_reach_nothing() {
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let long = format!("SELECT 1{} FROM pg_class", " + 1".repeat(10_000));
    let ands = format!("SELECT 1 FROM pg_am WHERE true{}", " AND true".repeat(5_000));
    let huge = format!("SELECT '{}'", "x".repeat(100_000));
    for sql in [
        "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c",
        "SELECT * FROM pg_attribute a, pg_attribute b ORDER BY 1",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "SELECT generate_series(1, 9223372036854775807)",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
        "WITH RECURSIVE r(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM r) SELECT length(t) FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT 1 FROM r, r s) SELECT * FROM r",
        "WITH RECURSIVE r(a) AS (SELECT ARRAY[1] UNION ALL SELECT a || a FROM r) SELECT 1 FROM r",
        "SELECT * FROM pg_attribute a, pg_type b",
        "SELECT relname ~ ('(' || relname || '{1000}){1000}') FROM pg_class",
        "SELECT (SELECT count(*) FROM pg_attribute a, pg_attribute b) FROM pg_class",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT * FROM pg_read_file('/etc/passwd')",
        "SELECT pg_catalog.pg_read_file('/etc/passwd') FROM pg_class",
        "SELECT * FROM pg_ls_dir('/')",
        "SELECT pg_sleep(1000)",
        "SELECT lo_import('/etc/passwd') FROM pg_class",
        "SELECT pg_terminate_backend(1)",
        "SELECT * FROM pg_authid",
        "SELECT * FROM pg_shadow",
        "SELECT * FROM pg_stats",
        "SELECT * FROM pg_stat_user_tables",
        "SELECT * FROM pg_statistic",
        "SELECT current_setting('data_directory')",
        "SELECT current_setting('demure.secret')",
        "SELECT set_config('is_superuser', 'on', false)",
        "SELECT set_config('data_directory', '/', false)",
        "SELECT * INTO x FROM pg_class",
        "SELECT * FROM pg_class FOR UPDATE",
        "SELECT 1 / 0 FROM pg_class",
        &deep,
        &long,
        &huge,
    ] {
        let started = std::time::Instant::now();
        if let Some(Ok(answer)) = ask(sql).await {
            panic!("{}: {answer:?}", &sql[..sql.len().min(100)]);
        }
        assert!(started.elapsed().as_secs() < 30, "{}", &sql[..sql.len().min(100)]);
    }
    assert_eq!(value(&ands).await.lines().count(), 7);
    // It says yes and changes nothing.
    assert_eq!(value("SELECT set_config('search_path', 'x', false)").await, "x");
    assert_eq!(value("SHOW search_path").await, "\"$user\", public");
}

/// A policy far larger than most still fits what a statement may take.
#[tokio::test]
async fn many_tables_are_no_hostility() {
    let columns: Vec<_> =
        (0..20).map(|at| (format!("column_{at}"), DataType::Utf8, true)).collect();
    let table = |at: usize| TableInfo {
        name: if at == 0 { "visits".to_owned() } else { format!("table_{at}") },
        columns: columns.clone(),
        comment: None,
    };
    let tables: Vec<_> = (0..500).map(table).collect();
    let catalog = Catalog::new("sample", "ana", &tables);
    for text in [
        include_str!("catalog/psql.sql"),
        include_str!("catalog/sqlalchemy.sql"),
        include_str!("catalog/pgjdbc.sql"),
    ] {
        for fixture in fixtures(text) {
            if fixture.sql.contains("{visits") {
                continue;
            }
            let parameters: Vec<_> =
                fixture.parameters.iter().map(|(_, value)| Some(value.clone())).collect();
            if parameters.iter().flatten().any(|value| value.starts_with("{visits")) {
                continue;
            }
            let answer = catalog.answer(&fixture.sql, &parameters).await;
            assert!(matches!(answer, Some(Ok(_))), "{}: {answer:?}", fixture.name);
        }
    }
}

/// As database browsers and the drivers of other languages ask, in words of our own.
#[tokio::test]
async fn browsers_ask_in_many_ways() {
    for (sql, expected) in [
        (
            "SELECT n.oid > 0, n.*, d.description FROM pg_namespace n LEFT OUTER JOIN \
             pg_description d ON d.objoid = n.oid AND d.classoid = 'pg_namespace'::regclass \
             WHERE n.nspname = 'public'",
            "t|2200|public|10|{demure=UC/demure,=U/demure}|\\N",
        ),
        (
            "SELECT c.relname, count(*) FILTER (WHERE NOT a.attnotnull) AS loose, \
             string_agg(DISTINCT a.attname::text, '/' ORDER BY a.attname::text) \
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 \
             WHERE c.relnamespace = 'public'::regnamespace GROUP BY 1 HAVING count(*) > 3",
            "visits|7|day/minutes/paid/person/place/price/rank/seen",
        ),
        (
            "WITH own AS (SELECT oid, relname FROM pg_class WHERE relkind = 'r' AND relowner = \
             (SELECT oid FROM pg_roles WHERE rolname = 'demure') AND relnamespace = 2200) \
             SELECT o.relname, x.attname FROM own o CROSS JOIN LATERAL (SELECT a.attname FROM \
             pg_attribute a WHERE a.attrelid = o.oid ORDER BY a.attnum DESC LIMIT 1) x ORDER BY 1",
            "people|born\nvisits|rank",
        ),
        (
            "SELECT DISTINCT ON (table_name) table_name, column_name FROM \
             information_schema.columns WHERE table_schema ILIKE 'PUB%' \
             ORDER BY table_name, ordinal_position DESC",
            "people|born\nvisits|rank",
        ),
        (
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() \
             EXCEPT SELECT 'people' ORDER BY 1 OFFSET 0 ROWS FETCH FIRST 5 ROWS ONLY",
            "visits",
        ),
        (
            "SELECT typname, typtype, (SELECT typname FROM pg_type e WHERE e.oid = t.typelem) \
             FROM pg_catalog.pg_type t WHERE oid BETWEEN 1005 AND 1007 AND typelem <> 0 ORDER BY 1",
            "_int2|b|int2\n_int2vector|b|int2vector\n_int4|b|int4",
        ),
        ("SELECT (ARRAY['a','b','c'])[2], 'b' = ANY ('{a,b}'), 3 <> ALL (ARRAY[1,2])", "b|t|t"),
        ("SELECT x FROM pg_catalog.generate_series(3, 1, -1) AS x", "3\n2\n1"),
        ("SELECT trim(both '\"' from '\"a\"'), position('c' in 'abc'), nullif(1, 1)", "a|3|\\N"),
        (
            "SELECT relname FROM pg_class WHERE relname LIKE 'vis\\_%' OR relname LIKE '_isits'",
            "visits",
        ),
        ("SELECT 1 FROM information_schema.table_constraints", ""),
        ("SELECT count(*) FROM pg_stat_activity", "0"),
    ] {
        assert_eq!(value(sql).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn columns_go_in_the_types_drivers_expect() {
    let sql = "SELECT oid, relname, relkind, relacl, relnamespace::regnamespace, \
        ARRAY[oid], ARRAY[relname], ARRAY[oid::regclass], oid::int8 FROM pg_class";
    let schema = catalog().describe(sql).await.unwrap().unwrap().schema;
    let types: Vec<_> = schema.fields().iter().map(|field| wire_type(field).unwrap()).collect();
    let expected = [
        Type::OID,
        Type::NAME,
        Type::CHAR,
        Type::TEXT,
        Type::TEXT,
        // Not int4[]: asyncpg would ask what that is while it asks what types are.
        Type::OID_ARRAY,
        Type::NAME_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT8,
    ];
    assert_eq!(types, expected);
}

#[tokio::test]
async fn identifiers_stay() {
    let (first, second) = (identifiers(&catalog()).await, identifiers(&catalog()).await);
    assert_eq!(first, second);
    for (name, oid) in first {
        assert!(oid.parse::<i64>().unwrap() >= 16_384, "{name} {oid}");
    }
}

#[test]
fn binary_parameters_have_a_text_form() {
    let oids = [0_i32, 0, 26, 2, 1, 4, 20, 4, 25].map(i32::to_be_bytes).concat();
    let mut one = oids.clone();
    one[0..4].copy_from_slice(&1_i32.to_be_bytes());
    assert_eq!(parameter_text(1028, &one), Ok("{20,25}".to_owned()));
    assert_eq!(parameter_text(1028, &[0; 12]), Ok("{}".to_owned()));
    assert_eq!(parameter_text(23, &(-5_i32).to_be_bytes()), Ok("-5".to_owned()));
    assert_eq!(parameter_text(26, &u32::MAX.to_be_bytes()), Ok(u32::MAX.to_string()));
    assert_eq!(parameter_text(16, &[1]), Ok("t".to_owned()));
    assert_eq!(parameter_text(25, b"a{b"), Ok("a{b".to_owned()));
    for (oid, bytes) in
        [(23, &b"123"[..]), (16, b""), (25, b"\xff"), (1028, &one[..20]), (1028, b"x")]
    {
        assert!(parameter_text(oid, bytes).is_err(), "{oid} {bytes:?}");
    }
}
