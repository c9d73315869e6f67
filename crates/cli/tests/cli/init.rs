//! `demure init`: a policy from the schema alone, and private bounds.

use super::query::CANARY;
use super::{directory, run};
use std::fmt::Write as _;
use std::path::PathBuf;

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = directory().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// 3,000 people: ages 18 to 97, and one age that is theirs alone.
pub(crate) fn ages(folder: &std::path::Path) -> String {
    let mut rows = String::from("person,age,city\n");
    for id in 0..3000 {
        writeln!(
            rows,
            "{id},{},A",
            if id == 9 { CANARY.to_owned() } else { (18 + id % 80).to_string() }
        )
        .unwrap();
    }
    let path = folder.join("ages.csv");
    std::fs::write(&path, rows).unwrap();
    path.display().to_string()
}

#[test]
fn nothing_but_the_heading_is_read() {
    let folder = folder("init-heading");
    let path = folder.join("people.csv");
    let heading = b"patient_id,age,name,\"odd, name\"\n";
    // A body that is no text, let alone CSV.
    let mut garbage = heading.to_vec();
    garbage.extend([0xFF, 0x00, b'"'].repeat(200_000));
    std::fs::write(&path, &garbage).unwrap();
    let with_garbage = run(&["init", path.to_str().unwrap()]);
    assert_eq!((with_garbage.code, with_garbage.err.as_str()), (Some(0), ""));
    std::fs::write(&path, heading).unwrap();
    let alone = run(&["init", path.to_str().unwrap()]);
    assert_eq!(with_garbage.out, alone.out);
    assert!(alone.out.contains("unit = \"patient_id\"\n"), "{}", alone.out);
    assert!(alone.out.contains("name = { hidden = true }"));
    assert!(alone.out.contains("# age = { bounds = [0, 120] }"));
    assert!(alone.out.contains("[tables.people]"));
}

#[test]
fn what_it_writes_can_be_asked() {
    let folder = folder("init-asked");
    let data = ages(&folder);
    let policy = folder.join("ages.toml").display().to_string();
    let ran = run(&["init", &data, "--output", &policy]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    let count = run(&["query", &policy, "SELECT COUNT(*) AS n FROM ages", "--epsilon", "1"]);
    assert_eq!(count.code, Some(0), "{}", count.err);
    let text = std::fs::read_to_string(&policy).unwrap();
    assert!(text.contains("source = \"ages.csv\"\n"), "{text}");
    let again = run(&["init", &data, "--output", &policy]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("hint: --force"), "{}", again.err);
    let forced = run(&["init", &data, "--output", &policy, "--force", "--unit", "row"]);
    assert_eq!(forced.code, Some(0), "{}", forced.err);
    assert!(std::fs::read_to_string(&policy).unwrap().contains("\nunit = \"row\"\n"));
}

#[test]
fn bought_bounds_hold_most_people_and_are_debited() {
    let folder = folder("init-bounds");
    let data = ages(&folder);
    let policy = folder.join("ages.toml").display().to_string();
    let ran = run(&[
        "init",
        &data,
        "--unit",
        "person",
        "--numeric",
        "age",
        "--spend-epsilon",
        "0.5",
        "--output",
        &policy,
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    assert!(ran.err.contains("cost ε 0.5, debited"), "{}", ran.err);
    let text = std::fs::read_to_string(&policy).unwrap();
    // Ages fill (16, 32], (32, 64] and (64, 128]: thousands against noise of scale 2. An empty
    // bin passes in at most one run of a hundred, and then the range is wider.
    let line = text.lines().find(|line| line.starts_with("age = { bounds = [")).unwrap();
    let (low, high) = line["age = { bounds = [".len()..].split_once(", ").unwrap();
    let high = high.split(']').next().unwrap();
    assert!(low.parse::<f64>().unwrap() <= 16.0 && high.parse::<f64>().unwrap() >= 128.0, "{line}");
    assert!(!text.contains(CANARY) && !text.contains("no value was read"), "{text}");
    assert!(text.contains("bought from the data for ε 0.5 in all"), "{text}");
    let count = run(&["query", &policy, "SELECT AVG(age) FROM ages", "--epsilon", "0.5"]);
    assert!(count.err.contains("left ε 0 of 1"), "{}", count.err);
    let over = run(&["query", &policy, "SELECT COUNT(*) FROM ages", "--epsilon", "0.1"]);
    assert_eq!(over.code, Some(1), "{}", over.err);
}

#[test]
fn mistakes_are_told() {
    let folder = folder("init-mistakes");
    let data = ages(&folder);
    let empty = folder.join("empty.csv").display().to_string();
    std::fs::write(&empty, "").unwrap();
    let fake = folder.join("fake.parquet").display().to_string();
    std::fs::write(&fake, CANARY).unwrap();
    for (args, says) in [
        (&["no-such.csv"][..], "reading no-such.csv"),
        (&[&empty], "no heading"),
        (&[&fake], "not a Parquet file"),
        (&["x.txt"], ".csv or a .parquet"),
        (
            &[&data, "--unit", "nobody"],
            "--unit names a column that is not there\nhint: there are person",
        ),
        (&[&data, "--numeric", "x"], "--numeric names a column"),
        (&[&data, "--spend-epsilon", "0.5"], "--unit"),
        (&[&data, "--spend-epsilon", "0.5", "--unit", "person"], "no numeric column"),
        (&[&data, "--spend-epsilon", "9", "--unit", "person", "--numeric", "age"], "at most 1"),
        (&[&data, "--spend-epsilon", "0", "--unit", "person", "--numeric", "age"], "epsilon"),
    ] {
        let ran = run(&[&["init"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}\n{}", ran.err);
        assert!(ran.err.contains(says), "{args:?}\n{}", ran.err);
        assert!(!ran.err.contains(CANARY));
    }
}
