//! `demure anonymize`: the lecture's nine rows, checks, risk, job files, and every way to go wrong.

use super::{Run, demure, directory, file, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder with the lecture's nine rows.
fn nine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nine-rows")
}

/// `demure anonymize …`, where `NINE/` stands for that folder.
fn anonymize(line: &str) -> Run {
    let nine = format!("{}/", nine().display());
    let words: Vec<String> =
        line.split_whitespace().map(|word| word.replace("NINE/", &nine)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&[&["anonymize"], words.as_slice()].concat())
}

/// Its JSON.
fn json(line: &str) -> Value {
    let ran = anonymize(&format!("{line} --json"));
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

const NINE: &str = "NINE/people.csv --qi zip,points --sensitive system \
                    --hierarchy zip=NINE/zip.csv --hierarchy points=NINE/points.csv";

const RELEASE: &str = "zip,points,system\n\
    3200-3499,75-90,iOS\n3200-3499,75-90,Android\n3200-3499,75-90,MacOS\n\
    2600-3199,35-45,Windows\n2600-3199,35-45,Linux\n2600-3199,35-45,Windows\n\
    3700-3899,25-34,MacOS\n3700-3899,25-34,Windows\n3700-3899,25-34,Android\n";

#[test]
fn the_nine_rows_come_out_as_in_the_lecture() {
    let told = json(&format!("{NINE} --k 3"));
    assert_eq!(told["levels"], serde_json::json!({ "zip": 1, "points": 1 }));
    assert_eq!((&told["suppressed"], &told["classes"]), (&0.into(), &3.into()));
    assert!((told["score"].as_f64().unwrap() - 0.25).abs() < 1e-12);
    assert_eq!(told["proven"], true);
    let ran = anonymize(&format!("{NINE} --k 3"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), RELEASE));
    assert!(ran.err.contains("3-anonymity: holds, worst class 3"), "{}", ran.err);
}

#[test]
fn the_table_of_distances_is_the_known_one() {
    for (distance, three) in [
        ("variational", ["4/9", "5/9", "2/9"]),
        ("l2", ["√(16/81)", "√(22/81)", "√(4/81)"]),
        ("kl", ["0.918296", "1.194988", "0.389975"]),
        ("ordered --order system=iOS,Android,MacOS,Windows,Linux", ["5/18", "11/36", "1/12"]),
    ] {
        let told = json(&format!("{NINE} --k 3 --t 2 --distance {distance}"));
        for (first, exact) in ["3200-3499", "2600-3199", "3700-3899"].iter().zip(three) {
            let all = told["each"].as_array().unwrap();
            let class = all.iter().find(|class| class["labels"][0] == *first).unwrap();
            assert_eq!((&class["size"], &class["measures"][1]), (&3.into(), &exact.into()));
        }
    }
    for (distance, exact, worst) in [
        ("variational", "5/9", 5.0 / 9.0),
        ("l2", "", 22f64.sqrt() / 9.0),
        ("kl", "", 1.194_988),
        ("ordered --order system=iOS,Android,MacOS,Windows,Linux", "11/36", 11.0 / 36.0),
    ] {
        let told = json(&format!("{NINE} --k 3 --t 2 --distance {distance}"));
        let model = &told["models"][1];
        assert!((model["worst"].as_f64().unwrap() - worst).abs() < 1e-6, "{distance}: {model}");
        assert!(exact.is_empty() || model["exact"] == exact, "{distance}: {model}");
    }
    // 5/9 is within 5/9 and not within anything less: then that class must go.
    assert_eq!(json(&format!("{NINE} --k 3 --t 5/9"))["classes"], 3);
    assert_eq!(anonymize(&format!("{NINE} --k 3 --t 0.5555")).code, Some(1));
    let told = json(&format!("{NINE} --k 3 --t 0.5555 --suppress 3"));
    assert_eq!((&told["classes"], &told["suppressed"]), (&2.into(), &3.into()));
}

#[test]
fn arbitrary_subsets_are_measured_and_warned_of() {
    // The largest of the three classes' distances, for n = 4 … 9.
    for (n, exact) in [(4, "2/15"), (5, "1/5"), (6, "1/3"), (7, "3/7"), (8, "1/2"), (9, "5/9")] {
        let line = format!("{NINE} --k 3 --t 1 --n {n} --subset any");
        assert_eq!(json(&line)["models"][1]["exact"], exact, "{n}");
        assert!(anonymize(&line).err.contains("warning: "));
    }
    let line = format!("{NINE} --k 3 --t 1 --n 4 --subset any --output m.csv --report m.html");
    assert_eq!(anonymize(&line).code, Some(0));
    let page = std::fs::read_to_string(directory().join("m.html")).unwrap();
    assert!(page.contains("M: 4 rows</summary>Windows 3, Linux 1<"));
}

#[test]
fn a_release_is_written_checked_and_reported() {
    let line = format!("{NINE} --k 3 --t 0.6 --output nine.csv --report nine.html");
    let ran = anonymize(&line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(directory().join("nine.csv")).unwrap(), RELEASE);
    let page = std::fs::read_to_string(directory().join("nine.html")).unwrap();
    for part in [
        "<svg",
        "Class sizes",
        "How far system in a class is from the whole table",
        "Risk",
        "3-anonymity",
        "5/9",
        "prefers-color-scheme",
        "not differential privacy",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    for foreign in ["<script", "http://", "https://", "NaN", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let check = "check nine.csv --qi zip,points --sensitive system";
    for (asked, code) in
        [("--k 3 --t 0.6", 0), ("--k 4", 1), ("--k 3 --t 0.5", 1), ("--l 2", 0), ("--l 3", 1)]
    {
        let ran = anonymize(&format!("{check} {asked}"));
        assert_eq!(ran.code, Some(code), "{asked}: {}{}", ran.out, ran.err);
    }
    let told = anonymize(&format!("{check} --k 4 --json"));
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["holds"], &told["models"][0]["failing"]), (&false.into(), &3.into()));
}

#[test]
fn suppressed_rows_are_not_checked_but_counted() {
    file("stars.csv", "a,s\n1,x\n1,y\n*,x\n");
    let told = json("check stars.csv --qi a --sensitive s --k 2");
    assert_eq!((&told["suppressed"], &told["classes"]), (&1.into(), &1.into()));
}

#[test]
fn a_job_file_says_what_a_call_would_and_the_call_wins() {
    let told = json("--config NINE/job.toml");
    assert_eq!(told["classes"], 3);
    let told = json("--config NINE/job.toml --t 5/9 --suppress 3");
    assert_eq!(told["models"][1]["name"].as_str().unwrap().split('-').next(), Some("5/9"));
    assert_eq!(anonymize("--config NINE/job.toml --t 0.5").code, Some(1));
    let told = json("check --config NINE/job.toml NINE/people.csv --k 1 --t 1");
    assert_eq!(told["classes"], 9);
    file("bad-job.toml", "colour = 3\n");
    let ran = anonymize("--config bad-job.toml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("there is no option --colour"), "{}", ran.err);
}

#[test]
fn every_method_keeps_the_promise() {
    for method in ["optimal", "mondrian", "local"] {
        let line = format!("{NINE} --k 3 --t 0.6 --method {method} --output {method}.csv --json");
        let ran = anonymize(&line);
        assert_eq!(ran.code, Some(0), "{method}: {}", ran.err);
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(told["method"], method);
        let check = format!("check {method}.csv --qi zip,points --sensitive system --k 3 --t 0.6");
        assert_eq!(anonymize(&check).code, Some(0), "{method}");
    }
}

#[test]
fn explain_releases_nothing() {
    let ran = anonymize(&format!("{NINE} --k 3 --t 0.6 --n 4 --explain --output explained.csv"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for part in ["not monotone", "3 levels", "differential privacy", "best of 9 choices"] {
        assert!(ran.out.contains(part), "no {part} in {}", ran.out);
    }
    assert!(!directory().join("explained.csv").exists());
}

#[test]
fn risk_before_anything_is_done() {
    let told = json("risk NINE/people.csv --qi zip,points");
    assert_eq!(told["unique"], 9);
    assert_eq!(told["prosecutor"]["highest"], 1.0);
}

#[test]
fn where_there_is_no_release_nothing_is_written() {
    // Three distinct values everywhere, but five different ones are asked for twice.
    file("old.csv", "kept");
    for asked in ["--l 6", "--disclosure 0.0001 --k 9 --l 6", "--l 6 --suppress 100%"] {
        let ran = anonymize(&format!("{NINE} {asked} --output old.csv --report none.html"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{asked}: {}", ran.err);
        assert!(ran.err.contains("no release satisfies this"), "{}", ran.err);
        assert!(ran.err.contains("Nothing was written"), "{}", ran.err);
    }
    assert_eq!(std::fs::read_to_string(directory().join("old.csv")).unwrap(), "kept");
    assert!(!directory().join("none.html").exists());
    let ran = anonymize(&format!("{NINE} --l 6 --json"));
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &told["released"]), (Some(1), &false.into()));
}

#[test]
fn mistakes_are_explained_and_no_cell_is_shown() {
    file("a-ragged.csv", "zip,age\n31337,1\n31337\n");
    file("a-empty.csv", "zip,age\n");
    file("a-semi.csv", "zip;age\n31337;1\n");
    file("a-good.csv", "zip,age\n31337,1\n31338,2\n");
    file("two-parents.csv", "31337;a;x\n31338;a;y\n");
    file("a-missing.csv", "31338;*\n");
    std::fs::write(directory().join("a-bytes.csv"), b"zip,age\n31337,\xff\n").unwrap();
    for (line, says) in [
        ("a-ragged.csv --qi zip --k 2", "line 3"),
        ("a-bytes.csv --qi zip --k 2", "UTF-8"),
        ("a-empty.csv --qi zip --k 2", "no rows"),
        ("no-such.csv --qi zip --k 2", "no-such.csv"),
        ("a-good.csv --k 2", "--qi"),
        ("a-good.csv --qi zap --k 2", "no column `zap`"),
        ("a-good.csv --qi zip --sensitive zip --k 2", "both"),
        ("a-good.csv --qi zip", "nothing is promised"),
        ("a-good.csv --qi zip --k 3", "number of rows"),
        ("a-good.csv --qi zip --k 0", "--k"),
        ("a-good.csv --qi zip --t 0.2", "--sensitive"),
        ("a-good.csv --qi zip --sensitive age --t x", "--t must be"),
        ("a-good.csv --qi zip --sensitive age --t -1", "--t"),
        ("a-good.csv --qi zip --sensitive age --l 2 --diversity recursive", "--c"),
        ("a-good.csv --qi zip --sensitive age --k 2 --c 3", "--c belongs"),
        ("a-good.csv --qi zip --sensitive age --n 3 --t 0.1", "n must be"),
        ("a-good.csv --qi zip --sensitive age --t 0.1 --distance hierarchical", "--hierarchy age="),
        ("a-good.csv --qi zip --k 2 --hierarchy zip=two-parents.csv", "not a tree"),
        ("a-good.csv --qi zip --k 2 --hierarchy zip=a-missing.csv", "1 rows"),
        ("a-good.csv --qi zip --k 2 --hierarchy zip", "column=how"),
        ("a-good.csv --qi zip --k 2 --suppress 101%", "--suppress"),
        ("a-semi.csv --qi zip --k 2", "hint: the header is one column"),
        ("a-good.csv --qi zip --sensitive age --t 1 --distance ordered --order age=1", "--order"),
        ("a-good.csv --qi zip --k 2 --metric speed", "--metric must be one of"),
        ("--qi zip --k 2", "no table"),
        ("a-good.csv --qi zip --k 1 --output no-such-folder/x.csv", "no-such-folder"),
        ("check a-good.csv --qi zap --k 2", "no column `zap`"),
        ("risk a-good.csv", "--qi"),
    ] {
        let ran = anonymize(line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {}", ran.err);
        assert!(ran.err.contains(says), "{line}: {}", ran.err);
        assert!(!ran.err.contains("3133"), "{line}: {}", ran.err);
    }
}

#[test]
fn a_hundred_thousand_of_each_are_not_close() {
    // 32-bit products once accepted this: both classes are 0.4 away.
    let mut text = String::from("q,r,s\n");
    for (q, s, times) in
        [("a", "x", 90_000), ("a", "y", 10_000), ("b", "x", 10_000), ("b", "y", 90_000)]
    {
        text.push_str(&format!("{q},z,{s}\n").repeat(times));
    }
    file("large.csv", &text);
    let check = |t: &str| anonymize(&format!("check large.csv --qi q --sensitive s --t {t}")).code;
    assert_eq!((check("0.2"), check("0.39999"), check("0.4")), (Some(1), Some(1), Some(0)));
    let told = json("large.csv --qi q,r --sensitive s --t 0.2");
    assert_eq!((&told["levels"]["q"], &told["classes"]), (&1.into(), &1.into()));
}

#[test]
fn options_that_a_method_would_ignore_are_refused() {
    file("ignored.csv", "age,state\n31,CA\n32,CA\n41,NY\n42,NY\n");
    for extra in ["--metric average", "--population ignored.csv --k-map 2"] {
        let line = format!("anonymize ignored.csv --qi age,state --k 2 --method mondrian {extra}");
        let ran = demure(&line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{extra}");
        assert!(ran.err.contains("--method optimal"), "{}", ran.err);
    }
}

#[test]
fn parts_are_suppressed_within_the_limit() {
    // One row of a job that nobody else has keeps `job` from being cut.
    let mut text = String::from("age,job,s\n");
    for (job, rows) in [("smith", 6), ("baker", 6), ("queen", 1)] {
        text.push_str(&format!("40,{job},x\n").repeat(rows));
    }
    file("jobs.csv", &text);
    for method in ["mondrian", "local"] {
        let line = format!("jobs.csv --qi age,job --sensitive s --k 3 --method {method}");
        let without = json(&line);
        assert_eq!(without["suppressed"], 0, "{method}");
        let told = json(&format!("{line} --suppress 1 --output jobs-{method}.csv"));
        assert_eq!((&told["suppressed"], &told["classes"]), (&1.into(), &2.into()), "{method}");
        let check = format!("check jobs-{method}.csv --qi age,job --sensitive s --k 3");
        assert_eq!(json(&check)["suppressed"], 1);
    }
}

#[test]
fn a_stopped_partition_is_coarse_and_keeps_the_promise() {
    let mut text = String::from("a,b\n");
    for n in 0..30_000_u64 {
        text.push_str(&format!("{},{}\n", n * n % 1009, n * 7919 % 2003));
    }
    file("many.csv", &text);
    let told =
        json("many.csv --qi a,b --k 2 --method mondrian --time 0.000001 --output coarse.csv");
    assert_eq!(told["stopped"], true);
    assert_eq!(json("check coarse.csv --qi a,b --k 2")["holds"], true);
    let whole = json("many.csv --qi a,b --k 2 --method mondrian --output fine.csv");
    assert!(whole["stopped"].is_null());
    assert!(whole["classes"].as_u64().unwrap() > told["classes"].as_u64().unwrap());
}

#[test]
fn parquet_says_what_csv_would() {
    use datafusion::arrow::array::{
        ArrayRef, BinaryArray, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch,
        StringArray,
    };
    use datafusion::arrow::datatypes::Int32Type;
    use datafusion::parquet::arrow::ArrowWriter;
    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::fs::File;
    use std::sync::Arc;
    let columns: [(&str, ArrayRef); 6] = [
        ("zip", Arc::new(Int64Array::from(vec![Some(3270), Some(3294), None, Some(2608)]))),
        ("day", Arc::new(Date32Array::from(vec![0, 0, 19_000, 19_000]))),
        ("dose", Arc::new(Float64Array::from(vec![0.5, 0.5, 1.0, 1.0]))),
        ("name", Arc::new(StringArray::from(vec![Some("a,b"), Some(""), None, Some("*")]))),
        (
            "kind",
            Arc::new(["x", "y", "x", "y"].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ),
        ("photo", Arc::new(BinaryArray::from(vec![&b"\xff"[..]; 4]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = directory().join("typed.parquet");
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let csv = "zip,day,dose,name,kind\n3270,1970-01-01,0.5,\"a,b\",x\n\
               3294,1970-01-01,0.5,,y\n,2022-01-08,1.0,,x\n2608,2022-01-08,1.0,*,y\n";
    let options = "--qi day,dose --sensitive kind --keep zip,name --k 2";
    let ran = anonymize(&format!("typed.parquet {options}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), csv), "{}", ran.err);
    // The same as Parquet, whose columns are strings; what is missing is NULL.
    let ran = anonymize(&format!("typed.parquet {options} --output typed-out.parquet"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let file = File::open(directory().join("typed-out.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let out: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    let zip = out[0].column_by_name("zip").unwrap();
    let zip: &StringArray = zip.as_any().downcast_ref().unwrap();
    let zips: Vec<Option<&str>> = zip.iter().collect();
    assert_eq!(zips, [Some("3270"), Some("3294"), None, Some("2608")]);
    let check = "check typed-out.parquet --qi day,dose --sensitive kind --k 2";
    assert_eq!(json(check)["classes"], 2);
    assert_eq!(json("risk typed.parquet --qi zip,day")["unique"], 4);
    let ran = anonymize("typed.parquet --qi photo --k 2");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`photo`") && ran.err.contains("binary or nested"), "{}", ran.err);
    // Cut off, and CSV that begins as Parquet does.
    let bytes = std::fs::read(directory().join("typed.parquet")).unwrap();
    std::fs::write(directory().join("cut.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    let ran = anonymize("cut.parquet --qi day --k 2");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("not a Parquet file that can be read"), "{}", ran.err);
    super::file("par1.csv", "PAR1,b\nx,y\n");
    assert_eq!(json("risk par1.csv --qi PAR1")["rows"], 1);
}

#[test]
fn a_population_is_asked_for_maps_and_risk() {
    let mut people = String::from("zip,points\n");
    for zip in ["3270", "3294", "3400", "2608", "3177", "2740", "3763", "3860", "3770"] {
        for points in ["89", "77", "90", "42", "38", "35", "25", "33", "30"] {
            people.push_str(&format!("{zip},{points}\n"));
        }
    }
    file("population.csv", &people);
    let told = json(&format!("{NINE} --k-map 9 --population population.csv --output map.csv"));
    assert_eq!(told["levels"], serde_json::json!({ "zip": 1, "points": 1 }));
    assert_eq!(
        (&told["models"][0]["name"], &told["models"][0]["exact"]),
        (&"9-map".into(), &"9".into())
    );
    let check = |k: u32| {
        let more = "--population population.csv --hierarchy zip=NINE/zip.csv --hierarchy points=NINE/points.csv";
        anonymize(&format!("check map.csv --qi zip,points --k-map {k} {more}")).code
    };
    assert_eq!((check(9), check(10)), (Some(0), Some(1)));
    file(
        "map.toml",
        &format!(
            "input = '{0}/people.csv'\nqi = ['zip', 'points']\nk-map = 9\npopulation = 'population.csv'\n\
             [hierarchy]\nzip = '{0}/zip.csv'\npoints = '{0}/points.csv'\n",
            nine().display()
        ),
    );
    assert_eq!(json("--config map.toml")["classes"], 3);
    let told = json("risk --config map.toml");
    assert_eq!(
        (&told["journalist"]["highest"], &told["prosecutor"]["highest"]),
        (&1.0.into(), &1.0.into())
    );
    let told = json("risk map.csv --qi zip --population map.csv");
    assert_eq!(told["journalist"]["at_risk"], 9);
    for (line, says) in [
        (format!("{NINE} --k-map 2"), "--population"),
        (format!("{NINE} --k-map 2 --population map.csv"), "the population has 3 distinct values"),
        (format!("{NINE} --k-map 2 --population stars-none.csv"), "stars-none.csv"),
    ] {
        let ran = anonymize(&line);
        assert_eq!(ran.code, Some(2), "{line}");
        assert!(ran.err.contains(says), "{line}: {}", ran.err);
    }
}

#[test]
fn every_set_is_named_and_verified() {
    let answer = |line: &str, name: &str| {
        let told = json(&format!("{line} --output {name}.csv"));
        file(&format!("{name}.json"), &told.to_string());
        told
    };
    // An M for each class.
    let any = "--k 3 --t 0.2 --n 4 --subset any";
    let told = answer(&format!("{NINE} {any}"), "any");
    let all = told["each"].as_array().unwrap();
    let class = all.iter().find(|class| class["labels"][1] == "35-45").unwrap();
    let expected = serde_json::json!({
        "set": "chosen rows", "rows": 4, "distance": "1/12",
        "counts": { "Windows": 3, "Linux": 1 },
    });
    assert_eq!((&class["witnesses"][1], &class["measures"][1]), (&expected, &"1/12".into()));
    let check = |name: &str, more: &str| {
        anonymize(&format!("check {name}.csv --qi zip,points --sensitive system {more}")).code
    };
    assert_eq!(check("any", &format!("{any} --witness any.json")), Some(0));
    // One row more than the table has, one too few, another class's.
    let text = told.to_string();
    for (from, to) in [
        ("\"Windows\":3", "\"Windows\":4"),
        ("\"Windows\":3", "\"Windows\":2"),
        ("\"Windows\":3", "\"iOS\":1"),
        ("\"Windows\":3", "\"Amiga\":3"),
    ] {
        assert!(text.contains(from));
        file("any-bad.json", &text.replace(from, to));
        assert_eq!(check("any", &format!("{any} --witness any-bad.json")), Some(1), "{to}");
    }
    // One M for all: every measure is the distance from it.
    let shared = "--k 3 --t 0.5 --n 4 --subset shared";
    let told = answer(&format!("{NINE} {shared}"), "shared");
    assert!(told["shared"][1]["rows"].as_u64().unwrap() >= 4);
    assert_eq!(told["models"][1]["exact"], told["shared"][1]["distance"]);
    assert_eq!(check("shared", &format!("{shared} --witness shared.json")), Some(0));
    assert_eq!(check("any", &format!("{shared} --witness any.json")), Some(2), "of other models");
}

#[test] // the counterexample to monotonicity: the table itself is ½ away, the superset 0
fn natural_sets_are_named_and_verified_against_the_original() {
    let mut text = String::from("a,b,s\n");
    for (row, rows) in [("0,0,x", 4), ("1,0,x", 6), ("0,1,y", 1), ("1,1,y", 9)] {
        text.push_str(&format!("{row}\n").repeat(rows));
    }
    file("natural.csv", &text);
    let asked = "--qi a,b --sensitive s --t 1/4 --n 10";
    let told = json(&format!("natural.csv {asked} --output natural-out.csv"));
    assert_eq!((&told["classes"], &told["models"][0]["exact"]), (&4.into(), &"0".into()));
    let first = &told["each"][0]["witnesses"][0];
    assert_eq!((&first["set"], &first["rows"]), (&"coarser class".into(), &10.into()));
    assert_eq!(first["labels"], serde_json::json!(["*", "0"]));
    file("natural.json", &told.to_string());
    let check = |more: &str| anonymize(&format!("check natural-out.csv {asked} {more}"));
    assert_eq!(check("").code, Some(1), "without it, only the class and the table count");
    let ran = check("--witness natural.json");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--original"), "{}", ran.err);
    let whole = "--original natural.csv --witness natural";
    assert_eq!(check(&format!("{whole}.json")).code, Some(0));
    // A set that is not that class: any ten rows, or a class that does not contain it.
    let text = told.to_string();
    for (from, to) in [
        ("\"counts\":{\"x\":10}", "\"counts\":{\"x\":10,\"y\":1}"),
        ("\"levels\":{\"a\":1,\"b\":0}", "\"levels\":{\"a\":0,\"b\":1}"),
        ("\"set\":\"coarser class\"", "\"set\":\"class\""),
        ("\"set\":\"coarser class\"", "\"set\":\"table\""),
        ("\"labels\":[\"*\",\"0\"]", "\"labels\":[\"*\",\"1\"]"),
    ] {
        assert!(text.contains(from), "{from}");
        file("natural-bad.json", &text.replace(from, to));
        assert_eq!(check(&format!("{whole}-bad.json")).code, Some(1), "{to}");
    }
    let told = json(&format!("natural.csv {asked} --method mondrian"));
    assert_eq!(told["each"][0]["witnesses"][0]["set"], "earlier part");
    assert_eq!(told["models"][0]["exact"], "0");
}

/// A hundred people in two ages, and five who are alone in theirs.
fn hundred(name: &str) -> String {
    let age = |i: u32| if i < 5 { 60 + i } else { [30, 40][(i % 2) as usize] };
    let rows: String = (0..100).map(|i| format!("{},p,c{i},{}\n", age(i), i % 3)).collect();
    file(name, &format!("age,kind,city,ill\n{rows}"));
    format!("{name} --qi age,kind --sensitive ill --k 5")
}

#[test]
fn suppression_has_a_default_and_is_told() {
    let line = hundred("default.csv");
    let told = json(&line);
    assert_eq!(told["suppress"], serde_json::json!({ "limit": 5, "asked": "5%", "default": true }));
    assert_eq!((&told["suppressed"], &told["classes"]), (&5.into(), &2.into()));
    let ran = anonymize(&line);
    let says =
        "suppressed  5 (5 %) of at most 5 rows: --suppress is 5% unless given; 0 keeps every row\n";
    assert!(ran.err.contains(says), "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("*,*,")).count(), 5);
    // Who asks is not told what happens without asking.
    let told = json(&format!("{line} --suppress 0"));
    assert_eq!(told["suppress"], serde_json::json!({ "limit": 0, "asked": "0", "default": false }));
    assert_eq!((&told["suppressed"], &told["stars"]), (&0.into(), &serde_json::json!(["age"])));
    let ran = anonymize(&format!("{line} --suppress 7%"));
    assert!(ran.err.contains("suppressed  5 (5 %) of at most 7 rows\n"), "{}", ran.err);
    // Five percent of few rows is none.
    let ran = anonymize(&format!("{NINE} --k 3"));
    assert!(
        ran.err.contains("of at most 0 rows: --suppress is 5% unless given, which is"),
        "{}",
        ran.err
    );
    for method in ["mondrian", "local"] {
        let ran = anonymize(&format!("{line} --method {method}"));
        let says = "of at most 0 rows: with this method, --suppress is 0 unless given\n";
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    let ran = anonymize(&format!("{line} --explain"));
    assert!(ran.out.contains("at most 5 rows: --suppress is 5% unless given"), "{}", ran.out);
    file("suppress.toml", "suppress = \"2%\"\n");
    let told = json(&format!("{line} --config suppress.toml"));
    assert_eq!(
        told["suppress"],
        serde_json::json!({ "limit": 2, "asked": "2%", "default": false })
    );
}

#[test]
fn columns_that_became_stars_are_told() {
    let line = hundred("stars-told.csv");
    let told = json(&format!("{line} --suppress 0 --keep city"));
    let age =
        serde_json::json!({ "exact": 0, "coarser": 0, "star": 100, "values": 7, "labels": 1 });
    let kind =
        serde_json::json!({ "exact": 100, "coarser": 0, "star": 0, "values": 1, "labels": 1 });
    assert_eq!(told["columns"], serde_json::json!({ "age": age, "kind": kind }));
    let ran = anonymize(&format!("{line} --suppress 0 --report stars.html"));
    assert!(
        ran.err.contains("columns     age: * in every row\n            kind: as it was\n"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains(
            "hint: `age` is * in every row: the release says nothing of it; it has no level \
             between its values and *, and --hierarchy age=intervals:5,10,20 would give it some\n"
        ),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("left out: city; it is neither in --qi"), "{}", ran.err);
    let page = std::fs::read_to_string(directory().join("stars.html")).unwrap();
    assert!(page.contains("<td>age</td><td>* in every row</td>"), "{page}");
    assert!(page.contains("--hierarchy age=intervals:5,10,20"));
    // The hint works.
    let told = json(&format!("{line} --suppress 0 --hierarchy age=intervals:5,10,20"));
    assert_eq!(told["stars"], serde_json::json!([]));
    let ran = anonymize(&line);
    assert!(
        ran.err.contains("columns     age: as it was in 95 %, * in 5 % of rows\n"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("hint:"), "{}", ran.err);
}

#[test]
fn alternatives_are_told_and_are_what_they_say() {
    let line = hundred("around.csv");
    let told = json(&line);
    let all = told["alternatives"].as_array().unwrap();
    let options: Vec<&str> = all.iter().map(|one| one["option"].as_str().unwrap()).collect();
    assert_eq!(options, ["this release", "--suppress 0", "--k 10", "--k 3"]);
    for one in all {
        let option = one["option"].as_str().unwrap().replace("this release", "");
        let alone = json(&format!("{line} {option} --alternatives 0"));
        assert_eq!(alone["score"], one["loss"], "{option}");
        for field in ["suppressed", "classes", "stars"] {
            assert_eq!(alone[field], one[field], "{option}: {field}");
        }
        assert_eq!((&one["released"], &one["complete"]), (&true.into(), &true.into()));
        assert!(alone["alternatives"].is_null());
    }
    let ran = anonymize(&format!("{line} --report around.html"));
    for text in [
        "Alternatives (loss: 0 is nothing, 1 is all)\n",
        "  --suppress 0  0.414214   0 (0 %)     1        age\n",
        "  --k 10        0.0246951  5 (5 %)     2\n",
    ] {
        assert!(ran.err.contains(text), "{}", ran.err);
    }
    let page = std::fs::read_to_string(directory().join("around.html")).unwrap();
    assert!(
        page.contains(
            "<td>--suppress 0</td><td>0.414214</td><td>0 (0 %)</td><td>1</td><td>age</td>"
        )
    );
    let ran = anonymize(&format!("{line} --alternatives 0"));
    assert!(!ran.err.contains("Alternatives"), "{}", ran.err);
    assert_eq!(anonymize(&format!("{line} --alternatives -1")).code, Some(2));
}

/// Runs `demure` on a terminal of its own; both streams are that terminal's.
fn on_a_terminal(line: &str) -> String {
    let script =
        "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let output = std::process::Command::new("python3")
        .args(["-c", script, env!("CARGO_BIN_EXE_demure"), "anonymize"])
        .args(line.split_whitespace())
        .current_dir(directory())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn rows_of_the_original_are_shown_on_a_terminal_and_elsewhere_only_if_asked_for() {
    let text: String = (0..40).map(|i| format!("{},secret{i},x\n", [31, 32, 45][i % 3])).collect();
    file("rows.csv", &format!("age,name,ill\n{text}"));
    let line = "rows.csv --qi age,name --sensitive ill --k 5 --output rows-out.csv";
    let shown = on_a_terminal(line);
    assert!(shown.contains("Sample rows, before and after"), "{shown}");
    assert!(shown.contains("secret") && shown.contains("was") && shown.contains("is"), "{shown}");
    assert!(!on_a_terminal(&format!("{line} --samples 0")).contains("secret"));
    // A pipe is not a terminal, and a report may be given away with the release.
    let ran = anonymize(&format!("{line} --report rows.html"));
    let told = json(line);
    let page = || std::fs::read_to_string(directory().join("rows.html")).unwrap();
    for text in [&ran.out, &ran.err, &told.to_string(), &page()] {
        assert!(!text.contains("secret"), "{text}");
    }
    assert_eq!(
        told["samples"][0],
        serde_json::json!({ "row": 1, "after": { "age": "31", "name": "*", "ill": "x" } })
    );
    assert!(page().contains("Sample rows, as published"));
    // Asked for.
    let ran = anonymize(&format!("{line} --samples 2"));
    assert!(ran.out.contains("was  31   secret0  x\n"), "{}", ran.out);
    let told = json(&format!("{line} --samples 1"));
    assert!(told["samples"][0]["before"]["name"].as_str().unwrap().starts_with("secret"));
    assert_eq!(told["samples"].as_array().unwrap().len(), 1);
    // Rows on the terminal are no rows in the report, and the other way about.
    let ran = anonymize(&format!("{line} --samples 2 --report rows.html"));
    assert!(ran.out.contains("secret") && !page().contains("secret"));
    let ran = anonymize(&format!("{line} --report rows.html --report-originals"));
    assert!(!ran.out.contains("secret") && page().contains("secret0"));
    assert!(page().contains("This page shows rows of the original table."));
    let ran = anonymize(&format!("{line} --report-originals"));
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--report"), "{}", ran.err);
    assert_eq!(anonymize(&format!("{line} --samples 101")).code, Some(2));
}

#[test]
fn what_is_read_is_never_written_over() {
    let text = "age,ill\n31,x\n31,y\n";
    file("spared.csv", text);
    let to = |option: &str, path: &str| {
        let ran = anonymize(&format!(
            "spared.csv --qi age --k 2 --output spared-out.csv {option} {path}"
        ));
        (ran.code, ran.err)
    };
    for (option, path) in [("--output", "spared.csv"), ("--report", "./spared.csv")] {
        let (code, err) = to(option, path);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(&format!("{option} is the table itself")), "{err}");
    }
    assert!(to("--report", "spared-out.csv").1.contains("are the same file"));
    let line = "--k-map 2 --population spared-people.csv --output spared-people.csv";
    file("spared-people.csv", text);
    let ran = anonymize(&format!("spared.csv --qi age {line}"));
    assert!(ran.err.contains("--output is the population itself"), "{}", ran.err);
    for name in ["spared.csv", "spared-people.csv"] {
        assert_eq!(std::fs::read_to_string(directory().join(name)).unwrap(), text);
    }
    // Twice to the same place is what one does.
    for _ in 0..2 {
        assert_eq!(to("--report", "spared.html").0, Some(0));
    }
}

#[test]
fn strange_tables_are_taken_or_explained() {
    let thirty =
        |row: &str| (0..30).map(|i| row.replace('#', &(i % 3).to_string())).collect::<String>();
    file("s-nothing.csv", "");
    file("s-header.csv", "age,ill\n");
    file("s-one.csv", "age,ill\n31337,x\n");
    file("s-headless.csv", &thirty("3133#,x\n"));
    file("s-nameless.csv", &format!("age,,\n{}", thirty("3133#,x,y\n")));
    file("s-escapes.csv", &format!("a\u{1b}[31mge,ill\n{}", thirty("3133#,x\n")));
    file("s-case.csv", &format!("Age ,ill\n{}", thirty("3133#,x\n")));
    let names: Vec<String> = (0..1000).map(|i| format!("c{i}")).collect();
    let wide: String = (0..20).map(|i| vec![(i % 3).to_string(); 1000].join(",") + "\n").collect();
    file("s-wide.csv", &format!("{}\n{wide}", names.join(",")));
    for (table, qi, says) in [
        ("s-nothing.csv", "age", "s-nothing.csv, line 1: there is no header: the file is empty"),
        ("s-header.csv", "age", "s-header.csv has no rows below its header"),
        ("s-headless.csv", "age", "hint: a table needs a header"),
        ("s-nameless.csv", "age", "two columns of the header have no name; name them"),
        ("s-escapes.csv", "age", "the header has: a\u{FFFD}[31mge, ill"),
        ("s-case.csv", "age", "hint: did you mean `Age `?"),
        ("s-wide.csv", "age", "c18, c19 and 980 more"),
    ] {
        for command in ["", "check ", "risk "] {
            let promise = if command == "risk " { "" } else { "--k 2" };
            let ran = anonymize(&format!("{command}{table} --qi {qi} {promise}"));
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{table}: {}", ran.err);
            assert!(ran.err.contains(says), "{table}: {}", ran.err);
            assert!(!ran.err.contains("3133") && !ran.err.contains('\u{1b}'), "{}", ran.err);
        }
    }
    let ran = anonymize("s-one.csv --qi age --k 2");
    assert!(ran.err.contains("--k must be at most the number of rows, which is 1"), "{}", ran.err);
    assert!(anonymize("risk s-one.csv --qi age").out.contains("1 row (100 %)"));
    // A thousand columns that are known: the optimum is not for them, and it says what is.
    let all = names.join(",");
    let ran = anonymize(&format!("s-wide.csv --qi {all} --k 2"));
    assert!(ran.err.contains("name fewer in --qi, or take another --method"), "{}", ran.err);
    let told = json(&format!("s-wide.csv --qi {all} --k 2 --method mondrian"));
    assert_eq!((&told["classes"], told["columns"].as_object().unwrap().len()), (&3.into(), 1000));
    let ran = anonymize(&format!(
        "s-wide.csv --qi {all} --k 2 --method mondrian --samples 1 --output s-out.csv"
    ));
    assert!(ran.out.contains("and 992 more; --json lists all"), "{}", ran.out);
    assert!(ran.out.contains(" of 1000 columns"), "{}", ran.out);
    // All alike, and zero bytes, which are texts like others.
    file("s-alike.csv", &format!("age,ill\n{}", thirty("31,x\n")));
    file("s-zero.csv", &format!("age,ill\n{}", thirty("3\u{0}#,x\n")));
    for (table, classes) in [("s-alike.csv", 1), ("s-zero.csv", 3)] {
        let ran = anonymize(&format!(
            "{table} --qi age --sensitive ill --k 3 --samples 1 --output s-back.csv"
        ));
        assert!(ran.out.contains(&format!("classes     {classes}, ")), "{}{}", ran.out, ran.err);
        assert!(!ran.out.contains('\u{0}'));
        let read = |name: &str| std::fs::read(directory().join(name)).unwrap();
        assert_eq!(read("s-back.csv"), read(table));
    }
    // Nothing but stars keeps every promise, and says nothing.
    file("s-stars.csv", "age,ill\n*,x\n*,y\n");
    let ran = anonymize("check s-stars.csv --qi age --k 2");
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("warning: every row is suppressed"), "{}", ran.err);
}
