//! Locks of names after wrong passwords, by a clock that does not jump.
//!
//! # Guarantee
//! A lock lasts its own length, [`length`], by a clock that only goes forward, whatever the wall
//! clock does meanwhile. The file keeps the wall clock's moment at which it ends, for other
//! processes and for the next start: what is left of it is then at most its own length, so that a
//! clock that was set back extends no lock. A clock that was set forward between two processes can
//! end one early.

use super::FAILURES;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tells how long something has been running; it never goes back and never jumps.
pub type SteadyClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The operating system's.
pub(super) fn steady_clock() -> SteadyClock {
    let begun = Instant::now();
    Arc::new(move || begun.elapsed())
}

/// For how many seconds so many wrong passwords in a row lock a name.
pub(super) fn length(failures: i64) -> i64 {
    let beyond = failures - i64::from(FAILURES);
    if beyond < 0 { 0 } else { (60 << beyond.min(6)).min(3600) }
}

/// The seconds that are left of a lock that ends at `until`: never more than its own length.
pub(super) fn remaining(failures: i64, until: i64, now: i64) -> i64 {
    until.saturating_sub(now).clamp(0, length(failures))
}

/// Which lock of a name it is: the failures it came from and the moment it was meant to end.
type Lock = (i64, i64);

/// The locks that this process knows, by name; there are as many as accounts at most.
pub(super) struct Locks {
    clock: SteadyClock,
    ends: Mutex<HashMap<String, (Lock, Duration)>>,
}

impl Locks {
    pub(super) fn new(clock: SteadyClock) -> Self {
        Self { clock, ends: Mutex::default() }
    }

    /// A lock begins now.
    pub(super) fn begin(&self, name: &str, failures: i64, until: i64) {
        self.set(name, (failures, until), length(failures));
    }

    /// Whether the lock that the file tells of still holds.
    pub(super) fn holds(&self, name: &str, failures: i64, until: i64, now: i64) -> bool {
        if until == 0 {
            return false;
        }
        let known = self.ends.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        let end = match known {
            Some((lock, end)) if lock == (failures, until) => end,
            // Another process locked it, or this one did before it was started again.
            _ => self.set(name, (failures, until), remaining(failures, until, now)),
        };
        (self.clock)() < end
    }

    fn set(&self, name: &str, lock: Lock, seconds: i64) -> Duration {
        let end = (self.clock)() + Duration::from_secs(seconds.unsigned_abs());
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        ends.insert(name.to_owned(), (lock, end));
        end
    }
}

#[cfg(test)]
mod tests;
