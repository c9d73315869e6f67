use super::*;
use crate::identity::ledger_of;
use demure_core::unit::{Delta, Epsilon, Rho};
use demure_ledger::Kind;
use std::fs;
use tempfile::TempDir;

const TABLE: &str = "[tables.t]\nsource = \"t.csv\"\nunit = \"id\"\n[tables.t.columns]\nid = { type = \"integer\" }\n";

/// A policy of ε 1 with this line in its budget.
fn policy(line: &str) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), "id\n1\n").unwrap();
    let path = folder.path().join("t.toml");
    let budget = format!("[budget]\nepsilon = 1.0\ndelta = 1e-6\nper_query = 0.1\n{line}\n");
    fs::write(&path, budget + TABLE).unwrap();
    (folder, path)
}

fn pure(epsilon: f64) -> Guarantee {
    Guarantee::Pure(Epsilon::new(epsilon).unwrap())
}

fn spent(path: &Path) -> f64 {
    ledger_of(path).unwrap().1.balance().unwrap().spent.main
}

#[test]
fn a_release_is_debited_before_it_is_made_and_stays_debited_if_it_is_not_made() {
    let (_folder, path) = policy("");
    let buy =
        |times| Outside::buy(&path, "ana", "a count", (pure(0.2), times), Neighbours::AddRemove);
    let bought = buy(1).unwrap();
    assert_eq!((bought.price().as_str(), bought.left().unwrap().as_str()), ("ε 0.2", "ε 0.8 of 1"));
    drop(bought);
    assert!((spent(&path) - 0.2).abs() < 1e-12);
    buy(3).unwrap().settle("[1,2,3]").unwrap();
    assert!((spent(&path) - 0.8).abs() < 1e-12);
    // Equal releases are not one release, and what is too much costs nothing.
    let refused = buy(2).unwrap_err();
    assert!(refused.refusal().unwrap().0.contains("costs ε 0.4"), "{refused}");
    assert!((spent(&path) - 0.8).abs() < 1e-12);
    let (_, ledger) = ledger_of(&path).unwrap();
    let kinds: Vec<Kind> = ledger.entries().unwrap().iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Reserve).count(), 2);
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Settle).count(), 1);
    ledger.verify().unwrap();
}

#[test]
fn a_release_counts_as_the_policy_counts() {
    let (_folder, path) = policy("accounting = \"zcdp\"");
    let rho = Guarantee::Concentrated(Rho::new(0.001).unwrap());
    let bought = Outside::buy(&path, "ana", "x", (rho, 2), Neighbours::AddRemove).unwrap();
    assert_eq!(bought.price(), "ρ 0.002");
    // Pure ε is ε²/2-zCDP at most.
    let bought = Outside::buy(&path, "ana", "x", (pure(0.1), 1), Neighbours::AddRemove).unwrap();
    assert_eq!(bought.price(), "ρ 0.005");

    let (_folder, path) = policy("");
    let refused = Outside::buy(&path, "ana", "x", (rho, 1), Neighbours::AddRemove);
    assert!(refused.is_err());
    let (epsilon, delta) = (Epsilon::new(0.1).unwrap(), Delta::new(1e-7).unwrap());
    let both = Guarantee::Approximate(epsilon, delta);
    let bought = Outside::buy(&path, "ana", "x", (both, 2), Neighbours::AddRemove).unwrap();
    assert_eq!(bought.price(), "ε 0.2, δ 2.0e-7");
    assert!((spent(&path) - 0.2).abs() < 1e-12);
}

#[test]
fn a_release_under_another_relation_is_refused_and_costs_nothing() {
    for (line, theirs, other) in [
        ("", "add-remove", Neighbours::Replace),
        ("neighbours = \"replace\"", "replace", Neighbours::AddRemove),
    ] {
        let (_folder, path) = policy(line);
        let refused = Outside::buy(&path, "ana", "x", (pure(0.1), 1), other).unwrap_err();
        let (what, remedy) = refused.refusal().unwrap();
        assert!(what.contains(theirs) && remedy.ends_with(theirs), "{what} {remedy}");
        assert_eq!(spent(&path), 0.0);
    }
}
