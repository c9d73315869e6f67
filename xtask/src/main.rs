//! Commands for developers: `cargo xtask <command>`.
//!
//! | file | command |
//! |---|---|
//! | `test.rs` | `test`: everything that must pass before a commit |
//! | `layers.rs` | `layers`: the architectural invariants that a compiler cannot check |
//! | `packaging.rs` | `packaging`: the Dockerfile and the workflows |
//! | `audit.rs` | `audit [short]`: the ε that every mechanism and every SQL aggregate actually delivers |
//! | `timing.rs` | `audit timing [short]`: what the time of an answer reveals about one person |
//! | `bench.rs` | `bench <name>`: a benchmark against its peers |
//! | `metadata.rs` | the output of `cargo metadata`, for the above |
//!
//! # What this crate does not do
//! It builds no part of the product, and nothing depends on it. It never prompts: no command reads its standard input,
//! so all of them run unattended.

#![forbid(unsafe_code)]

mod audit;
mod bench;
mod layers;
mod metadata;
mod needs;
mod packaging;
mod test;
mod timing;

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

const HELP: &str = "\
The developer's commands.

Usage: cargo xtask <command>

Commands:
  test          format, lints, documentation, layers, tests, doctests, dependencies
  layers        dependency directions, and what the sources must not contain
  packaging     the Dockerfile and the workflows: what they name is there, and what they need is in them
  audit         build in release and audit every mechanism and every SQL aggregate, for a night
  audit short   the same in minutes, from a development build
  audit timing  build in release and measure what the time of answers tells; `audit timing short` from a
                development build; options: `--rows N --samples N --only SHAPE --json`
  bench <name>  build in release and run benchmarks/src/bin/<name>.rs with its peers
  help          this text
";

/// Why a command failed, and what to do next.
#[derive(Debug)]
struct Failure {
    what: String,
    hint: String,
}

impl Failure {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        let (what, hint) = (what.into(), hint.into());
        Self { what, hint }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\nhint: {}", self.what, self.hint)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        ["test"] => test::run(),
        ["layers"] => layers::run(),
        ["packaging"] => packaging::run(),
        ["audit"] => audit::run(false),
        ["audit", "short"] => audit::run(true),
        ["audit", "timing", ref words @ ..] => timing::run(words),
        ["bench"] => bench::list(),
        ["bench", name] => bench::run(name),
        _ => Err(Failure::new(
            format!("no command `{}`", words.join(" ")),
            "`cargo xtask help` lists the commands",
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}

/// A program to run at the root, without standard input and without the variables that cargo sets for this package:
/// some build scripts depend on them, and would run again whenever a build is started from here after one that was
/// not.
fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let told =
            |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|p| name.starts_with(p));
        if name.to_str().is_some_and(told) {
            command.env_remove(name);
        }
    }
    command
}

/// The cargo that runs this.
fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Whether `cargo <subcommand>` is installed.
fn has_subcommand(subcommand: &str) -> bool {
    let mut command = cargo();
    command.args([subcommand, "--version"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
