//! Translates SQLite's rows and result codes.

use crate::error::{Error, Fault};
use crate::price::Price;
use crate::row::{Kind, Row};
use rusqlite::{ErrorCode, ffi};
use std::path::Path;
use std::time::Duration;

/// The columns in the order in which [`row`] reads and the store writes them.
pub(super) const COLUMNS: &str = "dataset, seq, time, kind, refers, who, key, query, event, cost, \
     delta, answer, prev_hash, hash";

/// Reads a row. A value that is not of its column's type is a fault of the row.
pub(super) fn row(row: &rusqlite::Row<'_>) -> Result<Row, Error> {
    let seq = number(row.get(1).map_err(|_| unreadable(0))?)?;
    let bad = |_: rusqlite::Error| unreadable(seq);
    let kind: String = row.get(3).map_err(bad)?;
    let refers: Option<i64> = row.get(4).map_err(bad)?;
    Ok(Row {
        dataset: row.get(0).map_err(bad)?,
        seq,
        time: row.get(2).map_err(bad)?,
        kind: Kind::parse(&kind).ok_or_else(|| unreadable(seq))?,
        refers: refers.map(number).transpose().map_err(|_| unreadable(seq))?,
        who: row.get(5).map_err(bad)?,
        key: row.get(6).map_err(bad)?,
        query: row.get(7).map_err(bad)?,
        event: row.get(8).map_err(bad)?,
        price: Price { main: row.get(9).map_err(bad)?, delta: row.get(10).map_err(bad)? },
        answer: row.get(11).map_err(bad)?,
        before: row.get(12).map_err(bad)?,
        hash: row.get(13).map_err(bad)?,
    })
}

/// A row's number.
pub(super) fn number(value: i64) -> Result<u64, Error> {
    u64::try_from(value).map_err(|_| unreadable(0))
}

/// A row's number, as SQLite stores it. Numbers beyond 2⁶³ − 1 do not exist.
pub(super) fn stored(value: u64) -> Result<i64, Error> {
    i64::try_from(value).map_err(|_| unreadable(value))
}

/// The end of a span of numbers, capped at 2⁶³ − 1, beyond which there are none.
pub(super) fn ending(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn unreadable(seq: u64) -> Error {
    Error::Broken { seq, fault: Fault::Unreadable }
}

/// Translates an error. `patience` is how long a lock was waited for.
pub(super) fn failure(error: &rusqlite::Error, path: &Path, patience: Duration) -> Error {
    let rusqlite::Error::SqliteFailure(ffi::Error { code, extended_code }, _) = error else {
        // Not from SQLite but from the binding: a column of another type, or text that is not UTF-8.
        return unreadable(0);
    };
    match code {
        ErrorCode::DiskFull => Error::DiskFull,
        ErrorCode::ReadOnly => Error::ReadOnly,
        ErrorCode::DatabaseCorrupt => Error::Corrupt,
        ErrorCode::NotADatabase => Error::NotALedger { path: path.to_owned() },
        ErrorCode::CannotOpen => Error::CannotOpen { path: path.to_owned() },
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => Error::Locked { seconds: patience.as_secs() },
        _ => Error::Storage { code: *extended_code },
    }
}
