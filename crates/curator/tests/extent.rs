//! Statements that are short and stand for much: refused, before anything is planned or overflows.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

use demure_curator::policy::Policy;
use demure_curator::{Curator, Error, Outcome};
use std::fmt::Write as _;
use std::sync::Arc;

const POLICY: &str = "[budget]\nepsilon = 1e13\nper_query = 1e9\n\
    [tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n\
    [tables.t.columns]\nid = { type = \"integer\" }\ns = { type = \"text\" }\n\
    [tables.r]\nsource = \"r.csv\"\npublic = true\n";

fn chain(part: &str, between: &str, times: usize) -> String {
    vec![part; times].join(between)
}

/// `levels` table expressions, each made of the one before.
fn steps(first: &str, step: impl Fn(&str) -> String, levels: usize) -> String {
    let mut sql = format!("WITH a0 AS ({first})");
    for i in 1..=levels {
        let below = format!("a{}", i - 1);
        write!(sql, ", a{i} AS ({})", step(&below)).unwrap();
    }
    sql
}

/// As the command line has it.
fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).thread_stack_size(8 << 20).enable_all().build().unwrap()
}

async fn curator(folder: &std::path::Path) -> Arc<Curator> {
    let people: String = (0..40).map(|i| format!("{i},s{i}\n")).collect();
    std::fs::write(folder.join("t.csv"), format!("id,s\n{people}")).unwrap();
    let numbers: String = (0..20).map(|i| format!("{i}\n")).collect();
    std::fs::write(folder.join("r.csv"), format!("v\n{numbers}")).unwrap();
    Curator::in_memory(Policy::parse(POLICY, folder).unwrap()).await.unwrap()
}

#[test]
fn what_would_overflow_or_never_end_is_refused() {
    let doubled = |below: &str| format!("SELECT x.v FROM {below} x JOIN {below} y ON x.v = y.v");
    let copied = |below: &str| format!("SELECT * FROM {below} UNION ALL SELECT * FROM {below}");
    let longer = |below: &str| format!("SELECT y{} AS y FROM {below}", "||'a'".repeat(60));
    let secret = "SELECT s AS y FROM t WHERE s = 's7'";
    let squared = |below: &str| format!("SELECT v * v AS v FROM {below}");
    let named = |below: &str| {
        format!("SELECT x.v FROM public.{below} x JOIN datafusion.public.{below} y ON x.v = y.v")
    };
    let filled = |below: &str| format!("SELECT coalesce(nullif(s, 'a'), 'b') AS s FROM {below}");
    let columns: Vec<String> = (0..30).map(|i| format!("v + {i}")).collect();
    let refused = [
        format!("{} SELECT COUNT(*) FROM a16", steps("SELECT v FROM r", named, 16)),
        format!("SELECT COUNT(*) FROM (SELECT 1 FROM r GROUP BY CUBE({}))", columns.join(", ")),
        format!("{} SELECT COUNT(*) FROM a26 WHERE v > 0", steps("SELECT v FROM r", squared, 26)),
        format!("{} SELECT COUNT(*) FROM a20 WHERE s > 'c'", steps("SELECT s FROM t", filled, 20)),
        format!(
            "SELECT COUNT(*) FROM t WHERE {}id{} > 0",
            "clamp(".repeat(12),
            ", 0, 1)".repeat(12)
        ),
        "SELECT length(repeat('a0', 1000000000 + v)) FROM r".to_owned(),
        format!("SELECT {}v{} FROM r", "clamp(".repeat(12), ", 0, 1)".repeat(12)),
        format!(
            "SELECT COUNT(*) FROM t WHERE {}id >= 0{}",
            "(".repeat(14),
            " BETWEEN false AND true)".repeat(14)
        ),
        format!(
            "SELECT {}v::text{} FROM r",
            "replace(".repeat(3),
            format!(", 'a', '{}')", "a".repeat(500)).repeat(3)
        ),
        format!(
            "SELECT COUNT(*) FROM t WHERE id IN ({})",
            chain("SELECT v FROM r", " EXCEPT ", 900)
        ),
        format!(
            "SELECT * FROM ({}) UNION ALL SELECT v FROM r",
            chain("SELECT v FROM r", " EXCEPT ", 900)
        ),
        chain("SELECT 1", " EXCEPT ", 1_000),
        format!(
            "SELECT v::text{} FROM (SELECT * FROM r UNION ALL SELECT * FROM r)",
            "||'a'".repeat(2_900)
        ),
        format!("SELECT {} FROM r", chain("v", "+", 2_900)),
        format!("SELECT COUNT(*) FROM t WHERE {}", chain("id = 1", " OR ", 900)),
        format!("{} SELECT v FROM a16", steps("SELECT v FROM r", doubled, 16)),
        format!("{} SELECT COUNT(*) FROM a12", steps("SELECT * FROM t", copied, 12)),
        // Each of them is short; the engine makes one of them all, if some row is left to evaluate it on.
        format!("{} SELECT COUNT(*) FROM a4 WHERE y <> 'b'", steps(secret, longer, 4)),
        format!("{} SELECT COUNT(*) FROM a20 WHERE y <> 'b'", steps(secret, longer, 20)),
        format!("{} SELECT * FROM a11", steps("SELECT v::text AS y FROM r", longer, 11)),
        format!(
            "{} SELECT * FROM a95",
            steps(
                "SELECT v FROM r",
                |b| format!("SELECT v FROM (SELECT v + 1 AS v FROM {b} WHERE v > 0)"),
                95
            )
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let curator = runtime.block_on(curator(folder.path()));
    for sql in refused {
        for sql in [sql.clone(), format!("EXPLAIN PRIVACY {sql}")] {
            let curator = Arc::clone(&curator);
            let asked = runtime.spawn(async move {
                let answer = curator.session("tester").run(&sql).await;
                (sql, answer)
            });
            let (sql, answer) = runtime.block_on(asked).unwrap();
            let start: String = sql.chars().take(60).collect();
            match answer {
                Err(Error::Refused(_)) => {}
                Err(error) => panic!("{start}: {error}"),
                Ok(_) => panic!("{start}: answered"),
            }
        }
    }
    assert_eq!(curator.ledger().balance().unwrap().spent.main, 0.0);
}

#[test]
fn what_people_write_is_answered() {
    let squared = |below: &str| format!("SELECT v * v AS v FROM {below}");
    let next = |below: &str| format!("SELECT v + 1 AS v FROM {below} WHERE v >= 0");
    let summed = |below: &str| {
        format!("SELECT v, COUNT(*) AS n FROM {below} GROUP BY v HAVING COUNT(*) > 0")
    };
    let of_people = |below: &str| format!("SELECT * FROM {below} WHERE id >= 0");
    let answered = [
        "SELECT lpad(v::text, 4, '0'), replace(v::text, '1', 'one') FROM r".to_owned(),
        format!("SELECT COUNT(*) FROM t WHERE id IN ({})", chain("1", ",", 2_600)),
        format!(
            "SELECT CASE {} END FROM (SELECT v AS c, v, CASE {} END AS b FROM r) q",
            "WHEN b > 0 AND v > 0 THEN c ".repeat(15),
            "WHEN v = 0 THEN 0 ".repeat(30)
        ),
        "SELECT v, COUNT(*) FROM r GROUP BY CUBE(v)".to_owned(),
        "SELECT COUNT(*) FROM t WHERE clamp(coalesce(id, 0), 0, 1) > 0".to_owned(),
        format!("{} SELECT COUNT(*) FROM a8 WHERE v > 0", steps("SELECT v FROM r", squared, 8)),
        format!("{} SELECT COUNT(*) FROM a30", steps("SELECT v FROM r", next, 30)),
        format!("{} SELECT COUNT(*) FROM a20", steps("SELECT v FROM r", summed, 20)),
        format!("{} SELECT COUNT(*) FROM a20", steps("SELECT * FROM t", of_people, 20)),
        chain("SELECT COUNT(*) FROM r", " UNION ALL ", 60),
        format!("SELECT COUNT(*) FROM r WHERE v IN ({})", chain("1", ",", 2_500)),
        format!("SELECT COUNT(*) FROM t WHERE {}", chain("id = 1", " OR ", 150)),
        format!("SELECT {} FROM r", chain("v", "+", 190)),
        chain("SELECT v FROM r", " INTERSECT ", 40),
    ];
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let curator = runtime.block_on(curator(folder.path()));
    for sql in answered {
        let start: String = sql.chars().take(60).collect();
        let mut session = curator.session("tester");
        let asked = runtime.spawn(async move { session.run(&sql).await });
        let outcome = runtime.block_on(asked).unwrap();
        assert!(matches!(outcome, Ok(Outcome::Answer(_))), "{start}: {outcome:?}");
    }
}
