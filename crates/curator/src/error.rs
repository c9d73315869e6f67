//! What can go wrong. No variant holds a value from a protected table.

use crate::policy::PolicyError;
use crate::refusal::Refusal;
use crate::words::price as price_in_words;
use datafusion::error::DataFusionError;
use demure_ledger::Accounting;
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The query may not be answered; nothing was spent.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The query is not SQL, or names what does not exist; nothing was spent. The text
    /// comes from the parser and the planner, which see the schema and no row.
    #[error("{0}")]
    Sql(String),
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
    /// The environment names another ledger than the policy.
    #[error(
        "the policy's ledger is at `{policy}`, and DEMURE_LEDGER names `{environment}`; another \
         ledger would be a second budget\n\
         hint: unset DEMURE_LEDGER, or give it the same server and database; if the ledger was \
         moved, correct `at` in the policy's `[ledger]`"
    )]
    OtherPlace {
        /// Where the policy's ledger is.
        policy: String,
        /// What the environment says, without a password.
        environment: String,
    },
    /// The policy cannot be made to name its first ledger.
    #[error(
        "`{}` has a ledger now and must name it, and cannot be written: {source}\n\
         hint: add these lines to it, and start again\n{lines}",
        path.display()
    )]
    PolicyUnwritable {
        /// The policy.
        path: PathBuf,
        /// What to add.
        lines: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The policy cannot be made to name another ledger, so it gets none.
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
    /// The ledger that is to be replaced cannot be closed now.
    #[error(
        "the policy's ledger at `{at}` cannot be closed, so it was not replaced and nothing was \
         changed: {source}\n\
         hint: mend that and run the command again; if that ledger is gone for good, take \
         `[ledger]` out of the policy first"
    )]
    CannotClose {
        /// Where it is, as the policy says.
        at: String,
        /// What stands in the way.
        source: Box<demure_ledger::Error>,
    },
    /// What was to be done could not be recorded first, so it was not done.
    #[error("the audit record could not be written, so nothing was changed: {0}")]
    Record(String),
    /// The ledger refused or failed.
    #[error("{0}")]
    Ledger(#[from] demure_ledger::Error),
    /// The analyst buys faster than a server lets one analyst buy; nothing was spent.
    #[error(
        "you may ask {per_minute} new questions a minute; nothing was spent\n\
         hint: ask again in {} s, or what was asked before: that is free at any time",
        retry.as_secs() + 1
    )]
    TooOften {
        /// New questions of one analyst a minute.
        per_minute: u32,
        /// When the next one may be asked.
        retry: Duration,
    },
    /// The core refused a parameter.
    #[error("{0}")]
    Core(#[from] demure_core::Error),
    /// The engine failed while it may have been reading protected rows. What it said
    /// may quote them, so only the steward's log has it.
    #[error(
        "the query could not be completed (incident {id}); what it cost stays spent\n\
         hint: tell the data steward the incident number"
    )]
    Incident {
        /// A random number that is also in the steward's log.
        id: String,
    },
    /// The same was being bought for somebody else, who was debited, and failed.
    #[error(
        "the query could not be completed; nothing was spent\n\
         hint: ask again; if that fails too, tell the data steward the incident number"
    )]
    Together,
    /// A part of what the query needs had been bought or received when the rest was refused.
    #[error("{}", instead_of_nothing(&source.to_string(), spent))]
    Partly {
        /// What is spent, in words.
        spent: String,
        /// Why the rest was refused.
        source: Box<Error>,
    },
    /// The answer was bought before, by a build that stores it otherwise.
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
    /// Why a query was refused and what to do instead, if that is what happened: nothing was
    /// spent then, or it says what.
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
                    // Who is denied has a limit of nothing, and is shown nothing again either.
                    demure_ledger::Rule::Slice(_) => {
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
                "ask what you asked before, or a steward to thaw it".to_owned(),
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
        Self::Sql(error.strip_backtrace())
    }
}

/// A message that says what is spent where it said that nothing is.
fn instead_of_nothing(message: &str, spent: &str) -> String {
    const NOTHING: &str = "nothing was spent";
    let instead = format!("{spent} was spent on parts of it, which are free from now on");
    match message.contains(NOTHING) {
        true => message.replace(NOTHING, &instead),
        false => format!("{message}; {instead}"),
    }
}
