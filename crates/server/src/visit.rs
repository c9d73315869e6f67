//! One statement on its way through the server: its turn, its time, its moment.
//!
//! A statement waits for a turn, works, and leaves. While it waits for its moment on the
//! [schedule](crate::schedule) it holds no turn, so that others work meanwhile; what is left to do then
//! (the rest of the query, over released tables) needs a turn of another kind, which only
//! statements that have left can hold. So how long anybody's work takes does not decide when an
//! answer that is due goes out.

use crate::query_service::QueryService;
use demure_curator::{Error, Gate, Reads, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// A statement, from its arrival to its end.
pub(crate) struct Visit {
    service: Arc<QueryService>,
    who: String,
    arrived: Instant,
    /// How long it may take.
    within: Duration,
    state: Mutex<State>,
}

struct State {
    turn: Option<OwnedSemaphorePermit>,
    /// When it has taken too long.
    due: Instant,
    /// What it reads, from its debit on.
    reads: Option<Reads>,
    /// Whether it has left.
    left: bool,
}

impl Visit {
    pub(crate) fn new(service: &Arc<QueryService>, who: &str, within: Duration) -> Arc<Self> {
        let arrived = Instant::now();
        let state = State { turn: None, due: arrived + within, reads: None, left: false };
        let (service, who) = (Arc::clone(service), who.to_owned());
        Arc::new(Self { service, who, arrived, within, state: Mutex::new(state) })
    }

    /// Waits for a turn.
    pub(crate) async fn enter(&self) {
        let turn = turn(&self.service.running).await;
        self.state().turn = turn;
    }

    /// Gives its turn back: nobody waits for it any more. What it bought for others who wait may
    /// still be under way.
    pub(crate) fn end(&self) {
        self.state().turn = None;
    }

    /// Ends when it has taken too long. Once it reads rows, that is at a public moment, and for those whose own
    /// moment is later (see [`crate::schedule`]); what comes after its moment has the whole time again, so that
    /// when that ends does not tell how long the work took.
    pub(crate) async fn overdue(&self) {
        loop {
            let due = self.state().due;
            if Instant::now() >= due {
                return;
            }
            sleep_until(due).await;
        }
    }

    /// Whether protected rows may have been read, and nothing of it has been seen yet.
    pub(crate) fn is_reading(&self) -> bool {
        let state = self.state();
        state.reads.is_some() && !state.left
    }

    /// How long it may take.
    pub(crate) fn within(&self) -> Duration {
        self.within
    }

    /// The time since it arrived.
    pub(crate) fn took(&self) -> Duration {
        self.arrived.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gate for Visit {
    fn admit(&self, reads: Reads) -> Result<()> {
        let taken = self.service.rate.take(&self.who, Instant::now());
        taken.map_err(|e| Error::TooOften { per_minute: e.per_minute, retry: e.retry })?;
        let mut state = self.state();
        state.reads = Some(reads);
        if let Some(over) = self.service.schedule.over(reads, self.within) {
            state.due = self.arrived + over;
        }
        Ok(())
    }

    /// Who has left and reads again waits for a turn to work, as all who work do.
    fn begin(&self) -> BoxFuture<'_, ()> {
        async move {
            if !self.state().left {
                return;
            }
            self.end();
            self.enter().await;
            let mut state = self.state();
            state.left = false;
            let within = self.took() + self.within;
            state.due = self.arrived + within;
            if let Some(over) =
                state.reads.and_then(|reads| self.service.schedule.over(reads, within))
            {
                state.due = self.arrived + over;
            }
        }
        .boxed()
    }

    /// It may leave several times: after each time that it has read rows, also when its time is
    /// over and others wait for what it bought.
    fn leave(&self) -> BoxFuture<'_, ()> {
        async move {
            let reads = self.state().reads;
            let moment = reads.and_then(|reads| self.service.schedule.moment(reads, self.took()));
            if let Some(moment) = moment {
                let at = self.arrived + moment;
                self.end();
                let waiting = Waiting::new(&self.service.waiting);
                sleep_until(at).await;
                drop(waiting);
                self.state().due = at + self.within;
                let turn = turn(&self.service.leaving).await;
                self.state().turn = turn;
            }
            self.state().left = true;
        }
        .boxed()
    }
}

/// A turn, when one is free.
pub(crate) async fn turn(turns: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    // The semaphore is never closed.
    Arc::clone(turns).acquire_owned().await.ok()
}

/// A statement that waits for its moment is counted, however it ends.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
