//! `demure attack …`: what an adversary learns, on made-up people or on one's own tables.
//!
//! | file | what |
//! |---|---|
//! | `difference.rs` | knows all rows but one |
//! | `average.rs` | asks again |
//! | `reconstruct/` | asks for random subsets, and solves for the rows |
//! | `membership.rs` | compares many averages with one person |
//! | `link/` | finds people in an anonymized table |
//! | `world.rs` | the real curator, with a ledger in memory |
//! | `target.rs` | one person, and the world without them |
//! | `render.rs` | where findings go: JSON, a terminal, a page |
//!
//! What is computed is `demure-attack`'s. The noise of an attack on the curator is the curator's
//! own; with `--seed` it is predictable, on made-up people alone.

mod average;
mod difference;
mod link;
mod membership;
mod reconstruct;
mod render;
mod target;
mod world;

use crate::Failure;
use crate::input::{number, whole};
use clap::Subcommand;
use demure_core::unit::Epsilon;
use std::io::Write;
use std::str::FromStr;

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
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    Difference(difference::Args),
    Average(average::Args),
    Reconstruct(reconstruct::Args),
    Membership(membership::Args),
    Link(Box<link::Args>),
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    match &args.which {
        Which::Difference(args) => difference::run(args, out),
        Which::Average(args) => average::run(args, out),
        Which::Reconstruct(args) => reconstruct::run(args, out),
        Which::Membership(args) => membership::run(args, out),
        Which::Link(args) => link::run(args, out),
    }
}

/// What makes a run repeatable.
#[derive(clap::Args)]
struct Seed {
    /// Make the run repeatable: the made-up people, the attacker's choices and, on made-up people
    /// alone, the noise
    #[arg(long, value_name = "N", value_parser = whole)]
    seed: Option<u64>,
}

impl Seed {
    /// For made-up people and the attacker's choices, which are the same unless told otherwise.
    fn of_data(&self) -> u64 {
        self.seed.unwrap_or(2024)
    }

    /// For noise, which is new unless told otherwise.
    fn of_noise(&self) -> Option<u64> {
        self.seed
    }
}

/// One ε.
#[derive(Clone, Copy)]
struct One(Epsilon);

impl FromStr for One {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let epsilon = number(text).ok().and_then(|x| Epsilon::new(x).ok());
        epsilon.map(Self).ok_or("must be a finite number greater than 0, e.g. 0.5")
    }
}

/// Several, separated by commas.
#[derive(Clone)]
struct Epsilons(Vec<Epsilon>);

impl FromStr for Epsilons {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let each: Result<Vec<One>, _> = text.split(',').map(str::parse).collect();
        let each = each.map_err(|_| "must be numbers greater than 0, e.g. 0.1,0.5,1")?;
        Ok(Self(each.into_iter().map(|one| one.0).collect()))
    }
}

impl From<demure_attack::Error> for Failure {
    fn from(error: demure_attack::Error) -> Self {
        match error {
            demure_attack::Error::Core(error) => error.into(),
            other => Self::Usage(other.to_string()),
        }
    }
}
