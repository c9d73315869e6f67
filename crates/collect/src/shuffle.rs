//! A shuffler: it stands between people and the collector and passes on reports without sender,
//! order or time.
//!
//! Reports are held until there are at least `minimum`; then all that are held leave
//! together, in an order drawn at random, with their tokens removed (a token that the sender's
//! network also saw would name the sender). Repetitions are dropped while the tokens are
//! still there, over all batches.
//!
//! # What it is worth
//! To someone who sees a batch and not who sent what, the reports of n people at ε₀ each are (ε,δ)-DP
//! under replace with ε far below ε₀: [`amplified`], by the core's accountant. The people must trust the
//! shuffler for that, and only for that: if it is dishonest, ε₀ remains. A person's report
//! is in one batch, so batches do not add up; the smallest batch has the largest ε.

use crate::collector::{Outcome, Rejected};
use crate::error::{Error, Result};
use crate::report::{Reject, Submission};
use crate::survey::Survey;
use demure_core::account::{Interval, shuffle};
use demure_core::local::token;
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use demure_core::unit::{Delta, Epsilon};
use std::collections::HashSet;
use std::io::BufRead;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Holds reports until there are enough, and passes them on shuffled.
#[derive(Debug)]
pub struct Shuffler {
    survey: Arc<Survey>,
    minimum: usize,
    held: Vec<Submission>,
    tokens: HashSet<u128>,
    rejected: Rejected,
}

/// Reports that left together.
#[derive(Clone, Debug)]
pub struct Batch {
    /// In random order, without tokens (all are 0): count them with
    /// [`crate::collector::Collector::add_unique`].
    pub reports: Vec<Submission>,
}

impl Shuffler {
    /// Holds reports until there are `minimum`.
    pub fn new(survey: &Survey, minimum: usize) -> Result<Self> {
        if minimum < 2 {
            let allowed = "at least 2: one report cannot be shuffled";
            return Err(
                demure_core::Error::OutOfRange { parameter: "minimum batch", allowed }.into()
            );
        }
        let (survey, tokens) = (Arc::new(survey.clone()), HashSet::new());
        Ok(Self { survey, minimum, held: Vec::new(), tokens, rejected: Rejected::default() })
    }

    /// Takes a report in binary.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Outcome {
        let read = Submission::from_bytes(&self.survey, bytes);
        self.take(read)
    }

    /// Takes a report as it was read, or counts why it was not.
    pub fn take(&mut self, read: std::result::Result<Submission, Reject>) -> Outcome {
        match read {
            Ok(submission) => self.add(submission),
            Err(reject) => {
                self.rejected.add(reject);
                Outcome::Rejected(reject)
            }
        }
    }

    /// Takes a report.
    pub fn add(&mut self, mut submission: Submission) -> Outcome {
        if !self.tokens.insert(submission.token) {
            self.rejected.duplicate += 1;
            return Outcome::Duplicate;
        }
        submission.token = 0;
        self.held.push(submission);
        Outcome::Counted
    }

    /// How many are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// What was dropped.
    #[must_use]
    pub fn rejected(&self) -> Rejected {
        self.rejected
    }

    /// All that are held, if they are enough.
    pub fn release(&mut self, rng: &mut dyn Randomness) -> Result<Option<Batch>> {
        if self.held.len() < self.minimum {
            return Ok(None);
        }
        let mut reports = std::mem::take(&mut self.held);
        // Fisher–Yates: every order with the same probability.
        for i in (1..reports.len()).rev() {
            reports.swap(i, uniform_below(i as u64 + 1, rng)? as usize);
        }
        Ok(Some(Batch { reports }))
    }

    /// What the smallest batch is worth: see [`amplified`].
    pub fn guarantee(&self, delta: Delta) -> Result<Interval> {
        amplified(self.minimum as u64, self.survey.epsilon(), delta)
    }
}

/// What came of shuffling.
#[derive(Clone, Debug)]
pub struct Shuffled {
    /// How many reports were held.
    pub held: u64,
    /// What was dropped.
    pub rejected: Rejected,
    /// What leaves, if they were enough.
    pub passed: Option<Passed>,
}

/// Reports that leave together, with new tokens.
#[derive(Clone, Debug)]
pub struct Passed {
    /// In JSON, one a line.
    pub lines: Vec<String>,
    /// The central ε of the batch: the guarantee.
    pub epsilon: f64,
}

/// `collect shuffle`: reports in JSON, one a line, to reports in random order with new tokens, once there are
/// `minimum`.
pub fn shuffle_lines(
    survey: &Survey,
    lines: impl BufRead,
    minimum: usize,
    delta: Delta,
    rng: &mut dyn Randomness,
) -> Result<Shuffled> {
    let mut shuffler = Shuffler::new(survey, minimum)?;
    for line in lines.split(b'\n') {
        let line = line.map_err(|source| Error::Stream { what: "reading the reports", source })?;
        if !line.trim_ascii().is_empty() {
            shuffler.take(Submission::from_json(survey, &String::from_utf8_lossy(&line)));
        }
    }
    let (held, rejected) = (shuffler.held() as u64, shuffler.rejected());
    let Some(batch) = shuffler.release(rng)? else {
        return Ok(Shuffled { held, rejected, passed: None });
    };
    let epsilon = amplified(held, survey.epsilon(), delta)?.upper;
    let mut lines = Vec::with_capacity(batch.reports.len());
    for mut report in batch.reports {
        // The sender's network may have seen the old one.
        report.token = token(rng.bits()?)?;
        lines.push(report.to_json(survey));
    }
    Ok(Shuffled { held, rejected, passed: Some(Passed { lines, epsilon }) })
}

/// The central ε of n shuffled reports at ε₀ each. The upper end is the guarantee.
///
/// # Proof
/// The core's bound. Beyond 10⁷ reports it is taken at 10⁷: the others' reports could be made
/// without this person's, so adding them is post-processing.
pub fn amplified(reports: u64, local: Epsilon, delta: Delta) -> Result<Interval> {
    let Some(n) = NonZeroU64::new(reports.min(10_000_000)) else { return Err(Error::NoReports) };
    Ok(shuffle::epsilon(n, local, delta)?)
}

#[cfg(test)]
mod tests;
