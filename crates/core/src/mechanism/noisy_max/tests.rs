use super::*;
use crate::random::SeededForTests;
use crate::unit::Neighbours;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::{datasets, neighbours};

fn mechanism(epsilon: f64) -> NoisyMax {
    NoisyMax::new(Epsilon::new(epsilon).unwrap(), Sensitivity::new(1.0).unwrap()).unwrap()
}

/// The choice's probabilities at noise scale s, from the definition.
fn table(counts: &[u64], s: f64) -> Vec<f64> {
    let a = (-1.0 / s).exp();
    let pmf = |k: i64| (1.0 - a) / (1.0 + a) * a.powi(k.unsigned_abs() as i32);
    let at_most = |k: i64| {
        let tail = |k: i64| a.powi(k as i32) / (1.0 + a); // P[Z ≥ k], k ≥ 1
        if k < 0 { tail(-k) } else { 1.0 - tail(k + 1) }
    };
    let reach = (40.0 * s) as i64 + 40;
    let chance = |r: usize| {
        let given = |z: i64| {
            let lead = |i: usize| z + counts[r] as i64 - counts[i] as i64;
            let others = (0..counts.len()).filter(|&i| i != r);
            others.map(|i| at_most(lead(i) - i64::from(i < r))).product::<f64>()
        };
        (-reach..=reach).map(|z| pmf(z) * given(z)).sum()
    };
    (0..counts.len()).map(chance).collect()
}

#[test]
fn choices_fit_the_definition_and_the_test_has_power() {
    let counts = [3, 5, 4, 5, 0];
    for (seed, relation, s) in [(1, Neighbours::Replace, 4.0), (2, Neighbours::AddRemove, 2.0)] {
        let scores = Scores::counts(&counts, relation).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let chooser = mechanism(0.5);
        let draws: Vec<_> = (0..200_000)
            .map(|_| chooser.select(&scores, &mut rng).unwrap().into_value() as i128)
            .collect();
        let fit = |s| {
            let table = table(&counts, s);
            Fit::of(draws.iter().copied(), |i| table[i as usize], 0..=4)
        };
        assert!(fit(s).accepts() && fit(1.05 * s).rejects(), "{relation}");
    }
}

#[test]
fn private_by_brute_force_ties_and_all() {
    let all = || datasets::histograms(3, 5);
    let replace = |d: &Vec<u64>| datasets::histogram_replace_one(d);
    let add = |d: &Vec<u64>| datasets::histogram_add_or_remove_one(d);
    for e in [0.5, 1.0, 2.0] {
        let choice = |s: f64| {
            move |counts: &Vec<u64>| Distribution::new(table(counts, s).into_iter().enumerate())
        };
        neighbours::check(choice(2.0 / e), all(), replace, e, 0.0).unwrap();
        neighbours::check(choice(2.0 / e), all(), add, e, 0.0).unwrap();
        neighbours::check(choice(1.0 / e), all(), add, e, 0.0).unwrap();
        // The noise for monotone scores is not enough if a count rises as another falls.
        assert!(neighbours::check(choice(1.0 / e), all(), replace, e, 0.0).is_err());

        let orders = [1.01, 1.1, 1.5, 2.0, 4.0, 16.0];
        let rho = mechanism(e).rho().unwrap().get();
        let zcdp = |rho| neighbours::check_zcdp(choice(2.0 / e), all(), replace, rho, &orders);
        zcdp(rho).unwrap();
        // The price of the exponential mechanism would be too low.
        assert!(e < 2.0 || zcdp(0.25 * rho).is_err());
    }
}

#[test]
fn special_values_and_the_error_bound() {
    let mut rng = SeededForTests::insecure(3);
    let extreme = Scores::general(vec![i64::MIN, i64::MAX, 0]).unwrap();
    assert_eq!(mechanism(1.0).select(&extreme, &mut rng).unwrap().into_value(), 1);
    // Almost no noise: a tie goes to the first.
    let tie = Scores::general(vec![1, 7, 7]).unwrap();
    assert_eq!(mechanism(1e4).select(&tie, &mut rng).unwrap().into_value(), 1);
    assert!(Scores::<i64>::general(vec![]).is_err());
    let beta = Beta::new(0.05).unwrap();
    let t = mechanism(1.0).error(3, Change::General, beta).unwrap();
    let missed = 1.0 - table(&[t as u64 + 1, 0, 0], 2.0)[0];
    assert!(missed <= 0.05 && missed > 1e-4, "{missed}");
    assert!(mechanism(1.0).error(0, Change::General, beta).is_err());
    assert!(NoisyMax::new(Epsilon::new(1e-300).unwrap(), Sensitivity::new(1.0).unwrap()).is_err());
}
