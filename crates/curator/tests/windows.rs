//! The same questions through the engine that only speaks SQL: bounding by window functions.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use datafusion::arrow::util::pretty::pretty_format_batches;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_curator::bound::{Engine, Native, Windows};
use demure_curator::policy::Policy;
use demure_curator::{Curator, Incidents, Outcome};
use demure_ledger::{Accounting, Ledger, Limit};
use std::fmt::Write as _;

const POLICY: &str = r#"
[budget]
epsilon = 1e6
per_query = 1e4
[tables.t]
source = "t.csv"
unit = "id"
max_groups = 3
max_rows_per_group = 4
[tables.t.columns]
id = { type = "integer" }
k = { values = ["a", "b", "c"] }
x = { type = "integer", bounds = [0, 10] }
"#;

/// The answer at an ε at which the noise is next to nothing.
fn answer(sql: &str, windows: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("id,k,x\n");
    for i in 0..60 {
        // Nobody has more rows or groups than are allowed, so nothing is dropped by either.
        writeln!(table, "{},{},{}", i / 3, ["a", "b", "c"][i % 3], i % 11).unwrap();
    }
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let policy = Policy::parse(POLICY, folder.path()).unwrap();
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(1e6).unwrap(),
        delta: Delta::ZERO,
        neighbours: Neighbours::AddRemove,
    };
    let ledger = Ledger::in_memory(limit).unwrap();
    let randomness = Box::new(SeededForTests::insecure(1));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let engine = |state| -> Box<dyn Engine> {
            if windows { Box::new(Windows::new(state)) } else { Box::new(Native::new(state)) }
        };
        let incidents = Incidents::nowhere();
        let curator = Curator::with_engine(policy, ledger, incidents, randomness, engine);
        let mut session = curator.await.unwrap().session("test");
        let Outcome::Answer(answer) = session.run(sql).await.unwrap() else { panic!("no answer") };
        pretty_format_batches(&answer.batches).unwrap().to_string()
    })
}

#[test]
fn both_engines_give_the_same_answers_where_nothing_is_dropped() {
    for sql in [
        "SELECT COUNT(*), COUNT(DISTINCT id), SUM(x) FROM t",
        "SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k",
        "SELECT COUNT(DISTINCT x), MODE(k), MEDIAN(x) FROM t WHERE x < 9",
        "SELECT a.k, COUNT(*) FROM t a JOIN t b ON a.id = b.id GROUP BY a.k",
        "SELECT COUNT(*) FROM t WHERE id IN (SELECT id FROM t WHERE x > 5)",
    ] {
        assert_eq!(answer(sql, true), answer(sql, false), "{sql}");
    }
}
