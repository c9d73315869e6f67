//! The log cut at every place where a kill between two writes can cut it.
//!
//! Between two checkpoints SQLite only ever appends to its write-ahead log. A process
//! that is killed therefore leaves a beginning of the log that it would have written;
//! here every such beginning is tried, to the frame and within it.

use super::{open, place, pure, request};
use demure_ledger::Ledger;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// What was acknowledged, and how long the log was then.
struct Acknowledged {
    log: u64,
    entries: u64,
    spent: f64,
    answers: Vec<String>,
}

fn log(path: &Path) -> std::path::PathBuf {
    path.with_extension("db-wal")
}

fn note(ledger: &Ledger, path: &Path, answers: &[String]) -> Acknowledged {
    let verified = ledger.verify().unwrap();
    Acknowledged {
        log: std::fs::metadata(log(path)).unwrap().len(),
        entries: verified.entries,
        spent: verified.spent.main,
        answers: answers.to_vec(),
    }
}

/// Sixteen threads, all but one of them in one batch.
fn batch(ledger: &Ledger, path: &Path, work: impl Fn(u32) + Sync) {
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        for i in 0..16 {
            let work = &work;
            scope.spawn(move || work(i));
        }
        std::thread::sleep(Duration::from_millis(200));
        other.execute_batch("ROLLBACK").unwrap();
    });
    let _ = ledger;
}

#[test]
fn every_beginning_of_the_log_is_a_journal() {
    let (directory, path) = place();
    // All of it in the file, and an empty log to begin with.
    drop(open(&path, pure(100.0)));
    let ledger = open(&path, pure(100.0));
    let mut answers = Vec::new();
    let mut notes = vec![Acknowledged { log: 0, entries: 1, spent: 0.0, answers: Vec::new() }];
    for key in ["a", "b", "c"] {
        let one = ledger.reserve(&request(key, "pure(eps=0.125)")).unwrap();
        notes.push(note(&ledger, &path, &answers));
        one.begin().unwrap().settle(&[7; 9000]).unwrap();
        answers.push(key.to_owned());
        notes.push(note(&ledger, &path, &answers));
    }
    batch(&ledger, &path, |i| {
        drop(ledger.reserve(&request(&format!("{i}"), "pure(eps=0.25)")).unwrap());
    });
    notes.push(note(&ledger, &path, &answers));
    batch(&ledger, &path, |i| {
        let one = ledger.reserve(&request(&format!("x{i}"), "pure(eps=0.25)")).unwrap();
        one.begin().unwrap().settle(b"x").unwrap();
    });
    answers.extend((0..16).map(|i| format!("x{i}")));
    notes.push(note(&ledger, &path, &answers));

    let (file, log) = (std::fs::read(&path).unwrap(), std::fs::read(log(&path)).unwrap());
    assert!(log.len() as u64 >= notes.last().unwrap().log && log.len() > 100_000);
    let cut = directory.path().join("cut.db");
    // A header of 32 bytes, then frames of 24 + 4096: each boundary, and within each.
    let boundaries = (32..=log.len()).step_by(24 + 4096);
    let (mut tried, mut fewest) = (0, u64::MAX);
    for boundary in [0].into_iter().chain(boundaries) {
        for length in [boundary, boundary + 12, boundary + 2000].map(|n| n.min(log.len())) {
            std::fs::write(&cut, &file).unwrap();
            std::fs::write(directory.path().join("cut.db-wal"), &log[..length]).unwrap();
            let _ = std::fs::remove_file(directory.path().join("cut.db-shm"));
            let known = notes.iter().rev().find(|note| note.log <= length as u64).unwrap();
            let ledger = open(&cut, pure(100.0));
            let verified = ledger.verify().unwrap();
            assert!(verified.entries >= known.entries, "{length}: {}", verified.entries);
            assert!(verified.spent.main >= known.spent, "{length}");
            for key in &known.answers {
                assert!(ledger.find(key).unwrap().is_some(), "{length} {key}");
            }
            // And it goes on from there.
            assert!(ledger.reserve(&request("next", "pure(eps=0.125)")).is_ok());
            (tried, fewest) = (tried + 1, fewest.min(verified.entries));
        }
    }
    assert!(tried > 60 && fewest == 1, "{tried} {fewest}");
}
