use super::*;
use crate::random::SeededForTests;
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::{datasets, neighbours};

fn mechanism(epsilon: f64) -> Exponential {
    Exponential::new(Epsilon::new(epsilon).unwrap(), Sensitivity::new(1.0).unwrap()).unwrap()
}

const CASES: [u64; 4] = [24, 8, 28, 5]; // Diabetes, hepatitis, flu, HIV

#[test]
fn the_table_of_the_chapter() {
    let scores = Scores::counts(&CASES, Neighbours::Replace).unwrap();
    assert_eq!(Exponential::uniform(&scores), [0.25; 4]);
    for (epsilon, digits, known) in
        [(0.1, 4, [0.3271, 0.1470, 0.3995, 0.1265]), (1.0, 4, [0.1192, 3.999e-5, 0.8808, 8.922e-6])]
    {
        let table = mechanism(epsilon).probabilities(&scores).unwrap();
        for (p, k) in table.iter().zip(known) {
            let unit = 10f64.powi(f64::log10(k).floor() as i32 + 1 - digits);
            assert!((p - k).abs() <= 0.5001 * unit, "{p} {k}");
        }
        assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        // 1e-15 against the formula: P = 1/Σ e^(λ(qⱼ − qᵢ)), for the best i.
        let sum: f64 = CASES.iter().map(|&q| (0.5 * epsilon * (q as f64 - 28.0)).exp()).sum();
        assert!((table[2] - 1.0 / sum).abs() < 1e-15);
    }
}

#[test]
fn choices_fit_the_table_and_the_test_has_power() {
    for (seed, relation) in [(1, Neighbours::Replace), (2, Neighbours::AddRemove)] {
        let scores = Scores::counts(&CASES, relation).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let chooser = mechanism(0.1);
        let draws: Vec<_> = (0..200_000)
            .map(|_| chooser.select(&scores, &mut rng).unwrap().into_value() as i128)
            .collect();
        let fit = |epsilon| {
            let table = mechanism(epsilon).probabilities(&scores).unwrap();
            Fit::of(draws.iter().copied(), |i| table[i as usize], 0..=3)
        };
        assert!(fit(0.1).accepts() && fit(0.105).rejects(), "{relation}");
    }
}

/// The distribution of the choice among three counts.
fn choice(epsilon: f64, change: Change) -> impl Fn(&Vec<u64>) -> Distribution<usize> {
    move |counts| {
        let values = counts.iter().map(|&c| c as f64).collect();
        let scores = Scores::new(values, change).unwrap();
        let table = mechanism(epsilon).probabilities(&scores).unwrap();
        Distribution::new(table.into_iter().enumerate())
    }
}

#[test]
fn private_by_brute_force_and_only_as_monotone_as_the_relation() {
    let all = || datasets::histograms(3, 6);
    let replace = |d: &Vec<u64>| datasets::histogram_replace_one(d);
    let add = |d: &Vec<u64>| datasets::histogram_add_or_remove_one(d);
    for e in [0.3, 1.0, 2.0] {
        neighbours::check(choice(e, Change::General), all(), replace, e, 0.0).unwrap();
        neighbours::check(choice(e, Change::General), all(), add, e, 0.0).unwrap();
        neighbours::check(choice(e, Change::Monotone), all(), add, e, 0.0).unwrap();
        // Counts are not monotone when one row replaces another: twice the ε.
        let wrong = neighbours::check(choice(e, Change::Monotone), all(), replace, e, 0.0);
        assert!(wrong.is_err());

        let orders = [1.01, 1.5, 2.0, 4.0, 16.0, 64.0];
        let rho = mechanism(e).rho().unwrap().get();
        assert!((rho - e * e / 8.0).abs() < 1e-15);
        let zcdp =
            |change, rho| neighbours::check_zcdp(choice(e, change), all(), replace, rho, &orders);
        zcdp(Change::General, rho).unwrap();
        assert!(zcdp(Change::General, 0.7 * rho).is_err()); // it is nearly tight
        assert!(zcdp(Change::Monotone, rho).is_err());
        neighbours::check_zcdp(choice(e, Change::Monotone), all(), add, rho, &orders).unwrap();
    }
}

#[test]
fn special_values() {
    for bad in [vec![], vec![f64::NAN], vec![1.0, f64::INFINITY], vec![f64::NEG_INFINITY]] {
        assert!(Scores::general(bad).unwrap_err().to_string().contains("scores"));
    }
    let mut rng = SeededForTests::insecure(3);
    let pick = |values: &[f64], rng: &mut SeededForTests| {
        let scores = Scores::general(values.to_vec()).unwrap();
        mechanism(1.0).select(&scores, rng).unwrap().into_value()
    };
    assert_eq!(pick(&[f64::MIN], &mut rng), 0);
    assert_eq!(pick(&[f64::MIN, f64::MAX, 1e308], &mut rng), 1);
    assert!(pick(&[-0.0, 0.0], &mut rng) < 2);
    let far = Scores::general(vec![-1e300, -1e300 - 1e285, 5e-324, 0.0]).unwrap();
    assert_eq!(mechanism(1.0).probabilities(&far).unwrap(), [0.0, 0.0, 0.5, 0.5]);
    let secret = Scores::general(vec![31_337.0]).unwrap();
    assert!(!format!("{secret:?}").contains("31"));
    assert_eq!(
        <Scores<f64>>::counts(&[u64::MAX], Neighbours::Replace).unwrap().values,
        [2f64.powi(53)]
    );
    let (tiny, huge) = (Epsilon::new(1e-300).unwrap(), Sensitivity::new(1e300).unwrap());
    assert!(Exponential::new(tiny, huge).is_err());
}

#[test]
fn the_error_bound_is_attained() {
    let beta = Beta::new(0.05).unwrap();
    let t = mechanism(1.0).error(10, Change::General, beta).unwrap();
    assert!((t - 2.0 * (9.0 * 19.0f64).ln()).abs() < 1e-13);
    let mut values = vec![-t; 10];
    values[0] = 0.0;
    let scores = Scores::general(values).unwrap();
    let missed = 1.0 - mechanism(1.0).probabilities(&scores).unwrap()[0];
    assert!(missed <= 0.05 && missed > 0.05 - 1e-12, "{missed}");
    assert_eq!(mechanism(1.0).error(1, Change::General, beta).unwrap(), 0.0);
    assert!(mechanism(1.0).error(10, Change::Monotone, beta).unwrap() < 0.51 * t);
}
