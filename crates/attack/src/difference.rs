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
mod tests;
