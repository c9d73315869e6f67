//! Group commit: one of the waiting threads processes everything that waits at the same time.
//!
//! ```text
//! thread 1 ── leads: [1] ────────────── done
//! thread 2 ──── waits ──── leads: [2, 3] ──────── done
//! thread 3 ────── waits ────────────────────────── done
//! ```
//!
//! There is no dedicated thread and no delay: a thread that arrives when no one leads becomes the leader at once, and
//! takes along all items that arrived while the last one led. A batch is therefore never larger than the number of
//! waiting threads.

use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Items that wait until one of their owners processes all of them.
pub(crate) struct Queue<T, R> {
    state: Mutex<State<T, R>>,
    changed: Condvar,
}

struct State<T, R> {
    tickets: u64,
    /// In order of arrival.
    waiting: Vec<(u64, T)>,
    done: HashMap<u64, Result<R>>,
    leading: bool,
}

impl<T, R> Queue<T, R> {
    pub(crate) fn new() -> Self {
        let (waiting, done) = (Vec::new(), HashMap::new());
        let state = State { tickets: 0, waiting, done, leading: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Has `item` processed, by this thread or by another, and returns its outcome.
    ///
    /// `lead` receives the waiting items, in order, and returns an outcome for each.
    ///
    /// # Guarantee
    /// Every item is in exactly one batch, no two batches are led at the same time, and each caller gets the outcome
    /// of its own item. A leader that panics leaves an error to all of its batch, and the lead to the next.
    /// # Proof
    /// `leading` is set and `waiting` taken under one lock; outcomes are stored and `leading` is cleared under one
    /// lock, by [`Turn`] when it is dropped, also while a panic unwinds. So a caller that finds neither an outcome nor
    /// a leader still has its item in `waiting`, and one that finds a leader is woken after it. ∎
    pub(crate) fn submit(&self, item: T, lead: impl FnOnce(Vec<T>) -> Vec<Result<R>>) -> Result<R> {
        let mut state = self.lock();
        let own = state.tickets;
        state.tickets += 1;
        state.waiting.push((own, item));
        loop {
            if let Some(outcome) = state.done.remove(&own) {
                return outcome;
            }
            if !state.leading {
                break;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.leading = true;
        let (tickets, items) = std::mem::take(&mut state.waiting).into_iter().unzip();
        drop(state);
        let mut turn = Turn { queue: self, tickets, outcomes: Vec::new() };
        turn.outcomes = lead(items);
        drop(turn);
        self.lock().done.remove(&own).unwrap_or(Err(Error::Interrupted))
    }

    /// No caller's code runs under the lock, so a poisoned state is still consistent.
    fn lock(&self) -> MutexGuard<'_, State<T, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lead, which ends when it is dropped.
struct Turn<'a, T, R> {
    queue: &'a Queue<T, R>,
    tickets: Vec<u64>,
    outcomes: Vec<Result<R>>,
}

impl<T, R> Drop for Turn<'_, T, R> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        let mut outcomes = std::mem::take(&mut self.outcomes).into_iter();
        for &ticket in &self.tickets {
            state.done.insert(ticket, outcomes.next().unwrap_or(Err(Error::Interrupted)));
        }
        state.leading = false;
        drop(state);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
