//! How hard to look, and how to tell.

use crate::Failure;
use crate::input::{number, whole};
use demure_attack::audit::{Claim, FAMILY_WISE, Finding, Plan, Source, examine};
use demure_core::unit::{Delta, Epsilon};
use demure_report::progress::Progress;
use std::path::PathBuf;
use std::time::Instant;

/// Runs a side, at most, when minutes are given.
const MOST: f64 = 50_000_000.0;
/// Runs that find out how fast it goes.
const PILOT: usize = 8;

/// Options of every audit.
#[derive(clap::Args)]
pub(super) struct Effort {
    /// Runs on each of the two inputs
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(super) samples: Option<u64>,

    /// Instead of a number of runs: about so long
    #[arg(long, value_name = "M", value_parser = number, conflicts_with = "samples")]
    pub(super) minutes: Option<f64>,

    /// The probability of a bound above the true ε, over everything tried
    #[arg(long, value_name = "P", value_parser = number, default_value_t = FAMILY_WISE)]
    pub(super) error: f64,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,

    /// Write a page with pictures
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

impl Effort {
    /// Refuses what makes no sense, before anything is run.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !(self.error > 0.0 && self.error < 0.5) {
            return Err(Failure::usage("--error must be greater than 0 and less than 0.5"));
        }
        if self.samples.is_some_and(|samples| samples < 8) {
            return Err(Failure::usage("--samples must be at least 8"));
        }
        if self.minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes.is_finite())) {
            return Err(Failure::usage("--minutes must be greater than 0"));
        }
        Ok(())
    }

    /// An audit that shares time and error with `of - 1` others; `usual` is a number of runs, or a number
    /// of minutes where nothing is known of what a run takes.
    pub(super) fn audit<S: Source>(
        &self,
        source: &mut S,
        claim: Claim,
        usual: Usual,
        of: usize,
    ) -> Result<Finding, Failure>
    where
        Failure: From<S::Error>,
    {
        let samples = match (self.samples, self.minutes, usual) {
            (Some(samples), _, _) => samples,
            (None, None, Usual::Runs(runs)) => runs,
            (None, Some(minutes), _) => timed(source, minutes / of as f64, MOST)?,
            (None, None, Usual::Minutes(minutes)) => timed(source, minutes / of as f64, 200_000.0)?,
        };
        let plan = Plan { samples, error: self.error / of as f64 };
        let bar = Progress::before_data(1000);
        let mut watch = |done: u64, total: u64| bar.at(1000 * done / total.max(1));
        Ok(examine(source, claim, plan, &mut watch)?)
    }
}

/// How much to do if nobody says.
#[derive(Clone, Copy)]
pub(super) enum Usual {
    /// Runs a side.
    Runs(u64),
    /// About so many minutes.
    Minutes(f64),
}

/// How many runs a side fit: found out beforehand, so that the number does not depend on what
/// is drawn.
fn timed<S: Source>(source: &mut S, minutes: f64, most: f64) -> Result<u64, Failure>
where
    Failure: From<S::Error>,
{
    // The first time is slow for reasons of its own.
    source.draw(0, 2)?;
    let mut runs = PILOT;
    loop {
        let begun = Instant::now();
        source.draw(0, runs)?;
        let seconds = begun.elapsed().as_secs_f64();
        if seconds > 0.3 || runs > 1 << 17 {
            return Ok((minutes * 60.0 * runs as f64 / seconds.max(1e-6)).clamp(16.0, most) as u64);
        }
        runs *= 2;
    }
}

/// A claim, checked.
pub(super) fn claim(epsilon: Option<f64>, delta: f64) -> Result<Claim, Failure> {
    let epsilon = epsilon.map(Epsilon::new).transpose()?.map(Epsilon::get);
    Ok(Claim { epsilon, delta: Delta::new(delta)?.get() })
}
