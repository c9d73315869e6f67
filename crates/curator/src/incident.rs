//! Failures while protected rows may have been read, logged for the steward alone.

use crate::error::{Error, Result};
use demure_core::random::SystemRandom;
use demure_core::sample::uniform_below;
use demure_ledger::access;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

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

    /// Logs the details and returns the error for the analyst, which only has an incident number.
    pub(crate) fn record(&self, details: &str) -> Error {
        let number = SystemRandom::new().and_then(|mut rng| uniform_below(1 << 40, &mut rng));
        let id = number.map_or_else(|_| "unnumbered".to_owned(), |n| format!("{n:010x}"));
        if let Some(path) = &self.file {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            // If the log cannot be written, the analyst still must not see more.
            let _ = options.open(path).and_then(|mut file| writeln!(file, "{id}\t{details}"));
        }
        Error::Incident { id }
    }
}
