//! The layout of a SQLite journal, and the migration of older ones.
//!
//! # Guarantee
//! A migration is one transaction: it happens or it does not. It copies rows as they are, so their hashes stay those
//! of their contents; the ledger replays the whole chain right after, as it does at every opening.

/// The layout that this crate reads and writes (`PRAGMA user_version`).
pub(super) const VERSION: i64 = 2;

/// "Demu": identifies the file as a ledger (`PRAGMA application_id`).
pub(super) const APPLICATION: i64 = 0x4465_6d75;

/// [`crate::row::Kind`] lists the kinds of rows.
const JOURNAL: &str = "
CREATE TABLE journal (
    dataset   TEXT NOT NULL,
    seq       INTEGER NOT NULL CHECK (seq > 0),
    time      INTEGER NOT NULL,  -- microseconds since 1970, as the clock had it
    kind      TEXT NOT NULL,
    refers    INTEGER,           -- the seq of the reservation cancelled or settled
    who       TEXT NOT NULL,
    key       TEXT NOT NULL,
    query     TEXT NOT NULL,
    event     TEXT NOT NULL,     -- in the core's grammar; of a limit or a rule, its text
    cost      REAL NOT NULL,     -- epsilon or rho
    delta     REAL NOT NULL,
    answer    BLOB,              -- of a settlement
    prev_hash BLOB NOT NULL,
    hash      BLOB NOT NULL,     -- SHA-256 over all other columns
    UNIQUE (dataset, seq),
    UNIQUE (dataset, refers)     -- a reservation is closed once
) STRICT;
CREATE INDEX settlements ON journal (dataset, key, seq) WHERE kind = 'settle';
CREATE INDEX cancellations ON journal (dataset, seq, refers) WHERE kind = 'cancel';
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
";

const HEAD: &str = "
CREATE TABLE head (              -- where each journal ends
    dataset TEXT NOT NULL PRIMARY KEY,
    seq     INTEGER NOT NULL,
    hash    BLOB NOT NULL
) STRICT;
";

/// The layout of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Empty,
    Version(i64),
}

impl Layout {
    /// The SQL that upgrades it to the layout of [`VERSION`]; `None` if it is not a ledger.
    pub(super) fn upgrade(self) -> Option<String> {
        let sql = match self {
            Self::Empty => format!("{JOURNAL} {HEAD} PRAGMA application_id = {APPLICATION};"),
            Self::Version(VERSION) => return Some(String::new()),
            // Version 1 listed four kinds of rows in a constraint.
            Self::Version(1) => format!(
                "DROP TRIGGER journal_keeps_rows;
                 DROP TRIGGER journal_keeps_values;
                 DROP INDEX settlements;
                 DROP INDEX cancellations;
                 ALTER TABLE journal RENAME TO journal_before;
                 {JOURNAL}
                 INSERT INTO journal SELECT dataset, seq, time, kind, refers, who, key, query,
                     event, cost, delta, answer, prev_hash, hash
                     FROM journal_before ORDER BY rowid;
                 DROP TABLE journal_before;"
            ),
            Self::Version(_) => return None,
        };
        Some(format!("{sql} PRAGMA user_version = {VERSION};"))
    }
}

#[cfg(test)]
mod tests;
