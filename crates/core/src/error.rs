//! Why the core refused. No variant holds a value from protected data.

/// What the core can refuse, and what to do about it.
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

    /// Two public parameters are each fine and impossible together.
    #[error("{what}; {remedy}")]
    Infeasible {
        /// What cannot be had.
        what: &'static str,
        /// What to change.
        remedy: &'static str,
    },

    /// The operating system gave no entropy. Nothing was drawn.
    #[error("the operating system gave no randomness, so no noise was drawn; nothing was released")]
    NoEntropy,

    /// A certified computation could not reach the precision it promises.
    #[error("{what} could not be computed to the precision promised; nothing was released")]
    Precision {
        /// The quantity.
        what: &'static str,
    },
}

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;
