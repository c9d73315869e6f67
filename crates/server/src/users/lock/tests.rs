use super::*;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn locks_double_up_to_an_hour() {
    let lengths: Vec<i64> = [0, 4, 5, 6, 7, 10, 11, 12, i64::MAX].map(length).into();
    assert_eq!(lengths, [0, 0, 60, 120, 240, 1920, 3600, 3600, 3600]);
}

#[test]
fn a_clock_that_jumps_changes_no_lock() {
    let steady = Arc::new(AtomicU64::new(1000));
    let told = Arc::clone(&steady);
    let clock: SteadyClock = Arc::new(move || Duration::from_secs(told.load(Ordering::SeqCst)));
    let locks = Locks::new(Arc::clone(&clock));
    let now = 1_800_000_000;
    locks.begin("ana", 5, now + 60);
    // Whatever the wall clock says: a day earlier, a day later.
    for wall in [now, now - 86_400, now + 86_400] {
        assert!(locks.holds("ana", 5, now + 60, wall), "{wall}");
    }
    steady.fetch_add(61, Ordering::SeqCst);
    for wall in [now, now - 86_400, now + 86_400] {
        assert!(!locks.holds("ana", 5, now + 60, wall), "{wall}");
    }
    // Started again with a clock that was set back by a day: a minute, and not a day and one.
    let locks = Locks::new(clock);
    assert!(locks.holds("ana", 5, now + 60, now - 86_400));
    steady.fetch_add(61, Ordering::SeqCst);
    assert!(!locks.holds("ana", 5, now + 60, now - 86_400));
}
