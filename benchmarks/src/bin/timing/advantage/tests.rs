use super::*;
use demure_core::random::SeededForTests;
use demure_core::sample::{DiscreteGaussian, Scale};

fn normal(n: usize, mean: f64, sigma: f64, seed: u64) -> Vec<f64> {
    let mut random = SeededForTests::insecure(seed);
    let noise = DiscreteGaussian::new(&Scale::new(1e6).unwrap()).unwrap();
    (0..n).map(|_| mean + sigma * noise.draw(&mut random).unwrap() as f64 / 1e6).collect()
}

#[test]
fn what_is_alike_has_no_advantage_and_what_is_apart_has_all() {
    let found = advantage(&normal(2_000, 1.0, 0.1, 1), &normal(2_000, 1.0, 0.1, 2));
    assert!(found.value.abs() < 4.0 * found.error, "{found:?}");
    assert!(found.error < 0.02 && found.value < 0.1, "{found:?}");
    let found = advantage(&normal(300, 1.0, 0.01, 3), &normal(300, 2.0, 0.01, 4));
    assert!(found.value == 1.0, "{found:?}");
}

#[test]
fn an_advantage_is_that_of_the_best_test() {
    // Means one standard deviation apart: 2Φ(1/2) − 1.
    let found = advantage(&normal(5_000, 0.0, 1.0, 5), &normal(5_000, 1.0, 1.0, 6));
    assert!((found.value - 0.383).abs() < 4.0 * found.error, "{found:?}");
    // The other way round it is the same.
    let back = advantage(&normal(5_000, 1.0, 1.0, 6), &normal(5_000, 0.0, 1.0, 5));
    assert!((back.value - 0.383).abs() < 4.0 * back.error, "{back:?}");
}

#[test]
fn a_difference_of_shape_is_seen() {
    // Same mean, three times as wide: 0.46 with the best test, half of it with a threshold.
    let found = advantage(&normal(5_000, 0.0, 1.0, 7), &normal(5_000, 0.0, 3.0, 8));
    assert!(found.value > 0.4, "{found:?}");
}

#[test]
fn the_least_that_fails_is_caught() {
    // A true advantage of 0.38 in 300 each is above 0.1 beyond doubt.
    let found = advantage(&normal(300, 0.0, 1.0, 9), &normal(300, 1.0, 1.0, 10));
    assert!(found.value > 0.1, "{found:?}");
}
