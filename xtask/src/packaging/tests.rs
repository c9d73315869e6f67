use super::*;
use serde_json::json;

#[test]
fn what_is_in_the_repository_is_right() {
    run().unwrap();
}

#[test]
fn a_dockerfile_with_mistakes_is_noticed() {
    let root = root();
    let right = std::fs::read_to_string(root.join("Dockerfile")).unwrap();
    assert_eq!(dockerfile(&right, &root), Vec::<String>::new());
    for (from, to, says) in [
        ("COPY crates crates", "COPY crate crates", "there is no `crate` to copy"),
        ("COPY Cargo.toml Cargo.lock ./", "COPY Cargo.toml Cargo.locked ./", "`Cargo.locked`"),
        ("--from=build", "--from=builder", "there is no stage `builder`"),
        ("USER 10001", "USER root", "must not run as root"),
        ("USER 10001\n", "", "must not run as root"),
        ("WORKDIR /data", "VOLUME /data", "no VOLUME"),
        (" -v ", " ", "how data is mounted"),
        ("FROM debian:bookworm-slim", "RUN true", "a stage of its own"),
    ] {
        let wrong = dockerfile(&right.replace(from, to), &root).join("\n");
        assert!(right.contains(from) && wrong.contains(says), "{from}: {wrong}");
    }
}

#[test]
fn a_workflow_with_mistakes_is_noticed() {
    let step = json!({ "run": ".ci/run" });
    let job = json!({ "runs-on": "ubuntu-24.04", "timeout-minutes": 9, "steps": [step] });
    let right =
        json!({ "true": ["push"], "permissions": { "contents": "read" }, "jobs": { "test": job } });
    assert_eq!(checks(&right), Vec::<String>::new());
    let with = |change: &dyn Fn(&mut Value)| {
        let mut changed = right.clone();
        change(&mut changed);
        checks(&changed).join("\n")
    };
    assert!(with(&|it| it["true"] = Value::Null).contains("when it runs"));
    assert!(with(&|it| it["permissions"] = json!("write-all")).contains("permissions"));
    assert!(with(&|it| it["jobs"] = json!({})).contains("no jobs"));
    assert!(with(&|it| it["jobs"]["test"]["runs-on"] = Value::Null).contains("where it runs"));
    assert!(with(&|it| it["jobs"]["test"]["steps"] = json!([])).contains("no steps"));
    let unpinned = json!([{ "uses": "actions/checkout" }]);
    assert!(with(&|it| it["jobs"]["test"]["steps"] = unpinned.clone()).contains("of no version"));
    let released = releases(&right).join("\n");
    for says in ["for linux", "for apple-darwin", "for windows", "no checksums", "LICENSE-MIT"] {
        assert!(released.contains(says), "{released}");
    }
}
