//! What one person's rows cost at most: dear expressions lower the limits on rows, or are refused, and ordinary
//! ones change nothing.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use datafusion::execution::SessionState;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};
use demure_curator::bound::{Engine, Native};
use demure_curator::policy::Policy;
use demure_curator::{AggregateExplanation, Curator, Incidents, Outcome};
use demure_ledger::{Accounting, Ledger, Limit};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const POLICY: &str = "[budget]\nepsilon = 1e9\nper_query = 1e6\n[tables.t]\nsource = \"t.csv\"\n\
    unit = \"id\"\nmax_groups = 1\nmax_rows_per_group = 100000\n[tables.t.columns]\n\
    id = { type = \"integer\" }\nx = { type = \"integer\", bounds = [0, 100000] }\n\
    note = { type = \"text\" }\n\
    [tables.single]\nsource = \"t.csv\"\nunit = \"row\"\n[tables.single.columns]\n\
    id = { type = \"integer\" }\nx = { type = \"integer\", bounds = [0, 100000] }\n\
    note = { type = \"text\" }\n";

/// Rows of the person 7; nine others have one each.
const HERS: u32 = 3_000;

fn write(folder: &Path) {
    let mut table = String::from("id,x,note\n");
    for person in 0..10 {
        for row in 0..if person == 7 { HERS } else { 1 } {
            writeln!(table, "{person},{row},Note {row}").unwrap();
        }
    }
    std::fs::write(folder.join("t.csv"), table).unwrap();
}

async fn curator() -> (Arc<Curator>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let policy = Policy::parse(POLICY, folder.path()).unwrap();
    (Curator::in_memory(policy).await.unwrap(), folder)
}

async fn count(curator: &Arc<Curator>, sql: &str) -> i64 {
    let Outcome::Answer(answer) = curator.session("tester").run(sql).await.unwrap() else {
        panic!("no answer")
    };
    let column = answer.batches[0].column(0);
    let text = datafusion::arrow::util::display::array_value_to_string(column, 0);
    text.unwrap().parse::<f64>().unwrap().round() as i64
}

async fn explained(curator: &Arc<Curator>, sql: &str) -> AggregateExplanation {
    let mut told = curator.session("tester").explanation(sql).await.unwrap();
    assert_eq!(told.aggregates.len(), 1, "{sql}");
    told.aggregates.remove(0)
}

/// The number in "at most N of a person's rows …".
fn limit(text: Option<&String>) -> Option<u32> {
    let text = text?.strip_prefix("at most ").unwrap();
    Some(text.split(' ').next().unwrap().parse().unwrap())
}

/// `n` long text functions of `text`, one after the other: 0 for every row.
fn dear(text: &str, n: usize) -> String {
    let one = |i: usize| format!("strpos(initcap(reverse(concat({text}, '{i}'))), 'zq')");
    (0..n).map(one).collect::<Vec<_>>().join(" + ")
}

/// 10,000 public rows with a text of 4,000 bytes each.
fn public_texts() -> String {
    let numbers = |name: &str| {
        let values: Vec<String> = (0..100).map(|i| format!("({i})")).collect();
        format!("(VALUES {}) {name}(n)", values.join(", "))
    };
    format!(
        "(SELECT repeat('a', 4000) AS s, a.n * 0 AS z FROM {} CROSS JOIN {})",
        numbers("a"),
        numbers("b")
    )
}

async fn refusal(curator: &Arc<Curator>, sql: &str) -> String {
    let error = curator.session("tester").run(sql).await.unwrap_err();
    let (what, remedy) = error.refusal().unwrap_or_else(|| panic!("{error}"));
    assert!(what.contains("cost so much"), "{what}");
    remedy
}

/// One row of hers, 10,000 public rows, long text functions on each: seconds if she is there.
#[tokio::test]
async fn long_texts_of_many_public_rows_are_refused() {
    let (curator, _folder) = curator().await;
    let public = public_texts();
    for (on, value) in [
        ("p.x * 0 = r.z", format!("CLAMP({}, 0, 1)", dear("p.note || r.s", 10))),
        ("p.x * 0 = r.z", format!("CLAMP({}, 0, 1)", dear("r.s", 1))),
        (&format!("p.x * 0 = r.z AND {} = 0", dear("p.note || r.s", 10)), "1".to_owned()),
    ] {
        let sql = format!("SELECT SUM({value}) FROM t p JOIN {public} r ON {on} WHERE p.id = 7");
        let remedy = refusal(&curator, &sql).await;
        assert!(remedy.contains("fewer public rows"), "{remedy}");
    }
    // In a filter over the join, in a group key, behind a name.
    let join = format!("t p JOIN {public} r ON p.x * 0 = r.z");
    let long = dear("p.note || r.s", 10);
    for sql in [
        format!("SELECT COUNT(*) FROM {join} WHERE p.id = 7 AND {long} = 0"),
        format!("SELECT COUNT(*) FROM {join} WHERE p.id = 7 GROUP BY {long}"),
        format!("SELECT COUNT(y) FROM (SELECT {long} AS y FROM {join} WHERE p.id = 7)"),
        format!("SELECT COUNT(*) FILTER (WHERE {long} = 0) FROM {join}"),
        format!("SELECT COUNT(*) FROM t p LEFT SEMI JOIN {public} r ON {long} = r.z"),
    ] {
        refusal(&curator, &sql).await;
    }
    // The same join with what costs little is answered: 6 of her rows, 10,000 times each.
    let cheap = format!("SELECT COUNT(*) FROM {join} WHERE p.x + r.z < 100000");
    assert_eq!(limit(explained(&curator, &cheap).await.joins.as_ref()), Some(6));
    assert_eq!(count(&curator, &cheap).await, (6 + 9) * 10_000);
}

/// Each match that is counted may look at all the rest of the text: 8 million steps on one row.
#[tokio::test]
async fn matches_are_counted_in_short_texts_alone() {
    let (curator, _folder) = curator().await;
    let text = format!("CASE WHEN id = 7 THEN '{}' ELSE '' END", "A".repeat(4_000));
    let sql = |text: &str| {
        format!("SELECT SUM(CLAMP(regexp_count({text}, '.*[^A-M]|[A-Z]'), 0, 1)) FROM t")
    };
    refusal(&curator, &sql(&text)).await;
    curator.session("tester").run(&sql("left(note, 20)")).await.unwrap();
}

/// Nothing is multiplied, but she has many rows, and each costs much.
#[tokio::test]
async fn dear_expressions_limit_rows_without_joins() {
    let (curator, _folder) = curator().await;
    let dear = dear("note", 10);
    for (sql, others) in [
        (format!("SELECT SUM(CLAMP(1 + {dear}, 0, 1)) FROM t"), 9),
        (format!("SELECT SUM(CLAMP(1 + {dear}, 0, 1)) FROM t WHERE id = 7"), 0),
        (format!("SELECT COUNT(*) FROM t WHERE {dear} = 0"), 9),
        (format!("SELECT COUNT(*) FROM t WHERE {dear} = 0 AND id = 7"), 0),
        (format!("SELECT COUNT(y) FROM (SELECT id, {dear} AS y FROM t) WHERE y = 0"), 9),
        (
            format!(
                "SELECT SUM(CLAMP(n, 0, 5000)) FROM (SELECT id, COUNT({dear}) AS n FROM t GROUP BY id)"
            ),
            9,
        ),
    ] {
        let told = explained(&curator, &sql).await;
        let kept = limit(told.work.as_ref()).unwrap_or_else(|| panic!("no limit: {sql}"));
        assert!((1..64).contains(&kept), "{kept}: {sql}");
        assert_eq!(count(&curator, &sql).await, i64::from(kept) + others, "{sql}");
        // Cheap filters come first, wherever they are written.
        let few =
            format!("{sql}{}", if sql.contains("WHERE") { " AND x < 5" } else { " WHERE x < 5" });
        if !sql.contains("(SELECT") {
            assert_eq!(count(&curator, &few).await, 5 + others, "{few}");
        }
    }
    // Where the unit is a row, one costs what it costs.
    let single = format!("SELECT COUNT(*) FROM single WHERE {dear} = 0");
    assert_eq!(explained(&curator, &single).await.work, None);
    assert_eq!(count(&curator, &single).await, i64::from(HERS) + 9);
    // More than one row may take.
    let patterns = (0..40).map(|i| format!("regexp_like(note, '([a-z]{{1,9}}[0-9]?){{1,9}}{i}')"));
    let patterns = patterns.collect::<Vec<_>>().join(" OR ");
    for table in ["t", "single"] {
        refusal(&curator, &format!("SELECT COUNT(*) FROM {table} WHERE {patterns}")).await;
    }
}

#[tokio::test]
async fn ordinary_statements_keep_their_limits() {
    let (curator, _folder) = curator().await;
    let join = |n: usize| {
        let one = |i: usize| format!(" JOIN t t{i} ON t{i}.id = t0.id");
        format!("t t0{}", (1..n).map(one).collect::<String>())
    };
    for (tables, rows) in [(2, 256), (3, 40), (4, 16)] {
        for end in [
            "",
            " WHERE t0.x > 3 AND t1.x BETWEEN 1 AND 9 AND t0.note = 'Note 3'",
            " WHERE lower(t0.note) LIKE 'note%' AND t1.x IN (1, 2, 3) AND t0.x <> t1.x",
            " WHERE t0.note <> t1.note AND t0.x + 2 * t1.x < 1000",
        ] {
            let sql = format!("SELECT COUNT(*) FROM {}{end}", join(tables));
            let told = explained(&curator, &sql).await;
            assert_eq!((limit(told.joins.as_ref()), told.work), (Some(rows), None), "{sql}");
        }
        let sql = format!("SELECT AVG(CLAMP(t0.x - t1.x, 0, 10)) FROM {}", join(tables));
        let told = explained(&curator, &sql).await;
        assert_eq!((limit(told.joins.as_ref()), told.work), (Some(rows), None), "{sql}");
    }
    for sql in [
        "SELECT COUNT(*) FROM t",
        "SELECT AVG(x), COUNT(DISTINCT note) FROM t WHERE x % 3 = 1 OR sqrt(x) > 7",
        "SELECT COUNT(*) FROM t WHERE upper(note) LIKE '%NOTE%' AND length(note) > 3",
        "SELECT COUNT(*) FROM t WHERE regexp_like(note, '^Note [0-9]+$')",
        "SELECT SUM(CASE WHEN x < 10 THEN 1 WHEN x < 100 THEN 2 WHEN x < 1000 THEN 3 ELSE 4 END) FROM t",
    ] {
        let told = explained(&curator, sql).await;
        assert_eq!((told.joins, told.work), (None, None), "{sql}");
    }
}

#[tokio::test]
async fn dear_expressions_over_joins_lower_the_limit() {
    let (curator, _folder) = curator().await;
    let join = "t a JOIN t b ON a.id = b.id";
    let mut before = 256;
    for n in [1, 4, 16] {
        let value = dear("a.note || b.note", n);
        let sql = format!("SELECT SUM(CLAMP(1 + {value}, 0, 1)) FROM {join}");
        let told = explained(&curator, &sql).await;
        let rows = limit(told.joins.as_ref()).unwrap();
        assert!(rows < before, "{rows}: {sql}");
        assert_eq!(count(&curator, &sql).await, i64::from(rows).pow(2) + 9, "{sql}");
        before = rows;
    }
}

/// The branches of a union add up.
#[tokio::test]
async fn branches_of_a_union_share_the_rows_of_a_person() {
    let (curator, _folder) = curator().await;
    for (branches, rows) in [(1usize, 256), (2, 181), (10, 80), (40, 40)] {
        let one = "SELECT a.x FROM t a JOIN t b ON a.id = b.id";
        let union = vec![one; branches].join(" UNION ALL ");
        let sql = format!("SELECT COUNT(*) FROM ({union})");
        let told = explained(&curator, &sql).await;
        assert_eq!(limit(told.joins.as_ref()), Some(rows), "{branches}");
        let made = branches as i64 * (i64::from(rows).pow(2) + 9);
        assert!(branches as i64 * i64::from(rows).pow(2) <= 65_536);
        assert_eq!(count(&curator, &sql).await, made, "{branches}");
    }
    // Without joins nothing is multiplied.
    let sql = "SELECT COUNT(*) FROM (SELECT x FROM t UNION ALL SELECT x FROM t)";
    assert_eq!(count(&curator, sql).await, 2 * (i64::from(HERS) + 9));
}

/// If the size of a file decided on the plan, one person's row could.
#[tokio::test]
async fn how_many_threads_read_follows_from_the_policy() {
    let mut found = Vec::new();
    for (rows, bytes) in
        [("", 100), ("", 5 << 20), ("rows = 50000\n", 100), ("rows = 50000\n", 5 << 20)]
    {
        let folder = tempfile::tempdir().unwrap();
        let table = format!("id\n{}", "1234567\n".repeat(bytes / 8));
        std::fs::write(folder.path().join("t.csv"), table).unwrap();
        let text = format!(
            "[budget]\nepsilon = 1.0\n[tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n{rows}"
        );
        let policy = Policy::parse(&text, folder.path()).unwrap();
        let limit = Limit {
            accounting: Accounting::Pure,
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: Delta::positive(1e-3).unwrap(),
            neighbours: policy.budget.neighbours,
        };
        let ledger = Ledger::in_memory(limit).unwrap();
        let engine = |state: SessionState| {
            let options = state.config().options();
            let file = options.optimizer.repartition_file_min_size;
            found.push((options.execution.target_partitions, file));
            Box::new(Native::new(state)) as Box<dyn Engine>
        };
        let random = Box::new(SeededForTests::insecure(1));
        Curator::with_engine(policy, ledger, Incidents::nowhere(), random, engine).await.unwrap();
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[2], found[3]);
    assert_eq!((found[2].0, found[0].1), (1, 0));
}
