//! Differencing: an attacker who knows every row but one asks for an aggregate and subtracts.
//!
//! The attacker knows what the answer would be *without* the target and what it would be *with*, and
//! guesses whichever the answer is nearer to. Exact answers give the target away each time.
//!
//! # How often the guess is right
//! For a count that the target moves by 1, each world equally likely:
//!
//! | answer | right | |
//! |---|---|---|
//! | exact | 1 | |
//! | one, discrete Laplace of ε | `1/(1+e^{−ε})` | the bound itself: no guess is better ([`crate::bound::guess`]) |
//! | one, Laplace of scale 1/ε | `1 − ½e^{−ε/2}` | |
//! | the difference of two such | `1 − ½e^{−ε/2}(1 + ε/4)` | and 2ε are spent |
//!
//! # Proof
//! A guess is wrong where noise passes ½ in one direction. Discrete: `P[Z ≥ 1] = a/(1+a)` with
//! `a = e^{−ε}`. Laplace of scale b: `½e^{−1/(2b)}`. The difference of two has density
//! `(1 + |z|/b)e^{−|z|/b}/(4b)`, hence the tail `½e^{−z/b}(1 + z/(2b))`; at z = ½ and b = 1/ε. ∎

use crate::draws::Draws;
use crate::normal::Share;
use demure_core::unit::Epsilon;

/// Whether the answer looks like the world with the target in it.
#[must_use]
pub fn guess(answer: f64, without: f64, with: f64) -> bool {
    (answer - with).abs() < (answer - without).abs()
}

/// How many of the answers, each with what is true, are guessed right.
#[must_use]
pub fn judge(answers: &[(f64, bool)], without: f64, with: f64) -> Share {
    let right = answers.iter().filter(|(answer, truth)| guess(*answer, without, with) == *truth);
    Share { hits: right.count() as u64, trials: answers.len() as u64 }
}

/// `1/(1+e^{−ε})`: one count with discrete Laplace noise.
#[must_use]
pub fn discrete(epsilon: Epsilon) -> f64 {
    1.0 / (1.0 + (-epsilon.get()).exp())
}

/// `1 − ½e^{−ε/2}`: one count with Laplace noise.
#[must_use]
pub fn laplace(epsilon: Epsilon) -> f64 {
    1.0 - 0.5 * (-0.5 * epsilon.get()).exp()
}

/// `1 − ½e^{−ε/2}(1 + ε/4)`: the difference of two counts with Laplace noise, ε each.
#[must_use]
pub fn two_laplace(epsilon: Epsilon) -> f64 {
    let e = epsilon.get();
    1.0 - 0.5 * (-0.5 * e).exp() * (1.0 + 0.25 * e)
}

/// The textbook's attack, measured: the attacker knows nobody's row, asks for all and for all but
/// the target, each with Laplace noise of scale 1/ε, and subtracts.
#[must_use]
pub fn measure_two_laplace(epsilon: Epsilon, repeat: u64, draws: &mut Draws) -> Share {
    let mut hits = 0;
    for _ in 0..repeat {
        let target = draws.coin();
        let noise = (draws.laplace() - draws.laplace()) / epsilon.get();
        hits += u64::from(guess(f64::from(u8::from(target)) + noise, 0.0, 1.0) == target);
    }
    Share { hits, trials: repeat }
}

#[cfg(test)]
mod tests {
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
}
