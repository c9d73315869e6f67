//! `demure demo`: what it shows, and that what it says to try works.

use super::{Run, directory, run};

fn kept(name: &str) -> String {
    let folder = directory().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder.display().to_string()
}

/// A command as a shell would split it.
fn typed(line: &str) -> Run {
    let quoted = line.trim().split('\'').enumerate();
    let words: Vec<String> = quoted
        .flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect();
    assert_eq!(words[0], "demure", "{line}");
    run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_demo_answers_five_questions_and_refuses_one() {
    let folder = kept("demo-kept");
    let ran = run(&["demo", "--patients", "2000", "--keep", &folder]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert_eq!(ran.out.matches("cost ε").count(), 5, "{}", ran.out);
    assert_eq!(ran.out.matches("refused: ").count(), 1);
    assert!(ran.out.contains(" ± ") && ran.out.contains('┼'));
    // The path of the folder is as long as it is.
    let mut lines = ran.out.lines().filter(|line| !line.contains(&folder));
    assert!(lines.all(|line| line.chars().count() <= 100), "{}", ran.out);
    assert!(ran.out.contains("left ε 1.5 of 3"), "{}", ran.out);

    // What it says to try next works.
    let (_, next) = ran.out.split_once("Try next:\n").unwrap();
    let next: Vec<&str> = next.lines().filter(|line| line.trim().starts_with("demure")).collect();
    assert_eq!(next.len(), 3);
    for line in next {
        let ran = typed(line);
        assert_eq!(ran.code, Some(0), "{line}\n{}", ran.err);
    }
    // The same question again is free; the folder is not overwritten.
    let policy = format!("{folder}/clinic.toml");
    let sql = "SELECT COUNT(*) AS smokers FROM patients WHERE smoker";
    let again = run(&["query", &policy, sql, "--epsilon", "0.1"]);
    assert!(again.err.contains("cost nothing: this was bought before"), "{}", again.err);
    let over = run(&["demo", "--patients", "10", "--keep", &folder]);
    assert_eq!((over.code, over.out.as_str()), (Some(2), ""));
    assert!(over.err.contains("new or empty\nhint: "), "{}", over.err);
}

#[test]
fn the_patients_are_the_same_from_the_same_seed() {
    let read = |name: &str, seed: &str| {
        let folder = kept(name);
        let ran = run(&["demo", "--patients", "300", "--seed", seed, "--keep", &folder]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        std::fs::read_to_string(format!("{folder}/visits.csv")).unwrap()
    };
    let first = read("demo-seed-1", "7");
    assert_eq!(read("demo-seed-2", "7"), first);
    assert_ne!(read("demo-seed-3", "8"), first);
}

#[test]
fn mistakes_are_told() {
    for (args, says) in [
        (["demo", "--patients", "0"], "--patients must be a whole number from 1"),
        (["demo", "--patients", "99999999"], "at most 10,000,000"),
        (["demo", "--seed", "x"], "--seed must be a whole number"),
    ] {
        let ran = run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}
