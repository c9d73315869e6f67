//! Buys an answer once if several analysts ask for it at the same time.
//!
//! ```text
//! ann ── leads: debit, rows, noise, settle ── answer
//! ben ──── joins ─────────────────────────── receives it from the ledger
//! eva ────── joins ── disconnects
//! ```
//!
//! The first to ask leads the flight of an answer's key. Others who ask for the same key wait for it to end. The
//! ledger then decides what they receive and what it costs them.
//!
//! # How a flight ends
//! | end | those who joined |
//! |---|---|
//! | settled | receive the answer from the ledger |
//! | failed after the debit | report the failure and spend nothing: a failure is paid for once |
//! | refused, or abandoned before its rows were read | start again, and one of them leads |
//!
//! # What keeps it going
//! The work runs in its own task, for as long as anyone waits for it. If the leader disconnects, the others still
//! receive what was debited. When the last one has left, the task is aborted, like any question that no one waits for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinError, JoinHandle};

/// The answers that are being bought, by their keys.
#[derive(Default)]
pub(crate) struct Flights {
    under_way: Mutex<HashMap<String, Weak<Flight>>>,
}

/// How a purchase ended. An abandoned purchase has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer is in the ledger.
    Settled,
    /// It was debited, and there is no answer.
    Failed,
}

/// One purchase, held by everyone who waits for it. Purchases of one query share their work, which ends when the last
/// holder of any of them drops it.
pub(crate) struct Flight {
    end: watch::Receiver<Option<End>>,
    work: OnceLock<Arc<Work>>,
}

/// A task that is aborted when its last holder drops it.
struct Work(AbortHandle);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What to do about a key.
pub(crate) enum Claim {
    /// Buy it.
    Lead(Lead),
    /// Wait for the one who buys it.
    Join(Arc<Flight>),
}

/// The right to buy. When it is dropped, the next to ask leads.
pub(crate) struct Lead {
    ticket: Ticket,
    flight: Arc<Flight>,
}

/// A flight's entry among those under way, removed when this is dropped.
struct Ticket {
    flights: Arc<Flights>,
    key: String,
    flight: Weak<Flight>,
    end: watch::Sender<Option<End>>,
}

/// Work that has started.
pub(crate) struct Running<T> {
    work: JoinHandle<T>,
    flights: Vec<Arc<Flight>>,
}

impl Flights {
    /// Leads the flight of `key`, or joins the one that is under way.
    pub(crate) fn claim(self: &Arc<Self>, key: &str) -> Claim {
        let mut under_way = self.lock();
        if let Some(flight) = under_way.get(key).and_then(Weak::upgrade) {
            return Claim::Join(flight);
        }
        let (sender, receiver) = watch::channel(None);
        let flight = Arc::new(Flight { end: receiver, work: OnceLock::new() });
        under_way.insert(key.to_owned(), Arc::downgrade(&flight));
        let ticket = Ticket {
            flights: Arc::clone(self),
            key: key.to_owned(),
            flight: Arc::downgrade(&flight),
            end: sender,
        };
        Claim::Lead(Lead { ticket, flight })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<Flight>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Waits for its end; `None` if it was abandoned.
    pub(crate) async fn ended(&self) -> Option<End> {
        let mut end = self.end.clone();
        end.wait_for(Option::is_some).await.ok().and_then(|end| *end)
    }
}

impl Lead {
    /// The answer turned out to be in the ledger already.
    pub(crate) fn found(self) {
        self.ticket.ended(End::Settled);
    }
}

/// Does the work of all `leads` in one task. Its results belong to them, in order; leads without a result have failed.
pub(crate) fn start<T, E>(
    leads: Vec<Lead>,
    work: impl Future<Output = Vec<Result<T, E>>> + Send + 'static,
) -> Running<Vec<Result<T, E>>>
where
    T: Send + 'static,
    E: Send + 'static,
{
    let (tickets, flights): (Vec<Ticket>, Vec<Arc<Flight>>) =
        leads.into_iter().map(|lead| (lead.ticket, lead.flight)).unzip();
    let task = tokio::spawn(async move {
        let outcomes = work.await;
        let mut settled = outcomes.iter().map(Result::is_ok);
        for ticket in tickets {
            let end = if settled.next() == Some(true) { End::Settled } else { End::Failed };
            ticket.ended(end);
        }
        outcomes
    });
    let work = Arc::new(Work(task.abort_handle()));
    for flight in &flights {
        // This is the only place that sets it.
        let _ = flight.work.set(Arc::clone(&work));
    }
    Running { work: task, flights }
}

impl Ticket {
    fn ended(self, end: End) {
        self.leave();
        self.end.send_replace(Some(end));
    }

    /// Removes the flight, so that the next to ask leads.
    fn leave(&self) {
        let mut under_way = self.flights.lock();
        if under_way.get(&self.key).is_some_and(|flight| flight.ptr_eq(&self.flight)) {
            under_way.remove(&self.key);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.leave();
        // Others would panic too, at their own expense.
        if std::thread::panicking() {
            self.end.send_replace(Some(End::Failed));
        }
    }
}

impl<T> Running<T> {
    /// The result of the work.
    pub(crate) async fn outcome(self) -> Result<T, JoinError> {
        let Self { work, flights } = self;
        let outcome = work.await;
        drop(flights);
        outcome
    }
}

#[cfg(test)]
mod tests;
