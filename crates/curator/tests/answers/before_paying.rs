//! What can be known to be wrong before anything is bought costs nothing.

use super::asking::{BOUNDED, policy, row, rows, session};

/// `demure.intervals` adds columns `…_low` and `…_high`, under a name that the statement does not have.
#[tokio::test]
async fn an_end_has_a_name_that_no_column_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},{}", i % 100)));
    let mut session = session(&policy(1.0, BOUNDED, true), folder.path(), &rows, 1).await;
    let sql = "SELECT COUNT(*) AS n, SUM(v) AS n_low FROM t";
    let row = row(&mut session, sql).await.expect("an answer");
    let mut names: Vec<&str> = row.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["n", "n_high", "n_low", "n_low_2", "n_low_high", "n_low_low"]);
}

/// Constants on which a function fails are refused before anything is bought: docs/sql.md says so.
#[tokio::test]
async fn failing_constants_beside_a_release_cost_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},{}", i % 100)));
    let mut session = session(&policy(1.0, BOUNDED, true), folder.path(), &rows, 1).await;
    let mut paid = Vec::new();
    for constant in [
        "make_date(2024, 13, 1)",
        "to_date('2024-13-05', 'YYYY-MM-DD')",
        "width_bucket(1.0, 0, 0, 5)",
        "regexp_replace('a', '(', 'b')",
        "(99999999999)::int",
        "1 / 0",
    ] {
        let asked = row(&mut session, &format!("SELECT COUNT(*), {constant} AS c FROM t")).await;
        if asked.is_err_and(|text| text.contains("stays spent")) {
            paid.push(constant);
        }
    }
    for sql in ["SELECT COUNT(*) FROM t HAVING 1 / 0 > 1", "SELECT COUNT(*) FROM t LIMIT 1 / 0"] {
        if row(&mut session, sql).await.is_err_and(|text| text.contains("stays spent")) {
            paid.push(sql);
        }
    }
    assert!(paid.is_empty(), "paid for, and not answered: {paid:?}");
}

/// A branch that a constant makes needless is not computed, as in PostgreSQL.
#[tokio::test]
async fn constants_that_are_not_needed_do_not_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},{}", i % 100)));
    let mut session = session(&policy(1.0, BOUNDED, true), folder.path(), &rows, 1).await;
    for sql in [
        "SELECT CASE WHEN 1 = 2 THEN 1 / 0 ELSE COUNT(*) END AS c FROM t",
        "SELECT COALESCE(1, 1 / 0) AS c, COUNT(*) AS n FROM t",
        "SELECT COUNT(*) AS n FROM t HAVING false AND 1 / 0 > COUNT(*)",
    ] {
        let asked = row(&mut session, sql).await;
        assert!(asked.is_ok() || asked == Err("no rows".to_owned()), "{sql}: {asked:?}");
    }
}

/// The engine takes SIMILAR TO for a regular expression that may match anywhere, so it is refused.
#[tokio::test]
async fn similar_to_is_refused_before_anything_is_bought() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},5")));
    let mut session = session(&policy(1.0, BOUNDED, true), folder.path(), &rows, 1).await;
    for sql in [
        "SELECT 'abc' SIMILAR TO '%b%' AS a",
        "SELECT COUNT(*), 'abc' NOT SIMILAR TO 'a' AS a FROM t",
        "SELECT COUNT(*) FROM t HAVING COUNT(*)::text SIMILAR TO '1%'",
    ] {
        let refused = row(&mut session, sql).await.expect_err(sql);
        assert!(refused.contains("SIMILAR TO is not available"), "{sql}: {refused}");
        assert!(!refused.contains("stays spent"), "{sql}: {refused}");
    }
}

/// A date that is in no calendar is NULL, not a number that no client can show as a date.
#[tokio::test]
async fn a_date_that_does_not_fit_is_null() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},5")));
    let mut session = session(&policy(1.0, BOUNDED, true), folder.path(), &rows, 1).await;
    for moved in ["+ 2000000000", "- 2000000000", "+ 9000000000000000000"] {
        let sql = format!("SELECT date '2024-01-01' {moved} AS d");
        let asked = row(&mut session, &sql).await;
        let shown = asked.map_or_else(|_| "NULL".to_owned(), |row| row["d"].clone());
        assert_eq!(shown, "NULL", "{sql}");
    }
}
