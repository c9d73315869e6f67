//! How often intervals hold.

use super::asking::{BOUNDED, policy, row, rows, session};
use demure_curator::Outcome;

/// How many of 100 answers hold the truth in the interval of their column `x`.
async fn held(policy: &str, rows: &str, sql: &str, truth: f64) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let mut held = 0;
    for seed in 0..100 {
        let mut session = session(policy, folder.path(), rows, seed).await;
        let row = row(&mut session, sql).await.expect("an answer");
        let end = |name: &str| row[name].parse::<f64>();
        held += usize::from(match (end("x_low"), end("x_high")) {
            (Ok(low), Ok(high)) => low <= truth && truth <= high,
            _ => true, // no interval is claimed
        });
    }
    held
}

/// A count beside an average has noise that is no whole number, and is rounded to one: at ε 5.1 the noise is within
/// ±0.97 in 95 % of all cases, and the rounded count within ±1. The same holds for a sum of integers.

#[tokio::test]
async fn the_interval_of_a_rounded_count_holds_it() {
    let rows = rows((0..300).map(|i| format!("{i},{}", i % 100)));
    for epsilon in [5.1, 2.52] {
        let policy = policy(epsilon, BOUNDED, true);
        let held = held(&policy, &rows, "SELECT COUNT(*) AS x, AVG(v) AS m FROM t", 300.0).await;
        assert!(held >= 90, "ε {epsilon}: {held} of 100 intervals of 95 % hold the count");
    }
}

const REAL: &str = "v = { type = \"real\" }";

/// Values of real columns without bounds are rounded to whole steps of 2^-36. Where people's sums are not many steps, that
/// may change their sum by any factor, and there is no interval.
#[tokio::test]
async fn a_sum_of_values_near_one_step_has_no_interval() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(1.0, REAL, false);
    for (value, known) in [("1.0e-11", false), ("1.0e-6", true)] {
        let rows = rows((0..3000).map(|i| format!("{i},{value}")));
        let mut session = session(&policy, folder.path(), &rows, 1).await;
        let row = row(&mut session, "SELECT SUM(v) AS x FROM t").await.expect("an answer");
        assert_eq!(row["x_low"] != "NULL", known, "{value}: {row:?}");
    }
    let rows = rows((0..3000).map(|i| format!("{i},1.0e-6")));
    let held = held(&policy, &rows, "SELECT SUM(v) AS x FROM t", 3e-3).await;
    assert!(held >= 90, "{held} of 100 intervals of 95 % hold the sum");
}

/// A person's values are added up without being rounded to 32 bits: a deposit of 16,777,223 and a withdrawal of
/// 16,777,222 leave 1.
#[tokio::test]
async fn a_sum_of_cancelling_values_is_within_its_interval() {
    let each = |i: usize| format!("{i},16777223\n{i},-16777222\n{i},{}", i % 41);
    let truth: usize = (0..8000).map(|i| 1 + i % 41).sum();
    let rows = rows((0..8000).map(each));
    let policy = policy(1.0, "v = { type = \"integer\" }", false);
    let held = held(&policy, &rows, "SELECT SUM(v) AS x FROM t", truth as f64).await;
    assert!(held >= 90, "{held} of 100 intervals of 95 % hold the sum");
}

/// The largest of many noised counts has more noise than most, and so has one that a HAVING let through. The answer says
/// so; and it says nothing where rows are chosen by their keys, or all of them are sorted.
#[tokio::test]
async fn rows_that_were_chosen_by_their_noise_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = "v = { type = \"integer\", bounds = [0, 99] }";
    let rows = rows((0..2000).map(|i| format!("{i},{}", i % 100)));
    let mut session = session(&policy(1.0, keys, true), folder.path(), &rows, 1).await;
    let grouped = "SELECT v, COUNT(*) AS x FROM t GROUP BY v";
    for (sql, chosen) in [
        (format!("{grouped} ORDER BY x DESC LIMIT 1"), true),
        (format!("{grouped} HAVING COUNT(*) > 20"), true),
        (format!("SELECT v, 2 * x AS y FROM ({grouped}) WHERE x > 20"), true),
        (format!("{grouped} HAVING v = (SELECT MAX(v) FROM ({grouped}) WHERE x > 0)"), true),
        (format!("{grouped} ORDER BY x DESC"), false),
        (format!("{grouped} HAVING v > 50 ORDER BY v LIMIT 10"), false),
        (format!("SELECT v FROM ({grouped}) ORDER BY x LIMIT 1"), false),
    ] {
        let outcome = session.run(&sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        let Outcome::Answer(answer) = outcome else { panic!("{sql}: no answer") };
        let told = answer.notes.iter().any(|note| note.contains("chosen by their noised"));
        assert_eq!(told, chosen, "{sql}: {:?}", answer.notes);
        let ends = answer.schema.fields().iter().any(|field| field.name().ends_with("_low"));
        assert!(ends || !chosen, "{sql}: no interval");
    }
    // Rows of a DISTINCT ON have no intervals.
    let sql = format!("SELECT DISTINCT ON (v % 2) v, x FROM ({grouped}) ORDER BY v % 2, x DESC");
    if let Ok(row) = row(&mut session, &sql).await {
        assert!(!row.contains_key("x_low"), "{row:?}");
    }
}

/// An average over no rows is NULL, so COALESCE(AVG(v), -1) is -1. What is released for it is a number within the bounds: the
/// interval reaches to both. A sum over no rows is released as noise around 0, so beside 0 its interval is its own.
#[tokio::test]
async fn the_interval_of_a_coalesced_average_of_nothing_holds_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},5")));
    let policy = policy(1.0, BOUNDED, true);
    for of in ["COALESCE(AVG(v), -1)", "LEAST(AVG(v), -1)", "GREATEST(-1, AVG(v))"] {
        let sql = format!("SELECT {of} AS x FROM t WHERE v > 50");
        let held = held(&policy, &rows, &sql, -1.0).await;
        assert!(held >= 90, "{of}: {held} of 100 intervals of 95 % hold the truth");
    }
    let mut session = session(&policy, folder.path(), &rows, 1).await;
    let sql = "SELECT SUM(v) AS x, COALESCE(SUM(v), 0) AS y FROM t";
    let row = row(&mut session, sql).await.expect("an answer");
    assert_eq!((&row["x_low"], &row["x_high"]), (&row["y_low"], &row["y_high"]), "{row:?}");
}
