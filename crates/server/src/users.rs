//! Who may ask: names, verifiers, tokens, and a record of everything that was done with them.
//!
//! One SQLite file beside the policy. There is no account that nobody added.
//!
//! # Guarantee
//! - Passwords are kept as SCRAM verifiers, tokens as SHA-256 of 32 random bytes: reading the
//!   file lets nobody in.
//! - After [`FAILURES`] wrong passwords in a row a name is locked for a minute, and for twice
//!   as long after each further one, up to an hour. While it is locked the right password is
//!   refused too, and looks like a wrong one. The lock is read when a proof is judged, one proof
//!   after the other, so that proofs that were prepared earlier gain nothing (`lock`).
//! - Failed sign-ins are also limited for each address, and for each address and name
//!   (`throttle`).
//! - Another password ends all tokens and sessions of an account, and its connections at their
//!   next statement.
//! - Whatever changes who may do what, and every failed or successful sign-in, is recorded with
//!   its time; the record cannot be changed by accident (triggers refuse).

mod lock;
mod sign_in;
mod throttle;
mod tokens;

pub use lock::SteadyClock;
pub use tokens::Token;

use crate::scram::{ITERATIONS, Verifier, hmac};
use demure_ledger::access;
use demure_report::time;
use lock::Locks;
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use throttle::Throttle;

/// Wrong passwords in a row before a name is locked.
pub const FAILURES: u32 = 5;

/// The shortest password.
const SHORTEST: usize = 10;

/// "Demv": whose file this is.
const APPLICATION: i64 = 0x4465_6d76;
const VERSION: i64 = 2;

/// What version 1 did not have.
const METRICS: &str = "
CREATE TABLE metrics_tokens (  -- read /metrics and nothing else
    hash    BLOB NOT NULL PRIMARY KEY,
    label   TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;
";

const SCHEMA: &str = "
CREATE TABLE users (
    name         TEXT NOT NULL PRIMARY KEY,
    role         TEXT NOT NULL CHECK (role IN ('analyst', 'steward')),
    salt         BLOB NOT NULL,
    iterations   INTEGER NOT NULL,
    stored_key   BLOB NOT NULL,
    server_key   BLOB NOT NULL,
    created      INTEGER NOT NULL,  -- seconds since 1970, as all times here
    disabled     INTEGER NOT NULL DEFAULT 0,
    failures     INTEGER NOT NULL DEFAULT 0,
    locked_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE tokens (
    hash    BLOB NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL REFERENCES users (name),
    label   TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;
CREATE TABLE audit (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    time   INTEGER NOT NULL,
    who    TEXT NOT NULL,
    action TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE TABLE secret (key BLOB NOT NULL) STRICT;
CREATE TRIGGER audit_keeps_rows BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
CREATE TRIGGER audit_keeps_values BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END;
";

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that cannot be one.
    #[error("a name has 1 to 63 letters, digits, '.', '_' or '-', and begins with a letter")]
    Name,
    /// There is one already.
    #[error("there is a user {0} already\nhint: `demure user password {0}` changes the password")]
    Exists(String),
    /// There is none.
    #[error("there is no user {0}\nhint: `demure user list` shows all")]
    Unknown(String),
    /// Too short, or the name itself.
    #[error("a password has at least {SHORTEST} characters and is not the user's name")]
    WeakPassword,
    /// Wrong name, wrong password, locked, disabled or expired: which one is not said.
    #[error("the name or the password is wrong, or the account is locked")]
    Denied,
    /// Too many failed sign-ins from one address, or from one address to one name.
    #[error("too many sign-ins failed from this address; wait a minute and try again")]
    Throttled,
    /// There is no such token.
    #[error("there is no token {0}\nhint: `demure user tokens` shows all")]
    UnknownToken(String),
    /// The file.
    #[error("{path}: {what}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Others may read the file.
    #[error(transparent)]
    Exposed(#[from] access::Exposed),
    /// No randomness.
    #[error("the operating system gave no random bytes")]
    Random,
}

/// The result of what may fail so.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What someone may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Asks, and sees the budget.
    Analyst,
    /// Also sees the ledger and the policy, grants and freezes.
    Steward,
}

impl Role {
    /// By its name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Analyst, Self::Steward].into_iter().find(|role| role.name() == text)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Analyst => "analyst",
            Self::Steward => "steward",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Somebody who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Unique.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// Tells one password of an account from the next, and says nothing of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub(crate) [u8; 32]);

impl Mark {
    fn of(stored_key: &[u8; 32]) -> Self {
        Self(Sha256::new().chain_update(b"mark ").chain_update(stored_key).finalize().into())
    }
}

/// A line of `demure user list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Who.
    pub user: User,
    /// Since when.
    pub created: SystemTime,
    /// May not sign in.
    pub disabled: bool,
    /// Locked for now, after wrong passwords.
    pub locked: bool,
    /// Tokens that have not expired.
    pub tokens: u64,
}

/// On one line.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (User { name, role }, since) = (&self.user, time(self.created));
        write!(f, "{name:20}  {role:8}  since {since}")?;
        if self.tokens > 0 {
            write!(f, "  {} tokens", self.tokens)?;
        }
        f.write_str(match (self.disabled, self.locked) {
            (true, _) => "  disabled",
            (_, true) => "  locked for now, after wrong passwords",
            _ => "",
        })
    }
}

/// A line of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When.
    pub time: SystemTime,
    /// Who did it, or tried.
    pub who: String,
    /// What.
    pub action: String,
    /// To whom, from where.
    pub detail: String,
}

/// On one line.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, action, detail, .. } = self;
        write!(f, "{}  {who:16}  {action:16}  {detail}", time(self.time))
    }
}

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The accounts. A clone is the same.
#[derive(Clone)]
pub struct Users {
    inside: Arc<Mutex<Connection>>,
    path: PathBuf,
    secret: [u8; 32],
    clock: Clock,
    locks: Arc<Locks>,
    throttle: Arc<Throttle>,
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Users {
    /// Opens the file, or creates it, readable by its owner alone; refuses one that others may
    /// read.
    pub fn open(path: &Path, clock: Clock) -> Result<Self> {
        Self::open_with(path, clock, lock::steady_clock())
    }

    /// The same with another clock for locks and throttles, which must never jump.
    pub fn open_with(path: &Path, clock: Clock, steady: SteadyClock) -> Result<Self> {
        match access::create(path) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(file(path, &e)),
            _ => access::check_sqlite(path).map_err(Error::Exposed)?,
        }
        let connection = Connection::open(path).map_err(|e| file(path, &e))?;
        Self::with(connection, path, clock, steady)
    }

    /// Accounts that end with the process, for demonstrations.
    pub fn in_memory() -> Result<Self> {
        let path = Path::new("(in memory)");
        let connection = Connection::open_in_memory().map_err(|e| file(path, &e))?;
        Self::with(connection, path, Arc::new(SystemTime::now), lock::steady_clock())
    }

    fn with(
        connection: Connection,
        path: &Path,
        clock: Clock,
        steady: SteadyClock,
    ) -> Result<Self> {
        let fail = |e: rusqlite::Error| file(path, &e);
        connection.busy_timeout(Duration::from_secs(10)).map_err(fail)?;
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
            )
            .map_err(fail)?;
        let mut connection = connection;
        let once = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(fail)?;
        let ask = |sql: &str| once.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(fail);
        let (application, version) = (ask("PRAGMA application_id")?, ask("PRAGMA user_version")?);
        if application == 0 && ask("SELECT count(*) FROM sqlite_schema")? == 0 {
            let mut secret = [0; 32];
            getrandom::fill(&mut secret).map_err(|_| Error::Random)?;
            let sql = format!(
                "{SCHEMA} {METRICS} PRAGMA application_id = {APPLICATION};
                 PRAGMA user_version = {VERSION};"
            );
            once.execute_batch(&sql).map_err(fail)?;
            once.execute("INSERT INTO secret VALUES (?)", [secret]).map_err(fail)?;
        } else if application != APPLICATION {
            return Err(file(path, &"this is not a file of Demure's users"));
        } else if version == 1 {
            let sql = format!("{METRICS} PRAGMA user_version = {VERSION};");
            once.execute_batch(&sql).map_err(fail)?;
        } else if version != VERSION {
            return Err(file(path, &"it was written by another version of demure"));
        }
        let secret =
            once.query_row("SELECT key FROM secret", [], |row| row.get(0)).map_err(fail)?;
        once.commit().map_err(fail)?;
        let inside = Arc::new(Mutex::new(connection));
        let locks = Arc::new(Locks::new(Arc::clone(&steady)));
        let throttle = Arc::new(Throttle::new(steady));
        Ok(Self { inside, path: path.to_owned(), secret, clock, locks, throttle })
    }

    /// A new account. `by` is who adds it.
    pub fn add(&self, by: &str, name: &str, role: Role, password: &str) -> Result<()> {
        if !is_name(name) {
            return Err(Error::Name);
        }
        let v = self.made(name, password)?;
        let added = self.change(by, "add", &format!("{name} as {role}"), |connection, now| {
            connection.execute(
                "INSERT INTO users (name, role, salt, iterations, stored_key, server_key, created)
                 VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                params![name, role.name(), v.salt, v.iterations, v.stored_key, v.server_key, now],
            )
        })?;
        if added == 1 { Ok(()) } else { Err(Error::Exists(name.to_owned())) }
    }

    /// Another password; it also unlocks. Whoever signed in with the one before, or has a token
    /// from that time, must sign in again.
    pub fn set_password(&self, by: &str, name: &str, password: &str) -> Result<()> {
        let v = self.made(name, password)?;
        self.change_one(by, "password", name, |connection, _| {
            connection.execute("DELETE FROM tokens WHERE name = ?", [name])?;
            connection.execute(
                "UPDATE users SET salt = ?, iterations = ?, stored_key = ?, server_key = ?,
                 failures = 0, locked_until = 0 WHERE name = ?",
                params![v.salt, v.iterations, v.stored_key, v.server_key, name],
            )
        })
    }

    /// Nobody can sign in as `name` from now on, with a password or a token; or can again.
    pub fn set_disabled(&self, by: &str, name: &str, disabled: bool) -> Result<()> {
        let action = if disabled { "disable" } else { "enable" };
        self.change_one(by, action, name, |connection, _| {
            connection.execute(
                "UPDATE users SET disabled = ?, failures = 0, locked_until = 0 WHERE name = ?",
                params![disabled, name],
            )
        })
    }

    /// All accounts, by name.
    pub fn list(&self) -> Result<Vec<Account>> {
        let now = self.now();
        let sql = "SELECT name, role, created, disabled, failures, locked_until,
            (SELECT count(*) FROM tokens t WHERE t.name = users.name AND expires > ?1)
            FROM users ORDER BY name";
        self.rows(sql, [now], |row| {
            Ok(Account {
                user: user(row)?,
                created: from_seconds(row.get(2)?),
                disabled: row.get(3)?,
                locked: lock::remaining(row.get(4)?, row.get(5)?, now) > 0,
                tokens: row.get::<_, i64>(6)?.unsigned_abs(),
            })
        })
    }

    /// The newest lines of the record, the newest first.
    pub fn record(&self, most: u32) -> Result<Vec<Record>> {
        let sql = "SELECT time, who, action, detail FROM audit ORDER BY seq DESC LIMIT ?";
        self.rows(sql, [most], |row| {
            Ok(Record {
                time: from_seconds(row.get(0)?),
                who: row.get(1)?,
                action: row.get(2)?,
                detail: row.get(3)?,
            })
        })
    }

    /// Whether `name` may still do anything, with the password that it had when it signed in.
    pub fn still(&self, name: &str, mark: Mark) -> Result<User> {
        let sql = "SELECT name, role, stored_key FROM users WHERE name = ? AND NOT disabled";
        let found = self.one(sql, [name], |row| Ok((user(row)?, row.get::<_, [u8; 32]>(2)?)))?;
        let (user, key) = found.ok_or(Error::Denied)?;
        if Mark::of(&key) == mark { Ok(user) } else { Err(Error::Denied) }
    }

    /// Adds a line to the record.
    pub fn note(&self, who: &str, action: &str, detail: &str) -> Result<()> {
        self.change(who, action, detail, |_, _| Ok(0)).map(|_| ())
    }

    fn made(&self, name: &str, password: &str) -> Result<Verifier> {
        if password.chars().count() < SHORTEST || password == name {
            return Err(Error::WeakPassword);
        }
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|_| Error::Random)?;
        Ok(Verifier::new(password, salt, ITERATIONS))
    }

    /// Does something and records it, or neither; returns how many rows it changed.
    fn change(
        &self,
        who: &str,
        action: &str,
        detail: &str,
        change: impl FnOnce(&Connection, i64) -> rusqlite::Result<usize>,
    ) -> Result<usize> {
        let now = self.now();
        let mut connection = self.lock();
        let work = || {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let changed = change(&transaction, now)?;
            transaction.execute(
                "INSERT INTO audit (time, who, action, detail) VALUES (?, ?, ?, ?)",
                params![now, who, action, detail],
            )?;
            transaction.commit()?;
            Ok(changed)
        };
        work().map_err(|e: rusqlite::Error| file(&self.path, &e))
    }

    fn change_one(
        &self,
        by: &str,
        action: &str,
        name: &str,
        change: impl FnOnce(&Connection, i64) -> rusqlite::Result<usize>,
    ) -> Result<()> {
        match self.change(by, action, name, change)? {
            0 => Err(Error::Unknown(name.to_owned())),
            _ => Ok(()),
        }
    }

    fn one<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let connection = self.lock();
        let found =
            connection.prepare_cached(sql).and_then(|mut s| s.query_row(values, read).optional());
        found.map_err(|e| file(&self.path, &e))
    }

    fn rows<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let connection = self.lock();
        let found = connection
            .prepare_cached(sql)
            .and_then(|mut s| s.query_map(values, read)?.collect::<rusqlite::Result<Vec<T>>>());
        found.map_err(|e| file(&self.path, &e))
    }

    fn now(&self) -> i64 {
        let since = (self.clock)().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    /// A thread that panicked inside left at most a transaction that was rolled back.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Letters, digits and a few signs; never the `@` of a group.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// The accounts of a policy: a file beside it.
#[must_use]
pub fn users_path(policy: &Path) -> PathBuf {
    policy.with_extension("users")
}

/// Easy to type, hard to guess: 20 letters of 32.
pub fn one_time_password() -> Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes = random()?;
    let letters = bytes.iter().take(20).map(|byte| LETTERS[usize::from(byte % 32)] as char);
    let letters: Vec<char> = letters.collect();
    Ok(letters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-"))
}

/// 32 random bytes.
pub(crate) fn random() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
    // What leaves the process is not the generator's own output.
    Ok(hmac(&bytes, &[b"token"]))
}

/// Two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    let role: String = row.get(1)?;
    // The table allows no other.
    Ok(User { name: row.get(0)?, role: Role::parse(&role).unwrap_or(Role::Analyst) })
}

fn from_seconds(seconds: i64) -> SystemTime {
    let after = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    SystemTime::UNIX_EPOCH.checked_add(after).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn file(path: &Path, what: &dyn fmt::Display) -> Error {
    Error::File { path: path.to_owned(), what: what.to_string() }
}

#[cfg(test)]
mod tests;
