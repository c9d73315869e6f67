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
    assert!(page.contains("M of 4 rows: ") || page.contains("M of 5 rows: "));
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
        "Distances",
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
    for asked in ["--l 6", "--disclosure 0.0001 --k 9 --l 6"] {
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
    for extra in ["--suppress 50%", "--time 3"] {
        let line = format!("anonymize ignored.csv --qi age,state --k 2 --method mondrian {extra}");
        let ran = demure(&line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{extra}");
        assert!(ran.err.contains("--method optimal"), "{}", ran.err);
    }
}
