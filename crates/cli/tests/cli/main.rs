//! Runs the real binary: what it prints, where, and with which exit code.
//!
//! | file | what |
//! |---|---|
//! | `mechanism.rs` | every `demure mechanism …`: its answer, its explanation, its fields |
//! | `plan.rs` | every `demure plan …`, in every direction |
//! | `account.rs` | `demure account`: known costs, calibration, files, curves, mistakes |
//! | `anonymize.rs` | `demure anonymize`: the lecture's nine rows, checks, risk, job files, mistakes |
//! | `attack.rs` | `demure attack`: exact answers fall, the curator's stay within their bound, pictures, mistakes |
//! | `audit.rs` | `demure audit`: mechanisms, the gallery, queries, surveys, programs, pages, mistakes |
//! | `collect.rs` | `demure collect`: every command, the service, kills, hostile bodies |
//! | `everywhere.rs` | what every command has: `--json`, `--quiet`, progress, completions, manual |
//! | `graph.rs` | `demure graph`, and `demure mechanism` median, trimmed-mean, mode, top-k: noise that fits the data |
//! | `counted.rs` | `--policy` of `demure mechanism` and `demure graph`: the debit comes first, and stays |
//! | `data_in.rs` | `demure init` and `demure check`: from a file as it is to a true answer |
//! | `demo.rs` | `demure demo`: what it shows, and that what it says to try works |
//! | `docs.rs` | the commands of README and docs: they run, and print what the pages say |
//! | `query.rs` | `demure query`, `demure explain`: answers, formats, budget, refusals, no data in messages |
//! | `shell.rs` | `demure shell` with a script |
//! | `identity.rs` | which ledger is a policy's, and all that is refused |
//! | `renew.rs` | another ledger for a policy; sources that another table had; machines that come at once |
//! | `synthesize.rs` | `demure synthesize`, `demure sample`: files, prices, refusals |
//! | `init.rs` | `demure init`: from the schema alone, and private bounds |
//! | `serve.rs` | `demure serve`, `user`, `budget`: psql, Python's clients, TLS, signals, crashes |
//! | `mistakes.rs` | bad calls: the message, exit code 2, nothing on stdout, no data anywhere |
//! | `help.rs` | every example in the help works |

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails panics"
)]

mod account;
mod anonymize;
mod attack;
mod audit;
mod collect;
mod counted;
mod data_in;
mod demo;
mod docs;
mod ends;
mod everywhere;
mod graph;
mod help;
mod identity;
mod init;
mod mechanism;
mod mistakes;
mod plan;
mod query;
mod renew;
mod serve;
#[path = "../../../ledger/tests/ledger/server.rs"]
mod server;
mod shell;
mod synthesize;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a run left behind.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        // On a busy machine anything may take ten seconds, and then says how far it is.
        let err = text(output.stderr);
        let err =
            err.split_inclusive('\n').filter(|line| !line.starts_with("progress: ")).collect();
        Self { code: output.status.code(), out: text(output.stdout), err }
    }
}

/// Runs `demure` with these arguments in a directory that holds only test files.
fn run(args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_demure"))
        .args(args)
        .current_dir(directory())
        .output()
        .unwrap();
    Run::of(output)
}

/// The same, for a line without spaces inside arguments.
fn demure(line: &str) -> Run {
    run(&line.split_whitespace().collect::<Vec<_>>())
}

/// `demure mechanism …` with text on its standard input.
fn run_with(line: &str, input: &str) -> Run {
    let path = file("standard-input", input);
    let output = Command::new(env!("CARGO_BIN_EXE_demure"))
        .arg("mechanism")
        .args(line.split_whitespace())
        .stdin(std::fs::File::open(path).unwrap())
        .output()
        .unwrap();
    Run::of(output)
}

/// stdout of a run that must succeed.
fn answer(line: &str) -> String {
    let run = demure(line);
    assert_eq!(run.code, Some(0), "{line}\n{}", run.err);
    run.out
}

/// The one JSON object of a run that must succeed and say nothing else.
fn json(line: &str) -> Value {
    let run = demure(&format!("{line} --json"));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{line}");
    assert_eq!(run.out.lines().count(), 1, "{line}");
    serde_json::from_str(&run.out).unwrap()
}

/// A number of a JSON object.
fn number(object: &Value, field: &str) -> f64 {
    object[field].as_f64().unwrap_or_else(|| panic!("{field} in {object}"))
}

fn directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Writes a file, at once: several tests may write and read the same one at a time.
fn file(name: &str, contents: &str) -> PathBuf {
    let path = directory().join(name);
    let begun = directory().join(format!("{name}.{}", std::process::id()));
    std::fs::write(&begun, contents).unwrap();
    std::fs::rename(&begun, &path).unwrap();
    path
}
