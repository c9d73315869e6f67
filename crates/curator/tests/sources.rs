//! What one person's row does to the reading of files: nothing but add or take away that row.
//!
//! Answers are bought at an ε so large that they are exact.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must stop")]

#[path = "sources/dialects.rs"]
mod dialects;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::parquet::arrow::ArrowWriter;
use demure_curator::policy::Policy;
use demure_curator::{Curator, Outcome};
use std::path::Path;
use std::sync::Arc;

const POLICY: &str = "[budget]\nepsilon = 1e13\nper_query = 1e9\n[tables.t]\nsource = \"t.EXT\"\n\
    unit = \"id\"\n[tables.t.columns]\nx = { type = \"real\", bounds = [0, 100] }\n\
    k = { type = \"integer\" }\n";

async fn count(folder: &Path, format: &str, filter: &str) -> i64 {
    let policy = Policy::parse(&POLICY.replace("EXT", format), folder).unwrap();
    let curator = Curator::in_memory(policy).await.unwrap();
    let sql = format!("SELECT COUNT(*) FROM t WHERE {filter}");
    let Outcome::Answer(answer) = curator.session("tester").run(&sql).await.unwrap() else {
        panic!("no answer")
    };
    array_value_to_string(answer.batches[0].column(0), 0).unwrap().parse().unwrap()
}

fn parquet(folder: &Path, rows: &[(f64, i64)]) {
    let ids = Int64Array::from_iter_values(0..rows.len() as i64);
    let xs = Float64Array::from_iter_values(rows.iter().map(|row| row.0));
    let ks = Int64Array::from_iter_values(rows.iter().map(|row| row.1));
    written(folder, [("id", Arc::new(ids)), ("x", Arc::new(xs)), ("k", Arc::new(ks))]);
}

fn written(folder: &Path, columns: [(&str, ArrayRef); 3]) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(folder.join("t.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[tokio::test]
async fn statistics_of_a_file_decide_nothing() {
    // One row more or less, which alone sets the minimum and the maximum that the file
    // states: NaN is in neither, and −(−2⁶³) is not 2⁶³.
    let nobody: Vec<(f64, i64)> =
        std::iter::repeat_n((f64::NAN, i64::MIN), 99).chain([(1.0, i64::MIN)]).collect();
    let mut somebody = nobody.clone();
    somebody.push((50.0, 7));
    for filter in [
        "x > 5",
        "x <> 1",
        "NOT (x <= 5)",
        "x IS DISTINCT FROM 1",
        "x BETWEEN 5 AND 1e300",
        "-k < 5",
        "k - 1 < 0",
        "abs(k) > 3",
        "x IS NOT NULL",
        "k IN (7, 8)",
        "x > 5 AND -k < 5",
    ] {
        let mut counts = Vec::new();
        for rows in [&nobody, &somebody] {
            let folder = tempfile::tempdir().unwrap();
            parquet(folder.path(), rows);
            counts.push(count(folder.path(), "parquet", filter).await);
        }
        assert!((0..=1).contains(&(counts[1] - counts[0])), "{filter}: {counts:?}");
    }
}

#[tokio::test]
async fn a_real_number_names_nobody_however_it_is_stored() {
    // NaN is one person in one place of the engine and many in another.
    let reals: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, f64::NAN]));
    let keys = Int32Array::from(vec![0, 1, 2]);
    let coded: ArrayRef = Arc::new(DictionaryArray::new(keys.clone(), Arc::clone(&reals)));
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let decimals: ArrayRef = Arc::new(Decimal128Array::from(vec![1, 2, 3]));
    let coded_decimals: ArrayRef =
        Arc::new(DictionaryArray::new(keys.clone(), Arc::clone(&decimals)));
    let halves = cast(&reals, &DataType::Float16).unwrap();
    let coded_halves: ArrayRef = Arc::new(DictionaryArray::new(keys.clone(), halves));
    let truth = Arc::new(BooleanArray::from(vec![true, false]));
    let coded_truth: ArrayRef =
        Arc::new(DictionaryArray::new(Int32Array::from(vec![0, 1, 0]), truth));
    let coded_whole: ArrayRef =
        Arc::new(DictionaryArray::new(Int32Array::from(vec![0, 1, 2]), Arc::clone(&whole)));
    for (ids, values, said) in [
        (&reals, &whole, Some("is a real number")),
        (&coded, &whole, Some("is a real number")),
        (&decimals, &whole, Some("is a real number")),
        (&coded_decimals, &whole, Some("is a real number")),
        (&coded_truth, &whole, Some("which cannot be read")),
        (&whole, &coded_decimals, Some("which cannot be read")),
        (&whole, &coded_truth, Some("which cannot be read")),
        (&whole, &coded_halves, Some("which cannot be read")),
        (&whole, &decimals, None),
        (&coded_whole, &coded, None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let columns = [("id", ids), ("x", values), ("k", &whole)];
        written(folder.path(), columns.map(|(name, column)| (name, Arc::clone(column))));
        let policy = Policy::parse(&POLICY.replace("EXT", "parquet"), folder.path()).unwrap();
        match (Curator::in_memory(policy).await, said) {
            (Ok(_), None) => assert_eq!(count(folder.path(), "parquet", "k < 3").await, 2),
            (Err(error), Some(said)) => assert!(error.to_string().contains(said), "{error}"),
            (Ok(_), Some(said)) => panic!("opened, though it {said}"),
            (Err(error), None) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn a_line_break_within_a_field_moves_nobody_elses_rows() {
    // Large enough to be read by several threads; the break is in the middle of the file.
    let line = |i: usize| format!("{i},1,1,{}\n", "n".repeat(40));
    let row = "50001,1,1,\"he said\n\nno\"\"\n\"\n".to_owned();
    let (n, middle) = (30_000, 15_000);
    let mut counts = Vec::new();
    for with in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut file = "id,x,k,note\n".to_owned();
        // Moves the middle of the file through the field.
        for i in 0..n {
            if with && (i + 40 > middle && i < middle + 40) {
                file.push_str(&row.replacen("50001", &(50_001 + i).to_string(), 1));
            }
            file.push_str(&line(i));
        }
        assert!(file.len() > 1 << 20);
        std::fs::write(folder.path().join("t.csv"), &file).unwrap();
        counts.push(count(folder.path(), "csv", "x >= 0").await);
    }
    assert_eq!(counts, [n as i64, n as i64 + 79]);
}

#[tokio::test]
async fn what_carries_the_unit_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "[budget]\nepsilon = 1\n[tables.accounts]\nsource = \"accounts.csv\"\n\
        unit = \"id\"\n[tables.accounts.columns]\nacc = { type = \"integer\" }\n\
        [tables.tx]\nsource = \"tx.csv\"\nunit = { column = \"acc\", references = \
        \"accounts.acc\" }\n[tables.tx.columns]\nacc = { type = \"integer\" }\n";
    std::fs::write(folder.path().join("tx.csv"), "acc,amount\n77231,1\n").unwrap();
    for (accounts, good) in [
        ("id,acc\nann,77231\nbob,2\nann,77231\n,77231\n", true),
        ("id,acc\nann,77231\nbob,77231\n", false),
        ("id,acc\nann,\nbob,\n", true),
    ] {
        std::fs::write(folder.path().join("accounts.csv"), accounts).unwrap();
        let opened = Curator::in_memory(Policy::parse(policy, folder.path()).unwrap()).await;
        match opened {
            Ok(_) => assert!(good, "{accounts}"),
            Err(error) => {
                let error = error.to_string();
                assert!(!good && error.contains("several people"), "{error}");
                assert!(!error.contains("77231") && !error.contains("ann"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn files_of_one_table_are_alike() {
    let policy = POLICY.replace("t.EXT", "t");
    for (first, second, good) in [
        ("id,x,k\n1,50,1\n", "id,x,k\n3,70,2\n", true),
        ("id,x,k\n1,50,1\n", "x,id,k\n70,3,2\n", false),
        ("id,x,k\n1,50,1\n", "id,x,k,more\n3,70,2,5\n", false),
        ("id,x,k\n1,50,1\n", "id,x\n3,70\n", false),
        ("id,x,k,k\n1,50,1,2\n", "id,x,k,k\n1,50,1,2\n", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("t")).unwrap();
        std::fs::write(folder.path().join("t/a.csv"), first).unwrap();
        std::fs::write(folder.path().join("t/b.csv"), second).unwrap();
        let opened = Curator::in_memory(Policy::parse(&policy, folder.path()).unwrap()).await;
        assert_eq!(opened.is_ok(), good, "{second}");
    }
    // Parquet of other types.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("t")).unwrap();
    parquet(&folder.path().join("t"), &[(1.0, 1)]);
    std::fs::rename(folder.path().join("t/t.parquet"), folder.path().join("t/a.parquet")).unwrap();
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![4]));
    let xs: ArrayRef = Arc::new(datafusion::arrow::array::StringArray::from(vec!["fifty"]));
    let ks: ArrayRef = Arc::new(Int64Array::from(vec![4]));
    let batch = RecordBatch::try_from_iter([("id", ids), ("x", xs), ("k", ks)]).unwrap();
    let file = std::fs::File::create(folder.path().join("t/b.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert!(Curator::in_memory(Policy::parse(&policy, folder.path()).unwrap()).await.is_err());
}

#[tokio::test]
async fn a_long_text_is_nothing_everywhere() {
    let (short, long) = ("s".repeat(4096), "z".repeat(600_000));
    let folder = tempfile::tempdir().unwrap();
    let public: String = (0..900).map(|v| format!("1,{v}\n")).collect();
    std::fs::write(folder.path().join("r.csv"), format!("j,v\n{public}")).unwrap();
    let policy = POLICY.replace("t.EXT", "t.csv")
        + "note = { type = \"text\" }\n[tables.r]\nsource = \"r.csv\"\npublic = true\n";
    let rows = format!("id,x,k,note\n1,1,1,{short}\n2,1,1,{long}\n3,1,1,a\n");
    std::fs::write(folder.path().join("t.csv"), rows).unwrap();
    let curator = Curator::in_memory(Policy::parse(&policy, folder.path()).unwrap()).await.unwrap();
    for (sql, expected) in [
        ("SELECT COUNT(note) FROM t", "2"),
        // Would be 900 copies of it.
        ("SELECT COUNT(*) FROM t JOIN r ON r.j = CASE WHEN note >= 'z' THEN 1 ELSE 2 END", "0"),
        (
            "SELECT COUNT(DISTINCT note) FROM t JOIN (SELECT j FROM r WHERE v < 100) r ON r.j = t.k",
            "2",
        ),
    ] {
        let Outcome::Answer(answer) = curator.session("tester").run(sql).await.unwrap() else {
            panic!("no answer")
        };
        let found = array_value_to_string(answer.batches[0].column(0), 0).unwrap();
        assert_eq!(found, expected, "{sql}");
    }
    let many: Vec<String> =
        (0..60).map(|i| format!("note LIKE '%z{}{i}%'", "_".repeat(200))).collect();
    let sql = format!("SELECT COUNT(*) FROM t WHERE {}", many.join(" OR "));
    assert!(curator.session("tester").run(&sql).await.unwrap_err().refusal().is_some());
}

#[tokio::test]
async fn no_file_is_protected_and_public_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.csv"), "id,x,k\n1,2,3\n").unwrap();
    std::fs::write(folder.path().join("u.csv"), "id,x,k\n1,2,3\n").unwrap();
    for (source, refused) in [("t.csv", true), ("./t.csv", true), ("u.csv", false)] {
        let text = POLICY.replace("EXT", "csv");
        let text = format!("{text}[tables.copy]\nsource = \"{source}\"\npublic = true\n");
        let policy = Policy::parse(&text, folder.path()).unwrap();
        let opened = Curator::in_memory(policy).await;
        let said = opened.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(said.contains("public table copy's too"), refused, "{source}: {said}");
    }
}

/// Some writers store whole numbers as real ones as soon as one is missing.
#[tokio::test]
async fn a_declared_type_holds_whatever_the_file_stores() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Int64Array::from_iter_values(0..100);
    let real = Float64Array::from_iter((0..100).map(|i| (i != 7).then_some(f64::from(i))));
    let mut seen = Vec::new();
    for k in [Arc::new(whole) as ArrayRef, Arc::new(real)] {
        let ids = Arc::new(Int64Array::from_iter_values(0..100));
        let xs = Arc::new(Float64Array::from_iter_values((0..100).map(f64::from)));
        written(folder.path(), [("id", ids), ("x", xs), ("k", k)]);
        let policy = Policy::parse(&POLICY.replace("EXT", "parquet"), folder.path()).unwrap();
        let curator = Curator::in_memory(policy).await.unwrap();
        let sql = "SELECT SUM(CLAMP(k, 0, 100)) AS s FROM t WHERE k = 6 OR k = 9";
        let Outcome::Answer(answer) = curator.session("tester").run(sql).await.unwrap() else {
            panic!("no answer")
        };
        let sum = array_value_to_string(answer.batches[0].column(0), 0).unwrap();
        assert_eq!(sum, "15");
        seen.push((curator.tables(), answer.schema));
    }
    assert_eq!(seen[0], seen[1]);
}
