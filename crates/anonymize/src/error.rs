//! Why the crate refused. No variant holds a value of the table.

/// What can be refused, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{parameter} must be {allowed}")]
    OutOfRange {
        /// The parameter's name.
        parameter: &'static str,
        /// The values it may take.
        allowed: &'static str,
    },

    /// A column that was named does not exist.
    #[error("there is no column `{name}`; {header}")]
    NoColumn {
        /// The name asked for.
        name: String,
        /// What the header has; never what may be a row.
        header: String,
    },

    /// A file is not well formed. Says where, never what.
    #[error("{what}, line {line}: {why}")]
    Malformed {
        /// The file or the part of it.
        what: String,
        /// Counted from 1; 0 where no line can be named.
        line: u64,
        /// What is wrong.
        why: &'static str,
    },

    /// Values of a column are not in its hierarchy.
    #[error(
        "{rows} rows have {values} distinct values of `{column}` that are not in its hierarchy; add them to it"
    )]
    NotInHierarchy {
        /// The column.
        column: String,
        /// How many rows.
        rows: u64,
        /// How many distinct values.
        values: u64,
    },

    /// A hierarchy is not a tree.
    #[error("the hierarchy of `{column}` is not a tree: {why} (level {level})")]
    NotATree {
        /// The column.
        column: String,
        /// The level, counted from 0.
        level: usize,
        /// What is wrong.
        why: &'static str,
    },

    /// A job contradicts itself or its tables.
    #[error(transparent)]
    Job(#[from] crate::job::Mistake),

    /// A table could not be read.
    #[error(transparent)]
    Files(#[from] demure_files::Error),

    /// A file could not be read or written.
    #[error("{what}: {source}")]
    File {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// This crate's result.
pub type Result<T> = std::result::Result<T, Error>;
