//! What one person's rows cost at most: dear expressions lower the limits on rows, or are refused, and ordinary
//! ones change nothing.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use async_trait::async_trait;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon};
use demure_curator::bound::{BoundSpec, Engine, Key, Native, Task};
use demure_curator::policy::Policy;
use demure_curator::{AggregateExplanation, Curator, Incidents, Outcome};
use demure_ledger::{Accounting, Ledger, Limit};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const POLICY: &str = "[budget]\nepsilon = 1e13\nper_query = 1e9\n[tables.t]\nsource = \"t.csv\"\n\
    unit = \"id\"\nmax_groups = 1\nmax_rows_per_group = 100000\n[tables.t.columns]\n\
    id = { type = \"integer\" }\nx = { type = \"integer\", bounds = [0, 100000] }\n\
    note = { type = \"text\" }\n\
    [tables.long]\nsource = \"long.csv\"\nunit = \"id\"\nmax_groups = 1\n\
    max_rows_per_group = 100000\n[tables.long.columns]\nid = { type = \"integer\" }\n\
    x = { type = \"integer\", bounds = [0, 100000] }\nnote = { type = \"text\" }\n\
    [tables.single]\nsource = \"t.csv\"\nunit = \"row\"\n[tables.single.columns]\n\
    id = { type = \"integer\" }\nx = { type = \"integer\", bounds = [0, 100000] }\n\
    note = { type = \"text\" }\n";

/// Rows of the person 7; nine others have one each.
const HERS: u32 = 3_000;

fn write(folder: &Path) {
    // Ten times the length that counts as one row.
    for (name, width) in [("t.csv", 0), ("long.csv", 640)] {
        let mut table = String::from("id,x,note\n");
        for person in 0..10 {
            for row in 0..if person == 7 { HERS } else { 1 } {
                let note = format!("Note {row}");
                writeln!(table, "{person},{row},{note:-<width$}").unwrap();
            }
        }
        std::fs::write(folder.join(name), table).unwrap();
    }
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

/// 10,000 public rows with a text of some 4,000 bytes each.
fn public_texts() -> String {
    let numbers = |name: &str| {
        let values: Vec<String> = (0..100).map(|i| format!("({i})")).collect();
        format!("(VALUES {}) {name}(n)", values.join(", "))
    };
    format!(
        "(SELECT concat(repeat('a', 3990), a.n, '-', b.n) AS s, a.n * 0 AS z FROM {} CROSS JOIN {})",
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
        assert!((64..256).contains(&kept), "{kept}: {sql}");
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
    refusal(&curator, &format!("SELECT COUNT(*) FROM single WHERE {patterns}")).await;
    // Of a person, as many rows as short texts allow; a row whose text is longer than all of these is left out.
    let some = patterns.split(" OR ").take(8).collect::<Vec<_>>().join(" OR ");
    let sql = format!("SELECT COUNT(*) FROM t WHERE {some} OR x < 5000");
    let kept = limit(explained(&curator, &sql).await.work.as_ref()).unwrap();
    assert!((1..160).contains(&kept), "{kept}");
    assert_eq!(count(&curator, &sql).await, i64::from(kept) + 9);
    let long = if kept < 10 { 0 } else { i64::from(kept / 16).max(1) + 9 };
    assert_eq!(count(&curator, &sql.replace("FROM t", "FROM long")).await, long, "{kept}");
}

/// A row counts once for every 64 bytes of its longest text: here ten times. Ten is rounded up to 16, since all rows of a
/// person count as her longest does.
#[tokio::test]
async fn rows_with_long_texts_count_as_several() {
    let (curator, _folder) = curator().await;
    for sql in [
        format!("SELECT COUNT(*) FROM long WHERE {} = 0", dear("note", 10)),
        format!("SELECT SUM(CLAMP(1 + {}, 0, 1)) FROM long", dear("note", 10)),
    ] {
        let kept = limit(explained(&curator, &sql).await.work.as_ref()).unwrap();
        assert_eq!(count(&curator, &sql).await, i64::from(kept / 16) + 9, "{kept}: {sql}");
        let short = sql.replace("FROM long", "FROM t");
        assert_eq!(count(&curator, &short).await, i64::from(kept) + 9, "{kept}: {short}");
    }
    let join =
        "SELECT COUNT(*) FROM long a JOIN long b ON a.id = b.id WHERE a.note <> b.note || 'x'";
    let kept = limit(explained(&curator, join).await.joins.as_ref()).unwrap();
    assert_eq!(count(&curator, join).await, i64::from(kept / 16).pow(2) + 9, "{kept}");
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
            " WHERE left(t0.note, 9) <> 'Note 3' AND t0.x + 2 * t1.x < 1000",
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

/// A join that makes one row of one at most is a join all the same.
#[tokio::test]
async fn dear_expressions_over_a_join_that_multiplies_nothing_have_a_limit() {
    let (curator, _folder) = curator().await;
    let value = dear("t.note", 10);
    let sql = format!(
        "SELECT SUM(CLAMP(1 + {value}, 0, 1)) FROM t JOIN (SELECT 0 AS z) r ON t.x * 0 = r.z"
    );
    let rows = limit(explained(&curator, &sql).await.joins.as_ref()).unwrap();
    assert!(rows < 256, "{rows}");
    assert_eq!(count(&curator, &sql).await, i64::from(rows) + 9);
    let cheap = "SELECT COUNT(*) FROM t JOIN (SELECT 0 AS z) r ON t.x * 0 = r.z";
    assert_eq!(explained(&curator, cheap).await.joins, None);
    assert_eq!(count(&curator, cheap).await, i64::from(HERS) + 9);
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

/// Counts the public rows that protected ones are joined with.
#[derive(Debug)]
struct Watched {
    native: Native,
    state: SessionState,
    rows: Arc<Mutex<Vec<usize>>>,
}

#[async_trait]
impl Engine for Watched {
    async fn prepare(
        &self,
        input: LogicalPlan,
        spec: &BoundSpec,
        key: Key,
    ) -> demure_curator::Result<Task> {
        let mut sources = Vec::new();
        input
            .apply(|node| {
                if let LogicalPlan::TableScan(scan) = node
                    && scan.table_name.table().contains("public")
                {
                    sources.push(source_as_provider(&scan.source)?);
                }
                Ok(TreeNodeRecursion::Continue)
            })
            .unwrap();
        for source in sources {
            let plan = source.scan(&self.state, None, &[], None).await.unwrap();
            let batches = collect(plan, self.state.task_ctx()).await.unwrap();
            let rows = batches.iter().map(|batch| batch.num_rows()).sum();
            self.rows.lock().unwrap().push(rows);
        }
        self.native.prepare(input, spec, key).await
    }
}

/// A curator of the folder's table with another engine.
async fn with_engine(
    folder: &TempDir,
    engine: impl FnOnce(SessionState) -> Box<dyn Engine>,
) -> Arc<Curator> {
    let policy = Policy::parse(POLICY, folder.path()).unwrap();
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(1e13).unwrap(),
        delta: Delta::positive(1e-3).unwrap(),
        neighbours: policy.budget.neighbours,
    };
    let ledger = Ledger::in_memory(limit).unwrap();
    let random = Box::new(SeededForTests::insecure(1));
    let curator = Curator::with_engine(policy, ledger, Incidents::nowhere(), random, engine);
    curator.await.unwrap()
}

async fn watched() -> (Arc<Curator>, Arc<Mutex<Vec<usize>>>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let rows = Arc::default();
    let curator = with_engine(&folder, |state| {
        let (native, rows) = (Native::new(state.clone()), Arc::clone(&rows));
        Box::new(Watched { native, state, rows })
    })
    .await;
    (curator, rows, folder)
}

/// 10,000 public rows: `n` differs, `z` is 0, `g` is one of 100, `e` is NULL.
fn public_numbers() -> String {
    let numbers = |name: &str| {
        let values: Vec<String> = (0..100).map(|i| format!("({i})")).collect();
        format!("(VALUES {}) {name}(n)", values.join(", "))
    };
    format!(
        "(SELECT a.n * 100 + b.n AS n, a.n * 0 AS z, a.n AS g, NULLIF(a.n, a.n) AS e \
         FROM {} CROSS JOIN {})",
        numbers("a"),
        numbers("b")
    )
}

/// A row is compared with every public row that has its key: of equal ones there is one.
#[tokio::test]
async fn a_list_of_equal_public_rows_is_a_list_of_one() {
    let (curator, rows, _folder) = watched().await;
    let public = public_numbers();
    let hers = i64::from(HERS);
    for (from, public_rows, counted) in [
        (format!("t WHERE x * 0 IN (SELECT z FROM {public})"), 1, hers + 9),
        (format!("t WHERE x IN (SELECT g FROM {public})"), 100, 100 + 9),
        (format!("t WHERE x IN (SELECT e FROM {public})"), 0, 0),
        (format!("t p LEFT SEMI JOIN {public} r ON p.x * 0 = r.z"), 1, hers + 9),
        (format!("t p LEFT ANTI JOIN {public} r ON p.x = r.g"), 100, hers - 100),
        // What is NULL fits nothing, but would be compared.
        (format!("t p LEFT SEMI JOIN {public} r ON p.x = r.e"), 0, 0),
        (format!("t p JOIN {public} r ON p.x = r.e"), 0, 0),
    ] {
        let sql = format!("SELECT COUNT(*) FROM {from}");
        let told = explained(&curator, &sql).await;
        assert_eq!(told.work, None, "{sql}");
        assert_eq!(count(&curator, &sql).await, counted, "{sql}");
        assert_eq!(std::mem::take(&mut *rows.lock().unwrap()).last(), Some(&public_rows), "{sql}");
    }
}

/// Where rows with one key differ in what a condition looks at, each pair counts.
#[tokio::test]
async fn pairs_that_a_semi_join_compares_are_counted() {
    let (curator, _folder) = curator().await;
    let public = public_numbers();
    let sql = format!(
        "SELECT COUNT(*) FROM t p LEFT SEMI JOIN {public} r ON p.x * 0 = r.z AND p.x <= r.n"
    );
    let kept = limit(explained(&curator, &sql).await.work.as_ref()).unwrap();
    assert!(kept <= 65_536 / 10_000, "{kept}");
    assert_eq!(count(&curator, &sql).await, i64::from(kept) + 9);
    let sql = "SELECT COUNT(*) FROM t a LEFT SEMI JOIN t b ON a.id = b.id AND a.x <= b.x";
    let kept = limit(explained(&curator, sql).await.work.as_ref()).unwrap();
    assert!((200..=256).contains(&kept), "{kept}");
    // Where nothing but the person matters, one row of hers does.
    let sql = "SELECT COUNT(*) FROM t a LEFT SEMI JOIN t b ON a.id = b.id";
    assert_eq!(explained(&curator, sql).await.work, None);
    assert_eq!(count(&curator, sql).await, i64::from(HERS) + 9);
}

/// Texts that a join repeats are copied, and those that rows are grouped by are looked up.
#[tokio::test]
async fn long_texts_in_joined_rows_are_counted() {
    let (curator, _folder) = curator().await;
    for (value, end, rows) in [
        ("*", "WHERE a.note <> 'x' OR b.x > 3", 256..=256),
        ("*", "WHERE a.note <> b.note", 256..=256),
        ("DISTINCT a.note || b.note", "", 48..=128),
    ] {
        let sql = format!("SELECT COUNT({value}) FROM t a JOIN t b ON a.id = b.id {end}");
        let kept = limit(explained(&curator, &sql).await.joins.as_ref()).unwrap();
        assert!(rows.contains(&kept), "{kept}: {sql}");
    }
    // Public texts too, though every row fits one of them.
    let long = "(SELECT 0 AS z, repeat('a', 4000) AS s)";
    let sql = format!("SELECT COUNT(DISTINCT r.s) FROM t JOIN {long} r ON t.x * 0 = r.z");
    let kept = limit(explained(&curator, &sql).await.joins.as_ref()).unwrap();
    assert!(kept < 5_000, "{kept}");
}

/// Each group has a table of its values.
#[tokio::test]
async fn distinct_values_in_many_groups_are_counted() {
    let (curator, _folder) = curator().await;
    let sql = |keys: &str| {
        format!(
            "SELECT SUM(CLAMP(n + m, 0, 5)) FROM (SELECT {keys}, COUNT(DISTINCT x % 7) AS n, \
             COUNT(DISTINCT x + 1) AS m FROM t GROUP BY {keys})"
        )
    };
    assert_eq!(explained(&curator, &sql("id")).await.work, None);
    let kept = limit(explained(&curator, &sql("id, x")).await.work.as_ref()).unwrap();
    assert!((1_000..2_100).contains(&kept), "{kept}");
}

/// Where a function fails on a row, that row is computed anew, alone.
#[tokio::test]
async fn functions_that_may_fail_are_counted() {
    let (curator, _folder) = curator().await;
    let join = "t a JOIN t b ON a.id = b.id";
    for (value, rows) in [
        ("a.x + b.x", 200..257),
        ("power(a.x + b.x, 2)", 200..257),
        ("substr(CAST(a.x + b.x AS VARCHAR), 1, 2)", 100..257),
        ("power(a.x + b.x, -1)", 32..50),
        ("substr(CAST(a.x + b.x AS VARCHAR), 1, b.x)", 32..50),
    ] {
        let sql = format!("SELECT COUNT({value}) FROM {join}");
        let kept = limit(explained(&curator, &sql).await.joins.as_ref()).unwrap();
        assert!(rows.contains(&kept), "{kept}: {sql}");
    }
}

/// Reads the rows, and then changes their file.
#[derive(Debug)]
struct Changing {
    native: Native,
    file: std::path::PathBuf,
}

#[async_trait]
impl Engine for Changing {
    async fn prepare(
        &self,
        input: LogicalPlan,
        spec: &BoundSpec,
        key: Key,
    ) -> demure_curator::Result<Task> {
        let file = self.file.clone();
        let task = self.native.prepare(input, spec, key).await?;
        Ok(task.within(|reading| async move {
            let exact = reading.await?;
            std::fs::write(file, "id,x,note\n1,1,another\n").unwrap();
            Ok(exact)
        }))
    }
}

#[tokio::test]
async fn an_error_after_the_debit_says_that_it_stays_spent() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let file = folder.path().join("t.csv");
    let curator = with_engine(&folder, |state| {
        Box::new(Changing { native: Native::new(state), file: file.clone() })
    })
    .await;
    let error = curator.session("tester").run("SELECT COUNT(*) FROM t").await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("its files have changed"), "{text}");
    assert!(text.ends_with("what this query cost stays spent"), "{text}");
    assert!(curator.ledger().balance().unwrap().spent.main >= 1e9 * (1.0 - 1e-9));
    // Before the debit nothing is spent, and nothing else is said.
    let error = curator.session("tester").run("SELECT COUNT(x) FROM t").await.unwrap_err();
    assert!(!error.to_string().contains("stays spent"), "{error}");
}
