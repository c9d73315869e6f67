//! The ε of whole queries, from SQL to answer, measured on neighbouring databases through the
//! public interface: never above what the ledger charged.
//!
//! Every answer is bought anew: the ε asked for differs from run to run by a billionth, so no
//! two prices are the same and the ledger has no answer ready. `DEMURE_EMPIRICAL_SAMPLES=2000`
//! makes a longer run; inside the crate `property::distinguish` draws many more samples of
//! the release alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

use datafusion::arrow::util::display::array_value_to_string;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use demure_curator::policy::Policy;
use demure_curator::{Curator, Incidents, Outcome};
use demure_ledger::{Accounting, Ledger, Limit};
use demure_testkit::falsify::falsify;
use std::sync::Arc;

/// Of all tests here together.
const ALARM: f64 = 1e-6;
/// At most so many comparisons.
const CASES: f64 = 100.0;

/// Persons of `max_rows_per_group` 2 or single rows; the one who differs has four rows at 2,
/// and with two of them decides a median and a mode.
fn tables(person: bool, replace: bool) -> [String; 2] {
    let common = "id,x,k\n1,0,u\n2,0,w\n".to_owned();
    let times = if person { 4 } else { 1 };
    let with = common.clone() + &"9,2,v\n".repeat(times);
    let without = if replace { common + &"9,0,u\n".repeat(times) } else { common };
    [without, with]
}

fn policy(person: bool, replace: bool, epsilon: f64) -> String {
    let unit = if person { "unit = \"id\"\nmax_rows_per_group = 2" } else { "unit = \"row\"" };
    let neighbours = if replace { "replace" } else { "add-remove" };
    format!(
        "[budget]\nepsilon = 1e6\nper_query = {epsilon:?}\nneighbours = \"{neighbours}\"\n\
         [tables.t]\nsource = \"t.csv\"\n{unit}\n[tables.t.columns]\n\
         x = {{ type = \"integer\", bounds = [0, 2] }}\nk = {{ values = [\"u\", \"v\", \"w\"] }}\n"
    )
}

async fn curator(policy: &str, table: &str, seed: u64) -> (Arc<Curator>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let policy = Policy::parse(policy, folder.path()).unwrap();
    let neighbours: Neighbours = policy.budget.neighbours;
    let (epsilon, delta) = (Epsilon::new(1e6).unwrap(), Delta::new(0.0).unwrap());
    let limit = Limit { accounting: Accounting::Pure, epsilon, delta, neighbours };
    let ledger = Ledger::in_memory(limit).unwrap();
    let randomness = Box::new(SeededForTests::insecure(seed));
    let curator = Curator::with(policy, ledger, Incidents::nowhere(), randomness).await.unwrap();
    (curator, folder)
}

/// Asks `n` times; the answers as ordered numbers, and the most that one was charged.
async fn ask(curator: &Arc<Curator>, sql: &str, epsilon: f64, n: usize) -> (Vec<i64>, f64) {
    let mut session = curator.session("tester");
    let (mut answers, mut charged) = (Vec::new(), 0.0f64);
    for i in 0..n {
        let asked = epsilon * (1.0 - 1e-9 * (i + 1) as f64);
        session.settings_mut().epsilon = Some(Epsilon::new(asked).unwrap());
        let Outcome::Answer(answer) = session.run(sql).await.unwrap() else { panic!("no answer") };
        assert!(!answer.repeated);
        charged = charged.max(answer.price.main);
        let text = array_value_to_string(answer.batches[0].column(0), 0).unwrap();
        // Of a mode, whether it is the value of the one who differs.
        let number: f64 = text.parse().unwrap_or(f64::from(text == "v"));
        answers.push((number * 4096.0) as i64);
    }
    (answers, charged)
}

async fn shown(sql: &str, (person, replace): (bool, bool), epsilon: f64, n: usize) -> (f64, f64) {
    let [without, with] = tables(person, replace);
    let policy = policy(person, replace, epsilon);
    let (left, _folder) = curator(&policy, &without, 1).await;
    let (left, charged) = ask(&left, sql, epsilon, n).await;
    let (right, _folder) = curator(&policy, &with, 2).await;
    let (right, also) = ask(&right, sql, epsilon, n).await;
    assert_eq!(charged, also, "the price depends on the data");
    (falsify(&left, &right, 0.0, ALARM / CASES).epsilon, charged)
}

#[test]
fn no_answer_shows_more_than_was_charged() {
    let n = std::env::var("DEMURE_EMPIRICAL_SAMPLES").ok().and_then(|s| s.parse().ok());
    let n = n.unwrap_or(40);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let aggregates = [
        "COUNT(*)",
        "COUNT(x)",
        "COUNT(DISTINCT x)",
        "SUM(x)",
        "AVG(x)",
        "VAR_POP(x)",
        "STDDEV(x)",
        "MIN(x)",
        "MAX(x)",
        "MEDIAN(x)",
        "MODE(k)",
    ];
    for (person, replace) in [(false, false), (false, true), (true, false), (true, true)] {
        for aggregate in aggregates {
            let sql = format!("SELECT {aggregate} FROM t");
            let (shown, charged) = runtime.block_on(shown(&sql, (person, replace), 0.25, n));
            let what = format!("{sql}, person {person}, replace {replace}: {shown} of {charged}");
            assert!(shown <= charged && charged <= 0.25, "{what}");
        }
    }
}

#[test] // the power twin: asked at ε = 8, it shows more than the 0.25 a cheat would charge
fn answers_much_too_clear_are_noticed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for aggregate in ["COUNT(*)", "SUM(x)", "AVG(x)", "MEDIAN(x)", "MODE(k)"] {
        let sql = format!("SELECT {aggregate} FROM t");
        let (shown, charged) = runtime.block_on(shown(&sql, (true, false), 8.0, 120));
        assert!(shown > 0.25 && shown <= charged, "{sql}: {shown} of {charged}");
    }
}
