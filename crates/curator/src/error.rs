//! The curator's errors. No variant holds a value from a protected table.

pub(crate) mod engine;

use crate::policy::PolicyError;
use crate::refusal::Refusal;
use crate::words::price as price_in_words;
use datafusion::error::DataFusionError;
use demure_ledger::Accounting;
use engine::Known;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query may not be answered; nothing was spent.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The query is not SQL, or names something that does not exist; nothing was spent. The message comes from the
    /// parser and the planner, which see the schema and no row.
    #[error("{0}")]
    Sql(String),
    /// The engine's planner refused the statement for a reason that has no words of ours; nothing was spent. Its own
    /// words are for the steward's log.
    #[error("{message}")]
    Unplanned {
        /// For the analyst.
        message: String,
        /// The engine's words.
        details: String,
    },
    /// The policy has mistakes.
    #[error("{0}")]
    Policy(#[from] PolicyError),
    /// A source cannot be opened: its path and the system's reason.
    #[error("table `{table}`: {reason}")]
    Source {
        /// The table's name in the policy.
        table: String,
        /// What is wrong with the source.
        reason: String,
    },
    /// The environment names a different ledger than the policy.
    #[error(
        "the policy's ledger is at `{policy}`, and DEMURE_LEDGER names `{environment}`; another \
         ledger would be a second budget\n\
         hint: unset DEMURE_LEDGER, or give it the same server and database; if the ledger was \
         moved, correct `at` in the policy's `[ledger]`"
    )]
    OtherPlace {
        /// Where the policy's ledger is.
        policy: String,
        /// The address in the environment, without a password.
        environment: String,
    },
    /// The policy could not be rewritten to name its first ledger.
    #[error(
        "`{}` has a ledger now and must name it, and cannot be written: {source}\n\
         hint: add these lines to it, and start again\n{lines}",
        path.display()
    )]
    PolicyUnwritable {
        /// The policy.
        path: PathBuf,
        /// The lines to add.
        lines: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The policy could not be rewritten to name another ledger, so none was made.
    #[error(
        "`{}` must name its new ledger and cannot be rewritten: {reason}; nothing was changed\n\
         hint: make the file and its folder writable, and write tables and `ledger` as sections \
         (`[ledger]`) of their own; then run the command again",
        path.display()
    )]
    PolicyFixed {
        /// The policy.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The ledger to be replaced cannot be closed now.
    #[error(
        "the policy's ledger at `{at}` cannot be closed, so it was not replaced and nothing was \
         changed: {source}\n\
         hint: mend that and run the command again; if that ledger is gone for good, take \
         `[ledger]` out of the policy first"
    )]
    CannotClose {
        /// Where it is, as written in the policy.
        at: String,
        /// Why it cannot be closed.
        source: Box<demure_ledger::Error>,
    },
    /// An action could not be recorded first, so it was not done.
    #[error("the audit record could not be written, so nothing was changed: {0}")]
    Record(String),
    /// The ledger refused or failed.
    #[error("{0}")]
    Ledger(#[from] demure_ledger::Error),
    /// The analyst asks more new questions than a server allows per minute; nothing was spent.
    #[error(
        "you may ask {per_minute} new questions a minute; nothing was spent\n\
         hint: ask again in {} s, or what was asked before: that is free at any time",
        retry.as_secs() + 1
    )]
    TooOften {
        /// New questions per analyst and minute.
        per_minute: u32,
        /// When the next one may be asked.
        retry: Duration,
    },
    /// The core refused a parameter.
    #[error("{0}")]
    Core(#[from] demure_core::Error),
    /// The engine failed while it may have been reading protected rows. Its message may quote them, so it goes to the
    /// steward's log only.
    #[error(
        "the query could not be completed (incident {id}); what it cost stays spent\n\
         hint: tell the data steward the incident number"
    )]
    Incident {
        /// A random number that is also in the steward's log.
        id: String,
    },
    /// The same answer was being bought for another analyst, who was debited, and that purchase failed.
    #[error(
        "the query could not be completed; nothing was spent\n\
         hint: ask again; if that fails too, tell the data steward the incident number"
    )]
    Together,
    /// Part of what the query needs had been bought or received when the rest was refused.
    #[error("{}", instead_of_nothing(&source.to_string(), spent))]
    Partly {
        /// What is spent, in words.
        spent: String,
        /// Why the rest was refused.
        source: Box<Error>,
    },
    /// The answer was bought before, by a build that stores answers differently.
    #[error(
        "the answer was stored by another build of demure while this question was asked, and \
         cannot be read; what it cost stays spent\nhint: ask again"
    )]
    Unreadable,
    /// Post-processing of released values failed: its message may quote released values only.
    #[error("after the release: {0}; what this query cost stays spent")]
    After(String),
    /// A failure between the debit and the release.
    #[error("{0}; what this query cost stays spent")]
    Paid(Box<Error>),
}

/// The curator's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// If the query was refused: the reason, and what to do instead. Either nothing was spent, or the reason says what
    /// was.
    #[must_use]
    pub fn refusal(&self) -> Option<(String, String)> {
        match self {
            Self::Refused(refusal) => {
                Some((refusal.what().to_owned(), refusal.remedy().to_owned()))
            }
            Self::Ledger(demure_ledger::Error::OverBudget { accounting, asked, left, which }) => {
                let words = |price| price_in_words(price, *accounting == Accounting::Zcdp);
                let what = format!(
                    "this query costs {} and {which} has {} left; nothing was spent",
                    words(asked),
                    words(left)
                );
                let remedy = match which {
                    // A denied analyst has a limit of 0, and is not shown earlier answers again either.
                    demure_ledger::Rule::Subject(_) => {
                        "ask with a smaller epsilon or for fewer columns, or ask a steward for more"
                    }
                    _ => {
                        "ask with a smaller epsilon, for fewer columns, or what you asked before: \
                         that is free"
                    }
                };
                Some((what, remedy.to_owned()))
            }
            Self::Ledger(demure_ledger::Error::Frozen(frozen)) => Some((
                format!(
                    "the budget is frozen by {} ({}); nothing was spent",
                    frozen.by, frozen.why
                ),
                "ask what you asked before, or a steward to unfreeze it".to_owned(),
            )),
            Self::Partly { spent, source } => {
                let (what, remedy) = source.refusal()?;
                Some((instead_of_nothing(&what, spent), remedy))
            }
            _ => None,
        }
    }

    /// A planner's message: about names and types, not rows.
    pub(crate) fn planning(error: &DataFusionError) -> Self {
        engine::planning(error, &Known::default())
    }

    /// The same, with the names that there are.
    pub(crate) fn planning_with(error: &DataFusionError, known: &Known) -> Self {
        engine::planning(error, known)
    }

    /// A failure after the release, in plain words.
    pub(crate) fn after(error: &DataFusionError) -> Self {
        Self::After(engine::after(error))
    }
}

/// Replaces "nothing was spent" in a message by what was spent.
fn instead_of_nothing(message: &str, spent: &str) -> String {
    const NOTHING: &str = "nothing was spent";
    let instead = format!("{spent} was spent on parts of it, which are free from now on");
    match message.contains(NOTHING) {
        true => message.replace(NOTHING, &instead),
        false => format!("{message}; {instead}"),
    }
}
