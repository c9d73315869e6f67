//! Many at once: together they never overspend.

use super::{Place, in_turn, open, place, pure, request};
use demure_ledger::{Error, Ledger};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

scenarios! {
    in_memory: [
        clones_in_threads_stay_within_the_limit,
    ];
    in_a_file: [
        threads_with_their_own_connections_stay_within_the_limit,
        buying_and_cancelling_at_once_keeps_the_books,
    ];
}

/// Buys until nothing is left; counts what it got.
fn buy(ledger: &Ledger, got: &AtomicU64) {
    loop {
        match ledger.reserve(&request("k", "pure(eps=0.0625)")) {
            Ok(reservation) => {
                let number = got.fetch_add(1, Ordering::SeqCst);
                assert!(number < 1000, "there is no end to it");
                if number.is_multiple_of(3) {
                    // What could not be settled stays spent.
                    in_turn(reservation.begin().unwrap().settle(b"x"));
                }
            }
            Err(Error::Locked { .. }) => {}
            Err(Error::OverBudget { .. }) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

fn threads_with_their_own_connections_stay_within_the_limit(place: &Place) {
    let (got, budget) = (AtomicU64::new(0), pure(4.0 + 1e-9));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            // Opening at the same time is contention too: one creates the file.
            scope.spawn(|| buy(&place.open_in_turn(&budget), &got));
        }
    });
    // 64 · 0.0625 = 4; not one more, not one less.
    assert_eq!(got.load(Ordering::SeqCst), 64);
    let ledger = place.open(budget);
    let verified = ledger.verify().unwrap();
    assert_eq!(verified.reserved, 64);
    assert!(verified.spent.main >= 4.0 && verified.spent.within(ledger.balance().unwrap().spent));
}

fn clones_in_threads_stay_within_the_limit(place: &Place) {
    let got = AtomicU64::new(0);
    let ledger = place.open(pure(4.0 + 1e-9));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| buy(&ledger.clone(), &got));
        }
    });
    assert_eq!(got.load(Ordering::SeqCst), 64);
    ledger.verify().unwrap();
}

fn buying_and_cancelling_at_once_keeps_the_books(place: &Place) {
    let budget = pure(1.0 + 1e-9);
    let bought = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (budget, bought) = (budget.clone(), &bought);
            scope.spawn(move || {
                let ledger = place.open_in_turn(&budget);
                for round in 0..30u32 {
                    let Ok(one) = ledger.reserve(&request("k", "pure(eps=0.0625)")) else {
                        continue;
                    };
                    let balance = ledger.balance().unwrap();
                    assert!(balance.spent.main <= budget.epsilon.get());
                    if (round + thread) % 5 == 0 {
                        bought.fetch_add(1, Ordering::SeqCst);
                    } else if in_turn(one.cancel()).is_none() {
                        // It stays spent.
                        bought.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let verified = place.open(budget).verify().unwrap();
    let kept = bought.load(Ordering::SeqCst);
    assert_eq!(verified.reserved - verified.cancelled, kept);
    assert!((verified.spent.main - kept as f64 * 0.0625).abs() < 1e-9);
}

#[test]
fn a_file_that_all_create_at_once_is_created_once() {
    for _ in 0..20 {
        let (_directory, path) = place();
        let together = Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    together.wait();
                    open(&path, pure(1.0));
                });
            }
        });
        assert_eq!(open(&path, pure(1.0)).verify().unwrap().entries, 1);
    }
}
