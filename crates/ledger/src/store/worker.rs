//! A thread that owns a PostgreSQL session.
//!
//! The client waits by running its own event loop, which it must not do on a thread that already runs one; and a
//! ledger is called from any thread. So the session lives on a separate thread, which receives work and is waited for.

use crate::error::{Error, Result};
use postgres::config::Host;
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls, Statement};
use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::time::Duration;

/// PostgreSQL's own result.
pub(super) type Answer<T> = std::result::Result<T, postgres::Error>;

type Work = Box<dyn FnOnce(&mut Option<Session>) + Send>;

/// A connection and its prepared statements.
pub(super) struct Session {
    pub(super) client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Session {
    /// The statement, prepared once.
    pub(super) fn statement(&mut self, sql: &'static str) -> Answer<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// The thread. It ends, and closes the session, when the worker is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    work: Sender<Work>,
    config: Config,
    patience: Duration,
}

impl Worker {
    pub(super) fn start(config: Config, patience: Duration) -> Result<Self> {
        let (work, queue) = channel::<Work>();
        std::thread::Builder::new()
            .name("demure-ledger".to_owned())
            .spawn(move || {
                let mut session = None;
                queue.into_iter().for_each(|work| work(&mut session));
            })
            .map_err(|_| Error::Interrupted)?;
        Ok(Self { work, config, patience })
    }

    /// Another worker for the same place.
    pub(super) fn another(&self) -> Result<Self> {
        Self::start(self.config.clone(), self.patience)
    }

    /// Connects, if there is no connection; runs `greet` first on a new one.
    pub(super) fn connect(&self, greet: fn(&mut Session, Duration) -> Result<()>) -> Result<()> {
        let (config, patience, place) = (self.config.clone(), self.patience, self.place());
        self.on_thread(move |slot| {
            if slot.as_ref().is_some_and(|session| !session.client.is_closed()) {
                return Ok(());
            }
            *slot = None;
            let client = config.connect(NoTls).map_err(|error| Error::CannotConnect {
                place,
                code: error.code().map(|code| code.code().to_owned()),
            })?;
            let mut session = Session { client, statements: HashMap::new() };
            greet(&mut session, patience)?;
            *slot = Some(session);
            Ok(())
        })
    }

    /// Runs work on the current connection. A lost connection is not reopened here, because what was begun on it is
    /// gone.
    pub(super) fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session) -> Answer<R> + Send + 'static,
    ) -> Result<R> {
        let (place, patience) = (self.place(), self.patience);
        self.on_thread(move |slot| {
            let Some(session) = slot else { return Err(Error::Disconnected { place }) };
            let done = work(session);
            let lost = session.client.is_closed();
            if lost {
                *slot = None;
            }
            done.map_err(|error| match error.code() {
                Some(code) if !lost => failure(code, patience),
                _ => Error::Disconnected { place },
            })
        })
    }

    /// Drops the connection, whatever state it is in.
    pub(super) fn disconnect(&self) {
        let _ = self.on_thread(|slot| {
            *slot = None;
            Ok(())
        });
    }

    fn on_thread<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Option<Session>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let (reply, answer) = sync_channel(1);
        let work: Work = Box::new(move |slot| {
            // The caller waits for it; if not, the result is not needed.
            let _ = reply.send(work(slot));
        });
        self.work.send(work).map_err(|_| Error::Interrupted)?;
        answer.recv().map_err(|_| Error::Interrupted)?
    }

    /// The server and the database, without a password.
    fn place(&self) -> String {
        let host = self.config.get_hosts().first().map_or_else(String::new, |host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        format!("{host}/{}", self.config.get_dbname().unwrap_or_default())
    }
}

/// The error for one of PostgreSQL's SQLSTATE codes.
pub(super) fn failure(code: &SqlState, patience: Duration) -> Error {
    match *code {
        SqlState::DISK_FULL => Error::DiskFull,
        SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly,
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => Error::Corrupt,
        SqlState::LOCK_NOT_AVAILABLE => Error::Locked { seconds: patience.as_secs() },
        _ => Error::Server { code: code.code().to_owned() },
    }
}
