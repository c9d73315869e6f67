use super::{Limits, choose};
use crate::candidates::{Candidate, candidates};
use crate::profile::Profile;
use crate::schema::Column;

fn profiles(columns: usize, codes: usize) -> Vec<Profile> {
    let column = Column::ordered("x", codes).unwrap();
    (0..columns)
        .map(|_| Profile::from_shares(&column, &vec![1.0; codes], &vec![true; codes]))
        .collect()
}

fn scored(profiles: &[Profile]) -> Vec<Candidate> {
    let mut found = candidates(profiles, |_, _| 1.0);
    for (i, candidate) in found.iter_mut().enumerate() {
        candidate.distance = 500.0 + (i * 7919 % 1000) as f64;
    }
    found
}

const LIMITS: Limits = Limits { forest: false, most: 100, cells: 200_000.0, outside: true };

#[test]
fn the_budget_is_used_up() {
    let profiles = profiles(6, 20);
    let candidates = scored(&profiles);
    for budget in [1e-6, 1e-3, 1.0] {
        let chosen = choose(&candidates, &profiles, &[0; 6], &[], budget, &LIMITS);
        let sum: f64 = chosen.iter().map(|choice| choice.precision).sum();
        assert!(chosen.is_empty() || (sum / budget - 1.0).abs() < 1e-9, "{budget}: {sum}");
    }
    assert!(!choose(&candidates, &profiles, &[0; 6], &[], 1.0, &LIMITS).is_empty());
}

#[test]
fn a_forest_has_no_cycle_and_the_most_are_kept() {
    let profiles = profiles(6, 20);
    let candidates = scored(&profiles);
    let forest = Limits { forest: true, ..LIMITS };
    let chosen = choose(&candidates, &profiles, &[0; 6], &[], 1.0, &forest);
    assert!(chosen.len() <= 5);
    let few = Limits { most: 2, ..LIMITS };
    assert_eq!(choose(&candidates, &profiles, &[0; 6], &[], 1.0, &few).len(), 2);
}

#[test]
fn what_breaks_the_limit_of_the_tree_stays_outside() {
    let profiles = profiles(4, 64);
    let candidates = scored(&profiles);
    let narrow = Limits { cells: 5000.0, ..LIMITS };
    let chosen = choose(&candidates, &profiles, &[0; 4], &[], 1e3, &narrow);
    assert!(chosen.iter().any(|choice| choice.outside));
    let inside = Limits { outside: false, ..narrow };
    let chosen = choose(&candidates, &profiles, &[0; 4], &[], 1e3, &inside);
    assert!(chosen.iter().all(|choice| !choice.outside));
}

#[test]
fn scores_that_say_nothing_choose_nothing() {
    let profiles = profiles(3, 5);
    let mut candidates = scored(&profiles);
    for distance in [0.0, -3.0, f64::NEG_INFINITY] {
        candidates.iter_mut().for_each(|candidate| candidate.distance = distance);
        assert!(choose(&candidates, &profiles, &[0; 3], &[], 1.0, &LIMITS).is_empty());
    }
}
