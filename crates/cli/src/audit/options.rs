//! What audits take: how hard to look, neighbours, and how to tell.

use crate::Failure;
use crate::input::{number, whole};
use demure_attack::audit::{self, FAMILY_WISE};
use std::path::{Path, PathBuf};

/// Options of every audit.
#[derive(clap::Args)]
pub(super) struct Effort {
    /// Runs on each of the two inputs
    #[arg(long, value_name = "N", value_parser = whole)]
    samples: Option<u64>,

    /// Instead of a number of runs: about so long
    #[arg(long, value_name = "M", value_parser = number, conflicts_with = "samples")]
    minutes: Option<f64>,

    /// The probability of a bound above the true ε, over everything tried
    #[arg(long, value_name = "P", value_parser = number, default_value_t = FAMILY_WISE)]
    error: f64,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// Write a page with pictures
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Neighbouring datasets: two that are given, or how many are made.
#[derive(clap::Args)]
pub(super) struct Sides {
    /// A dataset, in place of those that are made; --right has its neighbour
    #[arg(long, value_name = "FILE", requires = "right")]
    left: Option<PathBuf>,

    /// Its neighbour
    #[arg(long, value_name = "FILE", requires = "left")]
    right: Option<PathBuf>,

    /// Pairs of neighbours to make, at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(super) pairs: usize,
}

impl Sides {
    pub(super) fn given(&self) -> Option<[&Path; 2]> {
        let both = self.left.as_deref().zip(self.right.as_deref());
        both.map(|(left, right)| [left, right])
    }
}

impl Effort {
    /// Refuses what makes no sense, before anything is run.
    pub(super) fn checked(&self) -> Result<audit::Effort, Failure> {
        Ok(audit::Effort::new(self.samples, self.minutes, self.error)?)
    }
}
