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
mod tests;
