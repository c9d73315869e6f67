//! Why a graph was not read or a count not released. No variant holds a vertex or an edge.

/// What this crate can refuse.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read.
    #[error("the edge list could not be read: {0}")]
    Io(#[from] std::io::Error),

    /// A line is not an edge.
    #[error(
        "line {line} of the edge list is not two vertex numbers; \
         a line holds two integers of at least 0, or starts with # or %"
    )]
    Line {
        /// Counted from 1.
        line: u64,
    },

    /// There are more vertices than were declared public, or than can be held.
    #[error("the edge list names more vertices than the {declared} declared; declare them all")]
    TooManyVertices {
        /// How many there may be.
        declared: u64,
    },

    /// Too many edges for 32-bit places.
    #[error("the graph has too many edges; at most 2^31 are supported")]
    TooManyEdges,

    /// A parameter, or a budget.
    #[error(transparent)]
    Core(#[from] demure_core::Error),
}

/// This crate's result.
pub type Result<T> = std::result::Result<T, Error>;
