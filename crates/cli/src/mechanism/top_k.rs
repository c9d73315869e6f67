//! `demure mechanism top-k`: the most frequent keys, without noise, or no answer.

use super::stable::{Ask, Votes};
use crate::Failure;
use crate::input::positive;
use std::io::Write;

/// The k most frequent keys themselves, if they are far from changing; else no answer.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  demure mechanism top-k --k 2 --counts Flu=280,Measles=120,HIV=5 --epsilon 1 --delta 1e-6
  demure mechanism top-k --k 2 --ordered --counts Flu=280,Measles=120,HIV=5 --epsilon 1 \\
      --delta 1e-6 --json
  demure mechanism top-k --k 3 people.csv --column state --epsilon 0.5 --delta 1e-6 --explain

Every unit has one row. No answer (⊥) is an answer: exit code 1, and it costs as much as any other. Among equals the first
in --keys wins, or the first by name. Keys need not be public unless --keys is given.")]
pub(crate) struct Args {
    /// How many keys
    #[arg(long, value_name = "K", value_parser = positive, allow_hyphen_values = true)]
    k: u32,

    /// Best first, which must not change either; otherwise a set, by name or as in --keys
    #[arg(long)]
    ordered: bool,

    #[command(flatten)]
    votes: Votes,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let k = args.k as usize;
    let ask = if args.ordered { Ask::Ranking(k) } else { Ask::Top(k) };
    args.votes.run("the most frequent keys", ask, out)
}
