//! Where every question arrives, whichever wire it came by: one place that limits, times and
//! counts. What is private about an answer is decided by the curator alone.

use crate::metrics::Metrics;
use crate::rate::Rate;
use crate::schedule::Schedule;
use crate::users::Users;
use crate::visit::Visit;
use datafusion::common::ScalarValue;
use demure_curator::{Curator, Description, Error, Explanation, Gate, Outcome, Session};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// What one question, and all of them together, may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From the first byte of a statement to its answer.
    pub statement_time: Duration,
    /// The longest statement.
    pub statement_bytes: usize,
    /// The most rows of an answer.
    pub rows: usize,
    /// Statements that run at once; others wait, within their time.
    pub running: usize,
    /// Connections of one kind at once.
    pub connections: usize,
    /// Connections of one kind from one address (of IPv6, from 64 bits of it).
    pub connections_per_address: usize,
    /// Connections of the PostgreSQL wire of one account.
    pub connections_per_account: usize,
    /// From a connection of the PostgreSQL wire to a proof that fits.
    pub startup_time: Duration,
    /// How long somebody who has signed in may say nothing on the PostgreSQL wire.
    pub idle_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            statement_time: Duration::from_secs(60),
            statement_bytes: 1 << 20,
            rows: 1_000_000,
            running: 64,
            connections: 2_000,
            connections_per_address: 500,
            connections_per_account: 200,
            startup_time: Duration::from_secs(20),
            idle_time: Duration::from_secs(3600),
        }
    }
}

/// Why there is no answer. Nothing in it comes from a protected row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The question may not be answered, or not at this price. Nothing was spent.
    #[error("{what}")]
    Refused {
        /// Why.
        what: String,
        /// What to ask instead.
        remedy: String,
    },
    /// The budget, a personal limit or a period does not have that much left, or is frozen. Nothing was
    /// spent.
    #[error("{what}")]
    Budget {
        /// What is left.
        what: String,
        /// What to ask instead.
        remedy: String,
    },
    /// The analyst buys faster than one analyst may. Nothing was spent.
    #[error("you may ask {per_minute} new questions a minute; nothing was spent")]
    TooOften {
        /// New questions of one analyst a minute.
        per_minute: u32,
        /// What to do instead.
        remedy: String,
        /// Seconds until the next one may be asked.
        retry: u64,
    },
    /// Not SQL, or it names what does not exist.
    #[error("{0}")]
    Sql(String),
    /// It took too long. What was debited stays spent.
    #[error(
        "the statement took longer than {} s; if it was debited that stays spent",
        .0.as_secs_f64()
    )]
    TimedOut(Duration),
    /// The statement or its answer is too large.
    #[error("{0}")]
    TooLarge(String),
    /// The curator could not go on.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// What to do next, where something is known.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Refused { remedy, .. }
            | Self::Budget { remedy, .. }
            | Self::TooOften { remedy, .. } => Some(remedy),
            Self::Sql(_) => Some("the tables and their columns are in the schema (\\d in psql)"),
            Self::TimedOut(_) => Some("ask for less at once, or ask the steward for more time"),
            Self::TooLarge(_) => Some("write LIMIT, or group more coarsely"),
            Self::Failed(_) => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match (error.refusal(), error) {
            (Some((what, remedy)), Error::Ledger(_) | Error::Partly { .. }) => {
                Self::Budget { what, remedy }
            }
            (Some((what, remedy)), _) => Self::Refused { what, remedy },
            (None, Error::Sql(text) | Error::Unplanned { message: text, .. }) => Self::Sql(text),
            (None, Error::TooOften { per_minute, retry }) => {
                let retry = retry.as_secs() + 1;
                let remedy = format!(
                    "ask again in {retry} s, or what was asked before: that is free at any time"
                );
                Self::TooOften { per_minute, remedy, retry }
            }
            (None, other) => Self::Failed(other.to_string()),
        }
    }
}

/// The curator, who may ask it, and what they may take.
pub struct QueryService {
    /// Answers.
    pub curator: Arc<Curator>,
    /// Who may ask.
    pub users: Users,
    /// The database's name for clients: the policy's.
    pub name: String,
    /// What a question may take.
    pub limits: Limits,
    /// What has happened.
    pub metrics: Metrics,
    /// Turns of statements that work.
    pub(crate) running: Arc<Semaphore>,
    /// Turns of statements that have left: see [`Visit`].
    pub(crate) leaving: Arc<Semaphore>,
    /// Statements that wait for their moment.
    pub(crate) waiting: AtomicUsize,
    pub(crate) schedule: Schedule,
    pub(crate) rate: Rate,
    /// Where statements run: the runtime that the service was made in.
    runtime: Option<Handle>,
}

impl fmt::Debug for QueryService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryService").field("name", &self.name).finish_non_exhaustive()
    }
}

impl QueryService {
    /// A service for one curator.
    #[must_use]
    pub fn new(curator: Arc<Curator>, users: Users, name: &str, limits: Limits) -> Arc<Self> {
        let timing = curator.policy().timing;
        Arc::new(Self {
            users,
            name: name.to_owned(),
            metrics: Metrics::default(),
            running: Arc::new(Semaphore::new(limits.running)),
            leaving: Arc::new(Semaphore::new(limits.running)),
            waiting: AtomicUsize::new(0),
            schedule: Schedule::new(&timing),
            rate: Rate::new(timing.new_queries_per_minute),
            runtime: Handle::try_current().ok(),
            limits,
            curator,
        })
    }

    /// Runs what may compute for long apart from whoever lets people in and answers that the
    /// server is well: where the service was made, if that was in a runtime. It ends with the set.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinSet<T> {
        let mut set = JoinSet::new();
        match &self.runtime {
            Some(runtime) => set.spawn_on(work, runtime),
            None => set.spawn(work),
        };
        set
    }

    /// Statements that work, wait for their moment or leave.
    #[must_use]
    pub fn running(&self) -> usize {
        let used =
            |turns: &Semaphore| self.limits.running.saturating_sub(turns.available_permits());
        used(&self.running) + self.waiting.load(Ordering::Relaxed) + used(&self.leaving)
    }

    /// Asks for an analyst, with values for `$1`, `$2`, …
    pub async fn ask(
        self: &Arc<Self>,
        session: &mut Session,
        sql: &str,
        values: &[ScalarValue],
    ) -> Result<Outcome, Failure> {
        self.ask_within(session, sql, values, self.limits.statement_time).await
    }

    /// The same for who does not want to wait longer than `within`, or than the server allows.
    pub(crate) async fn ask_within(
        self: &Arc<Self>,
        session: &mut Session,
        sql: &str,
        values: &[ScalarValue],
        within: Duration,
    ) -> Result<Outcome, Failure> {
        let visit = Visit::new(self, session.who(), within.min(self.limits.statement_time));
        let work = session.run_through(visit.clone(), sql, values);
        let outcome = self.timed(sql, &visit, work).await?;
        if let Outcome::Answer(answer) = &outcome {
            let rows: usize = answer.batches.iter().map(|batch| batch.num_rows()).sum();
            if rows > self.limits.rows {
                let most = self.limits.rows;
                let what = format!(
                    "the answer has more than {most} rows; it was bought, and asking again is free"
                );
                return Err(Failure::TooLarge(what));
            }
            self.metrics.answered(answer.repeated);
        }
        Ok(outcome)
    }

    /// What a query takes and gives; it is not asked.
    pub async fn describe(
        self: &Arc<Self>,
        session: &Session,
        sql: &str,
    ) -> Result<Description, Failure> {
        let visit = Visit::new(self, session.who(), self.limits.statement_time);
        self.timed(sql, &visit, session.describe(sql)).await
    }

    /// What a query would cost; it is not asked.
    pub async fn explain(
        self: &Arc<Self>,
        session: &Session,
        sql: &str,
    ) -> Result<Explanation, Failure> {
        let visit = Visit::new(self, session.who(), self.limits.statement_time);
        self.timed(sql, &visit, session.explanation(sql)).await
    }

    pub(crate) async fn timed<T>(
        &self,
        sql: &str,
        visit: &Visit,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        if sql.len() > self.limits.statement_bytes {
            let most = self.limits.statement_bytes;
            return Err(Failure::TooLarge(format!("a statement has at most {most} bytes")));
        }
        // When it is overdue the work is dropped, before anything else happens.
        let outcome = {
            let admitted = async {
                visit.enter().await;
                work.await
            };
            tokio::select! {
                biased;
                outcome = admitted => outcome.map_err(Failure::from),
                () = visit.overdue() => Err(Failure::TimedOut(visit.within())),
            }
        };
        // What fails depends on protected rows: an error leaves on schedule too. Time is up at a public moment,
        // and a budget that is not there is refused before any row is read.
        let at_once = matches!(outcome, Err(Failure::Budget { .. } | Failure::TimedOut(_)));
        if visit.is_reading() && !at_once {
            visit.leave().await;
        }
        visit.end();
        self.metrics.asked(visit.took(), outcome.as_ref().err());
        outcome
    }
}
