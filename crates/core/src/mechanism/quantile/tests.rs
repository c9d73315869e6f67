use super::*;
use crate::random::SeededForTests;
use Neighbours::{AddRemove, Replace};
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::{datasets, neighbours};

fn integers(epsilon: f64, relation: Neighbours, rank: f64, high: f64) -> Quantile {
    let epsilon = Epsilon::new(epsilon).unwrap();
    Quantile::with_grid(epsilon, relation, rank, 0.0..=high, Grid::ONE).unwrap()
}

/// The formula, point by point, at the rate ε/(2Δ).
fn formula(values: &[f64], q: f64, rate: f64, points: u32) -> Vec<f64> {
    let weight = |o: u32| {
        let below = values.iter().filter(|&&x| x < f64::from(o)).count() as f64;
        let up_to = values.iter().filter(|&&x| x <= f64::from(o)).count() as f64;
        let wanted = q * values.len() as f64;
        (-rate * (below - wanted).max(wanted - up_to).max(0.0)).exp()
    };
    let total: f64 = (0..points).map(weight).sum();
    (0..points).map(|o| weight(o) / total).collect()
}

#[test]
fn the_table_is_the_formula_duplicates_and_all() {
    for values in
        [vec![], vec![3.0], vec![7.0; 4], vec![0.0, 0.0, 9.0], vec![5.0, 1.0, 5.0, 2.0, 8.0, 9.0]]
    {
        for (q, relation, delta) in
            [(0.5, Replace, 1.0), (0.25, AddRemove, 0.75), (0.875, AddRemove, 0.875)]
        {
            let quantile = integers(1.5, relation, q, 9.0);
            let table = quantile.probabilities(&values).unwrap();
            let expected = formula(&values, q, 0.75 / delta, 10);
            assert_eq!(table.len(), 10);
            assert_eq!(quantile.sensitivity(), delta);
            assert!((quantile.scale() * 1.5 / (2.0 * delta) - 1.0).abs() < 1e-15);
            for (k, (point, p)) in table.into_iter().enumerate() {
                assert_eq!(point, k as f64);
                assert!((p - expected[k]).abs() < 1e-14, "{values:?} {q} {k}");
            }
        }
    }
}

#[test]
fn releases_fit_the_table_and_the_test_has_power() {
    let values: Vec<f64> = (0..20).map(|i| f64::from(i * i % 97)).collect();
    for (seed, relation, q) in [(1, Replace, 0.5), (2, AddRemove, 0.9)] {
        let mut rng = SeededForTests::insecure(seed);
        let median = integers(0.5, relation, q, 99.0);
        let draws: Vec<_> = (0..200_000)
            .map(|_| median.release(&values, &mut rng).unwrap().into_value() as i128)
            .collect();
        let fit = |epsilon| {
            let table = integers(epsilon, relation, q, 99.0).probabilities(&values).unwrap();
            Fit::of(draws.iter().copied(), |k| table[k as usize].1, 0..=99)
        };
        assert!(fit(0.5).accepts() && fit(0.525).rejects(), "{relation}");
    }
}

#[test]
fn private_by_brute_force_under_each_relation_with_its_own_sensitivity() {
    let domain = [0, 1, 2, 3];
    let replace = |d: &Vec<i32>| datasets::replace_one(d, &domain);
    let add = |d: &Vec<i32>| datasets::add_or_remove_one(d, &domain);
    let release = |relation, q| {
        move |rows: &Vec<i32>| {
            let values: Vec<_> = rows.iter().map(|&x| f64::from(x)).collect();
            let table = integers(1.0, relation, q, 3.0).probabilities(&values).unwrap();
            Distribution::new(table.into_iter().map(|(o, p)| (o as i32, p)))
        }
    };
    for q in [0.5, 0.25, 0.9] {
        let all = || datasets::rows(&domain, 0..=4);
        neighbours::check(release(Replace, q), all(), replace, 1.0, 0.0).unwrap();
        neighbours::check(release(AddRemove, q), all(), add, 1.0, 0.0).unwrap();
        let orders = [1.1, 2.0, 8.0, 64.0];
        let rho = integers(1.0, Replace, q, 3.0).rho().unwrap().get();
        neighbours::check_zcdp(release(AddRemove, q), all(), add, rho, &orders).unwrap();
    }
    // The sensitivity of the median under add or remove, ½, is not enough for replace.
    let wrong = neighbours::check(
        release(AddRemove, 0.5),
        datasets::rows(&domain, 4..=4),
        replace,
        1.0,
        0.0,
    );
    assert!(wrong.is_err());
}

#[test]
fn special_values() {
    let table = |values: &[f64]| integers(1.0, Replace, 0.5, 9.0).probabilities(values).unwrap();
    assert_eq!(table(&[f64::NAN, 4.0, f64::NAN]), table(&[4.0]));
    let outside = [f64::NEG_INFINITY, -3.0, 1e300, f64::INFINITY, 4.4, 3.6];
    assert_eq!(table(&outside), table(&[0.0, 0.0, 9.0, 9.0, 4.0, 4.0]));
    let epsilon = Epsilon::new(1.0).unwrap();
    for (rank, low, high) in [
        (0.0, 0.0, 1.0),
        (1.0, 0.0, 1.0),
        (f64::NAN, 0.0, 1.0),
        (0.5, 1.0, 1.0),
        (0.5, 2.0, 1.0),
        (0.5, f64::NAN, 1.0),
        (0.5, 0.0, f64::INFINITY),
        (0.5, f64::MIN, f64::MAX),
        (0.5, 1e15, 1e15 + 1.0),
    ] {
        let error = Quantile::between(epsilon, Replace, rank, low..=high).unwrap_err().to_string();
        assert!(error.contains("rank") || error.contains("bounds"), "{error}");
    }
}

#[test]
fn a_wide_grid_is_as_good_as_a_narrow_one_and_the_error_holds() {
    let epsilon = Epsilon::new(0.1).unwrap();
    let income = Quantile::between(epsilon, AddRemove, 0.5, -1e6..=1e6).unwrap();
    assert_eq!((income.points(), income.grid().spacing()), (2_000_001, 1.0));
    let values: Vec<f64> = (0..20_001).map(|i| f64::from(i) * 10.0).collect();
    let bound = income.error(Beta::new(1e-6).unwrap()).unwrap();
    assert!((270.0..290.0).contains(&bound), "{bound}"); // (2Δ/ε)·ln(2e12), Δ = ½
    let mut rng = SeededForTests::insecure(3);
    for _ in 0..200 {
        let median = income.release(&values, &mut rng).unwrap().into_value();
        // A rank error of |½#below − ½#above| ranks is that many tens.
        assert!((median - 100_000.0).abs() <= 10.0 * bound + 10.0, "{median}");
    }
}

#[test]
fn counted_values_are_the_same_as_repeated_ones() {
    let quantile = integers(1.0, AddRemove, 0.25, 20.0);
    let counted = [(7.0, 3), (2.0, 5), (7.0, 2), (f64::NAN, 9), (30.0, 4), (11.0, 0)];
    let repeated: Vec<f64> = counted
        .iter()
        .filter(|(x, _)| !x.is_nan())
        .flat_map(|&(x, n)| std::iter::repeat_n(x, n as usize))
        .collect();
    let errors = |segments: Vec<Segment>| -> Vec<u128> {
        segments.iter().flat_map(|s| std::iter::repeat_n(s.error, s.count as usize)).collect()
    };
    let places: Vec<(u64, u64)> = vec![(2, 5), (7, 3), (7, 2), (11, 0), (20, 4)];
    let expected = errors(quantile.segments(&repeated));
    assert_eq!(expected.len(), 21);
    assert_eq!(errors(quantile.segments_of(&places)), expected);
    let mut rng = SeededForTests::insecure(5);
    let draws: Vec<i128> = (0..50_000)
        .map(|_| quantile.release_counted(&counted, &mut rng).unwrap().into_value() as i128)
        .collect();
    let table = quantile.probabilities(&repeated).unwrap();
    assert!(Fit::of(draws, |k| table[k as usize].1, 0..=20).accepts());
}

/// Thirty distributions in which many values are equal: ages, ratings, counts, and worse.
fn tied() -> Vec<Vec<f64>> {
    let mut rng = SeededForTests::insecure(18);
    let mut all = vec![vec![7.0; 400], vec![0.0; 300], vec![100.0; 300]];
    for share in [10, 346, 500, 900] {
        // Many at one value, the others spread evenly.
        all.push((0..1_000).map(|i| if i < share { 9.0 } else { f64::from(i % 101) }).collect());
    }
    for values in [2, 3, 5, 7, 10, 20, 50] {
        let step = f64::from(100 / values);
        let mut draw = |skew: u32| -> Vec<f64> {
            let one = |rng: &mut SeededForTests| {
                let draws = (0..skew).map(|_| uniform_below(values as u64, rng).unwrap());
                draws.min().unwrap_or(0) as f64 * step
            };
            (0..2_000).map(|_| one(&mut rng)).collect()
        };
        all.extend([draw(1), draw(2), draw(5)]);
    }
    all.extend([vec![], vec![50.0]]);
    all
}

#[test]
fn the_rank_is_within_the_stated_error_where_many_values_are_equal() {
    let all = tied();
    assert_eq!(all.len(), 30);
    let mut rng = SeededForTests::insecure(19);
    for (i, values) in all.iter().enumerate() {
        for q in [0.25, 0.5, 0.9] {
            let quantile = integers(0.5, AddRemove, q, 100.0);
            let stated = quantile.error(Beta::new(0.05).unwrap()).unwrap();
            let wanted = q * values.len() as f64;
            let held = (0..1_000).filter(|_| {
                let o = quantile.release(values, &mut rng).unwrap().into_value();
                let below = values.iter().filter(|x| **x < o).count() as f64;
                let up_to = values.iter().filter(|x| **x <= o).count() as f64;
                below - wanted <= stated && wanted - up_to <= stated
            });
            assert!(held.count() >= 950, "distribution {i}, rank {q}");
        }
    }
}

#[test]
fn sorting_is_sorting() {
    let mut rng = SeededForTests::insecure(4);
    for bound in [1, 2, 256, 257, 1 << 20, 1 << 54] {
        let mut places: Vec<_> =
            (0..500).map(|_| uniform_below(bound, &mut rng).unwrap()).collect();
        let mut expected = places.clone();
        expected.sort_unstable();
        sort(&mut places, bound);
        assert_eq!(places, expected);
    }
}
