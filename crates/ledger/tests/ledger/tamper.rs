//! Files that were edited, cut or damaged.

use super::{open, place, pure, request};
use demure_ledger::{Entry, Error, Fault, Ledger, wall_clock};
use rusqlite::Connection;
use std::path::Path;
use std::sync::OnceLock;

/// A limit, three settled purchases, one cancelled, one left open.
fn journal(path: &Path) -> Vec<Entry> {
    let ledger = open(path, pure(10.0));
    for key in ["aa", "bb", "cc"] {
        let reservation = ledger.reserve(&request(key, "pure(eps=0.125)")).unwrap();
        reservation.begin().unwrap().settle(format!("answer {key}").as_bytes()).unwrap();
    }
    ledger.reserve(&request("dd", "pure(eps=0.5)")).unwrap().cancel().unwrap();
    let _ = ledger.reserve(&request("ee", "pure(eps=0.25)")).unwrap();
    assert_eq!(ledger.verify().unwrap().entries, 10);
    ledger.entries().unwrap()
}

/// Runs SQL on the file as an intruder would, without the triggers.
fn intrude(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "DROP TRIGGER journal_keeps_rows; DROP TRIGGER journal_keeps_values;
             PRAGMA ignore_check_constraints = ON;",
        )
        .unwrap();
    connection.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// An open ledger's verification, and opening anew, both fail.
fn is_found(sql: &str, fault: Option<Fault>) {
    static TEMPLATE: OnceLock<Vec<u8>> = OnceLock::new();
    let (_directory, path) = place();
    let template = TEMPLATE.get_or_init(|| {
        journal(&path);
        std::fs::read(&path).unwrap()
    });
    std::fs::write(&path, template).unwrap();
    let ledger = open(&path, pure(10.0));
    intrude(&path, sql);
    let error = ledger.verify().expect_err(sql);
    let Error::Broken { fault: found, .. } = error else { panic!("{sql}: {error:?}") };
    assert!(fault.is_none_or(|fault| fault == found), "{sql}: {found:?}");
    let again = Ledger::open(&path, "visits", pure(10.0), wall_clock());
    assert!(matches!(again, Err(Error::Broken { .. })), "{sql}: {again:?}");
}

/// A hash with its last bit the other way round: whatever it was, it changes.
macro_rules! flipped {
    ($column:literal) => {
        concat!(
            "unhex(substr(hex(",
            $column,
            "), 1, 63) || substr('1032547698BADCFE', ",
            "instr('0123456789ABCDEF', substr(hex(",
            $column,
            "), 64)), 1))"
        )
    };
}

#[test]
fn a_change_in_any_column_of_any_row_is_found() {
    // One byte of each text and blob, one unit of each number.
    let columns = [
        ("dataset", "'visitt'"),
        ("seq", "seq + 100"),
        ("time", "time + 1"),
        (
            "kind",
            "CASE kind WHEN 'limit' THEN 'reserve' WHEN 'reserve' THEN 'limit' \
                  WHEN 'settle' THEN 'cancel' ELSE 'settle' END",
        ),
        ("refers", "coalesce(refers + 50, 77)"),
        ("who", "who || 'e'"),
        ("who", "CAST(x'ff' AS TEXT)"),
        ("key", "key || 'f'"),
        ("query", "replace(query || ' ', 'S', 's')"),
        ("event", "event || ' '"),
        ("cost", "cost + 0.03125"),
        ("delta", "delta + 1e-12"),
        (
            "answer",
            "CASE WHEN answer IS NULL THEN x'00' ELSE CAST(x'00' || substr(answer, 2) AS BLOB) END",
        ),
        ("answer", "CASE WHEN answer IS NULL THEN x'' ELSE NULL END"),
        ("prev_hash", flipped!("prev_hash")),
        ("hash", flipped!("hash")),
        ("hash", "substr(hash, 1, 31)"),
    ];
    for (column, value) in columns {
        for seq in [1, 2, 5, 9] {
            is_found(&format!("UPDATE journal SET {column} = {value} WHERE seq = {seq}"), None);
        }
    }
}

#[test]
fn a_row_that_is_gone_or_out_of_place_is_found() {
    for seq in 1..10 {
        is_found(&format!("DELETE FROM journal WHERE seq = {seq}"), None);
        // Closed up, as if it had never been.
        is_found(
            &format!(
                "DELETE FROM journal WHERE seq = {seq};
                 UPDATE journal SET seq = seq - 1000 WHERE seq > {seq};
                 UPDATE journal SET seq = seq + 999 WHERE seq < 0;"
            ),
            None,
        );
    }
    // The last one: the chain is whole, and the head knows of one more.
    is_found("DELETE FROM journal WHERE seq = 10", Some(Fault::Missing));
    is_found("DELETE FROM head", Some(Fault::Missing));
    is_found("UPDATE head SET seq = 9", Some(Fault::Missing));
    is_found(
        "UPDATE journal SET seq = -1 WHERE seq = 4; UPDATE journal SET seq = 4 WHERE seq = 6;
         UPDATE journal SET seq = 6 WHERE seq = -1;",
        None,
    );
}

#[test]
fn an_open_ledger_notices_that_its_past_is_gone() {
    let (_directory, path) = place();
    journal(&path);
    let ledger = open(&path, pure(10.0));
    let head = "(SELECT hash FROM journal WHERE seq = 9)";
    intrude(
        &path,
        &format!("DELETE FROM journal WHERE seq = 10; UPDATE head SET seq = 9, hash = {head}"),
    );
    // The chain is whole and ends where it says: only who has seen more knows.
    assert!(open(&path, pure(10.0)).verify().is_ok());
    let error = ledger.reserve(&request("ff", "pure(eps=0.125)")).unwrap_err();
    assert!(matches!(error, Error::Broken { seq: 10, fault: Fault::Missing }), "{error:?}");
}

#[test]
fn rows_cannot_be_changed_by_accident() {
    let (_directory, path) = place();
    journal(&path);
    let connection = Connection::open(&path).unwrap();
    for sql in ["DELETE FROM journal", "UPDATE journal SET cost = 0"] {
        let error = connection.execute_batch(sql).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
}

#[test]
fn no_flipped_byte_of_the_file_goes_unnoticed_and_changes_something() {
    let (directory, path) = place();
    let entries = journal(&path);
    // The last connection is closed: everything is in the one file.
    let original = std::fs::read(&path).unwrap();
    let damaged = directory.path().join("damaged.db");
    let (mut found, mut harmless) = (0, 0);
    for at in (0..original.len()).step_by(41) {
        let mut bytes = original.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&damaged, &bytes).unwrap();
        let checked = Ledger::open(&damaged, "visits", pure(10.0), wall_clock())
            .and_then(|ledger| ledger.verify().map(|_| ledger));
        match checked {
            Err(_) => found += 1,
            Ok(ledger) => {
                // A byte that nothing reads: free space, a counter.
                harmless += 1;
                assert_eq!(ledger.entries().unwrap(), entries, "byte {at}");
                assert_eq!(ledger.find("bb").unwrap().as_deref(), Some(&b"answer bb"[..]));
            }
        }
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(directory.path().join(format!("damaged.db{suffix}")));
        }
    }
    assert!(found > 50, "{found} {harmless}");
}

#[test]
fn a_corrupt_page_is_an_error_that_says_what_to_do() {
    let (_directory, path) = place();
    journal(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in &mut bytes[4096..] {
        *byte = 0x5a;
    }
    std::fs::write(&path, &bytes).unwrap();
    let error = Ledger::open(&path, "visits", pure(10.0), wall_clock()).unwrap_err();
    assert!(matches!(error, Error::Corrupt), "{error:?}");
    assert!(error.to_string().contains("restore the newest backup"), "{error}");
}

#[test]
fn files_that_are_no_ledger_of_this_version_are_left_alone() {
    let (directory, path) = place();
    std::fs::write(&path, b"id,amount\n1,2\n".repeat(100)).unwrap();
    let error = Ledger::open(&path, "visits", pure(1.0), wall_clock()).unwrap_err();
    assert!(matches!(error, Error::NotALedger { .. }), "{error:?}");
    assert_eq!(std::fs::read(&path).unwrap(), b"id,amount\n1,2\n".repeat(100));

    let other = directory.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = std::fs::read(&other).unwrap();
    let error = Ledger::open(&other, "visits", pure(1.0), wall_clock()).unwrap_err();
    assert!(matches!(error, Error::NotALedger { .. }), "{error:?}");
    assert_eq!(std::fs::read(&other).unwrap(), before);

    let newer = directory.path().join("newer.db");
    journal(&newer);
    Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 3").unwrap();
    let error = Ledger::open(&newer, "visits", pure(10.0), wall_clock()).unwrap_err();
    assert!(matches!(error, Error::SchemaVersion { found: 3, supported: 2 }), "{error:?}");

    let nowhere = directory.path().join("missing").join("ledger.db");
    let error = Ledger::open(&nowhere, "visits", pure(1.0), wall_clock()).unwrap_err();
    assert!(matches!(error, Error::CannotOpen { .. }), "{error:?}");
}
