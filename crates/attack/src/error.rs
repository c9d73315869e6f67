//! Why an attack or an audit could not be carried out. No field holds a value of a table.

use std::io;
use std::process::ExitStatus;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
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
    /// The person to attack is not among the tables.
    #[error("the target: {why}")]
    Target {
        /// What is wrong.
        why: &'static str,
    },
    /// The query to attack with is about public tables alone.
    #[error("the query names no protected table of the policy")]
    NoProtectedTable,
    /// The query to attack with answers no number, or several.
    #[error("the query must answer one number")]
    NotOneNumber,
    /// The curator sold the same answer twice.
    #[error("the curator answered the same question twice: please report this")]
    AnsweredTwice,
    /// Which table neighbouring databases differ in is not known.
    #[error("which table the databases differ in is not clear")]
    WhichTable,
    /// The table in which databases are to differ is public, or does not exist.
    #[error("the policy has no protected table of this name")]
    NotProtected,
    /// Neighbours cannot be made of a table that does not itself say whose its rows are.
    #[error("whose rows these are is said by another table")]
    UnitElsewhere,
    /// There is nothing to ask about.
    #[error("there are no neighbours to ask about")]
    NoNeighbours,
    /// The curator refused the question.
    #[error("the question was refused: {what}\nhint: {remedy}")]
    Refused {
        /// Why.
        what: String,
        /// What to do instead.
        remedy: String,
    },
    /// The statement is not a query.
    #[error("this statement has no answer\nhint: give a SELECT")]
    NoAnswer,
    /// An answer without noise.
    #[error(
        "the answer cost nothing, so there is no noise to audit\nhint: ask about a protected table"
    )]
    NoNoise,
    /// The curator charged neighbours differently, which is itself a violation.
    #[error("violated: the price of the answer depends on the data")]
    PriceDependsOnData,
    /// A mechanism that neither the library nor the gallery has.
    #[error("there is no mechanism of this name")]
    NoMechanism,
    /// A program that is audited did not end well.
    #[error("the command failed ({status}): {last}\nhint: run it by hand on one of the datasets")]
    ProgramFailed {
        /// How it ended.
        status: ExitStatus,
        /// The last line of its standard error.
        last: String,
    },
    /// A program that is audited printed nothing.
    #[error("the command printed nothing\nhint: every line of its standard output is one run")]
    ProgramSilent,
    /// A thread that made runs panicked.
    #[error("a run failed in a way it should not")]
    Panicked,
    /// The two answers of a survey must be given where they are texts.
    #[error("texts have no first and last")]
    NoFirstAndLast,
    /// Something that is not an answer to the survey.
    #[error("an answer needs one value of the survey for each attribute, separated by commas")]
    NotAnAnswer,
    /// A column that the attacker is to know and to find out.
    #[error(
        "a column is both a quasi-identifier and sensitive: the attacker knows it, or does not"
    )]
    KnownAndSensitive,
    /// A value that is ruled out does not occur.
    #[error("a value that is ruled out is one that the sensitive column does not have")]
    NotSensitive,
    /// No label stands for any value of the original.
    #[error("nobody of the original fits a row of the published table")]
    NobodyFits,
    /// Made-up patients could not be anonymized.
    #[error("the made-up patients have no release: please report this")]
    NoRelease,
    /// The linear program was given up.
    #[error("the linear program was not solved ({status}): use least squares, or fewer rows")]
    Unsolved {
        /// What the solver said.
        status: String,
    },
    /// The system refused.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The core refused.
    #[error("{0}")]
    Core(#[from] demure_core::Error),
    /// The curator refused or failed.
    #[error("{0}")]
    Curator(#[from] demure_curator::Error),
    /// The anonymizer refused.
    #[error("{0}")]
    Anonymize(#[from] demure_anonymize::Error),
    /// The survey refused.
    #[error("{0}")]
    Collect(#[from] demure_collect::Error),
    /// A file could not be read or written.
    #[error("{0}")]
    Files(#[from] demure_files::Error),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
