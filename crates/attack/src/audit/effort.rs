//! How hard to look: so many runs, or so many minutes.

use super::examine::{Claim, Finding, Plan, Source, examine};
use crate::Watch;
use crate::error::{Error, Result};
use std::time::Instant;

/// Runs a side, at most, when minutes are given.
const MOST: f64 = 50_000_000.0;
/// Runs a side, at most, in the minutes that an audit takes by default.
const MOST_BY_DEFAULT: f64 = 200_000.0;
/// Runs that find out how fast it goes.
const PILOT: usize = 8;

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    samples: Option<u64>,
    minutes: Option<f64>,
    error: f64,
}

/// How much is done by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Usual {
    /// Runs a side.
    Runs(u64),
    /// About so many minutes, where nothing is known of how long a run takes.
    Minutes(f64),
}

impl Effort {
    /// `samples` runs a side, or about so many minutes, or what is usual; `error` is the probability of a bound above the true ε.
    ///
    /// # Errors
    /// Fewer than 8 runs, no time, or an error that makes no test.
    pub fn new(samples: Option<u64>, minutes: Option<f64>, error: f64) -> Result<Self> {
        let must = |parameter, allowed| Err(Error::OutOfRange { parameter, allowed });
        if !(error > 0.0 && error < 0.5) {
            return must("error", "greater than 0 and less than 0.5");
        }
        if samples.is_some_and(|samples| samples < 8) {
            return must("samples", "at least 8");
        }
        if minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes.is_finite())) {
            return must("minutes", "greater than 0");
        }
        Ok(Self { samples, minutes, error })
    }

    /// The probability of a bound above the true ε.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// An equal share of the time and of the error, for one of so many audits.
    #[must_use]
    pub fn shared(self, audits: usize) -> Self {
        let of = audits.max(1) as f64;
        let minutes = self.minutes.map(|minutes| minutes / of);
        Self { minutes, error: self.error / of, ..self }
    }

    /// Audits; what is watched is how many runs are done.
    ///
    /// # Errors
    /// The source's own.
    pub fn audit<S: Source>(
        &self,
        source: &mut S,
        claim: Claim,
        usual: Usual,
        watch: Watch<'_>,
    ) -> Result<Finding>
    where
        Error: From<S::Error>,
    {
        let samples = match (self.samples, self.minutes, usual) {
            (Some(samples), _, _) => samples,
            (None, None, Usual::Runs(runs)) => runs,
            (None, Some(minutes), _) => timed(source, minutes, MOST)?,
            (None, None, Usual::Minutes(minutes)) => timed(source, minutes, MOST_BY_DEFAULT)?,
        };
        let plan = Plan { samples, error: self.error };
        Ok(examine(source, claim, plan, &mut |done, total| watch(done, total))?)
    }
}

/// How many runs a side fit: found out beforehand, so that the number does not depend on what
/// is drawn.
fn timed<S: Source>(source: &mut S, minutes: f64, most: f64) -> std::result::Result<u64, S::Error> {
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

#[cfg(test)]
mod tests;
