//! Taking reports: a store, and the counts of what is in it. What a service over a network needs.

use crate::collector::{Collector, Rejected};
use crate::error::Result;
use crate::estimate::{Estimates, Options, estimate};
use crate::report::Submission;
use crate::store::{self, Receipt, Recovered, Store};
use crate::survey::Survey;
use demure_core::random::Randomness;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Takes reports, stores them, counts them when they are on disk, and estimates at any time.
#[derive(Debug)]
pub struct ReportService {
    store: Store,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    survey: Arc<Survey>,
    counts: Mutex<(Collector, Rejected)>,
}

impl Shared {
    /// Counts are whole between two reports, so a panic elsewhere does no harm.
    fn counts(&self) -> MutexGuard<'_, (Collector, Rejected)> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, receipt: Receipt, report: &[u8]) {
        let mut counts = self.counts();
        match receipt {
            Receipt::Stored => {
                if let Ok(submission) = Submission::from_bytes(&self.survey, report) {
                    counts.0.add_unique(&submission);
                }
            }
            Receipt::Duplicate => counts.1.duplicate += 1,
            Receipt::Rejected(reject) => counts.1.add(reject),
        }
    }
}

impl ReportService {
    /// Opens or makes the store, and counts what is in it.
    pub fn open(path: &Path, survey: Survey, rng: &mut dyn Randomness) -> Result<Self> {
        let store = Store::open(path, &survey, rng)?;
        let survey = Arc::new(survey);
        let mut collector = Collector::shared(Arc::clone(&survey));
        store::count(path, &mut collector)?;
        let counts = Mutex::new((collector, Rejected::default()));
        Ok(Self { store, shared: Arc::new(Shared { survey, counts }) })
    }

    /// The survey.
    #[must_use]
    pub fn survey(&self) -> &Survey {
        &self.shared.survey
    }

    /// What was found when the store was opened.
    #[must_use]
    pub fn recovered(&self) -> Recovered {
        self.store.recovered()
    }

    /// How many reports are counted, and what was dropped since the service was opened.
    #[must_use]
    pub fn status(&self) -> (u64, Rejected) {
        let counts = self.shared.counts();
        (counts.0.people(), counts.1)
    }

    /// Takes a report in binary and waits until it is on disk.
    pub fn take(&self, report: &[u8]) -> Result<Receipt> {
        let receipt = self.store.append(report)?;
        self.shared.told(receipt, report);
        Ok(receipt)
    }

    /// Takes a report in JSON and waits until it is on disk.
    pub fn take_json(&self, line: &str) -> Result<Receipt> {
        match Submission::from_json(&self.shared.survey, line) {
            Ok(submission) => self.take(&submission.to_bytes(&self.shared.survey)),
            Err(reject) => {
                self.shared.told(Receipt::Rejected(reject), &[]);
                Ok(Receipt::Rejected(reject))
            }
        }
    }

    /// Takes a report in binary and returns at once; `reply` is called when it is on disk, from the
    /// store's own thread: it must not wait. An asynchronous service sends on a channel in it.
    pub fn submit(&self, report: Vec<u8>, reply: impl FnOnce(Result<Receipt>) + Send + 'static) {
        let shared = Arc::clone(&self.shared);
        let own = report.clone();
        self.store.submit(&report, move |receipt| {
            if let Ok(receipt) = &receipt {
                shared.told(*receipt, &own);
            }
            reply(receipt);
        });
    }

    /// Estimates from what is counted so far.
    pub fn estimates(&self, options: &Options) -> Result<Estimates> {
        let mut counts = self.shared.counts();
        let rejected = counts.1;
        let mut found = estimate(&mut counts.0, options)?;
        found.rejected = rejected;
        Ok(found)
    }

    /// Waits until all is on disk, and closes.
    pub fn close(self) -> Result<()> {
        self.store.close()
    }
}

#[cfg(test)]
mod tests;
