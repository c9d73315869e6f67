use super::*;
use crate::mechanism::Exponential;
use crate::random::SeededForTests;
use crate::unit::Neighbours;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::{datasets, neighbours};

fn parameters(epsilon: f64) -> (Epsilon, Sensitivity<LInf>) {
    (Epsilon::new(epsilon).unwrap(), Sensitivity::new(1.0).unwrap())
}

fn mechanism(epsilon: f64) -> PermuteAndFlip {
    let (epsilon, sensitivity) = parameters(epsilon);
    PermuteAndFlip::new(epsilon, sensitivity).unwrap()
}

/// The algorithm of the name, over all permutations of the candidates.
fn by_permutations(p: &[f64], left: &[usize]) -> Vec<f64> {
    let mut chosen = vec![0.0; p.len()];
    for (at, &next) in left.iter().enumerate() {
        let share = 1.0 / left.len() as f64;
        chosen[next] += share * p[next];
        let mut rest = left.to_vec();
        rest.remove(at);
        for (sum, later) in chosen.iter_mut().zip(by_permutations(p, &rest)) {
            *sum += share * (1.0 - p[next]) * later;
        }
    }
    chosen
}

#[test]
fn the_table_is_that_of_permuting_and_flipping_and_never_worse_than_exponential() {
    for values in
        [vec![3.0], vec![0.0, 0.0], vec![24.0, 8.0, 28.0, 5.0], vec![1.0, 2.0, 2.0, 0.0, -9.0, 1.5]]
    {
        for epsilon in [0.1, 1.0, 4.0] {
            let scores = Scores::general(values.clone()).unwrap();
            let table = mechanism(epsilon).probabilities(&scores);
            let best = values.iter().copied().fold(f64::MIN, f64::max);
            let p: Vec<_> = values.iter().map(|q| (0.5 * epsilon * (q - best)).exp()).collect();
            let everyone: Vec<_> = (0..p.len()).collect();
            for (ours, theirs) in table.iter().zip(by_permutations(&p, &everyone)) {
                assert!((ours - theirs).abs() < 1e-13);
            }
            let (e, s) = parameters(epsilon);
            let exponential = Exponential::new(e, s).unwrap().probabilities(&scores).unwrap();
            let mean = |t: &[f64]| t.iter().zip(&values).map(|(p, q)| p * q).sum::<f64>();
            assert!(mean(&table) >= mean(&exponential) - 1e-12);
        }
    }
}

#[test]
fn choices_fit_the_table_and_the_test_has_power() {
    for (seed, relation) in [(1, Neighbours::Replace), (2, Neighbours::AddRemove)] {
        let scores = Scores::counts(&[24, 8, 28, 5], relation).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let chooser = mechanism(0.1);
        let draws: Vec<_> = (0..200_000)
            .map(|_| chooser.select(&scores, &mut rng).unwrap().into_value() as i128)
            .collect();
        let fit = |epsilon| {
            let table = mechanism(epsilon).probabilities(&scores);
            Fit::of(draws.iter().copied(), |i| table[i as usize], 0..=3)
        };
        assert!(fit(0.1).accepts() && fit(0.105).rejects(), "{relation}");
    }
}

#[test]
fn close_calls_are_settled_by_more_bits() {
    // All candidates share their first 63 bits: only later bits can decide, and those are fair among equal scores.
    let scores = Scores::general(vec![5.0; 4]).unwrap();
    let mut rng = SeededForTests::insecure(3);
    let bits = rng.bits().unwrap();
    for word in [0, 1, 1 << 40, u64::MAX >> 1] {
        let draws =
            (0..4_000).map(|_| mechanism(1.0).winner(&scores, &[word; 4], bits).unwrap() as i128);
        assert!(Fit::of(draws, |_| 0.25, 0..=3).accepts(), "{word}");
    }
    // e^(−½)·U < W: as sharp as the bits allow, on both sides of the boundary.
    let half = Ratio::new(1u64, 2u64);
    let boundary = (Enclosure::exp_neg(&half, 64).lower.to_u128().unwrap() as u64) >> 1;
    let mut beats = |w| {
        let (mut u, mut w) = (LazyUniform::starting(1 << 63, 64), LazyUniform::starting(w, 64));
        beats(&mut u, &mut w, &half, bits).unwrap()
    };
    assert!(beats(boundary + 4) && !beats(boundary - 4));
}

/// The distribution of the choice among three counts.
fn choice(epsilon: f64, change: Change) -> impl Fn(&Vec<u64>) -> Distribution<usize> {
    move |counts| {
        let values = counts.iter().map(|&c| c as f64).collect();
        let scores = match change {
            Change::General => Scores::general(values),
            Change::Monotone => Scores::monotone(values),
        };
        Distribution::new(
            mechanism(epsilon).probabilities(&scores.unwrap()).into_iter().enumerate(),
        )
    }
}

#[test]
fn private_by_brute_force_and_only_as_monotone_as_the_relation() {
    let all = || datasets::histograms(3, 6);
    let replace = |d: &Vec<u64>| datasets::histogram_replace_one(d);
    let add = |d: &Vec<u64>| datasets::histogram_add_or_remove_one(d);
    for e in [0.3, 1.0, 2.0] {
        let general = choice(e, Change::General);
        let worst = neighbours::check(&general, all(), replace, e, 0.0).unwrap();
        assert!(worst.epsilon > 0.6 * e, "{worst:?}");
        neighbours::check(&general, all(), add, e, 0.0).unwrap();
        neighbours::check(choice(e, Change::Monotone), all(), add, e, 0.0).unwrap();
        let wrong = neighbours::check(choice(e, Change::Monotone), all(), replace, e, 0.0);
        assert!(wrong.is_err());
        let zcdp = |rho| neighbours::check_zcdp(&general, all(), replace, rho, &[1.01, 2.0, 8.0]);
        let rho = mechanism(e).rho().unwrap().get();
        let worst = zcdp(rho).unwrap();
        assert!(zcdp(0.25 * rho).is_err(), "the exponential mechanism's price is too little");
        assert!(e != 1.0 || (0.28..0.29).contains(&worst.rho), "{worst:?}");
    }
}

#[test]
fn special_values_and_the_error_bound() {
    let mut rng = SeededForTests::insecure(4);
    let far = Scores::general(vec![f64::MIN, f64::MAX, 1e308]).unwrap();
    assert_eq!(mechanism(1.0).select(&far, &mut rng).unwrap().into_value(), 1);
    assert_eq!(mechanism(1.0).probabilities(&far), [0.0, 1.0, 0.0]);
    // A word of 0 is a huge noise, not an infinite one.
    let bits = rng.bits().unwrap();
    assert_eq!(mechanism(1.0).winner(&far, &[0, 9, 0], bits).unwrap(), 1);
    let beta = Beta::new(0.05).unwrap();
    let t = mechanism(1.0).error(10, Change::General, beta).unwrap();
    assert!((t - 2.0 * 90f64.ln()).abs() < 1e-13);
    let mut values = vec![-t; 10];
    values[0] = 0.0;
    let missed = 1.0 - mechanism(1.0).probabilities(&Scores::general(values).unwrap())[0];
    assert!(missed <= 0.05 && missed > 0.045, "{missed}");
    assert_eq!(mechanism(1.0).error(1, Change::General, beta).unwrap(), 0.0);
}
