//! `demure synthesize` and `demure sample`: files, prices, refusals, what is spent and what is not, and that nothing
//! protected is repeated.

use super::query::{CANARY, people};
use super::{Run, directory, run};
use datafusion::arrow::datatypes::DataType;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::fs::{File, read_to_string};
use std::path::{Path, PathBuf};

/// The columns of the people that have public values.
const SELECT: &str = "SELECT age, city, income FROM people";

/// Runs `demure synthesize POLICY ROWS …`; whatever comes of it, the canary does not.
fn synthesize(policy: &str, rows_of: &str, more: &[&str]) -> Run {
    let ran = run(&[&["synthesize", policy, rows_of], more].concat());
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{}{}", ran.out, ran.err);
    ran
}

fn beside(policy: &str, name: &str) -> String {
    Path::new(policy).with_file_name(name).display().to_string()
}

/// How many debits the ledger has.
fn debits(policy: &str) -> usize {
    let ran = run(&["budget", "log", policy]);
    ran.out.matches("SYNTHETIC TABLE").count()
}

/// Files that were begun and not finished.
fn unfinished(policy: &str) -> Vec<PathBuf> {
    let folder = Path::new(policy).parent().unwrap();
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
}

#[test]
fn rows_a_model_and_a_page_come_of_one_debit() {
    let policy = people("synth-all");
    let [out, model, page] =
        ["rows.csv", "rows.demure", "rows.html"].map(|name| beside(&policy, name));
    let more = ["-o", &out, "--save", &model, "--report", &page, "--epsilon", "1"];
    let ran = synthesize(&policy, SELECT, &more);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("cost") && ran.out.contains("ε 1, δ 5.0e-8"), "{}", ran.out);
    let text = read_to_string(&out).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("age,city,income"));
    let mut count = 0;
    for line in lines {
        let [age, city, income] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!((0..=120).contains(&age.parse::<i32>().unwrap()), "{line}");
        assert!(["A", "B"].contains(&city), "{line}");
        assert!(income.is_empty() || (0.0..=5000.0).contains(&income.parse::<f64>().unwrap()));
        count += 1;
    }
    assert!((250..550).contains(&count), "{count} rows of 400");
    let html = read_to_string(&page).unwrap();
    for part in ["What not to use it for", "95 % interval", "<svg", "SELECT age, city"] {
        assert!(html.contains(part), "the page lacks {part}");
    }
    assert!(!html.contains("<script") && !html.contains("http://www.w3.org/1999/xhtml"));
    assert_eq!(debits(&policy), 1);
    assert!(unfinished(&policy).is_empty());

    // More rows are free, also under a condition, and in the other format.
    let more = beside(&policy, "more.parquet");
    let ran = run(&[
        "sample",
        &model,
        "--rows",
        "70",
        "--where",
        "city = 'A' AND age >= 40",
        "-o",
        &more,
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&more).unwrap()).unwrap();
    let kinds: Vec<DataType> =
        reader.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(kinds, [DataType::Int64, DataType::Utf8, DataType::Float64]);
    let rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 70);
    assert_eq!(debits(&policy), 1);
    for (condition, expected) in [("city = 3", "a text"), ("note = 'x'", "no column `note`")] {
        let ran = run(&["sample", &model, "--where", condition, "-o", &more]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    std::fs::write(&model, "demure synthetic table 1\nx\n").unwrap();
    let ran = run(&["sample", &model, "-o", &more]);
    assert!(ran.code == Some(2) && ran.err.contains("line 2 of the saved model"), "{}", ran.err);
}

#[test]
fn an_explanation_spends_nothing_and_says_what_is_sold() {
    let policy = people("synth-explain");
    let ran = synthesize(&policy, SELECT, &["--explain", "--epsilon", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.err);
    for part in ["121 values from 0 to 120", "at most 1 row of each person", "betting on whether"] {
        assert!(ran.out.contains(part), "{}", ran.out);
    }
    let ran = synthesize(&policy, SELECT, &["--explain", "--json"]);
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (object["epsilon"].as_f64(), object["rows_per_unit"].as_u64()),
        (Some(0.5), Some(1))
    );
    assert!(object["attacker"].as_f64().unwrap() < 0.1);
    assert_eq!(debits(&policy), 0);
}

#[test]
fn what_is_refused_or_cannot_be_written_costs_nothing() {
    let policy = people("synth-refused");
    let out = beside(&policy, "rows.csv");
    std::fs::write(&out, "as it was").unwrap();
    // `note` and `id`: a text without values, and a person's id.
    let ran = synthesize(&policy, "people", &["-o", &out]);
    assert_eq!(ran.code, Some(1));
    let remedy = "under [tables.people.columns]: note = { values = [\"a\", \"b\"] }";
    assert!(ran.err.starts_with("refused: ") && ran.err.contains(remedy), "{}", ran.err);
    assert!(ran.err.contains("SELECT age, city, income FROM"), "{}", ran.err);
    let ran = synthesize(&policy, SELECT, &["-o", &out, "--epsilon", "5"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("nothing was spent"), "{}", ran.err);
    for (more, expected) in [
        (vec!["-o", "rows.txt"], ".csv"),
        (vec!["-o", "no/such/folder/rows.csv"], "no/such/folder"),
        (vec!["-o", out.as_str(), "--save", "no/such/folder/m"], "no/such/folder"),
        (vec!["-o", out.as_str(), "--target", "weight"], "no column `weight`"),
        (vec!["-o", out.as_str(), "--epsilon", "x"], "--epsilon"),
        (vec![], "--output"),
    ] {
        let ran = synthesize(&policy, SELECT, &more);
        assert_eq!(ran.code, Some(2), "{more:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{more:?}: {}", ran.err);
    }
    assert_eq!(debits(&policy), 0);
    assert_eq!(read_to_string(&out).unwrap(), "as it was");
    assert!(unfinished(&policy).is_empty());
}

#[test]
fn of_a_person_with_several_rows_the_number_has_to_be_said() {
    let folder = directory().join("synth-visits");
    let _ = std::fs::remove_dir_all(&folder);
    let kept = folder.display().to_string();
    let ran = run(&["demo", "--patients", "3000", "--keep", &kept]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let policy = folder.join("clinic.toml").display().to_string();
    let out = beside(&policy, "rows.csv");
    let select =
        "SELECT v.disease, v.nights, p.smoker FROM visits v JOIN patients p ON p.id = v.patient_id";
    let ran = synthesize(&policy, select, &["-o", &out, "--epsilon", "1"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("--rows-per-person"), "{}", ran.err);
    let more = ["-o", &out, "--epsilon", "1", "--rows-per-person", "2", "--rows", "500", "--json"];
    let ran = synthesize(&policy, select, &more);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let object: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((object["rows"].as_u64(), object["columns"].as_u64()), (Some(500), Some(3)));
    assert_eq!(read_to_string(&out).unwrap().lines().count(), 501);
    assert!(object["error"].as_f64().is_some());
    let log = run(&["budget", "log", &policy]).out;
    assert!(log.contains("at most 2 rows of each unit"), "{log}");
}
