//! Reserve, cancel, settle, balance; limits and clocks.

use super::{Place, limit, pure, request};
use demure_core::account::zcdp;
use demure_core::event::Event;
use demure_core::unit::{Delta, Neighbours, Rho};
use demure_ledger::{
    Accounting, Clock, Error, Kind, Ledger, Limit, Page, Price, Request, Rule, Start, wall_clock,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

scenarios! {
    in_memory: [
        over_the_budget_is_refused_and_free,
        dropped_stays_spent_and_cancelled_does_not,
        zcdp_counts_rho_and_says_what_epsilon_it_is,
        the_first_answer_of_a_key_is_the_answer,
    ];
    in_a_file: [
        what_was_bought_is_there_after_reopening,
        cancelling_in_any_order_leaves_what_a_fresh_replay_finds,
        a_new_limit_is_an_entry_and_another_currency_is_refused,
        datasets_in_one_file_have_budgets_of_their_own,
        a_clock_that_goes_back_is_recorded_as_it_is,
    ];
}

fn what_was_bought_is_there_after_reopening(place: &Place) {
    let ledger = place.open(limit(Accounting::Pure, 3.0, 1e-6));
    let reservation = ledger.reserve(&request("k1", "pure(eps=0.5, delta=0.0000001)")).unwrap();
    assert_eq!(reservation.price(), Price { main: 0.5, delta: 1e-7 });
    assert_eq!(ledger.find("k1").unwrap(), None);
    reservation.begin().unwrap().settle(b"forty-two").unwrap();
    let second = ledger.reserve(&request("k2", "laplace(b=4)")).unwrap();
    second.begin().unwrap().settle(b"").unwrap();
    let (balance, entries) = (ledger.balance().unwrap(), ledger.entries().unwrap());
    drop(ledger);

    let ledger = place.open(limit(Accounting::Pure, 3.0, 1e-6));
    assert_eq!(ledger.find("k1").unwrap().as_deref(), Some(&b"forty-two"[..]));
    assert_eq!(ledger.find("k2").unwrap().as_deref(), Some(&b""[..]));
    assert_eq!(ledger.find("k3").unwrap(), None);
    assert_eq!(ledger.balance().unwrap(), balance);
    assert_eq!(ledger.entries().unwrap(), entries);
    assert!(balance.spent.main >= 0.75 && balance.spent.main < 0.75 + 1e-9);
    assert!(balance.left.main <= 2.25 && balance.left.main > 2.25 - 1e-9);
    assert_eq!((balance.spent_epsilon, balance.spent_delta), (balance.spent.main, 1e-7));
    let kinds: Vec<Kind> = entries.iter().map(|entry| entry.kind).collect();
    use Kind::{Limit as L, Reserve as R, Settle as S};
    assert_eq!(kinds, [L, R, S, R, S]);
    assert_eq!(entries[1].query, "SELECT k1");
    assert_eq!(entries[1].event, "pure(eps=0.5, delta=0.0000001)");
    assert_eq!((entries[2].refers, entries[2].answer_bytes), (Some(2), Some(9)));
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.entries, verified.reserved, verified.settled), (5, 2, 2));
    assert_eq!((verified.cancelled, verified.repriced), (0, 0));
    assert_eq!((verified.spent, verified.head), (balance.spent, entries[4].hash));
}

fn over_the_budget_is_refused_and_free(place: &Place) {
    let ledger = place.open(limit(Accounting::Pure, 1.0, 1e-7));
    let _ = ledger.reserve(&request("a", "pure(eps=0.75)")).unwrap();
    let before = (ledger.balance().unwrap(), ledger.entries().unwrap());
    for too_much in ["pure(eps=0.5)", "pure(eps=0.1, delta=0.000001)", "pure(eps=1e308)*9"] {
        let result = ledger.reserve(&request("b", too_much));
        if too_much.contains("308") {
            assert!(result.is_err());
            continue;
        }
        let Err(Error::OverBudget { asked, left, accounting, which: Rule::Dataset }) = result
        else {
            panic!("{too_much} was not refused")
        };
        assert!(!asked.within(left) && accounting == Accounting::Pure);
        assert_eq!(left, before.0.left);
    }
    let error = ledger.reserve(&request("b", "pure(eps=0.5)")).unwrap_err().to_string();
    assert!(error.contains("costs epsilon 0.5") && error.contains("nothing was spent"), "{error}");
    // No price in this currency, or no text that reads back.
    let unpriced = ledger.reserve(&request("b", "gaussian(sigma=100)")).unwrap_err();
    assert!(matches!(unpriced, Error::Unpriced { .. }), "{unpriced}");
    let many = Event::pure(1e-30).unwrap().repeat(u64::MAX).unwrap();
    let unwritable = ledger.reserve(&Request { event: many, ..request("b", "pure(eps=1)") });
    assert!(matches!(unwritable, Err(Error::Unwritable)));
    assert_eq!((ledger.balance().unwrap(), ledger.entries().unwrap()), before);
    // All that is left is still sold, to the last bit.
    let left = ledger.balance().unwrap().left;
    let rest = format!("pure(eps={}, delta={})", left.main, left.delta);
    assert!(left.main > 0.2499 && ledger.reserve(&request("b", &rest)).is_ok());
    assert_eq!(ledger.balance().unwrap().left, Price::ZERO);
}

fn dropped_stays_spent_and_cancelled_does_not(place: &Place) {
    let ledger = place.open(pure(1.0));
    drop(ledger.reserve(&request("a", "pure(eps=0.25)")).unwrap());
    assert_eq!(ledger.balance().unwrap().spent.main, 0.25);
    drop(ledger.reserve(&request("b", "pure(eps=0.25)")).unwrap().begin().unwrap());
    let spent = ledger.balance().unwrap().spent;
    assert!(spent.main >= 0.5);
    let cancelled = ledger.reserve(&request("c", "pure(eps=0.25)")).unwrap();
    assert!(ledger.balance().unwrap().spent.main >= 0.75);
    cancelled.cancel().unwrap();
    assert_eq!(ledger.balance().unwrap().spent, spent);
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.reserved, verified.cancelled, verified.settled), (3, 1, 0));
    let last = ledger.entries().unwrap().pop().unwrap();
    assert_eq!((last.kind, last.refers, last.price.main), (Kind::Cancel, Some(4), 0.25));
}

fn cancelling_in_any_order_leaves_what_a_fresh_replay_finds(place: &Place) {
    let ledger = place.open(pure(1e6));
    let other = place.open(pure(1e6));
    let (mut held, mut state) = (Vec::new(), 7u64);
    // Awkward prices, from two ledgers.
    for i in 0..160u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let event = format!("pure(eps=0.{})", state >> 40 | 1);
        let from = if i % 3 == 0 { &other } else { &ledger };
        held.push(from.reserve(&request("k", &event)).unwrap());
        if i % 4 == 3 {
            let at = (state >> 20) as usize % held.len();
            held.swap_remove(at).cancel().unwrap();
        }
    }
    let spent = ledger.balance().unwrap().spent;
    assert_eq!(other.balance().unwrap().spent, spent);
    assert_eq!(place.open(pure(1e6)).balance().unwrap().spent, spent);
    assert_eq!(ledger.verify().unwrap().cancelled, 40);
    // Parts of the journal are parts of the whole.
    let all = ledger.entries().unwrap();
    assert_eq!(ledger.newest().unwrap(), all.len() as u64);
    assert_eq!(ledger.entries_between(3, 9).unwrap(), all[3..8]);
    assert_eq!(ledger.entries_between(0, 2).unwrap(), all[..1]);
    assert_eq!(ledger.entries_between(all.len() as u64, u64::MAX).unwrap(), []);
    // So are its pages, in both directions, one after the other.
    for (mut start, mut whole) in
        [(Start::After(0), all.clone()), (Start::Before(u64::MAX), all.clone())]
    {
        let mut found = Vec::new();
        loop {
            let page = ledger.page(start, None, 7).unwrap();
            assert!(page.entries.len() <= 7);
            found.extend(page.entries);
            start = match (page.next, start) {
                (None, _) => break,
                (Some(next), Start::After(_)) => Start::After(next),
                (Some(next), Start::Before(_)) => Start::Before(next),
            };
        }
        if matches!(start, Start::Before(_)) {
            whole.reverse();
        }
        assert_eq!(found, whole);
    }
    let of = |who| ledger.page(Start::After(0), Some(who), 1000).unwrap();
    let theirs = all.iter().filter(|entry| entry.who == all[1].who).cloned().collect::<Vec<_>>();
    assert_eq!(of(&all[1].who).entries, theirs);
    assert_eq!(of("nobody"), Page { entries: Vec::new(), next: None });
    let sum: f64 = held.iter().map(|held| held.price().main).sum();
    assert!(spent.main >= sum && spent.main < sum + 1e-9, "{} {sum}", spent.main);
    // To the very last: nothing is left of it, and never less than nothing.
    for reservation in held {
        reservation.cancel().unwrap();
    }
    assert_eq!(ledger.balance().unwrap().spent, Price::ZERO);
    assert_eq!(other.verify().unwrap().spent, Price::ZERO);
}

fn zcdp_counts_rho_and_says_what_epsilon_it_is(place: &Place) {
    let budget = limit(Accounting::Zcdp, 1.0, 1e-6);
    let ledger = place.open(budget);
    let empty = ledger.balance().unwrap();
    assert_eq!((empty.spent_epsilon, empty.spent_delta, empty.left_epsilon), (0.0, 0.0, 1.0));
    let gaussian = ledger.reserve(&request("a", "gaussian(sigma=20)")).unwrap();
    assert!((gaussian.price().main - 1.0 / 800.0).abs() < 1e-12);
    let approximate = ledger.reserve(&request("b", "pure(eps=0.02, delta=0.0000002)")).unwrap();
    assert!((approximate.price().main - 0.0002).abs() < 1e-12);
    let balance = ledger.balance().unwrap();
    let rho = Rho::new(balance.spent.main).unwrap();
    assert_eq!(balance.spent_epsilon, zcdp::epsilon(rho, Delta::new(5e-7).unwrap()).unwrap());
    assert!(balance.spent_epsilon < 1.0 && balance.left_epsilon > 0.0);
    assert!((balance.spent_delta - 7e-7).abs() < 1e-15);
    // The events' own delta has the other half, and no more.
    let delta = ledger.reserve(&request("c", "pure(eps=0.02, delta=0.0000004)"));
    assert!(matches!(delta, Err(Error::OverBudget { .. })));
    // To the end: the whole is within the policy.
    while ledger.reserve(&request("d", "gaussian(sigma=40)")).is_ok() {}
    let full = ledger.balance().unwrap();
    assert!(full.spent_epsilon <= 1.0 && full.spent_epsilon > 0.97, "{}", full.spent_epsilon);
    assert!(full.spent_delta <= 1e-6);
    let zero = place.try_open(limit(Accounting::Zcdp, 1.0, 0.0), wall_clock()).unwrap_err();
    assert!(matches!(zero, Error::ZcdpNeedsDelta));
}

fn a_new_limit_is_an_entry_and_another_currency_is_refused(place: &Place) {
    let first = place.open(pure(1.0));
    let _ = first.reserve(&request("a", "pure(eps=0.5)")).unwrap();
    // The same limit again: nothing to write.
    assert_eq!(place.open(pure(1.0)).entries().unwrap().len(), 2);
    // Lowered below what is spent: nothing is left, here or there.
    let lower = place.open(pure(0.25));
    assert_eq!(lower.balance().unwrap().left, Price::ZERO);
    assert_eq!(first.balance().unwrap().limit, pure(0.25));
    assert!(first.reserve(&request("b", "pure(eps=0.001)")).is_err());
    let entries = lower.entries().unwrap();
    assert_eq!((entries.len(), entries[2].kind, entries[2].price.main), (3, Kind::Limit, 0.25));
    // Raised: the old debits count against it.
    let higher = place.open(limit(Accounting::Pure, 2.0, 1e-6));
    assert_eq!(higher.balance().unwrap().spent.main, 0.5);
    assert!(first.reserve(&request("b", "pure(eps=1.25)")).is_ok());
    higher.verify().unwrap();

    let replace = Limit { neighbours: Neighbours::Replace, ..pure(2.0) };
    for other in [replace, limit(Accounting::Zcdp, 2.0, 1e-6)] {
        let error = place.try_open(other, wall_clock()).unwrap_err();
        assert!(matches!(error, Error::OtherAccounting { .. }), "{error:?}");
        assert!(error.to_string().contains("put the policy back"), "{error}");
    }
    assert_eq!(higher.entries().unwrap().len(), 5);
}

fn datasets_in_one_file_have_budgets_of_their_own(place: &Place) {
    let visits = place.open(pure(1.0));
    let wages = place.dataset("wages", limit(Accounting::Zcdp, 1.0, 1e-6));
    let bought = visits.reserve(&request("k", "pure(eps=0.5)")).unwrap();
    bought.begin().unwrap().settle(b"v").unwrap();
    assert_eq!(wages.balance().unwrap().spent, Price::ZERO);
    assert_eq!(wages.find("k").unwrap(), None);
    assert_eq!((visits.verify().unwrap().entries, wages.verify().unwrap().entries), (3, 1));
}

fn a_clock_that_goes_back_is_recorded_as_it_is(place: &Place) {
    let tick = Arc::new(AtomicU64::new(10));
    let clock: Clock = {
        let tick = Arc::clone(&tick);
        Arc::new(move || {
            let seconds = tick.fetch_sub(1, Ordering::SeqCst);
            SystemTime::UNIX_EPOCH + Duration::from_secs(100 * seconds)
        })
    };
    let ledger = place.try_open(pure(1.0), clock).unwrap();
    for key in ["a", "b", "c"] {
        let reservation = ledger.reserve(&request(key, "pure(eps=0.125)")).unwrap();
        reservation.begin().unwrap().settle(b"x").unwrap();
    }
    let times: Vec<u64> = ledger
        .entries()
        .unwrap()
        .iter()
        .map(|entry| entry.time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs())
        .collect();
    assert_eq!(times, [1000, 900, 800, 700, 600, 500, 400]);
    drop(ledger);
    place.open(pure(1.0)).verify().unwrap();
}

fn the_first_answer_of_a_key_is_the_answer(place: &Place) {
    let ledger = place.open(pure(1.0));
    let one = ledger.reserve(&request("k", "pure(eps=0.125)")).unwrap().begin().unwrap();
    let two = ledger.reserve(&request("k", "pure(eps=0.125)")).unwrap().begin().unwrap();
    two.settle(b"two").unwrap();
    one.settle(b"one").unwrap();
    assert_eq!(ledger.find("k").unwrap().as_deref(), Some(&b"two"[..]));
}

#[test]
fn a_ledger_can_be_shared_and_sent() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let ledger = Ledger::in_memory(pure(1.0)).unwrap();
    shared(&ledger);
    let there = ledger.clone();
    std::thread::spawn(move || there.reserve(&request("a", "pure(eps=0.5)")).map(drop).unwrap())
        .join()
        .unwrap();
    assert_eq!(ledger.balance().unwrap().spent.main, 0.5);
    assert_eq!(format!("{ledger:?}"), "Ledger { dataset: \"memory\", .. }");
}
