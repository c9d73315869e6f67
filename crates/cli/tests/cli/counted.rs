//! `demure mechanism … --policy` and `demure graph … --policy`: the debit comes first, is what was said, and stays.

use super::query::people;
use super::{Run, demure, directory, file, json, number};
use serde_json::Value;

const GRAPH: &str = "1 2\n2 3\n3 1\n3 4\n";

/// A release of every command: its arguments, and what the journal calls it.
const RELEASES: &[(&str, &str)] = &[
    ("mechanism laplace --value 10 --sensitivity 1 --epsilon 0.01", "laplace"),
    ("mechanism gaussian --value 10 --sensitivity 1 --epsilon 0.01 --delta 1e-9", "gaussian"),
    ("mechanism exponential --scores a=2,b=1 --epsilon 0.01", "exponential"),
    ("mechanism histogram --counts a=10,b=3 --epsilon 0.01", "histogram"),
    ("mechanism threshold --counts a=10,b=3 --epsilon 0.01 --delta 1e-9", "threshold"),
    ("mechanism count --values 1,2 --epsilon 0.01", "count"),
    ("mechanism sum --values 1,2 --bounds 0,5 --epsilon 0.01", "sum"),
    ("mechanism mean --values 1,2 --bounds 0,5 --epsilon 0.01", "mean"),
    ("mechanism variance --values 1,2 --bounds 0,5 --epsilon 0.01", "variance"),
    ("mechanism quantile --values 1,2 --bounds 0,5 --epsilon 0.01", "quantile"),
    ("mechanism tree --values 1,2 --bounds 0,5 --integer --epsilon 0.01", "tree"),
    ("mechanism sparse --values 1,2 --threshold 5 --epsilon 0.01", "sparse"),
    (
        "mechanism median --values 1,2 --bounds 0,5 --neighbours add-remove --size 2 --epsilon 0.01",
        "median",
    ),
    ("graph triangles GRAPH --vertices 9 --epsilon 0.01", "triangles"),
    ("graph stars GRAPH --vertices 9 --epsilon 0.01", "stars"),
    ("graph degrees GRAPH --vertices 9 --epsilon 0.01", "degrees"),
    ("graph clustering GRAPH --vertices 9 --epsilon 0.01", "clustering"),
];

/// A policy and a graph, each in a folder of this test.
fn place(name: &str) -> (String, String) {
    (people(name), file(&format!("{name}.edges"), GRAPH).display().to_string())
}

fn spent(policy: &str) -> f64 {
    number(&json(&format!("budget show {policy}"))["spent"], "epsilon")
}

fn journal(policy: &str) -> Vec<Value> {
    let log = json(&format!("budget log {policy}"));
    log["entries"].as_array().unwrap().clone()
}

fn nothing(run: &Run, code: i32, says: &str) {
    assert_eq!((run.code, run.out.as_str()), (Some(code), ""), "{}", run.err);
    assert!(run.err.contains(says), "no `{says}` in: {}", run.err);
}

#[test]
fn every_release_debits_what_it_says_it_costs() {
    let (policy, graph) = place("counted-each");
    for (call, name) in RELEASES {
        let (call, before) = (call.replace("GRAPH", &graph), spent(&policy));
        let said = json(&format!("{call} --policy {policy} --as ana"));
        assert_eq!(said["debited"], true, "{call}");
        let (cost, debit) = (number(&said, "epsilon"), spent(&policy) - before);
        assert!((debit - cost).abs() < 1e-12 && cost > 0.0, "{call}: {debit}, not {cost}");
        let all = journal(&policy);
        let bought = all.iter().rev().find(|entry| entry["kind"] == "reserve").unwrap();
        assert_eq!(bought["who"], "ana", "{bought}");
        assert!(bought["query"].as_str().unwrap().contains(name), "{name}: {bought}");
        assert_eq!(all.last().unwrap()["kind"], "settle", "{call}");
    }
}

#[test]
fn every_draw_is_debited() {
    let (policy, _) = place("counted-repeat");
    let call = "mechanism laplace --value 1 --sensitivity 1 --epsilon 0.1 --repeat 7";
    let said = json(&format!("{call} --policy {policy}"));
    assert_eq!(said["value"].as_array().unwrap().len(), 7);
    assert!((spent(&policy) - 0.7).abs() < 1e-9);
    let again = demure(&format!("{call} --policy {policy}"));
    assert_eq!((again.code, again.out.lines().count()), (Some(0), 7), "{}", again.err);
    assert!(again.err.contains("debited ε 0.7, left ε 0.6 of 2"), "{}", again.err);
    let many = demure(&format!("{call}000000 --policy {policy}"));
    nothing(&many, 2, "--repeat must be at most 100000");
}

#[test]
fn beyond_the_budget_nothing_is_read_and_nothing_spent() {
    let (policy, graph) = place("counted-beyond");
    let absent = directory().join("counted-beyond").join("absent.csv");
    let refused = demure(&format!(
        "mechanism count {} --column age --epsilon 2.5 --policy {policy}",
        absent.display()
    ));
    nothing(&refused, 1, "costs ε 2.5");
    assert_eq!(spent(&policy), 0.0);
    let graph = format!("graph triangles {graph} --vertices 9 --neighbours replace");
    for call in ["mechanism median --values 1,2 --bounds 0,5", &graph] {
        let other = demure(&format!("{call} --epsilon 0.1 --policy {policy}"));
        nothing(&other, 1, "the policy counts under add-remove");
    }
    assert_eq!(spent(&policy), 0.0);
}

#[test]
fn a_release_that_fails_after_its_debit_stays_debited_and_says_so() {
    let (policy, _) = place("counted-after");
    let absent = directory().join("counted-after").join("absent.csv");
    let failed = demure(&format!(
        "mechanism count {} --column age --epsilon 0.5 --policy {policy}",
        absent.display()
    ));
    nothing(&failed, 2, "note: ε 0.5 stays debited");
    assert_eq!(spent(&policy), 0.5);
}

#[test]
fn a_release_without_a_policy_says_that_nobody_counts_it() {
    let (_, graph) = place("counted-not");
    for (call, _) in RELEASES {
        let call = call.replace("GRAPH", &graph);
        assert_eq!(json(&call)["debited"], false, "{call}");
        let said = demure(&call).err;
        assert!(said.contains("counted on no budget (--policy debits one)"), "{call}\n{said}");
    }
    let explained = json("mechanism count --epsilon 1 --explain");
    assert!(explained.get("debited").is_none(), "{explained}");
}

#[test]
fn what_is_missing_in_the_call_is_said_before_the_debit() {
    let (policy, graph) = place("counted-call");
    for (call, says) in [
        ("mechanism count --epsilon 0.01", "no data"),
        ("mechanism histogram --keys a,b --epsilon 0.01", "no data"),
        (
            "mechanism median --values 1,2 --bounds 0,5 --neighbours add-remove --epsilon 0.01",
            "--size",
        ),
        ("graph triangles --vertices 9 --epsilon 0.01", "no graph"),
        (&format!("graph triangles {graph} --epsilon 0.01"), "--vertices"),
        (
            "mechanism exponential --scores a=2 --epsilon 0.01 --probabilities",
            "cannot be used with",
        ),
        ("mechanism response --alpha 0.5 --estimate --yes 9 --n 18", "cannot be used with"),
        ("mechanism median --bounds 0,5 --epsilon 0.01 --compare", "cannot be used with"),
    ] {
        nothing(&demure(&format!("{call} --policy {policy}")), 2, says);
    }
    let little = demure(&format!("mechanism count --values 1 --epsilon 1e-9 --policy {policy}"));
    nothing(&little, 1, "a release costs at least ε");
    assert_eq!(spent(&policy), 0.0);
}

#[test]
fn whether_sparse_answers_does_not_depend_on_what_a_cell_holds() {
    for values in ["1,2,3", "1,2,3.5", "1,nan,3", "inf,-inf,1e300"] {
        let said = json(&format!("mechanism sparse --values {values} --threshold 50 --epsilon 1"));
        assert_eq!(said["value"].as_array().unwrap().len(), 3, "{said}");
    }
    // Numbers that are half a step apart are a step apart when rounded down.
    let said = json("mechanism sparse --threshold 5 --epsilon 1 --sensitivity 0.5 --explain");
    assert_eq!(number(&said, "sensitivity"), 1.0);
}
