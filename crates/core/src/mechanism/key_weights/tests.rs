use super::*;
use crate::random::SeededForTests;
use Neighbours::{AddRemove, Replace};
use demure_testkit::distribution::Distribution;
use demure_testkit::{datasets, neighbours};

fn keys(epsilon: f64, delta: f64, relation: Neighbours) -> KeyWeights {
    KeyWeights::new(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap(), relation).unwrap()
}

/// `P[w + Z ≥ T]` in closed form.
fn chance(keys: &KeyWeights, epsilon: f64, weight: u64) -> f64 {
    let a = (-epsilon / ONE as f64).exp();
    match keys.threshold - i128::from(weight) {
        k if k >= 1 => a.powf(k as f64) / (1.0 + a),
        k => 1.0 - a.powf(1.0 - k as f64) / (1.0 + a),
    }
}

/// A unit is a set of keys, as bits; the output is the set that comes back.
fn law(of: &KeyWeights, epsilon: f64, units: &[u32]) -> Distribution<u32> {
    let mut weights = [0u64; 3];
    for unit in units {
        for (key, weight) in weights.iter_mut().enumerate() {
            if unit >> key & 1 == 1 {
                *weight += KeyWeights::weight(unit.count_ones().into());
            }
        }
    }
    let chances = weights.map(|w| if w == 0 { 0.0 } else { chance(of, epsilon, w) });
    let one = |set: u32| {
        let each = chances.iter().enumerate();
        each.map(|(i, p)| if set >> i & 1 == 1 { *p } else { 1.0 - p }).product::<f64>()
    };
    Distribution::new((0..8).map(|set| (set, one(set))))
}

#[test]
fn private_by_brute_force_under_both_relations() {
    let domain: Vec<u32> = (1..8).collect();
    let replace = |d: &Vec<u32>| datasets::replace_one(d, &domain);
    let add = |d: &Vec<u32>| datasets::add_or_remove_one(d, &domain);
    for (epsilon, delta) in [(1.0, 0.05), (0.3, 0.01), (3.0, 0.2)] {
        let all = || datasets::rows(&domain, 0..=3);
        let one = keys(epsilon, delta, AddRemove);
        let release = |units: &Vec<u32>| law(&one, epsilon, units);
        neighbours::check(release, all(), add, epsilon, delta).unwrap();
        let one = keys(epsilon, delta, Replace);
        let release = |units: &Vec<u32>| law(&one, epsilon * 0.5, units);
        neighbours::check(release, all(), replace, epsilon, delta).unwrap();
    }
    // A lower threshold shows the keys of one unit too often.
    let lax = KeyWeights { threshold: 2 * i128::from(ONE), ..keys(1.0, 0.05, AddRemove) };
    let release = |units: &Vec<u32>| law(&lax, 1.0, units);
    assert!(neighbours::check(release, datasets::rows(&domain, 0..=2), add, 1.0, 0.05).is_err());
}

#[test]
fn the_threshold_is_the_least() {
    for (epsilon, delta) in [(1.0, 1e-6), (0.1, 1e-3), (10.0, 1e-9)] {
        let one = keys(epsilon, delta, AddRemove);
        let worst = |of: &KeyWeights| {
            let each = (1..=KeyWeights::MOST_KEYS)
                .map(|k| k as f64 * chance(of, epsilon, KeyWeights::weight(k)));
            each.fold(0.0, f64::max)
        };
        assert!(worst(&one) <= delta);
        let less = KeyWeights { threshold: one.threshold - i128::from(ONE) / 1_000, ..one.clone() };
        assert!(worst(&less) > delta, "{epsilon} {delta}");
    }
}

#[test]
fn releases_are_as_likely_as_the_formula_says() {
    let one = keys(1.0, 0.05, AddRemove);
    let mut rng = SeededForTests::insecure(7);
    let weights = BTreeMap::from([("a", 4 * ONE), ("b", 5 * ONE / 2), ("c", 0)]);
    let mut came = BTreeMap::new();
    for _ in 0..20_000 {
        for key in one.release(&weights, &mut rng).unwrap().into_value() {
            *came.entry(key).or_insert(0u32) += 1;
        }
    }
    for (key, weight) in weights {
        let expected = if weight == 0 { 0.0 } else { chance(&one, 1.0, weight) };
        let seen = f64::from(came.get(key).copied().unwrap_or(0)) / 20_000.0;
        assert!((seen - expected).abs() < 0.015, "{key}: {seen} {expected}");
    }
}

#[test]
fn enough_people_bring_a_key_back() {
    let one = keys(0.5, 1e-5, AddRemove);
    let beta = Beta::new(0.05).unwrap();
    for k in [1, 3, 10] {
        let units = one.units(k, beta).unwrap();
        assert!(chance(&one, 0.5, units * KeyWeights::weight(k)) >= 0.95);
    }
    assert_eq!(
        [0, 1, 2, 1_000, 1_001, u64::MAX].map(KeyWeights::weight),
        [0, ONE, ONE / 2, 1_048, 0, 0]
    );
}
