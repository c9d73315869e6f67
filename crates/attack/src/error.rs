//! Why an attack could not be carried out. No field holds a value of a table.

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that makes no attack.
    #[error("{parameter} must be {allowed}")]
    OutOfRange {
        /// Which.
        parameter: &'static str,
        /// What it may be.
        allowed: &'static str,
    },
    /// Lists that should be equally long are not.
    #[error("{what} must be as many as {of}")]
    Mismatch {
        /// Which list.
        what: &'static str,
        /// What it belongs to.
        of: &'static str,
    },
    /// Neighbours cannot be made of this table.
    #[error("the table has no column of the unit's name")]
    NoUnit,
    /// Neighbours cannot be made of one unit.
    #[error(
        "the table needs two units at least to make neighbours of; or give two neighbouring tables"
    )]
    TooFewUnits,
    /// The linear program was given up.
    #[error("the linear program was not solved ({status}): use least squares, or fewer rows")]
    Unsolved {
        /// What the solver said.
        status: String,
    },
    /// The core refused.
    #[error("{0}")]
    Core(#[from] demure_core::Error),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
