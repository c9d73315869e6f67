//! What went wrong while protected rows may have been read, for the steward alone.

use crate::error::{Error, Result};
use demure_core::random::SystemRandom;
use demure_core::sample::uniform_below;
use demure_ledger::access;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// Where incidents are written down.
#[derive(Clone, Debug)]
pub struct Incidents {
    file: Option<PathBuf>,
}

impl Incidents {
    /// To a file that only its owner can read.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self { file: Some(path) }
    }

    /// The same; a file that others may read is refused.
    pub fn private(path: PathBuf) -> Result<Self> {
        access::check(&path).map_err(demure_ledger::Error::from)?;
        Ok(Self::file(path))
    }

    /// Nowhere.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { file: None }
    }

    /// Writes the details down and returns what the analyst may see of them: a number.
    pub(crate) fn record(&self, details: &str) -> Error {
        let number = SystemRandom::new().and_then(|mut rng| uniform_below(1 << 40, &mut rng));
        let id = number.map_or_else(|_| "unnumbered".to_owned(), |n| format!("{n:010x}"));
        if let Some(path) = &self.file {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            // A log that cannot be written is no reason to say more to the analyst.
            let _ = options.open(path).and_then(|mut file| writeln!(file, "{id}\t{details}"));
        }
        Error::Incident { id }
    }
}
