//! What one person's row does to the values of others, to errors and to the time: nothing.
//!
//! Two tables of 20,000 people, several batches, that differ in one row. Answers are bought at an
//! ε so large that they are exact.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use datafusion::arrow::util::display::array_value_to_string;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Error, Outcome};
use std::fmt::Write;
use std::sync::Arc;

const POLICY: &str = "[budget]\nepsilon = 1e13\nper_query = 1e9\n[tables.p]\nsource = \"p.csv\"\n\
    unit = \"id\"\n[tables.p.columns]\nid = { type = \"integer\" }\n\
    age = { type = \"integer\", bounds = [0, 110] }\nnote = { type = \"text\" }\n\
    [tables.v]\nsource = \"v.csv\"\npublic = true\n";

async fn curator(last: &str) -> (Arc<Curator>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "id,age,note\n".to_owned();
    for i in 0..20_000 {
        writeln!(table, "{},{},n{i}", 1000 + i, 20 + i % 60).unwrap();
    }
    std::fs::write(folder.path().join("p.csv"), table + last).unwrap();
    let public: String = (0..100).map(|i| format!("{i},{}\n", i % 10)).collect();
    std::fs::write(folder.path().join("v.csv"), format!("x,tens\n{public}")).unwrap();
    let policy = Policy::parse(POLICY, folder.path()).unwrap();
    (Curator::in_memory(policy).await.unwrap(), folder)
}

async fn ask(curator: &Arc<Curator>, sql: &str) -> Result<f64, Error> {
    match curator.session("tester").run(sql).await? {
        Outcome::Answer(answer) => {
            Ok(array_value_to_string(answer.batches[0].column(0), 0).unwrap().parse().unwrap())
        }
        _ => panic!("no answer"),
    }
}

#[tokio::test]
async fn nobody_elses_value_changes() {
    let (with, _a) = curator("17,17,hello\n").await;
    let (without, _b) = curator("18,33,hello\n").await;
    let case = |value: &str| format!("CASE WHEN id <> 17 THEN {value} END");
    let stamp = case("TIMESTAMP '1969-12-31T23:59:59.999999999'");
    let conditions = [
        format!("date_bin(INTERVAL '1 day', {}) IS NOT NULL", case("TIMESTAMP '2000-01-01'")),
        format!("date_trunc('millisecond', {stamp}) >= TIMESTAMP '1970-01-01'"),
        format!("date_trunc('day', {stamp}) >= TIMESTAMP '1969-12-31'"),
        format!("date_part('day', {stamp}) = 31"),
        format!("round({}, 1) = 2.3", case("2.25")),
        format!("- ({}) > 3", case("CAST(-128 AS TINYINT)")),
        format!("- ({}) < 3", case("-9223372036854775808")),
        format!("({}) / (age - 17) >= 0", case("7")),
        format!("({}) % 5 = 2", case("7")),
        format!("substr({}, 2, 1) = 'b'", case("'abc'")),
        format!("concat({}, note) <> ''", case("'abc'")),
        format!("{} ~ 'b+'", case("'abc'")),
        format!("{} LIKE 'a%'", case("'abc'")),
        format!("power({}, 2) = 9", case("3")),
        format!("log({}, 8) = 3", case("2")),
        format!("nullif({}, 3) IS NULL", case("3")),
        format!("least({}, age) = 3", case("3")),
        format!("{} IN (1, 2, 3)", case("3")),
        format!("TRY_CAST({} AS DATE) = DATE '2000-01-01'", case("'2000-01-01'")),
        format!("split_part({}, ',', 2) = 'b'", case("'a,b'")),
    ];
    for condition in conditions {
        let sql = format!("SELECT COUNT(*) FROM p WHERE {condition}");
        let (a, b) = (ask(&with, &sql).await.unwrap(), ask(&without, &sql).await.unwrap());
        assert!((a - b).abs() <= 1.0, "{condition}: {a} and {b}");
    }
}

#[tokio::test]
async fn no_error_depends_on_who_is_there() {
    let (with, _a) = curator("17,17,hello\n").await;
    let (without, _b) = curator("18,33,hello\n").await;
    let conditions = [
        "age + (-(-9223372036854775808)) <> 3",
        "-(CAST(-128 AS TINYINT)) = age",
        "-coalesce(NULL, CAST(-32768 AS SMALLINT)) = age",
        "round(CAST(age AS DECIMAL(10,3)),1) = round(CAST(age AS DECIMAL(23,3)),2)",
        "nullif(round(CAST(age AS DECIMAL(10,3)),1), round(CAST(age AS DECIMAL(23,3)),2)) > 0",
        "round(CAST(age AS DECIMAL(10,3)),1) IN (round(CAST(age AS DECIMAL(23,3)),2))",
        "date_trunc(note, TIMESTAMP '2000-01-01') > TIMESTAMP '1999-01-01'",
        "date_bin(INTERVAL '0 days', TIMESTAMP '2000-01-01', TIMESTAMP '1999-01-01') IS NULL",
        "1 / (age - 17) > 0",
        "CAST(note AS INTEGER) > 0",
    ];
    for condition in conditions {
        let sql = format!("SELECT COUNT(*) FROM p WHERE id = 17 AND {condition}");
        let outcomes = [ask(&with, &sql).await, ask(&without, &sql).await];
        let words = outcomes.map(|outcome| match outcome {
            Ok(_) => "answered".to_owned(),
            Err(Error::Incident { .. }) => panic!("{condition}: an incident"),
            Err(error) => error.to_string(),
        });
        assert_eq!(words[0], words[1], "{condition}");
    }
}

#[tokio::test]
async fn one_row_cannot_be_made_to_cost_much() {
    let (curator, _folder) = curator("17,17,hello\n").await;
    let pattern = "regexp_like(note, '([a-b]{1,200}[a-b]?){16}Z')";
    let many: Vec<String> =
        (0..40).map(|i| format!("regexp_like(note, '[a-b]{{1,300}}z{i}')")).collect();
    let five = (1..=5).map(|i| format!("p p{i}")).collect::<Vec<_>>();
    let pairs = (2..=5).map(|i| format!("JOIN {} ON p1.id = p{i}.id", five[i - 1]));
    for sql in [
        format!("SELECT COUNT(*) FROM p WHERE {pattern}"),
        format!("SELECT COUNT(*) FROM p WHERE {}", many.join(" OR ")),
        "SELECT COUNT(*) FROM p JOIN v a ON TRUE JOIN v b ON TRUE JOIN v c ON TRUE".to_owned(),
        "SELECT COUNT(*) FROM p JOIN v a ON p.age = a.tens JOIN v b ON p.age = b.tens \
         JOIN v c ON TRUE JOIN v d ON p.age = d.tens"
            .to_owned(),
        format!("SELECT COUNT(*) FROM p p1 {}", pairs.collect::<Vec<_>>().join(" ")),
    ] {
        assert!(matches!(ask(&curator, &sql).await, Err(Error::Refused(_))), "{sql}");
    }
    // What is ordinary is answered.
    for sql in [
        "SELECT COUNT(*) FROM p WHERE note ~ '^n[0-9]+$' AND note ~* '\\w+'",
        "SELECT COUNT(*) FROM p JOIN v a ON p.age = a.x JOIN v b ON p.age = b.tens",
        "SELECT COUNT(*) FROM p JOIN v ON p.age BETWEEN v.x AND v.x + 9",
        "SELECT COUNT(*) FROM p a JOIN p b ON a.id = b.id JOIN p c ON a.id = c.id",
    ] {
        ask(&curator, sql).await.unwrap();
    }
    // Texts that are too long together are NULL before any room is made for them.
    let times = vec!["note"; 1900].join(", ");
    let sql = format!("SELECT COUNT(concat({times})) FROM p WHERE id = 17");
    assert_eq!(ask(&curator, &sql).await.unwrap(), 0.0);
}
