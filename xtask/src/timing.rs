//! `cargo xtask audit timing`: what the time of an answer reveals about one person.
//!
//! Builds the workspace and runs `benchmarks/src/bin/timing/`, which starts real servers on loopback and prints, for
//! each kind of statement, the advantage of an attacker who times its answers. Its exit code is 1 if one is too large.
//! Run it on a quiet machine: other work changes the times, too.

use crate::{Failure, cargo, metadata, program};

/// Arguments of a short run: a development build is slow, and its times mean little.
const SHORT: [&str; 4] = ["--rows", "5000", "--samples", "40"];

/// Builds and runs it; `words` are `short`, or options of the audit itself.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    let short = words.first() == Some(&"short");
    let (profile, folder): (&[&str], _) =
        if short { (&[], "debug") } else { (&["--release"], "release") };
    let mut build = cargo();
    build.args(["build", "--workspace"]).args(profile);
    succeed(&mut build, "it prints why it did not build")?;
    let binary = format!("timing{}", std::env::consts::EXE_SUFFIX);
    let mut audit = program(metadata::workspace()?.target.join(folder).join(binary));
    if short {
        audit.args(SHORT);
    }
    audit.args(&words[usize::from(short)..]);
    succeed(&mut audit, "a moment tells too much, or the machine was busy: run it again alone")
}

fn succeed(command: &mut std::process::Command, hint: &str) -> Result<(), Failure> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::new(format!("{command:?} failed ({status})"), hint)),
        Err(error) => Err(Failure::new(format!("{command:?} did not start: {error}"), hint)),
    }
}
