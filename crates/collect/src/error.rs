//! Why the collector refused. No variant holds an answer or a report.

use std::path::{Path, PathBuf};

/// What can be refused, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter or a draw was refused by the core.
    #[error(transparent)]
    Core(#[from] demure_core::Error),

    /// The survey's file is not TOML of the known form.
    #[error("the survey cannot be read: {0}")]
    Syntax(String),

    /// The survey's file is well formed and wrong.
    #[error("survey: {field} must be {allowed}")]
    Survey {
        /// What is wrong.
        field: &'static str,
        /// What it may be.
        allowed: &'static str,
    },

    /// The question cannot be asked of this survey.
    #[error("{what}; {remedy}")]
    Unanswerable {
        /// What cannot be had.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },

    /// A name that the survey does not have.
    #[error("the survey has no {what} of that name; it has: {known}")]
    Unknown {
        /// An attribute, or a value.
        what: &'static str,
        /// What there is.
        known: String,
    },

    /// No usable report came in.
    #[error("there is no usable report; nothing can be estimated")]
    NoReports,

    /// The file could not be read or written.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// A stream could not be read or written.
    #[error("{what}: {source}")]
    Stream {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },

    /// The store holds damage that a crash does not make.
    #[error(
        "{path} is damaged at byte {offset}, before reports that were acknowledged; nothing was \
         changed. Restore the file from a copy"
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// Where.
        offset: u64,
    },

    /// The store is of another survey.
    #[error("{path} holds reports of another survey, or of another version of this one")]
    OtherSurvey {
        /// The store.
        path: PathBuf,
    },

    /// Others may read the reports.
    #[error(
        "{path} has mode {mode:o}: others may read or write people's reports; run \
         `chmod 600 {path}` and start again"
    )]
    Exposed {
        /// The store.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },

    /// Another process has the store open.
    #[error("{path} is in use by another process")]
    InUse {
        /// The store.
        path: PathBuf,
    },

    /// Reports come in faster than the disk takes them.
    #[error("the store has too much waiting for the disk; send the report again later")]
    Busy,

    /// An earlier write failed: what is on disk is no longer known.
    #[error("a write to the store failed; close it and open it again to go on")]
    Closed,
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { what, path, source }
    }
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;
