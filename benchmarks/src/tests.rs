use super::*;
use std::cell::Cell;

#[test]
fn median_is_the_middle() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(vec![]), 0.0);
}

#[test] // deterministic: no bound on any time, which a busy machine would break
fn every_contestant_runs_in_every_round() {
    let calls = [const { Cell::new(0u32) }; 2];
    let mut contestants = [("first", &calls[0]), ("second", &calls[1])].map(|(name, calls)| {
        let run = Box::new(|| calls.set(calls.get() + 1));
        Contestant { name, batch: 10, run }
    });
    let rates = rates(&mut contestants, 3, Duration::from_nanos(1));
    assert!(calls.iter().all(|calls| calls.get() >= 4)); // the first to warm up
    assert!(rates.iter().all(|rate| *rate > 0.0 && rate.is_finite()));
    assert_eq!(rates.len(), 2);
}
