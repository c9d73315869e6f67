//! A person's own sums and means are compared with the numbers that they are made of: no grid shows.

use super::asking::{policy, row, rows, session};

/// 300 people with one amount each, and 300 with two.
fn amounts() -> String {
    let amounts = ["19.99", "49.90", "9.95", "100.10"];
    let once = (0..300).map(|i| format!("{i},{}", amounts[i % 4]));
    let twice = (300..600).flat_map(|i| ["19.99", "49.90"].map(|amount| format!("{i},{amount}")));
    rows(once.chain(twice))
}

#[tokio::test]
async fn a_sum_of_one_number_is_that_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(1e8, "v = { type = \"real\", bounds = [0, 1000] }", false);
    let mut session = session(&policy, folder.path(), &amounts(), 2).await;
    let person = "SELECT COUNT(*) AS n FROM (SELECT id FROM t GROUP BY id HAVING";
    let rows = "SELECT COUNT(*) AS n FROM (SELECT v,";
    for (sql, truth) in [
        (format!("{person} SUM(v) >= 100.10) s"), 75.0),
        (format!("{person} SUM(v) <= 9.95) s"), 75.0),
        (format!("{person} SUM(v) <= 19.99) s"), 150.0),
        (format!("{person} SUM(v) <= 49.90) s"), 225.0),
        (format!("{person} SUM(v) = 69.89) s"), 300.0),
        (format!("{person} AVG(v) >= 100.10) s"), 75.0),
        (format!("{rows} AVG(v) OVER (PARTITION BY id) AS m FROM t) s WHERE v > m"), 300.0),
        (format!("{rows} SUM(v) OVER (PARTITION BY id) AS m FROM t) s WHERE v = m"), 300.0),
        (
            format!("{rows} SUM(v) OVER (PARTITION BY id ORDER BY v) AS m FROM t) s WHERE v <> m"),
            300.0,
        ),
    ] {
        let answer = row(&mut session, &sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(answer["n"].parse::<f64>().expect("a number"), truth, "{sql}");
    }
}

/// PostgreSQL reads a sign after a comparison as that of the number.
#[tokio::test]
async fn a_comparison_and_a_sign_need_no_space() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(1e8, "v = { type = \"real\", bounds = [-10, 10] }", true);
    let signed = rows((0..300).map(|i| format!("{i},{}", i % 3 - 1)));
    let mut session = session(&policy, folder.path(), &signed, 1).await;
    for (condition, truth) in [
        ("v>-1", 200.0),
        ("v>=-1", 300.0),
        ("v<>-1", 200.0),
        ("v<+1 AND v>-1 + 0", 100.0),
        ("'>-1' = '>-1' AND\n  v>-1", 200.0),
    ] {
        let sql = format!("SELECT COUNT(*) AS n FROM t WHERE {condition}");
        let answer = row(&mut session, &sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(answer["n"].parse::<f64>().expect("a number"), truth, "{sql}");
    }
}
