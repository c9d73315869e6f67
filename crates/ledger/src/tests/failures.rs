//! Tests of failing disks: whatever goes wrong, nothing is granted, and the totals in memory afterwards are those of
//! the journal.

use super::failing::{Failing, Moment, Switch};
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, Store};
use crate::{Accounting, Error, Ledger, Limit, Request, wall_clock};
use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(50);

fn limit(epsilon: f64) -> Limit {
    Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::ZERO,
        neighbours: Neighbours::AddRemove,
    }
}

fn request(key: &str) -> Request {
    let event = Event::pure(0.125).unwrap();
    Request { who: "ann".into(), key: key.into(), query: "SELECT 1".into(), event }
}

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    (directory, path)
}

fn over(store: Sqlite) -> Ledger {
    Ledger::with_store(Box::new(store), "visits", &limit(1e6), wall_clock()).unwrap()
}

fn fresh(path: &Path) -> Ledger {
    Ledger::open(path, "visits", limit(1e6), wall_clock()).unwrap()
}

fn failing(path: &Path) -> (Ledger, Switch) {
    let switch = Switch::default();
    let inner = Sqlite::open(path, SHORT).unwrap();
    let store = Box::new(Failing { inner, switch: switch.clone() });
    (Ledger::with_store(store, "visits", &limit(1e6), wall_clock()).unwrap(), switch)
}

#[test]
fn totals_do_not_drift_when_a_write_fails() {
    let (_directory, path) = place();
    let (ledger, switch) = failing(&path);
    let fail = |moment| switch.fail(moment);
    let mut expected = 0.0;
    let mut check = |more: f64, what: &str| {
        expected += more;
        let spent = ledger.balance().unwrap().spent.main;
        assert!((spent - expected).abs() < 1e-9, "{what}: {spent} {expected}");
        assert_eq!(fresh(&path).balance().unwrap().spent.main, spent, "{what}");
        ledger.verify().unwrap();
    };
    for moment in [Moment::Append, Moment::BeforeCommit, Moment::AfterCommit] {
        // A row that was committed in spite of the error counts, though nothing was granted.
        let kept = if moment == Moment::AfterCommit { 0.125 } else { 0.0 };
        fail(moment);
        assert!(ledger.reserve(&request("a")).is_err());
        check(kept, "a reservation that failed");

        let reservation = ledger.reserve(&request("b")).unwrap();
        fail(moment);
        assert!(reservation.cancel().is_err());
        // A cancellation that was committed in spite of the error did refund the debit.
        check(0.125 - kept, "a cancellation that failed");

        let reading = ledger.reserve(&request("c")).unwrap().begin().unwrap();
        fail(moment);
        assert!(reading.settle(b"c").is_err());
        check(0.125, "a settlement that failed");
        assert_eq!(ledger.find("c").unwrap().is_some(), moment == Moment::AfterCommit);
    }
}

#[test]
fn a_full_disk_grants_nothing_and_can_be_recovered_from() {
    let (_directory, path) = place();
    let store = Sqlite::open(&path, SHORT).unwrap();
    store.connection().execute_batch("PRAGMA max_page_count = 20").unwrap();
    let ledger = over(store);
    let mut granted = 0u32;
    let error = loop {
        match ledger.reserve(&request("a")) {
            Ok(reservation) => match reservation.begin().unwrap().settle(&[7; 1000]) {
                Ok(()) => granted += 1,
                Err(error) => break error,
            },
            Err(error) => break error,
        }
        assert!(granted < 1000);
    };
    assert!(matches!(error, Error::DiskFull), "{error:?}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(granted > 0);
    let spent = ledger.balance().unwrap().spent;
    assert_eq!(ledger.verify().unwrap().spent, spent);
    assert!(matches!(ledger.reserve(&request(&"k".repeat(9000))), Err(Error::DiskFull)));
    assert_eq!(ledger.balance().unwrap().spent, spent);
    // With more space, the same journal continues.
    let roomy = fresh(&path);
    assert_eq!(roomy.balance().unwrap().spent, spent);
    let _ = roomy.reserve(&request("b")).unwrap();
    assert!(ledger.balance().unwrap().spent.main > spent.main);
}

#[test]
fn a_file_that_cannot_be_written_grants_nothing() {
    let (_directory, path) = place();
    let (ledger, switch) = failing(&path);
    let reservation = ledger.reserve(&request("a")).unwrap();
    switch.fail(Moment::ReadOnly);
    let error = ledger.reserve(&request("b")).unwrap_err();
    assert!(matches!(error, Error::ReadOnly), "{error:?}");
    assert!(error.to_string().contains("write permission"), "{error}");
    assert!(matches!(reservation.cancel(), Err(Error::ReadOnly)));
    // The journal can still be read.
    assert_eq!(ledger.balance().unwrap().spent.main, 0.125);
    assert_eq!(ledger.verify().unwrap().entries, 2);
}

#[cfg(unix)]
#[test]
fn a_file_without_write_permission_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, path) = place();
    drop(fresh(&path));
    let permissions = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&path, permissions(0o444)).unwrap();
    std::fs::set_permissions(directory.path(), permissions(0o555)).unwrap();
    // The superuser may write anyway, so the test shows nothing.
    let mighty = std::fs::File::options().append(true).open(&path).is_ok();
    let opened = Ledger::open(&path, "visits", limit(1e6), wall_clock());
    std::fs::set_permissions(directory.path(), permissions(0o755)).unwrap();
    assert!(mighty || matches!(opened, Err(Error::ReadOnly)), "{opened:?}");
}

#[test]
fn a_lock_is_waited_for_but_not_for_ever() {
    let (_directory, path) = place();
    let ledger = over(Sqlite::open(&path, SHORT).unwrap());
    let mut other = Sqlite::open(&path, SHORT).unwrap();
    let held = other.begin(Intent::Append).unwrap();
    let error = ledger.reserve(&request("a")).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
    assert_eq!(ledger.balance().unwrap().spent.main, 0.0);
    drop(held);
    assert!(ledger.reserve(&request("a")).is_ok());
}

#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_grants_nothing() {
    let (directory, path) = place();
    let ledger = fresh(&path);
    let reservation = ledger.reserve(&request("a")).unwrap();
    std::fs::rename(&path, directory.path().join("away.db")).unwrap();
    assert!(matches!(ledger.reserve(&request("b")), Err(Error::Moved { .. })));
    let _ = std::fs::remove_file(directory.path().join("ledger.db-wal"));
    let _ = std::fs::remove_file(directory.path().join("ledger.db-shm"));
    let other = fresh(&path);
    assert!(other.reserve(&request("b")).is_ok());
    assert!(matches!(ledger.balance(), Err(Error::Moved { .. })));
    assert!(matches!(reservation.cancel(), Err(Error::Moved { .. })));
}
