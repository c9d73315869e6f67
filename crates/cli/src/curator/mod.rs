//! What the commands that talk to a curator share.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | opening a policy, asking, refusals in words |
//! | `options.rs` | `--epsilon` and the other settings of a query |
//! | `render.rs` | an answer as a table, `value ± half`; what it cost, what is left, how wrong it may be |
//! | `formats.rs` | an answer as CSV, JSON, Arrow or Parquet |

pub(crate) mod formats;
pub(crate) mod options;
pub(crate) mod render;

use self::options::ExpectHead;
use crate::Failure;
use demure_curator::{Curator, Error, Explanation, Outcome, Rule, Session};
use demure_report::progress::Spinner;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// One conversation with a curator.
pub(crate) struct Conversation {
    runtime: Runtime,
    pub(crate) session: Session,
}

impl Conversation {
    /// Opens a policy, its tables and its ledger, and says what the policy is warned of.
    pub(crate) fn open(policy: &Path, who: &str, head: &ExpectHead) -> Result<Self, Failure> {
        let runtime = runtime()?;
        let curator = {
            let _spinner = Spinner::new("opening the tables");
            runtime.block_on(Curator::open_expecting(policy, head.anchor()))?
        };
        warn(&curator);
        Ok(Self { session: curator.session(who), runtime })
    }

    /// The same with a curator that is open already.
    pub(crate) fn with(runtime: Runtime, curator: &Arc<Curator>, who: &str) -> Self {
        Self { session: curator.session(who), runtime }
    }

    /// Answers, explains or sets.
    pub(crate) fn run(&mut self, sql: &str) -> Result<Outcome, Error> {
        let _spinner = Spinner::new("asking");
        self.runtime.block_on(self.session.run(sql))
    }

    /// What a query would cost.
    pub(crate) fn explain(&self, sql: &str) -> Result<Explanation, Error> {
        let _spinner = Spinner::new("pricing");
        self.runtime.block_on(self.session.explanation(sql))
    }

    /// Sets `demure.…` from an option, if it was given.
    pub(crate) fn set(&mut self, option: &str, value: Option<&str>) -> Result<(), Failure> {
        let Some(value) = value else { return Ok(()) };
        let name = format!("demure.{}", option.replace('-', "_"));
        self.session.settings_mut().set(&name, value).map_err(|refusal| {
            let remedy = refusal.remedy();
            Failure::usage(format!("--{option} is outside its range\nhint: {remedy}"))
        })
    }

    /// Waits for work with the session.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(crate) fn curator(&self) -> &Curator {
        self.session.curator()
    }
}

/// Says what the policy is warned of.
pub(crate) fn warn(curator: &Curator) {
    for warning in &curator.policy().warnings {
        eprintln!("warning: {warning}");
    }
}

/// The threads that queries run on.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    // Room for the planner, which recurses: most statements then need no stack of their own.
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.enable_all().thread_stack_size(8 << 20).build();
    runtime.map_err(|source| Failure::File { what: "starting threads".into(), source })
}

/// Who asks, as the ledger will have it, if nobody says.
pub(crate) fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "analyst".to_owned())
}

/// What an error says, as lines for stderr: `refused: …` or `error: …`, and a hint.
pub(crate) fn words(error: &Error) -> String {
    if let Some((what, remedy)) = error.refusal() {
        return format!("refused: {what}\nhint: {remedy}");
    }
    match hint(error) {
        Some(hint) => format!("error: {error}\nhint: {hint}"),
        None => format!("error: {error}"),
    }
}

/// What to change, where the error itself does not say.
pub(crate) fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Sql(_) | Error::Unplanned { .. } => {
            Some("`\\d` in `demure shell` lists tables and columns")
        }
        Error::Source { .. } => {
            Some("sources are relative to the policy's folder; `demure init` writes a first policy")
        }
        _ => None,
    }
}

/// Whether a refusal is about a setting: a mistake in the call.
pub(crate) fn about_setting(error: &Error) -> bool {
    matches!(error, Error::Refused(refusal) if refusal.rule() == Rule::Setting)
}

#[cfg(test)]
mod tests;
