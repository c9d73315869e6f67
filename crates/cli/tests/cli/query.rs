//! `demure query` and `demure explain`: answers, formats, the budget, refusals, and that
//! nothing protected is repeated.

use super::{Run, directory, run};
use datafusion::arrow::ipc::reader::FileReader;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;

/// A protected value that must appear nowhere.
pub(crate) const CANARY: &str = "31337";

/// A folder with 400 people, one of whom holds the canary, and a policy of ε 2.
pub(crate) fn people(name: &str) -> String {
    let folder = directory().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut rows = String::from("id,age,city,income,note\n");
    for id in 0..400 {
        let income = if id == 77 { CANARY.to_owned() } else { (id * 10).to_string() };
        writeln!(rows, "{id},{},{},{income},{CANARY}x", 20 + id % 50, ["A", "B"][id % 2]).unwrap();
    }
    std::fs::write(folder.join("people.csv"), rows).unwrap();
    let policy = r#"
[budget]
epsilon = 2.0
delta = 1e-6
per_query = 0.5
[tables.people]
source = "people.csv"
unit = "id"
max_rows_per_group = 1
[tables.people.columns]
id = { type = "integer", nullable = false }
age = { type = "integer", bounds = [0, 120], nullable = false }
city = { values = ["A", "B"], nullable = false }
income = { bounds = [0, 5000] }
"#;
    std::fs::write(folder.join("people.toml"), policy).unwrap();
    folder.join("people.toml").display().to_string()
}

/// Runs `demure query POLICY SQL …`; whatever comes of it, the canary does not.
fn query(policy: &str, sql: &str, more: &[&str]) -> Run {
    let ran = run(&[&["query", policy, sql], more].concat());
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{}{}", ran.out, ran.err);
    ran
}

const BY_CITY: &str = "SELECT city, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY city";

#[test]
fn an_answer_is_a_table_and_says_its_cost() {
    let policy = people("query-table");
    let ran = query(&policy, BY_CITY, &["--intervals"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ran.out);
    assert!(lines[0].starts_with("city"));
    assert!(lines[2].starts_with('A') && lines[3].starts_with('B'));
    assert!(lines[2].matches(" ± ").count() == 2, "{}", ran.out);
    assert!(ran.err.contains("cost ε 0.5; left ε 1.5 of 2"), "{}", ran.err);
    assert!(ran.err.contains("count(*): ± "), "{}", ran.err);
    // Without --intervals it was bought already, and shows no ±.
    let plain = query(&policy, BY_CITY, &[]);
    assert!(!plain.out.contains('±'), "{}", plain.out);
    assert!(plain.err.contains("cost nothing: this was bought before; left ε 1.5"));
    // Keys that are not public cost something though no column is noised.
    let keys = query(&policy, "SELECT DISTINCT income FROM people", &[]);
    assert!(keys.err.contains("cost ε 0.5, δ "), "{}", keys.err);
    let public = query(&policy, "SELECT DISTINCT city FROM people", &[]);
    assert!(public.err.contains("cost nothing; left ε 1 "), "{}", public.err);
}

#[test]
fn the_budget_is_kept_between_runs_and_ends_in_a_refusal() {
    let policy = people("query-budget");
    for left in ["1.5", "1", "0.5", "0"] {
        let sql = format!("SELECT COUNT(*) FROM people WHERE age > {left}");
        let ran = query(&policy, &sql, &[]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains(&format!("left ε {left} of 2")), "{}", ran.err);
    }
    let refused = query(&policy, "SELECT COUNT(*) FROM people", &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(refused.err.starts_with("refused: this query costs ε 0.5"), "{}", refused.err);
    assert!(refused.err.contains("\nhint: "), "{}", refused.err);
    // What was bought is still free.
    let again = query(&policy, "SELECT COUNT(*) FROM people WHERE age > 1", &[]);
    assert_eq!(again.code, Some(0), "{}", again.err);
}

#[test]
fn the_ledger_shows_what_was_asked_and_what_came_of_it() {
    let policy = people("query-log");
    let sql = "SELECT city, COUNT(*) AS n -- \u{1b}[2J\nFROM people\n\tGROUP BY city";
    assert_eq!(query(&policy, sql, &["--epsilon", "0.25", "--as", "ana"]).code, Some(0));
    // A repeat and a refusal cost nothing and leave nothing.
    assert_eq!(query(&policy, sql, &["--epsilon", "0.25", "--as", "ana"]).code, Some(0));
    assert_eq!(query(&policy, "SELECT id FROM people", &["--as", "ana"]).code, Some(1));
    // Another analyst writes it in another way, and pays for being shown the answer.
    let other = "SELECT COUNT(*) AS n, city FROM people GROUP BY 2";
    assert_eq!(query(&policy, other, &["--epsilon", "0.25", "--as", "ben"]).code, Some(0));
    let log = run(&["budget", "log", &policy]);
    assert_eq!(log.code, Some(0), "{}", log.err);
    assert!(log.out.contains("ε 0.25  answered\n"), "{}", log.out);
    let written = "          SELECT city, COUNT(*) AS n -- \u{fffd}[2J\n          FROM people\n              \
                   GROUP BY city\n          -- demure.epsilon = 0.25\n";
    assert_eq!(log.out.matches(written).count(), 1, "{}", log.out);
    assert_eq!(log.out.matches(other).count(), 1, "{}", log.out);
    assert!(log.out.contains("bought by somebody else"), "{}", log.out);
    let json = run(&["budget", "log", &policy, "--json", "--who", "ana"]);
    let log: Value = serde_json::from_str(&json.out).unwrap();
    let debit = &log["entries"][0];
    assert_eq!((&debit["kind"], &debit["outcome"]), (&"reserve".into(), &"answered".into()));
    assert_eq!((&debit["asked"]["sql"], &debit["asked"]["complete"]), (&sql.into(), &true.into()));
    assert!(log["entries"].as_array().unwrap().iter().all(|entry| entry["who"] == "ana"));
}

#[test]
fn refusals_are_exit_code_1_with_a_hint_and_cost_nothing() {
    let policy = people("query-refused");
    for (sql, more) in [
        ("SELECT * FROM people", &[][..]),
        ("SELECT income FROM people LIMIT 1", &[]),
        ("SELECT SUM(note) FROM people", &[]),
        ("SELECT COUNT(*) FROM people", &["--epsilon", "50"]),
        ("DROP TABLE people", &[]),
    ] {
        let ran = query(&policy, sql, more);
        assert_eq!(ran.out, "", "{sql}");
        assert!(matches!(ran.code, Some(1 | 2)), "{sql}: {}", ran.err);
        assert!(ran.err.contains("hint: "), "{sql}: {}", ran.err);
        if ran.code == Some(1) {
            assert!(ran.err.starts_with("refused: "), "{sql}: {}", ran.err);
        }
    }
    let rows = query(&policy, "SELECT * FROM people", &[]);
    assert_eq!(rows.code, Some(1), "{}", rows.err);
    let first = query(&policy, "SELECT COUNT(*) FROM people", &["--epsilon", "0.25"]);
    assert!(first.err.contains("left ε 1.75 of 2"), "{}", first.err);
}

#[test]
fn mistakes_are_exit_code_2() {
    let policy = people("query-mistakes");
    let count = "SELECT COUNT(*) FROM people";
    for (sql, more, says) in [
        (count, &["--epsilon", "0"][..], "--epsilon is outside its range"),
        (count, &["--epsilon", "nan"], "--epsilon is outside its range"),
        (count, &["--max-groups", "0"], "--max-groups is outside its range"),
        (count, &["--format", "xml"], "--format must be one of: table, csv"),
        (count, &["--epsilon", "1", "--error-at-most", "3"], "cannot be used with"),
        ("SELECT nothing FROM people", &[], "there is no column `nothing` in `people`"),
        ("SELEC", &[], "error: "),
    ] {
        let ran = query(&policy, sql, more);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{sql} {more:?}\n{}", ran.err);
        assert!(ran.err.contains(says), "{sql} {more:?}\n{}", ran.err);
    }
    let missing = run(&["query", "no-such.toml", count]);
    assert_eq!((missing.code, missing.out.as_str()), (Some(2), ""));
}

#[test]
fn every_format_parses_back_with_the_same_rows() {
    let policy = people("query-formats");
    let folder = std::path::Path::new(&policy).parent().unwrap().to_owned();
    let to = |name: &str| folder.join(name).display().to_string();
    let json = query(&policy, BY_CITY, &["--format", "json", "--intervals"]);
    assert_eq!((json.code, json.err.as_str()), (Some(0), ""));
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert!((json["cost"]["epsilon"].as_f64().unwrap() - 0.5).abs() < 1e-12);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["city"]), (2, &Value::from("A")));
    let (n, low) = (rows[0]["n"].as_f64().unwrap(), rows[0]["n_low"].as_f64().unwrap());
    assert!(low < n && n < rows[0]["n_high"].as_f64().unwrap());

    let csv = query(&policy, BY_CITY, &["--format", "csv", "--intervals"]);
    let mut reader = csv::Reader::from_reader(csv.out.as_bytes());
    assert_eq!(
        reader.headers().unwrap().iter().take(4).collect::<Vec<_>>(),
        ["city", "n", "n_low", "n_high"]
    );
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records[0][1].parse::<f64>().unwrap(), n);

    for name in ["out.arrow", "out.parquet"] {
        let ran = query(&policy, BY_CITY, &["--intervals", "--output", &to(name)]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    }
    let arrow = FileReader::try_new(File::open(to("out.arrow")).unwrap(), None).unwrap();
    assert_eq!(arrow.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
    let parquet = ParquetRecordBatchReaderBuilder::try_new(File::open(to("out.parquet")).unwrap());
    let parquet = parquet.unwrap().build().unwrap();
    assert_eq!(parquet.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
}

#[test]
fn an_explanation_spends_nothing() {
    let policy = people("explain");
    let ran = run(&["explain", &policy, BY_CITY]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("cost            ε 0.5\n"), "{}", ran.out);
    assert!(!ran.out.contains(CANARY));
    let json = run(&["explain", &policy, BY_CITY, "--json", "--epsilon", "0.25"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert!((json["cost"]["epsilon"].as_f64().unwrap() - 0.25).abs() < 1e-12);
    assert_eq!(json["left"]["epsilon"], 2.0);
    let refused = run(&["explain", &policy, "SELECT * FROM people"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{}", refused.err);
    assert!(refused.err.contains("\nhint: "));
}

#[test]
fn the_ledger_notes_who_asked() {
    let policy = people("query-who");
    query(&policy, "SELECT COUNT(*) FROM people", &["--as", "ann-of-the-test"]);
    let folder = std::path::Path::new(&policy).parent().unwrap();
    let ledger = std::fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let ledger: Vec<u8> = ledger.collect();
    assert!(ledger.windows(15).any(|bytes| bytes == b"ann-of-the-test"));
}
