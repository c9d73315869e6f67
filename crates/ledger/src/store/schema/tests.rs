use crate::row::{GENESIS, Kind, Outcome, Row, example};
use crate::store::sqlite::Sqlite;
use crate::{Accounting, Entry, Error, Ledger, Limit, Price, Request, wall_clock};
use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use rusqlite::{Connection, params};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// The layout of version 1, verbatim.
const VERSION_1: &str = "
PRAGMA journal_mode = WAL;
CREATE TABLE journal (
    dataset   TEXT NOT NULL,
    seq       INTEGER NOT NULL CHECK (seq > 0),
    time      INTEGER NOT NULL,  -- microseconds since 1970, as the clock had it
    kind      TEXT NOT NULL CHECK (kind IN ('limit', 'reserve', 'cancel', 'settle')),
    refers    INTEGER,           -- the seq of the reservation cancelled or settled
    who       TEXT NOT NULL,
    key       TEXT NOT NULL,
    query     TEXT NOT NULL,
    event     TEXT NOT NULL,     -- in the core's grammar; of a limit, the limit
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
CREATE TABLE head (              -- where each journal ends
    dataset TEXT NOT NULL PRIMARY KEY,
    seq     INTEGER NOT NULL,
    hash    BLOB NOT NULL
) STRICT;
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
PRAGMA application_id = 1147497845; PRAGMA user_version = 1;
";

fn limit() -> Limit {
    Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(10.0).unwrap(),
        delta: Delta::ZERO,
        neighbours: Neighbours::AddRemove,
    }
}

/// A file of version 1: a limit, and debits of ε 1/8, of which one third each is settled, cancelled and left open.
/// Version 1 allowed any name.
fn version_1(path: &Path, debits: u64) -> Vec<Row> {
    let (mut rows, mut before) = (Vec::new(), GENESIS);
    let price = |main| Price { main, delta: 0.0 };
    let mut add = |kind, refers, event: &str, price, answer| {
        let seq = rows.len() as u64 + 1;
        let (event, who) = (event.to_owned(), ["ann", "", "@x"][seq as usize % 3].to_owned());
        let row = Row { seq, kind, refers, event, who, price, answer, before, ..example() };
        let row = row.sealed();
        before = row.hash;
        rows.push(row);
        seq
    };
    add(Kind::Limit, None, &limit().to_string(), price(10.0), None);
    for i in 0..debits {
        let seq = add(Kind::Reserve, None, "pure(eps=0.125)", price(0.125), None);
        match i % 3 {
            0 => add(Kind::Settle, Some(seq), "", Price::ZERO, Some(vec![i as u8; 3000])),
            1 => add(Kind::Cancel, Some(seq), "", price(0.125), None),
            _ => seq,
        };
    }
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(VERSION_1).unwrap();
    for row in &rows {
        let insert = "INSERT INTO journal VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
        let (seq, refers) = (row.seq as i64, row.refers.map(|seq| seq as i64));
        let Row { dataset, time, who, key, query, event, answer, hash, .. } = row;
        let (kind, main, delta) = (row.kind.name(), row.price.main, row.price.delta);
        let values = params![
            dataset, seq, time, kind, refers, who, key, query, event, main, delta, answer,
            row.before, hash
        ];
        connection.execute(insert, values).unwrap();
    }
    let last = rows.last().unwrap();
    let head = params![last.dataset, last.seq as i64, last.hash];
    connection.execute("INSERT INTO head VALUES (?,?,?)", head).unwrap();
    rows
}

fn user_version(path: &Path) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_file_of_version_1_goes_on_with_the_same_chain() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let rows = version_1(&path, 9);
    let ledger = Ledger::open(&path, "visits", limit(), wall_clock()).unwrap();
    assert_eq!(user_version(&path), 2);
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.reserved, verified.settled, verified.cancelled), (9, 3, 3));
    assert_eq!((verified.spent.main, verified.head), (0.75, rows.last().unwrap().hash));
    let closings = rows.iter().filter_map(|row| Some((row.refers?, row.kind)));
    let closings: HashMap<u64, Kind> = closings.collect();
    let shown = |row: Row| {
        let debit = row.kind == Kind::Reserve;
        let outcome = debit.then(|| Outcome::of(closings.get(&row.seq).copied()));
        Entry { shareable: true, outcome, ..Entry::from(row) }
    };
    let expected: Vec<Entry> = rows.into_iter().map(shown).collect();
    assert_eq!(ledger.entries().unwrap(), expected);
    // Rows that version 1 could not hold.
    let (epsilon, delta) = (Epsilon::new(0.5).unwrap(), Delta::ZERO);
    ledger.grant("sam", "ann", epsilon, delta).unwrap();
    ledger.freeze("sam", "audit").unwrap();
    drop(ledger);
    let ledger = Ledger::open(&path, "visits", limit(), wall_clock()).unwrap();
    assert_eq!(ledger.verify().unwrap().entries, 18);
    // `ann` had a third of the rows; in version 1, `@x` is a name and not a group.
    let spent = ledger.balances().unwrap().limits[0].share.spent.main;
    assert_eq!(spent, ledger.balance_for("ann").unwrap().spent.main);
    assert_eq!(ledger.balance_for("x").unwrap().spent, Price::ZERO);
    // It is still append-only.
    let connection = Connection::open(&path).unwrap();
    assert!(connection.execute("DELETE FROM journal", []).is_err());
    assert!(connection.execute("UPDATE journal SET cost = 0", []).is_err());
}

#[test]
fn many_that_open_an_old_file_at_once_migrate_it_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let rows = version_1(&path, 9).len() as u64;
    let event = Event::pure(0.125).unwrap();
    let request = Request { who: "ann".into(), key: "k".into(), query: String::new(), event };
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let ledger = Ledger::open(&path, "visits", limit(), wall_clock()).unwrap();
                ledger.reserve(&request).map(drop).unwrap();
            });
        }
    });
    let ledger = Ledger::open(&path, "visits", limit(), wall_clock()).unwrap();
    assert_eq!(ledger.verify().unwrap().entries, rows + 6);
}

#[test]
fn a_migration_that_finds_no_room_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    let rows = version_1(&path, 200);
    let before = std::fs::read(&path).unwrap();
    let pages = before.len() / 4096;
    let error = Sqlite::open_limited(&path, Duration::from_millis(50), pages + 3).unwrap_err();
    assert_eq!(error, Error::DiskFull);
    assert_eq!(user_version(&path), 1);
    let ledger = Ledger::open(&path, "visits", limit(), wall_clock());
    // More was spent than the limit allows; it must still be readable.
    assert_eq!(ledger.unwrap().verify().unwrap().entries, rows.len() as u64);
}
