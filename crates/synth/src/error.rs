//! Errors. No variant holds a value from protected data.

/// Why there is no synthetic table, and what to do about it.
#[derive(Debug, thiserror::Error)]
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

    /// No column has this name.
    #[error("there is no column `{name}`; the table has {known}")]
    NoColumn {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },

    /// Two columns have the same name.
    #[error("two columns are named `{name}`; rename one of them")]
    SameName {
        /// The name.
        name: String,
    },

    /// A code is not in its column's domain.
    #[error("column `{column}` has the codes 0 to {last}, and {code} is not one of them")]
    NoCode {
        /// The column.
        column: String,
        /// Its last code.
        last: usize,
        /// The code, which comes from a rule or a condition, never from a row.
        code: usize,
    },

    /// Columns of a table that do not fit together.
    #[error("{what}; {remedy}")]
    Shape {
        /// What does not fit.
        what: &'static str,
        /// What to change.
        remedy: &'static str,
    },

    /// The rules forbid every row.
    #[error("no row was found that every rule allows; drop or widen a rule")]
    Unsatisfiable,

    /// A condition that the model gives no probability.
    #[error("the model gives this condition no probability; widen it")]
    Impossible,

    /// The table or its model would be too large.
    #[error("{what} would have {cells:.2e} cells, and at most {most:.2e} are possible; {remedy}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How many cells it would have.
        cells: f64,
        /// How many are possible.
        most: f64,
        /// What to change.
        remedy: &'static str,
    },

    /// The protected data could not be counted.
    #[error("the table could not be read; the budget counts as spent")]
    Unavailable,

    /// The run was stopped by its observer.
    #[error("stopped; the budget counts as spent")]
    Stopped,

    /// A saved model cannot be read.
    #[error("line {line} of the saved model: expected {expected}; save the model again")]
    Format {
        /// The line, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
    },

    /// Columns whose values are not public.
    #[error("nothing public says what these columns can hold: {columns}\nhint: {remedy}")]
    NoDomain {
        /// The columns.
        columns: String,
        /// What to write into the policy, for each of them.
        remedy: String,
    },

    /// A condition on synthetic rows that cannot be met as it is written.
    #[error("{what}\nhint: {remedy}")]
    Condition {
        /// What is wrong.
        what: String,
        /// What to write.
        remedy: String,
    },

    /// The policy has no δ.
    #[error(
        "a synthetic table needs a delta, and the policy's budget has none\n\
         hint: write `delta = 1e-6` into [budget], far less than 1 divided by the number of people"
    )]
    NoDelta,

    /// The curator refused or failed.
    #[error(transparent)]
    Curator(#[from] demure_curator::Error),

    /// Noise or accounting failed.
    #[error(transparent)]
    Core(#[from] demure_core::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
