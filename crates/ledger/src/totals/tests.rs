use super::*;
use crate::{Accounting, Ledger, Request};
use demure_core::unit::{Delta, Epsilon, Neighbours};

#[test]
fn a_debit_of_long_ago_can_be_taken_back_too() {
    let ledger = Ledger::in_memory(Limit {
        accounting: Accounting::Pure,
        epsilon: Epsilon::new(1e6).unwrap(),
        delta: Delta::ZERO,
        neighbours: Neighbours::AddRemove,
    })
    .unwrap();
    let mut held = VecDeque::new();
    for i in 0..REFUNDABLE + 40 {
        let event = Event::pure(0.1 + 0.001 * (i % 7) as f64).unwrap();
        let who = ["ana", "ben"][i % 2].to_owned();
        let request = Request { who, key: format!("{i}"), query: String::new(), event };
        held.push_back(ledger.reserve(&request).unwrap());
    }
    for _ in 0..10 {
        // Beyond what is kept, at its edge, and the newest.
        for at in [0, 30, held.len() - 3] {
            held.remove(at).unwrap().cancel().unwrap();
        }
        ledger.verify().unwrap();
    }
    let sum: f64 = held.iter().map(|one| one.price().main).sum();
    let spent = ledger.balance().unwrap().spent.main;
    assert!(spent >= sum - 1e-9 && spent < sum + 1e-9, "{spent} {sum}");
    held.into_iter().for_each(|one| one.cancel().unwrap());
    assert_eq!(ledger.verify().unwrap().spent, Price::ZERO);
    assert_eq!(ledger.balance_for("ana").unwrap().spent, Price::ZERO);
}
