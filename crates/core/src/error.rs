//! Errors. No variant holds a value from protected data.

/// Why something was refused, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A public parameter is outside its range.
    #[error("{parameter} must be {allowed}")]
    OutOfRange {
        /// The parameter's name.
        parameter: &'static str,
        /// The values it may take.
        allowed: &'static str,
    },

    /// Public parameters that are valid by themselves are impossible together.
    #[error("{what}; {remedy}")]
    Infeasible {
        /// What is impossible.
        what: &'static str,
        /// What to change.
        remedy: &'static str,
    },

    /// The operating system provided no entropy, so no noise was drawn.
    #[error("the operating system gave no randomness, so no noise was drawn; nothing was released")]
    NoEntropy,

    /// A certified computation could not reach its precision.
    #[error("{what} could not be computed to the precision promised; nothing was released")]
    Precision {
        /// The quantity that was computed.
        what: &'static str,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
