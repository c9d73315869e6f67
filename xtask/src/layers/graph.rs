//! Dependencies point one way.
//!
//! `core ← ledger ← curator ← {server, synth} ← cli`; `core ← {graph, collect}`; `graph ← plan`; `collect ← server`; `anonymize` reads tables by `files`, shows
//! what it found by `report` and sees none of the others; `attack` sees what it attacks: `curator`, `collect`, `anonymize`; `cli → {anonymize, attack,
//! collect, graph, plan}` too; `python → core, ledger, curator, collect, anonymize, graph, plan`, never `server`. A lower
//! crate may be used directly, not only through the crate between.

use crate::metadata::{Kind, Package};

/// Each crate, and the crates of this workspace that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("demure-natural", &[]), // arithmetic alone: part of the core's audit target
    ("demure-core", &["demure-natural"]),
    ("demure-graph", &["demure-core"]),
    ("demure-collect", &["demure-core"]),
    ("demure-ledger", &["demure-core"]),
    // Of files the curator takes names and types of columns, for a first policy; rows are the engine's to read.
    ("demure-curator", &["demure-core", "demure-ledger", "demure-files"]),
    // Of the curator it takes bounded rows as codes, in one module; the rest of it works on releases.
    ("demure-synth", &["demure-core", "demure-ledger", "demure-curator", "demure-report"]),
    (
        "demure-attack", // opens what it attacks: curators, surveys, published tables
        &[
            "demure-core",
            "demure-ledger",
            "demure-curator",
            "demure-anonymize",
            "demure-collect",
            "demure-files",
            "demure-report",
        ],
    ),
    ("demure-plan", &["demure-core", "demure-graph", "demure-report"]), // explanations are fields of a report
    ("demure-files", &[]),
    ("demure-report", &[]), // only shows what it is given: server and Python may use it too
    ("demure-pg-catalog", &[]), // answers from names and types: cannot see the curator
    // The collector's service shares the listener and the connection limits of the other wires.
    (
        "demure-server",
        &[
            "demure-core",
            "demure-ledger",
            "demure-curator",
            "demure-collect",
            "demure-pg-catalog",
            "demure-report",
        ],
    ),
    (
        "demure-cli",
        &[
            "demure-core",
            "demure-ledger",
            "demure-curator",
            "demure-server",
            "demure-anonymize",
            "demure-attack",
            "demure-collect",
            "demure-files",
            "demure-graph",
            "demure-plan",
            "demure-report",
            "demure-synth",
        ],
    ),
    ("demure-anonymize", &["demure-files", "demure-natural", "demure-report"]), // no claim of differential privacy: cannot see the core
    (
        "demure-python",
        &[
            "demure-core",
            "demure-ledger",
            "demure-curator",
            "demure-collect",
            "demure-anonymize",
            "demure-files",
            "demure-graph",
            "demure-plan",
            "demure-report",
        ],
    ),
    ("demure-bench", &["demure-core", "demure-collect", "demure-graph", "demure-synth"]),
    ("demure-testkit", &[]), // sees no mechanism, so that the core's own tests can use it
    ("xtask", &[]),
];

/// The crate that any crate's tests may use.
const TESTKIT: &str = "demure-testkit";

/// The only external crates that the core may use, because it is the audit target.
const CORE_USES: [&str; 3] = ["chacha20", "getrandom", "thiserror"];

/// The edges that must not exist.
pub(super) fn violations(packages: &[Package]) -> Vec<String> {
    let mut broken = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            broken.push(format!(
                "{name} is in no layer: give it one in xtask/src/layers/graph.rs and ARCHITECTURE.md"
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let uses = dependency.name.as_str();
            let for_tests = dependency.kind == Kind::Development;
            if dependency.local {
                let may = allowed.contains(&uses) || (for_tests && uses == TESTKIT);
                if !may {
                    broken.push(format!("{name} must not depend on {uses}"));
                }
            } else if name == "demure-core" && !for_tests && !CORE_USES.contains(&uses) {
                broken.push(format!(
                    "demure-core must not use {uses}: only {}",
                    CORE_USES.join(", ")
                ));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests;
