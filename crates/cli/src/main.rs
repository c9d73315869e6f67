//! `demure`: privacy from the command line.
//!
//! | file | what |
//! |---|---|
//! | `demo.rs` | `demure demo`: a made-up clinic, five questions, one refusal |
//! | `query.rs`, `explain.rs` | `demure query …`, `demure explain …`: one question under a policy |
//! | `shell/` | `demure shell …`: a conversation |
//! | `init.rs`, `check.rs` | `demure init …`: a first policy; `demure check …`: what a policy comes to |
//! | `curator/` | what those five share: opening, settings, tables, formats |
//! | `synthesize/` | `demure synthesize …`, `demure sample …`: rows that look like a protected table's |
//! | `serve.rs`, `user.rs` | `demure serve …`, `demure user …`: a server, and who may ask it |
//! | `budget/` | `demure budget …`: what was spent, and who may spend how much |
//! | `mechanism/` | `demure mechanism …`: one release, or its explanation |
//! | `graph/` | `demure graph …`: triangles, stars, degrees and clustering of an edge list |
//! | `plan/` | `demure plan …`: how many people, how much ε, how large an error |
//! | `collect/` | `demure collect …`: the local model: surveys, randomizing, estimating, a service |
//! | `compose/` | `demure compose …`: what many releases cost together, and calibration |
//! | `anonymize/` | `demure anonymize …`: a table made coarse; no differential privacy |
//! | `attack/` | `demure attack …`: what an adversary learns from exact, noised and anonymized answers |
//! | `audit/` | `demure audit …`: a lower bound on the ε that a mechanism, a query or a program really has |
//! | `completions.rs` | `demure completions …`, `demure man …`: for shells and manuals |
//! | `counted.rs` | `--policy`: releases of `demure mechanism` and `demure graph`, on a policy's budget |
//! | `input/` | what users type: numbers, bounds, `name=number` lists, columns of a file |
//! | `interrupt.rs` | Ctrl-C as a flag |
//! | `usage.rs` | mistakes in the call, told without repeating what was typed |
//!
//! Data goes to stdout, everything else to stderr. Exit code 0: answered; 1:
//! refused for privacy's sake, or a promise cannot be kept; 2: a mistake in the call or a failure. What a
//! user types may be protected, so no message repeats a value.
//!
//! # What this crate does not do
//! It proves nothing: every guarantee is `demure-core`'s; what may be asked is
//! `demure-curator`'s to say, how reports are made and counted `demure-collect`'s, and what `demure anonymize` promises,
//! which is no differential privacy, is `demure-anonymize`'s.

#![forbid(unsafe_code)]

/// Says something beside the answer, on stderr, unless the call was --quiet.
macro_rules! note {
    ($($words:tt)*) => {
        if !demure_report::progress::is_quiet() {
            eprintln!($($words)*);
        }
    };
}

mod anonymize;
mod attack;
mod audit;
mod budget;
mod check;
mod collect;
mod completions;
mod compose;
mod counted;
mod curator;
mod demo;
mod explain;
mod graph;
mod init;
mod input;
mod interrupt;
mod mechanism;
mod plan;
mod query;
mod serve;
mod shell;
mod synthesize;
mod usage;
mod user;

use clap::{Parser, Subcommand};
use demure_core::Error;
use demure_report::progress::Heartbeat;
use demure_report::{WriteError, printable_lines};
use std::io::{BufWriter, ErrorKind, Write};
use std::process::ExitCode;

/// Planning a query is many small allocations, and a server frees them on other threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Answers questions about people without giving any of them away.
#[derive(Parser)]
#[command(name = "demure", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  demure demo --patients 20000
  demure mechanism laplace --value 10 --sensitivity 1 --epsilon 1
  demure mechanism mean --values 31,45,28 --bounds 0,100 --epsilon 1 --explain
  demure plan count --n 1000 --error 1%
  demure compose --delta 1e-6 'laplace(b=1)*100'")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Say nothing but the answer, errors, refusals and warnings
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Show what this does: a made-up clinic, five questions, one refusal
    Demo(demo::Args),
    /// Ask one question of protected tables, in SQL
    Query(query::Args),
    /// Say what a question would cost and how wrong its answer would be
    Explain(explain::Args),
    /// Ask many questions, one after the other
    Shell(shell::Args),
    /// Write a first policy for a table, without reading its values
    Init(Box<init::Args>),
    /// Open a policy, and say what was understood and what questions would cost
    Check(check::Args),
    /// Make a synthetic table: rows that look like a protected table's
    Synthesize(Box<synthesize::Args>),
    /// Make more rows from a saved model, free
    Sample(synthesize::sample::Args),
    /// Serve a policy to psql, BI tools, HTTP and a browser
    Serve(serve::Args),
    /// Say who may ask the server
    User(user::Args),
    /// Show, share out, freeze and check a budget
    Budget(budget::Args),
    /// Release something through a mechanism, or explain what it would do
    Mechanism(mechanism::Args),
    /// Release a statistic of a graph: who is in it is public, who knows whom is not
    Graph(graph::Args),
    /// How many people, how much ε, how large an error: any two give the third
    Plan(plan::Args),
    /// Collect from people who trust nobody: each randomizes the answer before sending it
    Collect(Box<collect::Args>),
    /// What many releases cost together, certified (also: account)
    #[command(alias = "account")]
    Compose(compose::Args),
    /// Publish rows, made coarse: k-anonymity and relatives; no differential privacy
    Anonymize(Box<anonymize::Args>),
    /// Attack a release before anyone else does
    Attack(Box<attack::Args>),
    /// Measure the privacy that is really delivered: a lower bound on ε, from outputs alone
    Audit(Box<audit::Args>),
    Completions(completions::Completions),
    Man(completions::Manual),
}

/// Why a command did not answer. No field holds a protected value.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// A mistake in the call: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The core refused: exit code 2.
    #[error("{0}")]
    Core(#[from] Error),
    /// The anonymizer refused: exit code 2.
    #[error("{0}")]
    Anonymize(#[from] demure_anonymize::Error),
    /// The curator: exit code 1 if it refused, 2 if it failed.
    #[error("{0}")]
    Curator(#[from] demure_curator::Error),
    /// A file could not be read or written: exit code 2.
    #[error("{0}")]
    Files(#[from] demure_files::Error),
    /// The collector refused: exit code 2.
    #[error("{0}")]
    Collect(demure_collect::Error),
    /// The accounts of a server: exit code 2.
    #[error("{0}")]
    Users(#[from] demure_server::users::Error),
    /// A script had statements that were refused or failed, told already: its exit code.
    #[error("")]
    Told(u8),
    /// A promise cannot be kept, or a published table does not keep it: exit code 1.
    #[error("{0}")]
    Unsatisfied(String),
    /// The answer could not be written: exit code 2.
    #[error("{0}")]
    Unwritten(#[from] WriteError),
    /// The system refused: exit code 2.
    #[error("{what}: {source}")]
    File { what: String, source: std::io::Error },
}

impl From<demure_plan::Error> for Failure {
    fn from(error: demure_plan::Error) -> Self {
        match error {
            demure_plan::Error::Core(error) => Self::Core(error),
            error => Self::usage(error.to_string()),
        }
    }
}

impl Failure {
    fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    /// What to change, where the core's words are about something no option is called.
    fn hint(&self) -> Option<&'static str> {
        if let Self::Curator(error) = self {
            return curator::hint(error);
        }
        if let Self::Collect(error) = self {
            return collect::hint(error);
        }
        let Self::Core(Error::OutOfRange { parameter: "scale", .. }) = self else { return None };
        Some("the scale is about sensitivity / epsilon: choose an epsilon nearer to 1")
    }

    /// The answer could not be written.
    fn writing(source: std::io::Error) -> Self {
        Self::Unwritten(WriteError(source))
    }
}

fn main() -> ExitCode {
    // What panics may quote what it stumbled over, and that it did is itself an answer: say
    // nothing of it where it happens. A kernel that fails on a row gives NULL there.
    if std::env::var_os("DEMURE_SHOW_PANICS").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        eprintln!("error: demure failed in a way it should not");
        eprintln!("hint: with DEMURE_SHOW_PANICS=1 it says where; that may show protected values");
        ExitCode::from(2)
    })
}

fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let json = cli.json;
    if cli.quiet {
        demure_report::progress::be_quiet();
    }
    // While a shell or a server waits, there is nothing to report.
    let waits = match &cli.command {
        Command::Shell(_) | Command::Serve(_) | Command::User(_) => true,
        Command::Collect(args) => args.waits(),
        _ => false,
    };
    let heartbeat = Heartbeat::new(!waits);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let outcome = match cli.command {
        Command::Demo(args) => demo::run(&args, json, &mut out),
        Command::Query(args) => query::run(&args, json, &mut out),
        Command::Explain(args) => explain::run(&args, &mut out),
        Command::Shell(args) => shell::run(&args, json, &mut out),
        Command::Init(args) => init::run(&args, json, &mut out),
        Command::Check(args) => check::run(&args, &mut out),
        Command::Synthesize(args) => synthesize::run(&args, &mut out),
        Command::Sample(args) => synthesize::sample::run(&args),
        Command::Serve(args) => serve::run(&args, json, &mut out),
        Command::User(args) => user::run(&args, json, &mut out),
        Command::Budget(args) => budget::run(&args, &mut out),
        Command::Mechanism(args) => mechanism::run(&args, &mut out),
        Command::Graph(args) => graph::run(&args, &mut out),
        Command::Plan(args) => plan::run(&args, &mut out),
        Command::Collect(args) => collect::run(&args, &mut out),
        Command::Compose(args) => compose::run(&args, &mut out),
        Command::Anonymize(args) => anonymize::run(*args, &mut out),
        Command::Attack(args) => attack::run(&args, &mut out),
        Command::Audit(args) => audit::run(&args, &mut out),
        Command::Completions(args) => args.run(json, &mut out),
        Command::Man(args) => args.run(json, &mut out),
    };
    drop(heartbeat);
    match outcome.and_then(|()| out.flush().map_err(Failure::writing)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader went away (`demure … | head`): nothing is wrong.
        Err(
            Failure::File { source, .. }
            | Failure::Files(demure_files::Error::Io { source, .. })
            | Failure::Unwritten(WriteError(source)),
        ) if source.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Curator(error)) if error.refusal().is_some() => {
            eprintln!("{}", printable_lines(&curator::words(&error)));
            ExitCode::FAILURE
        }
        Err(Failure::Told(code)) => ExitCode::from(code),
        Err(Failure::Unsatisfied(why)) => {
            eprintln!("{}", printable_lines(&why));
            ExitCode::FAILURE
        }
        Err(failure) => {
            eprintln!("error: {}", printable_lines(&failure.to_string()));
            if let Some(hint) = failure.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests;
