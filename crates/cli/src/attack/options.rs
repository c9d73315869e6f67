//! What all attacks take.

use crate::input::{number, whole};
use demure_attack::curator::Seed;
use demure_core::unit::Epsilon;
use std::path::{Path, PathBuf};

/// What is attacked by default, what makes a run repeatable, and where the findings go.
#[derive(clap::Args)]
pub(super) struct Common {
    /// Attack made-up people, by the attack's defaults (what happens without options)
    #[arg(long)]
    demo: bool,

    /// Make the run repeatable: the made-up people, the attacker's choices and, on made-up people
    /// alone, the noise
    #[arg(long, value_name = "N", value_parser = whole)]
    seed: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// Write a report with the picture here, as a page that needs nothing else; a name that ends in
    /// .svg gets the picture alone
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

impl Common {
    pub(super) fn seed(&self) -> Seed {
        Seed(self.seed)
    }
}

/// A steward's own tables, or made-up ones.
#[derive(clap::Args)]
pub(super) struct Attacked {
    /// The policy of the tables to attack; without one, a made-up table of 1,000 people is attacked
    #[arg(value_name = "POLICY", requires = "query", conflicts_with = "demo")]
    policy: Option<PathBuf>,

    /// The query to ask; it must answer one number
    #[arg(long, value_name = "SQL", requires = "policy")]
    query: Option<String>,
}

impl Attacked {
    /// The policy and the query, if the tables are the steward's own.
    pub(super) fn policy(&self) -> Option<(&Path, &str)> {
        self.policy.as_deref().zip(self.query.as_deref())
    }
}

/// One ε, alone or in a list.
pub(super) fn epsilon(text: &str) -> Result<Epsilon, &'static str> {
    let epsilon = number(text).ok().and_then(|x| Epsilon::new(x).ok());
    epsilon.ok_or("must be finite and greater than 0, e.g. 0.5")
}
