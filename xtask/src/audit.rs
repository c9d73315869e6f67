//! `cargo xtask audit`: measures the ε that every mechanism and every SQL aggregate actually delivers.
//!
//! 1. `demure audit mechanism --all`: no mechanism may be refuted.
//! 2. `demure audit mechanism --broken all`: every one must be refuted.
//! 3. The curator's `tests/empirical.rs`: every aggregate, with both relations, units and kinds of accounting,
//!    through the public interface, with many more samples than in `cargo xtask test`.
//! 4. `demure audit query` on every aggregate whose contribution bounds are learnt (`audit/learnt.rs`).
//!
//! The results stay in `<target>/audit`: two pages with charts, and the printed output.

mod learnt;

use crate::{Failure, cargo, metadata, program};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// The length of a run.
struct Length {
    /// Arguments for cargo.
    profile: &'static [&'static str],
    folder: &'static str,
    /// Minutes for all mechanisms together.
    minutes: &'static str,
    /// Samples for each SQL aggregate.
    samples: &'static str,
    /// Samples for each SQL aggregate at learnt bounds.
    learnt: &'static str,
    /// Whether that is enough to show most of ε.
    long: bool,
}

const NIGHTLY: Length = Length {
    profile: &["--release"],
    folder: "release",
    minutes: "60",
    samples: "100000",
    learnt: "20000",
    long: true,
};
const SHORT: Length = Length {
    profile: &[],
    folder: "debug",
    minutes: "2",
    samples: "2400",
    learnt: "200",
    long: false,
};

/// Runs everything, at nightly length unless `short`.
pub(crate) fn run(short: bool) -> Result<(), Failure> {
    let length = if short { SHORT } else { NIGHTLY };
    let target = metadata::workspace()?.target;
    let results = target.join("audit");
    fs::create_dir_all(&results).map_err(|error| unwritable(&results, &error))?;

    let mut build = cargo();
    build.args(["build", "--workspace"]).args(length.profile);
    succeed(&mut build, "it prints why it did not build")?;
    let demure = target.join(length.folder).join(format!("demure{}", std::env::consts::EXE_SUFFIX));
    let audit = |arguments: &[&str], name: &str| -> Result<Value, Failure> {
        let mut command = program(&demure);
        command.args(["audit", "mechanism", "--json"]).args(arguments);
        command.arg("--report").arg(results.join(format!("{name}.html")));
        all_audited(&mut command, &results.join(format!("{name}.json")))
    };
    eprintln!("── mechanisms");
    let stand = audit(&["--all", "--minutes", length.minutes], "mechanisms")?;
    let wrong = names(&stand, "violated");
    if !wrong.is_empty() {
        return Err(Failure::new(
            format!("audit: convicted: {}", wrong.join(", ")),
            "a mechanism gives away more than it claims, or the audit is wrong: target/audit/mechanisms.html",
        ));
    }
    eprintln!("── the gallery");
    let fall = audit(&["--broken", "all"], "gallery")?;
    let missed = names(&fall, "not refuted");
    if !missed.is_empty() {
        return Err(Failure::new(
            format!("audit: broken and not convicted: {}", missed.join(", ")),
            "the audit has lost power: target/audit/gallery.html",
        ));
    }
    eprintln!("── SQL aggregates");
    let mut queries = cargo();
    queries.args(["test", "--workspace", "--test", "empirical"]).args(length.profile);
    queries.args(["--", "--nocapture"]).env("DEMURE_EMPIRICAL_SAMPLES", length.samples);
    succeed(&mut queries, "it prints which query shows more than it is charged")?;
    eprintln!("── SQL aggregates at learnt bounds");
    learnt::run(&demure, &results, &length)?;
    eprintln!(
        "audit: {} mechanisms stand, {} broken ones fall, no query shows more than it is charged; {}",
        audits(&stand).count(),
        audits(&fall).count(),
        results.display()
    );
    Ok(())
}

fn audits(found: &Value) -> impl Iterator<Item = &Value> {
    found["audits"].as_array().into_iter().flatten()
}

/// The audits with this verdict.
fn names(found: &Value, verdict: &str) -> Vec<String> {
    let some = audits(found).filter(|audit| audit["verdict"] == verdict);
    some.map(|audit| audit["audited"].as_str().unwrap_or("?").to_owned()).collect()
}

/// Runs audits, whose exit code is their verdict, and stores their output.
fn all_audited(command: &mut Command, path: &Path) -> Result<Value, Failure> {
    let found = audited(command, path)?;
    match audits(&found).count() {
        0 => Err(Failure::new(format!("{command:?} audited nothing"), "run it by hand")),
        _ => Ok(found),
    }
}

/// Runs one audit, and stores its output.
fn audited(command: &mut Command, path: &Path) -> Result<Value, Failure> {
    let file = File::create(path).map_err(|error| unwritable(path, &error))?;
    let status = command.stdout(file).status();
    let failed = |how: String| Failure::new(format!("{command:?} {how}"), "run it by hand");
    match status {
        Ok(status) if matches!(status.code(), Some(0 | 1)) => {}
        Ok(status) => return Err(failed(format!("failed ({status})"))),
        Err(error) => return Err(failed(format!("did not start: {error}"))),
    }
    let text =
        fs::read_to_string(path).map_err(|error| failed(format!("left nothing: {error}")))?;
    serde_json::from_str(&text).map_err(|error| failed(format!("left no JSON: {error}")))
}

fn succeed(command: &mut Command, hint: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("{command:?} failed ({status})"), hint.to_owned())),
        Err(error) => Err(Failure::new(format!("{command:?} did not start: {error}"), hint)),
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be written: {error}", path.display()), "check its permissions")
}

#[cfg(test)]
mod tests;
