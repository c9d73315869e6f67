//! A journal in one SQLite file.
//!
//! # Guarantee
//! - *Durable*: the write-ahead log is synchronised at every commit
//!   (`journal_mode = WAL`, `synchronous = FULL`, and `fullfsync` where the
//!   platform's `fsync` does not reach the disk). A commit that others can see
//!   has been synchronised.
//! - *Serial*: a transaction that appends is `BEGIN IMMEDIATE`, of which there
//!   is at most one at a time for all processes on the machine.
//! - *The same file*: where files have inode numbers (Unix), one that was moved or replaced
//!   under an open ledger is refused; its budget would be spent twice.
//! - *Append-only*: triggers refuse to change or delete a row. They guard
//!   against accidents; the hash chain guards against intent.
//!
//! # References
//! sqlite.org: "Write-Ahead Logging", "PRAGMA synchronous", "Isolation In SQLite".

use super::lookup::{COLUMNS, ending, failure, number, row, stored, unreadable};
use super::schema::{APPLICATION, Layout, VERSION};
use super::{Intent, PATIENCE, Span, Store, Transaction};
use crate::access;
use crate::error::{Error, Result};
use crate::row::{Hash, Kind, Row};
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The path of a journal in memory.
const MEMORY: &str = ":memory:";

/// One connection to one file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: PathBuf,
    identity: Option<(u64, u64)>,
    patience: Duration,
}

impl Sqlite {
    /// Opens a file, or creates it for its owner alone.
    pub(crate) fn open(path: &Path, patience: Duration) -> Result<Self> {
        if !["", MEMORY].iter().any(|name| path.as_os_str() == *name) {
            // If it cannot be created, SQLite reports why. Its log gets the same mode.
            let _ = access::create(path);
        }
        Self::with_flags(path, patience, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens an existing file.
    pub(crate) fn open_existing(path: &Path, patience: Duration) -> Result<Self> {
        Self::with_flags(path, patience, OpenFlags::empty())
    }

    fn with_flags(path: &Path, patience: Duration, create: OpenFlags) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| failure(&error, path, patience))?;
        let mut store = Self { connection, path: path.to_owned(), identity: None, patience };
        // Switching to a write-ahead log does not wait for others by itself.
        let deadline = Instant::now() + patience;
        loop {
            match store.prepare() {
                Err(Error::Locked { .. }) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                other => {
                    store.identity = identity(path);
                    return other.map(|()| store);
                }
            }
        }
    }

    /// A journal that ends with the process.
    pub(crate) fn in_memory() -> Result<Self> {
        let (path, patience) = (PathBuf::from(MEMORY), PATIENCE);
        let connection =
            Connection::open_in_memory().map_err(|error| failure(&error, &path, patience))?;
        let mut store = Self { connection, path, identity: None, patience };
        store.create()?;
        Ok(store)
    }

    fn prepare(&mut self) -> Result<()> {
        self.connection.busy_timeout(self.patience).map_err(|error| self.failure(&error))?;
        // Reads before it writes: the file may belong to another program.
        self.upgrade_apart()?;
        let read_only =
            self.connection.is_readonly("main").map_err(|error| self.failure(&error))?;
        if read_only {
            return Err(Error::ReadOnly);
        }
        let mode: String = self
            .connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(|error| self.failure(&error))?;
        if mode != "wal" {
            return Err(Error::NoWriteAheadLog);
        }
        self.connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
                 PRAGMA checkpoint_fullfsync = ON; PRAGMA cell_size_check = ON;
                 PRAGMA trusted_schema = OFF;",
            )
            .map_err(|error| self.failure(&error))?;
        self.create()
    }

    /// Creates the tables, or upgrades them to this version, in one step for all processes.
    fn create(&mut self) -> Result<()> {
        if self.upgrade_apart()?.is_empty() {
            return Ok(());
        }
        let begun = self.connection.execute_batch("BEGIN IMMEDIATE");
        begun.map_err(|error| self.failure(&error))?;
        let made = self.upgrade().and_then(|sql| {
            self.connection.execute_batch(&(sql + "COMMIT")).map_err(|error| self.failure(&error))
        });
        if made.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to report.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        made
    }

    /// [`Sqlite::upgrade`] in a separate transaction: another process may be creating the tables right now, and half
    /// of the answers would be from before.
    fn upgrade_apart(&self) -> Result<String> {
        let one_state = self.connection.unchecked_transaction();
        let _ended_when_dropped = one_state.map_err(|error| self.failure(&error))?;
        self.upgrade()
    }

    /// The SQL that upgrades the file to this version; empty if there is nothing to do. A file that is not empty must
    /// be a ledger. Call it inside a transaction.
    fn upgrade(&self) -> Result<String> {
        let ask = |sql: &str| -> Result<i64> {
            self.connection
                .query_row(sql, [], |row| row.get(0))
                .map_err(|error| self.failure(&error))
        };
        let application = ask("PRAGMA application_id")?;
        let layout = if application == 0 && ask("SELECT count(*) FROM sqlite_schema")? == 0 {
            Layout::Empty
        } else if application == APPLICATION {
            Layout::Version(ask("PRAGMA user_version")?)
        } else {
            return Err(Error::NotALedger { path: self.path.clone() });
        };
        layout.upgrade().ok_or_else(|| {
            let found = if let Layout::Version(found) = layout { found } else { 0 };
            Error::SchemaVersion { found, supported: VERSION }
        })
    }

    /// Checks that the file is still where it was.
    fn is_in_place(&self) -> Result<()> {
        if self.identity.is_some() && self.identity != identity(&self.path) {
            return Err(Error::Moved { path: self.path.clone() });
        }
        Ok(())
    }

    fn failure(&self, error: &rusqlite::Error) -> Error {
        failure(error, &self.path, self.patience)
    }

    /// [`Sqlite::open`] with space for this many pages only.
    #[cfg(test)]
    pub(super) fn open_limited(path: &Path, patience: Duration, pages: usize) -> Result<Self> {
        let connection = Connection::open(path).unwrap();
        connection.pragma_update(None, "max_page_count", pages as i64).unwrap();
        let mut store = Self { connection, path: path.to_owned(), identity: None, patience };
        store.prepare().map(|()| store)
    }

    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Store for Sqlite {
    fn begin(&mut self, intent: Intent) -> Result<Box<dyn Transaction + '_>> {
        self.is_in_place()?;
        let behavior = match intent {
            Intent::Read => TransactionBehavior::Deferred,
            Intent::Append => TransactionBehavior::Immediate,
        };
        let Self { connection, path, patience, .. } = self;
        let inner = connection
            .transaction_with_behavior(behavior)
            .map_err(|error| failure(&error, path, *patience))?;
        Ok(Box::new(Open { inner, path, patience: *patience }))
    }

    fn another(&self) -> Result<Option<Box<dyn Store>>> {
        if self.path.as_os_str() == MEMORY {
            return Ok(None);
        }
        self.is_in_place()?;
        let another = Self::with_flags(&self.path, self.patience, OpenFlags::empty())?;
        if another.identity != self.identity {
            return Err(Error::Moved { path: self.path.clone() });
        }
        Ok(Some(Box::new(another)))
    }

    fn checkpoint(&mut self) -> Result<()> {
        // As much as readers allow; the rest stays in the log.
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(|error| self.failure(&error))
    }
}

/// The device and the inode number of a file. Reads its metadata only: closing a descriptor of the file would release
/// SQLite's locks.
fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// A transaction; rolled back when dropped.
struct Open<'a> {
    inner: rusqlite::Transaction<'a>,
    path: &'a Path,
    patience: Duration,
}

impl Open<'_> {
    fn failure(&self, error: &rusqlite::Error) -> Error {
        failure(error, self.path, self.patience)
    }
}

impl Transaction for Open<'_> {
    fn head(&self, dataset: &str) -> Result<Option<(u64, Hash)>> {
        let found: Option<(i64, Hash)> = self
            .inner
            .prepare_cached("SELECT seq, hash FROM head WHERE dataset = ?")
            .and_then(|mut select| {
                select.query_row([dataset], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(|error| self.failure(&error))?;
        found.map(|(seq, hash)| Ok((number(seq)?, hash))).transpose()
    }

    fn scan(
        &self,
        dataset: &str,
        after: u64,
        visit: &mut dyn FnMut(Row) -> Result<bool>,
    ) -> Result<()> {
        let sql =
            format!("SELECT {COLUMNS} FROM journal WHERE dataset = ? AND seq > ? ORDER BY seq");
        let fail = |error: rusqlite::Error| self.failure(&error);
        let mut select = self.inner.prepare_cached(&sql).map_err(fail)?;
        let mut rows = select.query(params![dataset, stored(after)?]).map_err(fail)?;
        while let Some(found) = rows.next().map_err(fail)? {
            if !visit(row(found)?)? {
                break;
            }
        }
        Ok(())
    }

    fn page(&self, dataset: &str, span: &Span<'_>) -> Result<Vec<Row>> {
        let order = if span.newest_first { "DESC" } else { "ASC" };
        let sql = format!(
            "SELECT {COLUMNS} FROM journal WHERE dataset = ?1 AND seq > ?2 AND seq < ?3
             AND (?4 IS NULL OR who = ?4) ORDER BY seq {order} LIMIT ?5"
        );
        let fail = |error: rusqlite::Error| self.failure(&error);
        let most = i64::try_from(span.most).unwrap_or(i64::MAX);
        let ends = (ending(span.after), ending(span.before));
        let mut select = self.inner.prepare_cached(&sql).map_err(fail)?;
        let mut rows =
            select.query(params![dataset, ends.0, ends.1, span.who, most]).map_err(fail)?;
        let mut found = Vec::new();
        while let Some(next) = rows.next().map_err(fail)? {
            found.push(row(next)?);
        }
        Ok(found)
    }

    fn cancelled(&self, dataset: &str, after: u64) -> Result<HashSet<u64>> {
        let sql = "SELECT refers FROM journal
            WHERE dataset = ? AND seq > ? AND kind = 'cancel' AND refers IS NOT NULL";
        let fail = |error: rusqlite::Error| self.failure(&error);
        let mut select = self.inner.prepare_cached(sql).map_err(fail)?;
        let mut rows = select.query(params![dataset, stored(after)?]).map_err(fail)?;
        let mut found = HashSet::new();
        while let Some(row) = rows.next().map_err(fail)? {
            found.insert(number(row.get(0).map_err(fail)?)?);
        }
        Ok(found)
    }

    fn settlement(&self, dataset: &str, key: &str) -> Result<Option<Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM journal
             WHERE dataset = ? AND key = ? AND kind = 'settle' ORDER BY seq LIMIT 1"
        );
        let fail = |error: rusqlite::Error| self.failure(&error);
        let mut select = self.inner.prepare_cached(&sql).map_err(fail)?;
        let mut rows = select.query([dataset, key]).map_err(fail)?;
        rows.next().map_err(fail)?.map(row).transpose()
    }

    fn journals(&self) -> Result<Vec<(String, Option<String>)>> {
        let sql = "SELECT dataset, (SELECT key FROM journal
                WHERE journal.dataset = head.dataset AND kind = 'identity' ORDER BY seq LIMIT 1)
            FROM head ORDER BY dataset";
        let fail = |error: rusqlite::Error| self.failure(&error);
        let mut select = self.inner.prepare(sql).map_err(fail)?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fail)?;
        rows.collect::<rusqlite::Result<_>>().map_err(fail)
    }

    fn introductions(&self) -> Result<Vec<Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM journal WHERE kind IN ('identity', 'unit', 'replaced')
             ORDER BY dataset, seq"
        );
        let fail = |error: rusqlite::Error| self.failure(&error);
        let mut select = self.inner.prepare(&sql).map_err(fail)?;
        let mut rows = select.query([]).map_err(fail)?;
        let mut found = Vec::new();
        while let Some(next) = rows.next().map_err(fail)? {
            found.push(row(next)?);
        }
        Ok(found)
    }

    fn settlement_of(&self, dataset: &str, reservation: u64) -> Result<Option<Row>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM journal WHERE dataset = ? AND refers = ? AND kind = 'settle'"
        );
        let fail = |error: rusqlite::Error| self.failure(&error);
        let mut select = self.inner.prepare_cached(&sql).map_err(fail)?;
        let mut rows = select.query(params![dataset, stored(reservation)?]).map_err(fail)?;
        rows.next().map_err(fail)?.map(row).transpose()
    }

    fn closing(&self, dataset: &str, reservation: u64) -> Result<Option<Kind>> {
        let refers = stored(reservation)?;
        let found: Option<String> = self
            .inner
            .prepare_cached("SELECT kind FROM journal WHERE dataset = ? AND refers = ?")
            .and_then(|mut select| {
                select.query_row(params![dataset, refers], |row| row.get(0)).optional()
            })
            .map_err(|error| self.failure(&error))?;
        found.map(|kind| Kind::parse(&kind).ok_or_else(|| unreadable(reservation))).transpose()
    }

    fn check(&self) -> Result<()> {
        let first: String = self
            .inner
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(|error| self.failure(&error))?;
        if first == "ok" { Ok(()) } else { Err(Error::Corrupt) }
    }

    fn append(&mut self, row: &Row) -> Result<()> {
        let Row { dataset, time, who, key, query, event, price, answer, before, hash, .. } = row;
        let seq = stored(row.seq)?;
        let refers = row.refers.map(stored).transpose()?;
        let sql = format!("INSERT INTO journal ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
        let inserted = self.inner.prepare_cached(&sql).and_then(|mut insert| {
            insert.execute(params![
                dataset,
                seq,
                time,
                row.kind.name(),
                refers,
                who,
                key,
                query,
                event,
                price.main,
                price.delta,
                answer,
                before,
                hash
            ])
        });
        inserted.map_err(|error| self.failure(&error))?;
        let moved = self
            .inner
            .prepare_cached(
                "INSERT INTO head (dataset, seq, hash) VALUES (?, ?, ?)
                 ON CONFLICT (dataset) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
            )
            .and_then(|mut upsert| upsert.execute(params![dataset, seq, hash]))
            .map_err(|error| self.failure(&error))?;
        if moved == 1 { Ok(()) } else { Err(unreadable(row.seq)) }
    }

    fn commit(self: Box<Self>) -> Result<()> {
        let Self { inner, path, patience } = *self;
        inner.commit().map_err(|error| failure(&error, path, patience))
    }
}

#[cfg(test)]
mod tests;
