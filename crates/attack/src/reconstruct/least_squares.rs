//! The attack that is hard to beat: the bits that fit all answers best, in squares.
//!
//! Conjugate gradients on the normal equations (CGLS; Björck 1996, §7.4.1), never forming `AᵀA`.
//! A matrix of coins with m = c·n rows has all singular values but one within `½√n(√c ± 1)`
//! (Marchenko & Pastur), so the error shrinks by `1/√c` a step: 27 steps for 8 digits at c = 4,
//! whatever n is. A step reads the bits twice. A Cholesky factor would take n³/3 operations once
//! and n² for each further vector of answers; at n = 2,000 that is 3·10⁹ against 27·2·2·10⁶
//! look-ups here, and the matrix takes 4 MB as bits and 32 MB as `AᵀA`.

use super::subsets::Subsets;
use crate::error::{Error, Result};

/// More steps than this are taken only where m is very near n, and there the answer is noise.
const MOST_STEPS: usize = 400;
/// Relative to where it began, the gradient that is small enough.
const SMALL: f64 = 1e-9;

/// The minimizer of `‖A·x − y‖²` that is nearest to ½, the guess of somebody who knows nothing.
///
/// Where m ≥ n it is the least-squares solution; where m < n the nearest of many.
pub fn least_squares(subsets: &Subsets, answers: &[f64]) -> Result<Vec<f64>> {
    if answers.len() != subsets.queries() {
        return Err(Error::Mismatch { what: "the answers", of: "the queries" });
    }
    let (n, m) = (subsets.rows(), subsets.queries());
    let mut x = vec![0.5; n];
    let mut fitted = vec![0.0; m];
    subsets.product(&x, &mut fitted);
    let mut residual: Vec<f64> = answers.iter().zip(&fitted).map(|(y, f)| y - f).collect();
    let mut gradient = vec![0.0; n];
    subsets.transposed(&residual, &mut gradient);
    let mut direction = gradient.clone();
    let mut size = dot(&gradient, &gradient);
    let enough = size * SMALL * SMALL;
    for _ in 0..MOST_STEPS {
        if size <= enough || size == 0.0 {
            break;
        }
        subsets.product(&direction, &mut fitted);
        let step = size / dot(&fitted, &fitted);
        add(&mut x, step, &direction);
        add(&mut residual, -step, &fitted);
        subsets.transposed(&residual, &mut gradient);
        let next = dot(&gradient, &gradient);
        let turn = next / size;
        direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + turn * *d);
        size = next;
    }
    Ok(x)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], times: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(t, w)| *t += times * w);
}

#[cfg(test)]
mod tests;
