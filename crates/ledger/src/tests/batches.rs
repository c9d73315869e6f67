//! Tests of group commit through the ledger: many threads, few commits, one total.

use super::failing::{Failing, Moment, Switch};
use crate::store::sqlite::Sqlite;
use crate::store::{Intent, PATIENCE, Store};
use crate::{Accounting, Error, Ledger, Limit, Request, wall_clock};
use demure_core::event::Event;
use demure_core::unit::{Delta, Epsilon, Neighbours};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.db");
    (directory, path)
}

fn open(path: &Path, epsilon: f64) -> (Ledger, Switch) {
    open_with(path, epsilon, Switch::default())
}

fn open_with(path: &Path, epsilon: f64, switch: Switch) -> (Ledger, Switch) {
    let limit = Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::ZERO,
        neighbours: Neighbours::AddRemove,
    };
    let inner = Sqlite::open(path, PATIENCE).unwrap();
    let store = Box::new(Failing { inner, switch: switch.clone() });
    (Ledger::with_store(store, "visits", &limit, wall_clock()).unwrap(), switch)
}

fn request(epsilon: f64) -> Request {
    keyed("k", epsilon)
}

fn keyed(key: &str, epsilon: f64) -> Request {
    let event = Event::pure(epsilon).unwrap();
    Request { who: "ann".into(), key: key.into(), query: "SELECT 1".into(), event }
}

/// Runs `work` in `threads` threads, all of which, except the leader, are waiting before the first commit.
fn together<R: Send>(path: &Path, threads: u32, work: impl Fn(u32) -> R + Sync) -> Vec<R> {
    let mut other = Sqlite::open(path, PATIENCE).unwrap();
    let held = other.begin(Intent::Append).unwrap();
    std::thread::scope(|scope| {
        let work = &work;
        let handles: Vec<_> = (0..threads).map(|i| scope.spawn(move || work(i))).collect();
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

#[test]
fn sixty_four_threads_never_overspend_and_share_their_commits() {
    let (_directory, path) = place();
    // 1000 · 2⁻¹⁰, plus what rounding up adds.
    let (ledger, switch) = open(&path, 1000.0 / 1024.0 + 1e-9);
    let (granted, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..20 {
                    match ledger.reserve(&request(1.0 / 1024.0)) {
                        Ok(one) => {
                            granted.fetch_add(1, Ordering::SeqCst);
                            one.begin().unwrap().settle(b"x").unwrap();
                        }
                        Err(Error::OverBudget { .. }) => {
                            refused.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let (granted, refused) = (granted.into_inner(), refused.into_inner());
    assert_eq!((granted, refused), (1000, 280));
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.reserved, verified.settled, verified.entries), (1000, 1000, 2001));
    assert!(verified.spent.main >= 1000.0 / 1024.0);
    assert!(switch.commits() < 500, "{} commits for 2001 rows", switch.commits());
}

#[test]
fn each_of_a_batch_is_decided_with_those_before_it_counted() {
    let (_directory, path) = place();
    let (ledger, switch) = open(&path, 1.0);
    let before = switch.commits();
    let got = together(&path, 32, |_| ledger.reserve(&request(0.125)).map(drop));
    // Sums of eighths are exact: eight of them, whatever the order.
    assert_eq!(got.iter().filter(|one| one.is_ok()).count(), 8);
    let over = |one: &&Result<(), Error>| matches!(one, Err(Error::OverBudget { .. }));
    assert_eq!(got.iter().filter(over).count(), 24);
    assert!(switch.commits() - before <= 2, "{}", switch.commits() - before);
}

#[test]
fn a_commit_that_fails_fails_its_batch_and_nothing_drifts() {
    for moment in [Moment::Append, Moment::BeforeCommit, Moment::AfterCommit] {
        let (_directory, path) = place();
        let (ledger, switch) = open(&path, 1e6);
        // The first leader succeeds; all others are in the second batch.
        switch.fail_after(moment, 1);
        let got = together(&path, 16, |_| ledger.reserve(&request(0.125)).map(drop));
        assert_eq!(got.iter().filter(|one| one.is_ok()).count(), 1, "{moment:?}");
        // Committed in spite of the error: counted, though nothing was granted.
        let rows = if moment == Moment::AfterCommit { 16.0 } else { 1.0 };
        let spent = ledger.balance().unwrap().spent.main;
        assert!((spent - rows * 0.125).abs() < 1e-9, "{moment:?} {spent}");
        assert_eq!(ledger.verify().unwrap().spent.main, spent);
        assert!(ledger.reserve(&request(0.125)).is_ok());
        assert_eq!(open(&path, 1e6).0.balance().unwrap(), ledger.balance().unwrap());
    }
}

#[test]
fn a_leader_that_panics_hangs_nobody_and_grants_nothing() {
    let (_directory, path) = place();
    let (ledger, switch) = open(&path, 1e6);
    switch.fail_after(Moment::Panic, 1);
    let got = together(&path, 16, |_| {
        let reserve = || ledger.reserve(&request(0.125)).map(drop);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(reserve))
    });
    assert_eq!(got.iter().filter(|one| one.is_err()).count(), 1);
    assert_eq!(got.iter().filter(|one| matches!(one, Ok(Ok(())))).count(), 1);
    let interrupted = |one: &&std::thread::Result<_>| matches!(one, Ok(Err(Error::Interrupted)));
    assert_eq!(got.iter().filter(interrupted).count(), 14);
    // The journal can be read; to write, the ledger must be opened again.
    assert_eq!(ledger.balance().unwrap().spent.main, 0.125);
    assert!(matches!(ledger.reserve(&request(0.125)), Err(Error::Interrupted)));
    assert!(open(&path, 1e6).0.reserve(&request(0.125)).is_ok());
}

#[test]
fn reading_does_not_wait_for_a_writer() {
    let (_directory, path) = place();
    let (ledger, _) = open(&path, 1e6);
    ledger.reserve(&request(0.125)).unwrap().begin().unwrap().settle(b"x").unwrap();
    let mut other = Sqlite::open(&path, PATIENCE).unwrap();
    let held = other.begin(Intent::Append).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ledger.reserve(&request(0.125)).map(drop));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(ledger.find("k").unwrap().as_deref(), Some(&b"x"[..]));
        assert_eq!(ledger.balance().unwrap().spent.main, 0.125);
        assert_eq!(ledger.entries().unwrap().len(), 3);
        assert!(!waiting.is_finished());
        drop(held);
        waiting.join().unwrap().unwrap();
    });
    assert!(ledger.balance().unwrap().spent.main >= 0.25);
}

const PATH: &str = "DEMURE_LEDGER_BATCH_PATH";
const STEP: &str = "DEMURE_LEDGER_BATCH_STEP";

/// One purchase, and six at once; reports what was debited and what was released.
#[test]
fn child() {
    let Ok(path) = std::env::var(PATH) else { return };
    let path = Path::new(&path);
    let step = std::env::var(STEP).unwrap().parse().unwrap();
    let (ledger, _) = open_with(path, 1e6, Switch::ending_at(step));
    let say = |line: String| std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    let buy = |key: String| {
        let one = ledger.reserve(&keyed(&key, 0.125)).unwrap();
        say(format!("\ndebited {key}\n"));
        one.begin().unwrap().settle(key.as_bytes()).unwrap();
        say(format!("\nreleased {key}\n"));
    };
    buy("first".to_owned());
    together(path, 6, |i| buy(format!("{i}")));
    ledger.reserve(&keyed("last", 0.125)).unwrap().cancel().unwrap();
}

#[test]
fn a_process_that_ends_between_any_two_writes_has_spent_what_it_released() {
    let mut ends = 0;
    loop {
        let (_directory, path) = place();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tests::batches::child", "--nocapture", "--test-threads=1"])
            .envs([(PATH, path.as_os_str()), (STEP, OsStr::new(&ends.to_string()))])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = |what: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.strip_prefix(what)).map(str::to_owned).collect()
        };
        let (debited, released) = (said("debited "), said("released "));
        let (ledger, _) = open(&path, 1e6);
        let verified = ledger.verify().unwrap();
        assert!(verified.spent.main >= debited.len() as f64 * 0.125, "step {ends}");
        assert!(verified.settled >= released.len() as u64, "step {ends}");
        for key in released {
            assert_eq!(ledger.find(&key).unwrap(), Some(key.into_bytes()), "step {ends}");
        }
        if output.status.success() {
            assert_eq!((verified.reserved, verified.settled, verified.cancelled), (8, 7, 1));
            break;
        }
        ends += 1;
    }
    assert!(ends > 25, "{ends}");
}
