use super::*;
use crate::random::SeededForTests;
use demure_testkit::distribution::{Distribution, worst_epsilon};

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn sensitivity(x: f64) -> Sensitivity<L1> {
    Sensitivity::new(x).unwrap()
}

#[test]
fn error_bounds_have_their_known_values() {
    let laplace = Laplace::new(epsilon(1.0), sensitivity(1.0)).unwrap();
    let t = laplace.error(Beta::new(0.05).unwrap()).unwrap();
    let half_step = laplace.grid().spacing();
    assert!((2.995_732_273_553_991..2.995_732_273_554 + half_step).contains(&t), "{t}");
    // P[|Z| ≥ 5] = 0.00985…: at β = 0.01 the error is 4, at 0.0098 it is 5.
    let geometric = Geometric::new(epsilon(1.0), sensitivity(1.0)).unwrap();
    assert_eq!(geometric.error(Beta::new(0.01).unwrap()).unwrap(), 4.0);
    assert_eq!(geometric.error(Beta::new(0.0098).unwrap()).unwrap(), 5.0);
    assert_eq!(geometric.error(Beta::new(0.99).unwrap()).unwrap(), 0.0);
}

#[test]
fn the_geometric_mechanism_is_private_by_brute_force_and_tight() {
    for (eps, delta) in [(0.5, 1), (1.0, 3), (2.0, 2)] {
        let a = (-eps / f64::from(delta)).exp();
        let output = |centre: i128| {
            let mass = |k: i128| (k, (1.0 - a) / (1.0 + a) * a.powi((k - centre).abs() as i32));
            Distribution::with_tail((-60..=60).map(mass), 1e-6)
        };
        for shift in 1..=delta {
            let worst = worst_epsilon(&output(0), &output(i128::from(shift)));
            assert!(worst <= eps + 1e-9);
        }
        assert!(worst_epsilon(&output(0), &output(i128::from(delta))) > eps - 1e-9);
        // One step more than the sensitivity breaks the guarantee: the check has power.
        assert!(worst_epsilon(&output(0), &output(i128::from(delta) + 1)) > eps + 1e-9);
    }
}

#[test]
fn releases_are_centred_and_the_low_bits_tell_nothing() {
    // Every release is a multiple of the grid, whatever the value: the set of
    // possible outputs for x = 0 and x = 1 is the same.
    let laplace = Laplace::new(epsilon(1.0), sensitivity(1.0)).unwrap();
    let mut rng = SeededForTests::insecure(3);
    for value in [0.0, 1.0, 0.1, 1.0 / 3.0, -7.7e5] {
        let mut sum = 0.0;
        for _ in 0..2_000 {
            let y = laplace.release(value, &mut rng).unwrap().into_value();
            assert_eq!((y / laplace.grid().spacing()).fract(), 0.0);
            sum += y - value;
        }
        assert!((sum / 2_000.0).abs() < 4.9 * 2f64.sqrt() / 2_000f64.sqrt());
    }
    assert!(laplace.release(f64::NAN, &mut rng).is_err());
    assert!(laplace.release(f64::INFINITY, &mut rng).is_err());
    let clamped = laplace.release(f64::MAX, &mut rng).unwrap().into_value();
    assert_eq!(clamped, laplace.grid().at(1 << 120));
}

#[test]
fn vectors_are_noised_coordinate_by_coordinate() {
    let mut rng = SeededForTests::insecure(4);
    let laplace = Laplace::new(epsilon(2.0), sensitivity(2.0)).unwrap();
    let noised = laplace.release_vector(&[1.0, 2.0, 3.0], &mut rng).unwrap().into_value();
    assert_eq!(noised.len(), 3);
    assert!(noised[1] - noised[0] != 1.0);
    let geometric = Geometric::new(epsilon(1.0), sensitivity(1.0)).unwrap();
    let noised = geometric.release_vector(&[i128::MAX, 0], &mut rng).unwrap();
    assert_eq!(noised.value().len(), 2);
    assert_eq!(noised.guarantee(), Guarantee::Pure(epsilon(1.0)));
}
