use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn lead(flights: &Arc<Flights>, key: &str) -> Lead {
    match flights.claim(key) {
        Claim::Lead(lead) => lead,
        Claim::Join(_) => panic!("{key} is under way"),
    }
}

fn join(flights: &Arc<Flights>, key: &str) -> Arc<Flight> {
    match flights.claim(key) {
        Claim::Join(flight) => flight,
        Claim::Lead(_) => panic!("{key} is not under way"),
    }
}

#[tokio::test]
async fn those_who_join_learn_how_it_ended() {
    let flights = Arc::new(Flights::default());
    for (outcome, end) in [(Ok(7), End::Settled), (Err("no"), End::Failed)] {
        let first = lead(&flights, "k");
        let second = join(&flights, "k");
        let other = lead(&flights, "another key");
        let third = join(&flights, "another key");
        let running = start(vec![first, other], async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            vec![outcome]
        });
        assert_eq!(running.outcome().await.unwrap(), [outcome]);
        assert_eq!(second.ended().await, Some(end));
        assert_eq!(third.ended().await, Some(End::Failed), "there is no result for it");
        // It is over: the next one leads although the last one is still held.
        drop(lead(&flights, "k"));
    }
    assert!(flights.lock().is_empty());
}

#[tokio::test]
async fn what_is_given_up_is_free_for_the_next() {
    let flights = Arc::new(Flights::default());
    let first = lead(&flights, "k");
    let second = join(&flights, "k");
    drop(first);
    assert_eq!(second.ended().await, None);
    lead(&flights, "k").found();
    assert!(flights.lock().is_empty());
}

#[tokio::test]
async fn work_goes_on_while_anybody_waits_and_no_longer() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let flights = Arc::new(Flights::default());
    let dropped = Arc::new(AtomicUsize::new(0));
    let counted = Counted(Arc::clone(&dropped));
    let leads = vec![lead(&flights, "k"), lead(&flights, "l")];
    let running = start(leads, async move {
        let _counted = counted;
        std::future::pending::<Vec<Result<(), ()>>>().await
    });
    let second = join(&flights, "l");
    drop(running);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 0, "somebody waits");
    drop(second);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "nobody does");
    drop(lead(&flights, "k"));
}

#[tokio::test]
async fn a_panic_is_a_failure_to_all() {
    let flights = Arc::new(Flights::default());
    let first = lead(&flights, "k");
    let second = join(&flights, "k");
    let work = async { std::panic::panic_any("no") as Vec<Result<(), ()>> };
    let running = start(vec![first], work);
    assert!(running.outcome().await.unwrap_err().is_panic());
    assert_eq!(second.ended().await, Some(End::Failed));
}
