//! Rounding as in PostgreSQL: floats to the even number on a tie, decimals away from zero.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "answers/asking.rs"]
mod asking;

use asking::{BOUNDED, policy, row, rows, session};

/// PostgreSQL rounds a float's ties to the even number, as `v::int` does here: 2.5 is 2, and -2.5 is -2.
#[tokio::test]
async fn round_of_a_float_takes_ties_to_even() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},2.5")));
    let policy = policy(1e8, "v = { type = \"real\", bounds = [-10, 10] }", true);
    let mut session = session(&policy, folder.path(), &rows, 1).await;
    let sql = "SELECT COUNT(*) FILTER (WHERE ROUND(v) = 2) AS a, COUNT(*) FILTER (WHERE v::int = 2) AS b, \
               round(-2.5::float8) AS c, round(2.5e0::float8) AS d FROM t";
    let row = row(&mut session, sql).await.expect("an answer");
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| row[name].parse::<f64>().expect(name));
    assert_eq!([a, b, c, d], [300.0, 300.0, -2.0, 2.0], "PostgreSQL 15 has 300, 300, -2, 2");
}

/// In PostgreSQL, a number that is written with a point is a decimal beside an integer, too, and decimals are rounded with
/// ties away from zero: `(5 / 2.0)::int` is 3. Here it is a float, whose ties go to the even number. The constant is
/// right; the same over a column of integers is not.
#[tokio::test]
async fn an_integer_column_beside_a_decimal_rounds_as_in_postgresql() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = rows((0..300).map(|i| format!("{i},5")));
    let mut session = session(&policy(1e8, BOUNDED, true), folder.path(), &rows, 1).await;
    let sql = "SELECT (5 / 2.0)::int AS a, COUNT(*) FILTER (WHERE (v / 2.0)::int = 3) AS b, \
               COUNT(*) FILTER (WHERE (v * 0.5)::int = 3) AS c FROM t";
    let row = row(&mut session, sql).await.expect("an answer");
    assert_eq!(["a", "b", "c"].map(|name| row[name].as_str()), ["3", "300", "300"]);
}
