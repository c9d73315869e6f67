//! What went wrong while protected rows may have been read, for the steward alone.

use crate::error::Error;
use demure_core::random::SystemRandom;
use demure_core::sample::uniform_below;
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
