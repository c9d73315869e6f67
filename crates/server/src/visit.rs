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
mod tests {
    use super::*;
    use crate::query_service::{Failure, Limits};
    use crate::users::Users;
    use demure_curator::Curator;
    use demure_curator::policy::Policy;

    const STEP: Duration = Duration::from_millis(1000);
    const READS: Reads = Reads { rows: 1_000_000 };

    async fn service(timing: &str, limits: Limits) -> Arc<QueryService> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.csv"), "id\n1\n2\n").unwrap();
        let policy = format!(
            "[budget]\nepsilon = 1.0\n[timing]\n{timing}\n\
             [tables.t]\nsource = 't.csv'\nunit = 'id'\n"
        );
        let policy = Policy::parse(&policy, folder.path()).unwrap();
        let curator = Curator::in_memory(policy).await.unwrap();
        QueryService::new(curator, Users::in_memory().unwrap(), "clinic", limits)
    }

    #[tokio::test]
    async fn a_time_out_is_told_on_schedule_once_rows_may_have_been_read() {
        let limits =
            Limits { statement_time: Duration::from_millis(50), running: 1, ..Limits::default() };
        let service = service("step_ms = 1000", limits).await;
        let within = service.limits.statement_time;
        let never = || std::future::pending::<Result<()>>();
        // Before the debit: at once, give or take a busy machine.
        let mut quickest = Duration::MAX;
        for _ in 0..5 {
            let visit = Visit::new(&service, "ana", within);
            let outcome = service.timed("", &visit, never()).await;
            assert!(matches!(outcome, Err(Failure::TimedOut(_))));
            quickest = quickest.min(visit.took());
        }
        assert!(quickest < STEP, "{quickest:?}");
        let visit = Visit::new(&service, "ana", within);
        visit.admit(READS).unwrap();
        let outcome = service.timed("", &visit, never()).await;
        assert!(matches!(outcome, Err(Failure::TimedOut(_))));
        assert!(visit.took() >= STEP, "{:?}", visit.took());
    }

    #[tokio::test]
    async fn an_error_after_reading_again_is_told_on_schedule() {
        let service = service("step_ms = 1000", Limits { running: 1, ..Limits::default() }).await;
        let visit = Visit::new(&service, "ana", service.limits.statement_time);
        let work = async {
            visit.admit(READS)?;
            visit.begin().await;
            visit.leave().await;
            assert!(!visit.is_reading() && service.running.available_permits() == 1);
            // Another gave up what it waited for: it reads rows itself.
            visit.begin().await;
            assert!(visit.is_reading());
            assert_eq!(
                service.running.available_permits(),
                0,
                "it works in a turn of those who do"
            );
            assert_eq!(service.leaving.available_permits(), 1);
            Err::<(), _>(Error::Together)
        };
        assert!(service.timed("", &visit, work).await.is_err());
        assert!(visit.took() >= 2 * STEP, "{:?}", visit.took());
    }

    /// Who chooses a limit learns no more than from the moment: an answer that is ready later leaves
    /// all the same if it does so at the next point, and one that would leave later is over at a
    /// moment that does not depend on the work.
    #[tokio::test]
    async fn a_limit_is_compared_with_the_moment_and_not_with_the_work() {
        let service = service("step_ms = 1000", Limits::default()).await;
        let millis = Duration::from_millis;
        for (within, works, in_time) in [(1, 100, true), (1, 2_100, false), (1_200, 10, true)] {
            let visit = Visit::new(&service, "ana", millis(within));
            let work = async {
                visit.admit(READS)?;
                visit.begin().await;
                tokio::time::sleep(millis(works)).await;
                visit.leave().await;
                Ok(())
            };
            let outcome = service.timed("", &visit, work).await;
            assert!(visit.took() >= STEP, "{:?}", visit.took());
            // On a machine so busy that 100 ms become 500, it may be over instead.
            let late = Err(Failure::TimedOut(millis(within)));
            assert!(
                outcome == late || in_time && outcome == Ok(()),
                "{within} {works}: {outcome:?}"
            );
        }
    }

    #[tokio::test]
    async fn who_waits_for_a_moment_holds_no_turn_and_is_not_overdue() {
        let limits = Limits { statement_time: 5 * STEP, running: 1, ..Limits::default() };
        let service = service("step_ms = 1000", limits).await;
        let first = Visit::new(&service, "ana", service.limits.statement_time);
        first.enter().await;
        first.admit(READS).unwrap();
        let second = Visit::new(&service, "ben", service.limits.statement_time);
        let mut leaving = first.leave();
        tokio::select! {
            biased;
            () = &mut leaving => panic!("it left at once"),
            () = second.enter() => {}
        }
        assert_eq!(service.running(), 2, "one waits, one works");
        tokio::select! {
            biased;
            () = leaving => {}
            () = first.overdue() => panic!("its own wait made it overdue"),
        }
        assert!(first.took() >= STEP);
        drop((first, second));
        assert_eq!(service.running(), 0);
    }

    #[tokio::test]
    async fn what_follows_a_moment_has_the_whole_time() {
        let limits = Limits { statement_time: 2 * STEP, ..Limits::default() };
        let service = service("step_ms = 1000", limits).await;
        let visit = Visit::new(&service, "ana", service.limits.statement_time);
        let work = async {
            visit.admit(READS)?;
            visit.leave().await;
            std::future::pending::<Result<()>>().await
        };
        let outcome = service.timed("", &visit, work).await;
        assert!(matches!(outcome, Err(Failure::TimedOut(_))));
        // From the moment, not from the end of the work: otherwise it would tell when that was.
        assert!(visit.took() >= 3 * STEP, "{:?}", visit.took());
    }
}
