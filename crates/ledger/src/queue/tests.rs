use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn everyone_gets_its_own_outcome_and_leads_are_shared() {
    let queue = Queue::new();
    let (leads, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let lead = |items: Vec<u64>| {
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two lead at once");
        leads.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(1));
        inside.fetch_sub(1, Ordering::SeqCst);
        items.into_iter().map(|item| Ok(item * 2)).collect()
    };
    std::thread::scope(|scope| {
        for thread in 0..16u64 {
            let (queue, lead) = (&queue, &lead);
            scope.spawn(move || {
                for i in 0..50 {
                    let item = thread * 1000 + i;
                    assert_eq!(queue.submit(item, lead), Ok(item * 2));
                }
            });
        }
    });
    let leads = leads.load(Ordering::SeqCst);
    assert!(leads < 400, "{leads} leads for 800 items");
    assert!(queue.lock().done.is_empty());
}

#[test]
fn a_leader_that_panics_leaves_an_error_and_the_lead() {
    let queue: Queue<u64, u64> = Queue::new();
    let failed = AtomicUsize::new(0);
    let lead = |items: Vec<u64>| {
        std::thread::sleep(Duration::from_millis(1));
        assert!(!items.contains(&13), "thirteen");
        items.into_iter().map(Ok).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        for thread in 0..20u64 {
            let (queue, lead, failed) = (&queue, &lead, &failed);
            scope.spawn(move || {
                let submit = || queue.submit(thread, lead);
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(submit));
                match outcome {
                    Ok(Ok(item)) => assert_eq!(item, thread),
                    Ok(Err(error)) => assert_eq!(error, Error::Interrupted),
                    Err(_) => {
                        failed.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(failed.load(Ordering::SeqCst), 1);
    assert_eq!(queue.submit(7, lead), Ok(7));
}
