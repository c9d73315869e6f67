//! A journal in PostgreSQL, for curators that share one budget.
//!
//! Everything is in the schema `demure` of the database that the address names.
//!
//! # Guarantee
//! - *Durable*: `synchronous_commit` is at least `on` in the session, and a server
//!   with `fsync = off` is refused. A commit that others can see is on disk.
//! - *Serial*: a transaction that appends holds an advisory lock of the database to
//!   its end, so there is at most one at a time for all curators. It reads
//!   (`READ COMMITTED`) after it has the lock, so it reads all that was committed
//!   under it: PostgreSQL makes a commit visible before it releases its locks.
//! - *One state*: a transaction that reads is `REPEATABLE READ`.
//! - *Append-only*: triggers refuse to change, delete or truncate. They guard
//!   against accidents; the hash chain guards against intent.
//!
//! A connection that is lost during a transaction is an error, and the next operation opens a new one. If it was lost
//! during a commit, it is unknown whether the commit happened: nothing is granted, and its rows count as soon as they
//! are seen.
//!
//! # What it does not do
//! It does not encrypt: use a Unix socket, a private network or a tunnel. It does not work through a pooler that
//! exchanges connections between transactions: settings made once on a connection would not apply to the next.
//!
//! # References
//! postgresql.org: "Explicit Locking" (13.3.5), "Transaction Isolation" (13.2),
//! "Asynchronous Commit" (30.4).

use super::lookup::{ending, number, stored, unreadable};
use super::worker::{Session, Worker, failure};
use super::{Intent, Span, Store, Transaction};
use crate::error::{Error, Result};
use crate::place;
use crate::price::Price;
use crate::row::{Hash, Kind, Row};
use postgres::IsolationLevel;
use std::collections::HashSet;
use std::time::Duration;

/// The version of the layout below.
const VERSION: i64 = 2;

/// "Demu", "ledg": the advisory lock for appending.
const LOCK: &str = "pg_advisory_xact_lock(1147497845, 1818584167)";

/// The number of rows fetched at a time.
const PAGE: i64 = 500;

const SCHEMA: &str = "
CREATE SCHEMA IF NOT EXISTS demure;
CREATE TABLE demure.about (version bigint NOT NULL);
CREATE TABLE demure.journal (
    dataset   text NOT NULL,
    seq       bigint NOT NULL CHECK (seq > 0),
    time      bigint NOT NULL,   -- microseconds since 1970, as the clock had it
    kind      text NOT NULL,
    refers    bigint,            -- the seq of the reservation cancelled or settled
    who       text NOT NULL,
    key       text NOT NULL,
    query     text NOT NULL,
    event     text NOT NULL,     -- in the core's grammar; of a limit or a rule, its text
    cost      double precision NOT NULL,  -- epsilon or rho
    delta     double precision NOT NULL,
    answer    bytea,             -- of a settlement
    prev_hash bytea NOT NULL,
    hash      bytea NOT NULL,    -- SHA-256 over all other columns
    PRIMARY KEY (dataset, seq),
    UNIQUE (dataset, refers)     -- a reservation is closed once
);
CREATE INDEX settlements ON demure.journal (dataset, key, seq) WHERE kind = 'settle';
CREATE INDEX cancellations ON demure.journal (dataset, seq, refers) WHERE kind = 'cancel';
CREATE TABLE demure.head (       -- where each journal ends
    dataset text NOT NULL PRIMARY KEY,
    seq     bigint NOT NULL,
    hash    bytea NOT NULL
);
CREATE FUNCTION demure.keep() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the journal is append-only'; END $$;
CREATE TRIGGER journal_keeps_rows BEFORE UPDATE OR DELETE ON demure.journal
    FOR EACH ROW EXECUTE FUNCTION demure.keep();
CREATE TRIGGER journal_keeps_all BEFORE TRUNCATE ON demure.journal
    FOR EACH STATEMENT EXECUTE FUNCTION demure.keep();
";

/// One connection to one database.
#[derive(Debug)]
pub(crate) struct Postgres {
    worker: Worker,
}

impl Postgres {
    /// Connects to `postgres://user@host/database`, and creates the tables if they do not exist.
    pub(crate) fn open(address: &str, patience: Duration) -> Result<Self> {
        let mut config = place::config(address)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(patience);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(patience);
        }
        let store = Self { worker: Worker::start(config, patience)? };
        store.worker.connect(greet)?;
        Ok(store)
    }
}

impl Store for Postgres {
    fn begin(&mut self, intent: Intent) -> Result<Box<dyn Transaction + '_>> {
        let begin = match intent {
            Intent::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Intent::Append => format!("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT {LOCK}"),
        };
        self.worker.connect(greet)?;
        // Rolled back if it fails halfway.
        let open = Open { worker: &self.worker, ended: false };
        let again = begin.clone();
        match self.worker.run(move |session| session.client.batch_execute(&begin)) {
            // The connection was lost some time ago, but this is only seen now: nothing was done on it.
            Err(Error::Disconnected { .. }) => {
                self.worker.connect(greet)?;
                self.worker.run(move |session| session.client.batch_execute(&again))?;
            }
            other => other?,
        }
        Ok(Box::new(open))
    }

    fn another(&self) -> Result<Option<Box<dyn Store>>> {
        Ok(Some(Box::new(Self { worker: self.worker.another()? })))
    }
}

/// Prepares every new connection: checks its guarantees, and creates the tables.
fn greet(session: &mut Session, patience: Duration) -> Result<()> {
    let client = &mut session.client;
    let failed = |error: postgres::Error| match error.code() {
        Some(code) => failure(code, patience),
        None => Error::Server { code: "08006".to_owned() },
    };
    // A curator that is stopped while it holds the lock does not block the others. A setting stronger than `on` is
    // kept.
    let settings = format!(
        "SET lock_timeout = {}; SET idle_in_transaction_session_timeout = 60000;
         SELECT set_config('synchronous_commit', 'on', false)
             WHERE current_setting('synchronous_commit') <> 'remote_apply'",
        patience.as_millis()
    );
    client.batch_execute(&settings).map_err(failed)?;
    for setting in ["fsync", "synchronous_commit"] {
        let row = client.query_one("SELECT current_setting($1)", &[&setting]).map_err(failed)?;
        let value: String = row.try_get(0).map_err(failed)?;
        if value != "on" && value != "remote_apply" {
            return Err(Error::NotDurable { setting });
        }
    }
    create(session).map_err(failed)?
}

/// Creates the tables, if they do not exist, in one step for all curators.
fn create(session: &mut Session) -> std::result::Result<Result<()>, postgres::Error> {
    // Queries the catalogue as a table: name lookup may use a state from before the lock.
    let exists = "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables
                                 WHERE schemaname = 'demure' AND tablename = 'about')";
    if !session.client.query_one(exists, &[])?.try_get::<_, bool>(0)? {
        let begin = session.client.build_transaction();
        let mut transaction = begin.isolation_level(IsolationLevel::ReadCommitted).start()?;
        transaction.batch_execute(&format!("SELECT {LOCK}"))?;
        if !transaction.query_one(exists, &[])?.try_get::<_, bool>(0)? {
            let version = format!("INSERT INTO demure.about VALUES ({VERSION})");
            transaction.batch_execute(&format!("{SCHEMA} {version}"))?;
        }
        transaction.commit()?;
    }
    let found: i64 =
        session.client.query_one("SELECT max(version) FROM demure.about", &[])?.try_get(0)?;
    Ok(match found {
        VERSION => Ok(()),
        found => Err(Error::SchemaVersion { found, supported: VERSION }),
    })
}

/// A transaction; rolled back when dropped.
struct Open<'a> {
    worker: &'a Worker,
    ended: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let rolled_back = || self.worker.run(|session| session.client.batch_execute("ROLLBACK"));
        if !self.ended && rolled_back().is_err() {
            self.worker.disconnect();
        }
    }
}

impl Transaction for Open<'_> {
    fn head(&self, dataset: &str) -> Result<Option<(u64, Hash)>> {
        let dataset = dataset.to_owned();
        let found = self.worker.run(move |session| {
            let select =
                session.statement("SELECT seq, hash FROM demure.head WHERE dataset = $1")?;
            session.client.query_opt(&select, &[&dataset])
        })?;
        found
            .map(|row| {
                let (seq, hash) = (row.try_get(0), row.try_get(1));
                Ok((number(seq.map_err(|_| unreadable(0))?)?, hashed(hash, 0)?))
            })
            .transpose()
    }

    fn scan(
        &self,
        dataset: &str,
        after: u64,
        visit: &mut dyn FnMut(Row) -> Result<bool>,
    ) -> Result<()> {
        let mut after = stored(after)?;
        loop {
            let dataset = dataset.to_owned();
            let rows = self.worker.run(move |session| {
                let select = session.statement(
                    "SELECT dataset, seq, time, kind, refers, who, key, query, event, cost, delta,
                            answer, prev_hash, hash FROM demure.journal
                     WHERE dataset = $1 AND seq > $2 ORDER BY seq LIMIT $3",
                )?;
                session.client.query(&select, &[&dataset, &after, &PAGE])
            })?;
            let full = i64::try_from(rows.len()).is_ok_and(|count| count == PAGE);
            for found in &rows {
                let row = row(found)?;
                after = stored(row.seq)?;
                if !visit(row)? {
                    return Ok(());
                }
            }
            if !full {
                return Ok(());
            }
        }
    }

    fn page(&self, dataset: &str, span: &Span<'_>) -> Result<Vec<Row>> {
        let sql = match span.newest_first {
            true => {
                "SELECT dataset, seq, time, kind, refers, who, key, query, event, cost, delta,
                        answer, prev_hash, hash FROM demure.journal
                 WHERE dataset = $1 AND seq > $2 AND seq < $3 AND ($4::text IS NULL OR who = $4)
                 ORDER BY seq DESC LIMIT $5"
            }
            false => {
                "SELECT dataset, seq, time, kind, refers, who, key, query, event, cost, delta,
                        answer, prev_hash, hash FROM demure.journal
                 WHERE dataset = $1 AND seq > $2 AND seq < $3 AND ($4::text IS NULL OR who = $4)
                 ORDER BY seq LIMIT $5"
            }
        };
        let (dataset, who) = (dataset.to_owned(), span.who.map(str::to_owned));
        let (after, before) = (ending(span.after), ending(span.before));
        let most = i64::try_from(span.most).unwrap_or(i64::MAX);
        let rows = self.worker.run(move |session| {
            let select = session.statement(sql)?;
            session.client.query(&select, &[&dataset, &after, &before, &who, &most])
        })?;
        rows.iter().map(row).collect()
    }

    fn cancelled(&self, dataset: &str, after: u64) -> Result<HashSet<u64>> {
        let (dataset, after) = (dataset.to_owned(), stored(after)?);
        let rows = self.worker.run(move |session| {
            let select = session.statement(
                "SELECT refers FROM demure.journal
                 WHERE dataset = $1 AND seq > $2 AND kind = 'cancel' AND refers IS NOT NULL",
            )?;
            session.client.query(&select, &[&dataset, &after])
        })?;
        rows.iter().map(|row| number(row.try_get(0).map_err(|_| unreadable(0))?)).collect()
    }

    fn settlement(&self, dataset: &str, key: &str) -> Result<Option<Row>> {
        let (dataset, key) = (dataset.to_owned(), key.to_owned());
        let found = self.worker.run(move |session| {
            let select = session.statement(
                "SELECT dataset, seq, time, kind, refers, who, key, query, event, cost, delta,
                        answer, prev_hash, hash FROM demure.journal
                 WHERE dataset = $1 AND key = $2 AND kind = 'settle' ORDER BY seq LIMIT 1",
            )?;
            session.client.query_opt(&select, &[&dataset, &key])
        })?;
        found.as_ref().map(row).transpose()
    }

    fn journals(&self) -> Result<Vec<(String, Option<String>)>> {
        let rows = self.worker.run(|session| {
            let select = session.statement(
                "SELECT dataset, (SELECT key FROM demure.journal j
                     WHERE j.dataset = h.dataset AND kind = 'identity' ORDER BY seq LIMIT 1)
                 FROM demure.head h ORDER BY dataset",
            )?;
            session.client.query(&select, &[])
        })?;
        let text = |row: &postgres::Row| Ok((row.try_get(0)?, row.try_get(1)?));
        rows.iter().map(|row| text(row).map_err(|_: postgres::Error| unreadable(0))).collect()
    }

    fn introductions(&self) -> Result<Vec<Row>> {
        let rows = self.worker.run(|session| {
            let select = session.statement(
                "SELECT dataset, seq, time, kind, refers, who, key, query, event, cost, delta,
                        answer, prev_hash, hash FROM demure.journal
                 WHERE kind IN ('identity', 'unit', 'replaced') ORDER BY dataset, seq",
            )?;
            session.client.query(&select, &[])
        })?;
        rows.iter().map(row).collect()
    }

    fn settlement_of(&self, dataset: &str, reservation: u64) -> Result<Option<Row>> {
        let (dataset, reservation) = (dataset.to_owned(), stored(reservation)?);
        let found = self.worker.run(move |session| {
            let select = session.statement(
                "SELECT dataset, seq, time, kind, refers, who, key, query, event, cost, delta,
                        answer, prev_hash, hash FROM demure.journal
                 WHERE dataset = $1 AND refers = $2 AND kind = 'settle'",
            )?;
            session.client.query_opt(&select, &[&dataset, &reservation])
        })?;
        found.as_ref().map(row).transpose()
    }

    fn closing(&self, dataset: &str, reservation: u64) -> Result<Option<Kind>> {
        let (dataset, refers) = (dataset.to_owned(), stored(reservation)?);
        let found = self.worker.run(move |session| {
            let select = session
                .statement("SELECT kind FROM demure.journal WHERE dataset = $1 AND refers = $2")?;
            session.client.query_opt(&select, &[&dataset, &refers])
        })?;
        let bad = || unreadable(reservation);
        found.map(|row| Kind::parse(row.try_get(0).map_err(|_| bad())?).ok_or_else(bad)).transpose()
    }

    /// Checks that nothing can be changed by accident. PostgreSQL checks its own pages.
    fn check(&self) -> Result<()> {
        let guarded: i64 = self.worker.run(|session| {
            let select = session.statement(
                "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'demure.journal'::regclass
                 AND tgname IN ('journal_keeps_rows', 'journal_keeps_all') AND tgenabled <> 'D'",
            )?;
            session.client.query_one(&select, &[])?.try_get(0)
        })?;
        if guarded == 2 { Ok(()) } else { Err(Error::Unguarded) }
    }

    fn append(&mut self, row: &Row) -> Result<()> {
        let (row, seq) = (row.clone(), stored(row.seq)?);
        let refers = row.refers.map(stored).transpose()?;
        let number = row.seq;
        let moved = self.worker.run(move |session| {
            let insert = session.statement(
                "WITH added AS (
                     INSERT INTO demure.journal (dataset, seq, time, kind, refers, who, key, query,
                                                 event, cost, delta, answer, prev_hash, hash)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                     RETURNING dataset, seq, hash)
                 INSERT INTO demure.head SELECT dataset, seq, hash FROM added
                 ON CONFLICT (dataset) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
            )?;
            session.client.execute(
                &insert,
                &[
                    &row.dataset,
                    &seq,
                    &row.time,
                    &row.kind.name(),
                    &refers,
                    &row.who,
                    &row.key,
                    &row.query,
                    &row.event,
                    &row.price.main,
                    &row.price.delta,
                    &row.answer,
                    &row.before.as_slice(),
                    &row.hash.as_slice(),
                ],
            )
        })?;
        if moved == 1 { Ok(()) } else { Err(unreadable(number)) }
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        // Committing a failed transaction rolls it back, which is not an error to PostgreSQL; but the failure was
        // reported here before.
        let committed = self.worker.run(|session| session.client.batch_execute("COMMIT"));
        self.ended = committed.is_ok();
        committed
    }
}

fn hashed(found: std::result::Result<&[u8], postgres::Error>, seq: u64) -> Result<Hash> {
    found.ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| unreadable(seq))
}

/// Reads a row. A value that is not of its column's type is a fault of the row.
fn row(row: &postgres::Row) -> Result<Row> {
    let seq = number(row.try_get(1).map_err(|_| unreadable(0))?)?;
    let bad = |_: postgres::Error| unreadable(seq);
    let refers: Option<i64> = row.try_get(4).map_err(bad)?;
    Ok(Row {
        dataset: row.try_get(0).map_err(bad)?,
        seq,
        time: row.try_get(2).map_err(bad)?,
        kind: Kind::parse(row.try_get(3).map_err(bad)?).ok_or_else(|| unreadable(seq))?,
        refers: refers.map(number).transpose().map_err(|_| unreadable(seq))?,
        who: row.try_get(5).map_err(bad)?,
        key: row.try_get(6).map_err(bad)?,
        query: row.try_get(7).map_err(bad)?,
        event: row.try_get(8).map_err(bad)?,
        price: Price { main: row.try_get(9).map_err(bad)?, delta: row.try_get(10).map_err(bad)? },
        answer: row.try_get(11).map_err(bad)?,
        before: hashed(row.try_get(12), seq)?,
        hash: hashed(row.try_get(13), seq)?,
    })
}
