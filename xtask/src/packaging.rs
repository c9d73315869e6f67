//! `cargo xtask packaging`: what is built from this repository elsewhere, read here.
//!
//! There is no container engine and no runner on a developer's machine. So the Dockerfile and the workflows are read: every
//! file that they name is there, and each has the parts that its purpose needs. Workflows are YAML, which Python reads
//! (`pip install pyyaml`); without it they are left out, with a message.

use crate::{Failure, program, root};
use serde_json::Value;
use std::path::Path;

/// The systems that a release has binaries for.
const SYSTEMS: [&str; 3] = ["linux", "apple-darwin", "windows"];

pub(crate) fn run() -> Result<(), Failure> {
    let root = root();
    let read = |name: &str| {
        let text = std::fs::read_to_string(root.join(name));
        text.map_err(|error| {
            Failure::new(format!("{name}: {error}"), "it belongs to the repository")
        })
    };
    let mut wrong = dockerfile(&read("Dockerfile")?, &root);
    if python_reads_yaml() {
        wrong.extend(checks(&workflow("test")?));
        wrong.extend(releases(&workflow("release")?));
    } else {
        eprintln!(
            "packaging: the workflows are left out, as Python has no yaml (pip install pyyaml)"
        );
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(wrong.join("\n"), "`cargo xtask packaging` checks it again")),
    }
}

/// What is wrong with a Dockerfile.
fn dockerfile(text: &str, root: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let of = |name: &'static str| lines.iter().filter(move |line| line[0] == name);
    let named = of("FROM").filter(|line| line.get(2) == Some(&"AS"));
    let stages: Vec<&str> = named.filter_map(|line| line.get(3).copied()).collect();
    if of("FROM").count() < 2 || stages.is_empty() {
        wrong.push("Dockerfile: the compiler must stay in a stage of its own".to_owned());
    }
    for line in of("COPY") {
        let (from, paths): (Vec<&str>, Vec<&str>) =
            line[1..].iter().partition(|word| word.starts_with("--from="));
        if let Some(stage) = from.first().map(|from| from.trim_start_matches("--from=")) {
            if !stages.contains(&stage) {
                wrong.push(format!("Dockerfile: there is no stage `{stage}`"));
            }
            continue;
        }
        for path in paths.iter().rev().skip(1) {
            if !root.join(path).exists() {
                wrong.push(format!("Dockerfile: there is no `{path}` to copy"));
            }
        }
    }
    let user = of("USER").next_back().and_then(|line| line.get(1)).copied();
    if user.is_none_or(|user| ["root", "0"].contains(&user)) {
        wrong.push("Dockerfile: the program must not run as root".to_owned());
    }
    if of("VOLUME").next().is_some() {
        let why = "a ledger in a volume without a name is lost with the container";
        wrong.push(format!("Dockerfile: no VOLUME: {why}"));
    }
    if !text
        .lines()
        .any(|line| line.starts_with('#') && line.contains("docker run") && line.contains(" -v "))
    {
        wrong.push("Dockerfile: a comment must say how data is mounted".to_owned());
    }
    wrong
}

/// What is wrong with the workflow of the tests.
fn checks(workflow: &Value) -> Vec<String> {
    let mut wrong = steps("test.yml", workflow);
    let text = workflow.to_string();
    if !text.contains(".ci/run") || !root().join(".ci/run").exists() {
        wrong.push("test.yml: .ci/run must run".to_owned());
    }
    wrong
}

/// What is wrong with the workflow of releases.
fn releases(workflow: &Value) -> Vec<String> {
    let mut wrong = steps("release.yml", workflow);
    let targets = workflow["jobs"]["build"]["strategy"]["matrix"]["include"].as_array();
    let targets: Vec<&str> =
        targets.into_iter().flatten().filter_map(|one| one["target"].as_str()).collect();
    for system in SYSTEMS {
        if !targets.iter().any(|target| target.contains(system)) {
            wrong.push(format!("release.yml: no binary for {system}"));
        }
    }
    let text = workflow.to_string();
    if !text.contains("sha256sum") {
        wrong.push("release.yml: no checksums".to_owned());
    }
    for file in ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"] {
        if !text.contains(file) || !root().join(file).exists() {
            wrong.push(format!("release.yml: {file} must come along"));
        }
    }
    wrong
}

/// What is wrong with the parts that all workflows have.
fn steps(name: &str, workflow: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    // YAML 1.1, which Python reads, takes `on` for true.
    if workflow.get("on").or(workflow.get("true")).is_none_or(Value::is_null) {
        wrong.push(format!("{name}: it does not say when it runs"));
    }
    if workflow["permissions"]["contents"] != "read" {
        wrong.push(format!(
            "{name}: its permissions must be `contents: read`, and more for a job at most"
        ));
    }
    let jobs = workflow["jobs"].as_object();
    if jobs.is_none_or(serde_json::Map::is_empty) {
        wrong.push(format!("{name}: it has no jobs"));
    }
    for (job, parts) in jobs.into_iter().flatten() {
        if !parts["runs-on"].is_string() || !parts["timeout-minutes"].is_number() {
            wrong.push(format!("{name}: job {job} must say where it runs and for how long"));
        }
        let steps = parts["steps"].as_array().map_or(&[][..], Vec::as_slice);
        if steps.is_empty() {
            wrong.push(format!("{name}: job {job} has no steps"));
        }
        for (i, step) in steps.iter().enumerate() {
            let pinned = step["uses"].as_str().is_some_and(|uses| uses.contains('@'));
            if pinned == step["run"].is_string() {
                wrong.push(format!(
                    "{name}: step {} of {job} runs nothing, or an action of no version",
                    i + 1
                ));
            }
        }
    }
    wrong
}

fn python_reads_yaml() -> bool {
    program("python3").args(["-c", "import yaml"]).output().is_ok_and(|ran| ran.status.success())
}

/// A workflow as JSON.
fn workflow(name: &str) -> Result<Value, Failure> {
    let path = format!(".github/workflows/{name}.yml");
    let convert = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let failed = |why: String| Failure::new(format!("{path}: {why}"), "it must be YAML");
    let ran = program("python3").args(["-c", convert, &path]).output();
    let ran = ran.map_err(|error| failed(error.to_string()))?;
    if !ran.status.success() {
        let told =
            String::from_utf8_lossy(&ran.stderr).lines().last().unwrap_or_default().to_owned();
        return Err(failed(told));
    }
    serde_json::from_slice(&ran.stdout).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests;
