use super::*;
use serde_json::json;

#[test]
fn reads_names_kinds_and_paths() {
    let workspace = parse(&json!({
        "target_directory": "t",
        "packages": [{ "name": "a", "dependencies": [
            { "name": "b", "kind": null, "path": "somewhere/b" },
            { "name": "c", "kind": "dev" },
            { "name": "d", "kind": "build", "path": null },
        ]}]
    }))
    .unwrap();
    let seen: Vec<_> = workspace.packages[0]
        .dependencies
        .iter()
        .map(|d| (d.name.as_str(), d.kind, d.local))
        .collect();
    assert_eq!(
        seen,
        [("b", Kind::Normal, true), ("c", Kind::Development, false), ("d", Kind::Build, false)]
    );
}

#[test]
fn what_it_cannot_read_is_an_error() {
    assert!(parse(&json!({ "packages": [] })).is_none());
    assert!(parse(&json!({ "target_directory": "t", "packages": [{ "name": "a" }] })).is_none());
    assert!(dependency(&json!({ "name": "b" })).is_none());
    assert!(dependency(&json!({ "name": "b", "kind": "other" })).is_none());
}

#[test]
fn this_workspace_is_read() {
    let workspace = workspace().unwrap();
    assert!(workspace.packages.iter().any(|p| p.name == "demure-core"));
}
