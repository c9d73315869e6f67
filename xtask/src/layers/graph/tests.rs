use super::*;
use crate::metadata::Dependency;

const LOCAL: bool = true;

fn package(name: &str, uses: &[(&str, Kind, bool)]) -> Package {
    let dependency = |&(name, kind, local): &(&str, Kind, bool)| Dependency {
        name: name.to_owned(),
        kind,
        local,
    };
    Package { name: name.to_owned(), dependencies: uses.iter().map(dependency).collect() }
}

#[test]
fn the_architecture_passes() {
    let packages = [
        package(
            "demure-core",
            &[
                ("chacha20", Kind::Normal, false),
                ("proptest", Kind::Development, false),
                ("demure-testkit", Kind::Development, LOCAL),
            ],
        ),
        package("demure-testkit", &[]),
        package(
            "demure-cli",
            &[
                ("clap", Kind::Normal, false),
                ("demure-core", Kind::Normal, LOCAL),
                ("demure-server", Kind::Normal, LOCAL),
                ("demure-anonymize", Kind::Normal, LOCAL),
            ],
        ),
    ];
    assert_eq!(violations(&packages), Vec::<String>::new());
}

#[test]
fn an_edge_upward_is_found() {
    for (from, to, kind) in [
        ("demure-core", "demure-ledger", Kind::Normal),
        ("demure-core", "demure-ledger", Kind::Development),
        ("demure-ledger", "demure-curator", Kind::Build),
        ("demure-anonymize", "demure-core", Kind::Normal),
        ("demure-python", "demure-server", Kind::Normal),
        ("demure-graph", "demure-collect", Kind::Normal),
        ("demure-pg-catalog", "demure-curator", Kind::Normal),
        ("demure-cli", "demure-testkit", Kind::Normal),
        ("demure-testkit", "demure-core", Kind::Development),
    ] {
        let found = violations(&[package(from, &[(to, kind, LOCAL)])]);
        assert_eq!(found, [format!("{from} must not depend on {to}")]);
    }
}

#[test]
fn the_core_uses_nothing_unlisted_not_even_to_build() {
    for kind in [Kind::Normal, Kind::Build] {
        let found = violations(&[package("demure-core", &[("tokio", kind, false)])]);
        assert!(found[0].starts_with("demure-core must not use tokio"));
    }
}

#[test]
fn a_crate_without_a_layer_is_found() {
    assert!(violations(&[package("demure-new", &[])])[0].starts_with("demure-new is in no layer"));
}

#[test]
fn every_allowed_crate_is_itself_listed() {
    for (_, uses) in ALLOWED {
        for used in *uses {
            assert!(ALLOWED.iter().any(|(name, _)| name == used), "{used}");
        }
    }
}
