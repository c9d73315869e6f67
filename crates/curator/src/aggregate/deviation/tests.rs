use super::*;
use crate::aggregate::Most;
use demure_core::mechanism::Budget;
use demure_core::random::SeededForTests;
use demure_core::unit::{Epsilon, Neighbours};

/// The deviation of one group of these values, in steps of 1 from 0 to 100.
fn released(epsilon: f64, values: &[f64], rng: &mut SeededForTests) -> f64 {
    let bounds = Bounds::on(0.0, 100.0, demure_core::unit::Grid::ONE).unwrap();
    let budget = Budget::Pure(Epsilon::new(epsilon).unwrap());
    let share = Share { budget, delta: None, neighbours: Neighbours::Replace };
    let half = share.half().unwrap();
    let median = || Ordered::new((0, 0.5), bounds, &half, (Most::of(1, 1), true), None).unwrap();
    let (centre, distance) = (median(), median());
    let values: Vec<(f64, u64)> = values.iter().map(|x| (*x, 1)).collect();
    let at = centre.release_one(&values, rng).unwrap().value;
    let distances: Vec<(f64, u64)> = values.iter().map(|(x, n)| ((x - at).abs(), *n)).collect();
    distance.release_one(&distances, rng).unwrap().value
}

#[test] // fixed seed
fn much_epsilon_gives_the_true_deviation_and_little_does_not() {
    // Median 50; the distances are 0, 1, 1, … 50, 50: their median is 25.
    let values: Vec<f64> = (0..=100).map(f64::from).collect();
    let mut rng = SeededForTests::insecure(5);
    let mut near = |epsilon: f64| {
        let released = (0..200).map(|_| released(epsilon, &values, &mut rng));
        released.filter(|x| (x - 25.0).abs() <= 1.0).count()
    };
    assert!(near(8.0) > 150);
    assert!(near(0.01) < 50);
}

#[test]
fn two_halves_cost_at_most_the_whole() {
    for epsilon in [0.1, 0.3, 1.0 / 3.0, 5e-324 * 4.0] {
        let budget = Budget::Pure(Epsilon::new(epsilon).unwrap());
        let share = Share { budget, delta: None, neighbours: Neighbours::AddRemove };
        let Budget::Pure(half) = share.half().unwrap().budget else { panic!() };
        assert!(half.get() + half.get() <= epsilon);
    }
}
