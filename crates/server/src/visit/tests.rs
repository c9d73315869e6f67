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
        assert_eq!(service.running.available_permits(), 0, "it works in a turn of those who do");
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
        assert!(outcome == late || in_time && outcome == Ok(()), "{within} {works}: {outcome:?}");
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
