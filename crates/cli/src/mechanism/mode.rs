//! `demure mechanism mode`: the most frequent key, without noise, or no answer.

use super::stable::{Ask, Votes};
use crate::Failure;
use std::io::Write;

/// The most frequent key itself, if it is far from changing; else no answer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism mode --counts Flu=280,Measles=120,HIV=5 --epsilon 1 --delta 1e-6
  demure mechanism mode --counts a=300,b=90 --keys a,b,c --epsilon 1 --delta 1e-6 --json
  demure mechanism mode people.csv --column state --epsilon 0.5 --delta 1e-6 --explain

Every unit has one row. No answer (⊥) is an answer: exit code 1, and it costs as much as any other. Among equals the first
in --keys wins, or the first by name. Keys need not be public unless --keys is given.")]
pub(crate) struct Args {
    #[command(flatten)]
    votes: Votes,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    args.votes.run("the mode", Ask::Mode, out)
}
