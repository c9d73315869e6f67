//! Failures while protected rows may have been read, logged for the steward alone.

use crate::error::{Error, Result};
use demure_core::random::SystemRandom;
use demure_core::sample::uniform_below;
use demure_ledger::access;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The log of incidents.
#[derive(Clone, Debug)]
pub struct Incidents {
    file: Option<PathBuf>,
}

impl Incidents {
    /// Logs to a file that only its owner can read.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self { file: Some(path) }
    }

    /// The same, but refuses a file that others may read.
    pub fn private(path: PathBuf) -> Result<Self> {
        access::check(&path).map_err(demure_ledger::Error::from)?;
        Ok(Self::file(path))
    }

    /// Discards incidents.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { file: None }
    }

    /// Logs words of the engine that no analyst sees; at most so many, since analysts decide how often.
    pub(crate) fn note(&self, details: &str) {
        const MOST: usize = 10_000;
        static NOTED: AtomicUsize = AtomicUsize::new(0);
        if NOTED.fetch_add(1, Ordering::Relaxed) < MOST {
            let line: String =
                details.chars().take(1_000).map(|c| if c == '\n' { ' ' } else { c }).collect();
            self.write(&format!("not planned\t{line}"));
        }
    }

    fn write(&self, line: &str) {
        if let Some(path) = &self.file {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            // If the log cannot be written, the analyst still must not see more.
            let _ = options.open(path).and_then(|mut file| writeln!(file, "{line}"));
        }
    }

    /// Logs the details and returns the error for the analyst, which only has an incident number.
    pub(crate) fn record(&self, details: &str) -> Error {
        let number = SystemRandom::new().and_then(|mut rng| uniform_below(1 << 40, &mut rng));
        let id = number.map_or_else(|_| "unnumbered".to_owned(), |n| format!("{n:010x}"));
        self.write(&format!("{id}\t{details}"));
        Error::Incident { id }
    }
}
