//! Reconstruction: enough accurate answers give back the rows (Dinur & Nissim 2003).
//!
//! Each of n people has a secret bit. The attacker asks how many of a random subset have it, m
//! times, and solves for the bits.
//!
//! | file | what |
//! |---|---|
//! | `subsets` | which rows each query counts |
//! | `database` | what answers: plain, noised, rounding, suppressing |
//! | `least_squares` | the attack, and the default |
//! | `program` | the attack by linear programming |
//! | `experiment` | how much is recovered, by how much noise and how many queries |
//!
//! # How much least squares recovers
//! With independent noise of standard deviation σ on each of m > n answers, a bit is recovered with
//! probability about `Φ(√(m−n)/(4σ))` ([`expected`]).
//!
//! # Proof
//! The estimate is `x̂ = (AᵀA)⁻¹Aᵀy = x + (AᵀA)⁻¹Aᵀz`, so its j-th error has variance
//! `σ²·((AᵀA)⁻¹)ⱼⱼ = σ²/d²`, where d is the distance of column j from the span of the n−1 others.
//! Write `A = ½(1 + B)` with B of independent signs: column j is `½(1 + bⱼ)`. The signs `bⱼ` are
//! independent of the others' span S, of dimension n−1, so `E‖bⱼ − P_S bⱼ‖² = m − n + 1`, with a
//! standard deviation of order √m. The vector 1 is almost in S: `2/n` times the sum of the columns
//! is 1 plus a vector of squared length about m/n. Hence `d² = ¼(m − n)·(1 + O(1/n) + O(1/√(m−n)))`
//! and the error has standard deviation `2σ/√(m−n)`. The bit is lost where the error passes ½ in the wrong
//! direction: probability `Φ(−½·√(m−n)/(2σ))`. For Gaussian noise the law given A is exactly
//! normal; for other noise it is so in the limit, as no single answer weighs much in the sum. ∎
//!
//! What it is not for: m ≤ n (there the estimate is the nearest to ½ of many); rounding so coarse
//! that all answers are alike, where the error is no longer independent of the answer. Half
//! of the n bits are in about half of the subsets, so the answers spread by √(n/8); rounding to steps r
//! is noise of r/√12 while r is not above twice that ([`Database::sigma`]). Coarser rounding may tell *more*: a step whose edge is at the answers' mean
//! is one clean bit of each.
//!
//! # Where the cliff is
//! At m = 4n it is `Φ(0.43·√n/σ)`: all but one in 3,700 at σ = √n/8, 67 % at √n, 52 % at 8√n. With more
//! queries at the same noise it moves outwards as √m. A budget turns that round: ε split over m counts is noise
//! of σ = √2·m/ε, and `√(m−n)·ε/(4√2·m)` is largest at m = 2n, where it is `ε/(8√(2n))`: 50.4 % at
//! n = 100, ε = 1 ([`under_budget`]).

mod database;
mod experiment;
mod least_squares;
mod program;
mod subsets;

pub use database::Database;
pub use experiment::{Attack, Measured, measure, measure_all};
pub use least_squares::least_squares;
pub use program::{MOST_ROWS, Norm, linear_program};
pub use subsets::Subsets;

use crate::error::Result;
use crate::normal::{Share, normal};
use demure_core::unit::Epsilon;

/// How the rows are solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Conjugate gradients.
    LeastSquares,
    /// A linear program.
    LinearProgram(Norm),
}

/// The attacker's guess of every bit, from the answers that there are.
pub fn reconstruct(
    subsets: &Subsets,
    answers: &[Option<f64>],
    method: Method,
) -> Result<Vec<bool>> {
    let solve = |subsets: &Subsets, answers: &[f64]| match method {
        Method::LeastSquares => least_squares(subsets, answers),
        Method::LinearProgram(norm) => linear_program(subsets, answers, norm),
    };
    let known: Vec<f64> = answers.iter().flatten().copied().collect();
    let x = if known.len() == subsets.queries() {
        solve(subsets, &known)?
    } else {
        let kept: Vec<usize> = (0..answers.len()).filter(|q| answers[*q].is_some()).collect();
        match kept.is_empty() {
            // Nothing is known: every bit is a guess, and all the same one.
            true => vec![0.0; subsets.rows()],
            false => solve(&subsets.only(&kept)?, &known)?,
        }
    };
    Ok(x.into_iter().map(|x| x > 0.5).collect())
}

/// How many bits were guessed right.
#[must_use]
pub fn recovered(truth: &[bool], guess: &[bool]) -> Share {
    let hits = truth.iter().zip(guess).filter(|(a, b)| a == b).count() as u64;
    Share { hits, trials: truth.len() as u64 }
}

/// `Φ(√(m−n)/(4σ))`: what least squares recovers of n rows by m > n answers with noise σ. `None`
/// where m ≤ n.
#[must_use]
pub fn expected(rows: usize, queries: usize, sigma: f64) -> Option<f64> {
    let spare = queries.checked_sub(rows).filter(|spare| *spare > 0)?;
    Some(normal((spare as f64).sqrt() / (4.0 * sigma)))
}

/// The same under a budget of ε split evenly over m sums that a person moves by at most 1.
#[must_use]
pub fn under_budget(rows: usize, queries: usize, budget: Epsilon) -> Option<f64> {
    expected(rows, queries, noise(queries, budget))
}

/// `√2·m/ε`: the standard deviation of each of m answers under that budget, Laplace noise of scale
/// m/ε. (Noise on the whole numbers is a little smaller: by 4 % at a scale of 1.)
#[must_use]
pub fn noise(queries: usize, budget: Epsilon) -> f64 {
    std::f64::consts::SQRT_2 * queries as f64 / budget.get()
}

#[cfg(test)]
mod tests;
