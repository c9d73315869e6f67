use super::*;
use crate::bound;
use demure_core::mechanism::Geometric;
use demure_core::random::SeededForTests;
use demure_core::unit::{Delta, Sensitivity};

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

/// Standard errors between a share and what it should be.
fn off(share: Share, expected: f64) -> f64 {
    let spread = (expected * (1.0 - expected) / share.trials as f64).sqrt();
    (share.rate() - expected) / spread
}

#[test]
fn exact_answers_give_the_target_away() {
    let answers = [(41.0, false), (42.0, true), (41.0, false)];
    assert_eq!(judge(&answers, 41.0, 42.0), Share { hits: 3, trials: 3 });
}

#[test]
fn known_values() {
    assert!((two_laplace(epsilon(1.0)) - 0.6209).abs() < 1e-4);
    assert!((two_laplace(epsilon(10.0)) - 0.9882).abs() < 1e-4);
    assert!((laplace(epsilon(1.0)) - 0.6967).abs() < 1e-4);
    for x in [0.1, 1.0, 5.0] {
        assert_eq!(discrete(epsilon(x)), bound::guess(epsilon(x), Delta::ZERO));
        assert!(laplace(epsilon(x)) < discrete(epsilon(x)));
        // Two answers cost 2ε, and stay far below what that allows.
        assert!(two_laplace(epsilon(x)) < bound::guess(epsilon(2.0 * x), Delta::ZERO));
    }
}

// Five standard errors: a false alarm of 6e-7 on a fixed seed.
#[test]
fn the_mechanism_is_attacked_as_often_as_its_bound_says_and_the_test_has_power() {
    for e in [0.5, 1.0, 2.0] {
        let mechanism = Geometric::new(epsilon(e), Sensitivity::new(1.0).unwrap()).unwrap();
        let mut rng = SeededForTests::insecure(3);
        let mut draws = Draws::new(3);
        let answers: Vec<(f64, bool)> = (0..40_000)
            .map(|_| {
                let target = draws.coin();
                let answer = mechanism.release(41 + i128::from(target), &mut rng).unwrap();
                (answer.into_value() as f64, target)
            })
            .collect();
        let share = judge(&answers, 41.0, 42.0);
        assert!(off(share, discrete(epsilon(e))).abs() < 5.0, "{e}: {share:?}");
        // Half the noise that was promised is noticed.
        assert!(off(share, discrete(epsilon(2.0 * e))) < -5.0);
        let two = measure_two_laplace(epsilon(e), 40_000, &mut draws);
        assert!(off(two, two_laplace(epsilon(e))).abs() < 5.0, "{e}: {two:?}");
    }
}
