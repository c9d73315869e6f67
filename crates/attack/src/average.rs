//! Averaging: the same question again and again, until the noise is gone.
//!
//! Fresh noise of standard deviation s on each of k answers leaves `s/√k` on their mean: for
//! Laplace noise of scale b, `√2·b/√k`, and the mean rounds to the true count with probability
//! about `2Φ(√k/(2√2·b)) − 1` (by the central limit theorem). Privacy adds up, k·ε; a database that
//! does not count it has no privacy left when k is large.

use crate::draws::Draws;
use crate::normal::{Share, normal};
use demure_core::unit::Epsilon;

/// What an attacker has after so many questions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Averaged {
    /// How many were asked.
    pub asked: usize,
    /// The root of the mean squared error of the mean, over all runs.
    pub error: f64,
    /// How often the mean rounds to the true count.
    pub right: Share,
}

/// `√2·b/√k` with b = 1/ε.
#[must_use]
pub fn expected_error(epsilon: Epsilon, asked: usize) -> f64 {
    (2.0 / asked as f64).sqrt() / epsilon.get()
}

/// `2Φ(√k/(2√2·b)) − 1`, for k large enough that the mean is about normal.
#[must_use]
pub fn expected_right(epsilon: Epsilon, asked: usize) -> f64 {
    2.0 * normal((asked as f64 / 8.0).sqrt() * epsilon.get()) - 1.0
}

/// A database that draws fresh Laplace noise for every question, attacked `runs` times; what is
/// known at each of `points`, which ascend.
#[must_use]
pub fn naive(epsilon: Epsilon, points: &[usize], runs: usize, draws: &mut Draws) -> Vec<Averaged> {
    let most = points.last().copied().unwrap_or(0);
    let mut errors = vec![Vec::with_capacity(runs); points.len()];
    for _ in 0..runs {
        let (mut sum, mut asked) = (0.0, 0);
        for (errors, point) in errors.iter_mut().zip(points) {
            while asked < (*point).min(most) {
                sum += draws.laplace() / epsilon.get();
                asked += 1;
            }
            errors.push(sum / asked.max(1) as f64);
        }
    }
    points.iter().zip(&errors).map(|(asked, errors)| averaged(*asked, errors)).collect()
}

/// The same from answers that were given: for each run, the answers in order; where they end, the
/// attacker was refused, and what is known stays.
#[must_use]
pub fn of_answers(truth: f64, runs: &[Vec<f64>], points: &[usize]) -> Vec<Averaged> {
    let mean_error = |run: &Vec<f64>, asked: usize| {
        let had = &run[..asked.min(run.len())];
        had.iter().sum::<f64>() / had.len().max(1) as f64 - truth
    };
    let at = |asked: &usize| {
        let errors: Vec<f64> = runs.iter().map(|run| mean_error(run, *asked)).collect();
        averaged(*asked, &errors)
    };
    points.iter().map(at).collect()
}

fn averaged(asked: usize, errors: &[f64]) -> Averaged {
    let squares: f64 = errors.iter().map(|e| e * e).sum();
    let hits = errors.iter().filter(|e| e.abs() < 0.5).count() as u64;
    Averaged {
        asked,
        error: (squares / errors.len().max(1) as f64).sqrt(),
        right: Share { hits, trials: errors.len() as u64 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_that_is_fresh_falls_as_the_root_and_the_test_has_power() {
        let epsilon = Epsilon::new(0.5).unwrap();
        let points = [1, 10, 100, 1000];
        let runs = 4000;
        for found in naive(epsilon, &points, runs, &mut Draws::new(5)) {
            let expected = expected_error(epsilon, found.asked);
            // A mean square of 4,000 has a relative standard error of at most √(5/4000) = 3.5 %
            // (Laplace has kurtosis 6), its root half of that: 10 % is above five.
            let ratio = found.error / expected;
            assert!((ratio - 1.0).abs() < 0.1, "{found:?}");
            assert!((ratio * 1.25 - 1.0).abs() > 0.1);
        }
        let far = naive(epsilon, &[1000], runs, &mut Draws::new(6))[0];
        let expected = expected_right(epsilon, 1000);
        let spread = (expected * (1.0 - expected) / runs as f64).sqrt();
        assert!((far.right.rate() - expected).abs() < 5.0 * spread.max(1e-3), "{far:?}");
        assert!((expected_right(Epsilon::new(1.0).unwrap(), 100) - 0.99959).abs() < 1e-4);
    }

    #[test]
    fn a_remembered_answer_and_a_refusal_leave_the_error_where_it_was() {
        let runs = [vec![12.0; 50], vec![7.0; 50]];
        let cached = of_answers(10.0, &runs, &[1, 10, 1000]);
        let error = (6.5f64).sqrt();
        assert!(cached.iter().all(|a| (a.error - error).abs() < 1e-12 && a.right.hits == 0));
        let refused = of_answers(10.0, &[vec![11.0, 9.0]], &[1, 2, 1000]);
        let errors: Vec<f64> = refused.iter().map(|a| a.error).collect();
        assert_eq!(errors, [1.0, 0.0, 0.0]);
    }
}
