//! `demure audit …`: the ε that is really delivered, from outputs alone.
//!
//! | file | what |
//! |---|---|
//! | `options.rs` | how hard to look, and how to tell |
//! | `mechanism.rs` | `audit mechanism`: every mechanism of the library, and a gallery of broken ones |
//! | `query.rs` | `audit query`: a question to the curator, on neighbouring databases |
//! | `collect.rs` | `audit collect`: a survey's randomizer |
//! | `command.rs` | `audit command`: any program that reads a file and prints numbers |
//! | `render.rs` | what was found, as text and JSON |
//!
//! What is run, counted and concluded is `demure-attack`'s.

mod collect;
mod command;
mod mechanism;
mod options;
mod query;
mod render;

use crate::Failure;
use std::io::Write;

/// Measure the privacy that is really delivered: a lower bound on ε, from outputs alone
///
/// An audit runs something very often on two neighbouring inputs, looks for an event that tells them apart, and
/// tests it on runs that it has not looked at. What it reports is below the true ε with 99.9999 % confidence, over
/// everything it tried. "violated" is luck once in a million times; "not refuted" is no proof: the telling input or
/// event may not have been among those tried.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure audit mechanism laplace --epsilon 1
  demure audit mechanism --broken float-laplace
  demure audit mechanism --list

Exit code: 0 not refuted, 1 violated, 2 a mistake or a failure.
The guide is docs/audit.md.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    /// A mechanism of the library, or a broken one of the gallery
    Mechanism(mechanism::Args),
    /// A SQL query under a policy, on neighbouring databases
    Query(query::Args),
    /// A survey's randomizer, on two answers
    Collect(collect::Args),
    /// Any program that reads a dataset and prints numbers
    Command(command::Args),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.command {
        Subcommand::Mechanism(args) => mechanism::run(args, out),
        Subcommand::Query(args) => query::run(args, out),
        Subcommand::Collect(args) => collect::run(args, out),
        Subcommand::Command(args) => command::run(args, out),
    }
}
