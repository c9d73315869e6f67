//! `demure attack …`: what an adversary learns, on made-up people or on one's own tables.
//!
//! | file | what |
//! |---|---|
//! | `difference.rs` | knows all rows but one |
//! | `average.rs` | asks again |
//! | `reconstruct.rs` | asks for random subsets, and solves for the rows |
//! | `membership.rs` | compares many averages with one person |
//! | `link.rs` | finds people in an anonymized table |
//! | `options.rs` | what they all take |
//! | `render.rs` | where findings go: JSON, a terminal, a page |
//!
//! What is asked, solved and counted is `demure-attack`'s.

mod average;
mod difference;
mod link;
mod membership;
mod options;
mod reconstruct;
mod render;

use crate::Failure;
use clap::Subcommand;
use demure_attack::Error;
use std::io::Write;

/// Attack a release before anyone else does: see what exact, noised and anonymized answers give away.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure attack reconstruct --demo --rows 100
  demure attack difference --demo --epsilon 1 --repeat 64

Every attack has --demo, which needs nothing else, --json, and --report FILE.html with pictures.
docs/attacks.md explains them.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Difference(difference::Args),
    Average(average::Args),
    Reconstruct(reconstruct::Args),
    Membership(membership::Args),
    Link(Box<link::Args>),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Command::Difference(args) => difference::run(args, out),
        Command::Average(args) => average::run(args, out),
        Command::Reconstruct(args) => reconstruct::run(args, out),
        Command::Membership(args) => membership::run(args, out),
        Command::Link(args) => link::run(args, out),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = match &error {
            // What is one word is the name of an option.
            Error::OutOfRange { parameter, .. } if !parameter.contains(' ') => format!("--{error}"),
            Error::Target { why } => format!("--target: {why}"),
            _ => error.to_string(),
        };
        match error {
            Error::Core(error) => error.into(),
            Error::Curator(error) => error.into(),
            Error::Anonymize(error) => error.into(),
            Error::Collect(error) => error.into(),
            Error::Files(error) => error.into(),
            Error::Io { doing, source } => Self::File { what: doing, source },
            Error::PriceDependsOnData => Self::Unsatisfied(text),
            error => Self::Usage(match remedy(&error) {
                Some(remedy) => format!("{text}\nhint: {remedy}"),
                None => text,
            }),
        }
    }
}

/// Which option to change, for attacks and audits.
fn remedy(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NoProtectedTable => "change --query",
        Error::NotOneNumber => "e.g. --query 'SELECT COUNT(*) FROM patients'",
        Error::NotSensitive => "change --know",
        Error::KnownAndSensitive => "a column is in both --qi and --sensitive",
        Error::NobodyFits => "say how columns were made coarser with --hierarchy column=FILE",
        Error::NotProtected | Error::WhichTable => "name a protected table with --table",
        Error::UnitElsewhere => "name that one with --table, or give --left and --right",
        Error::NoMechanism => "`demure audit mechanism --list` says which there are",
        Error::NoFirstAndLast => "give two answers with --answers and --others",
        Error::NotAnAnswer => "change --answers or --others",
        _ => return None,
    })
}
