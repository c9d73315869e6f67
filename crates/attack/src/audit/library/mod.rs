//! Every mechanism of `demure-core`, with neighbouring inputs near its worst.
//!
//! | file | what |
//! |---|---|
//! | `noise` | Laplace, geometric, Gaussian noise on numbers and vectors |
//! | `choice` | exponential, permute-and-flip, noisy max, quantiles, the sparse vector |
//! | `tables` | counts, sums, means, histograms, trees, groups, unknown keys |
//! | `stable` | noise that fits the data: smooth bounds, ladders, stable answers, proposals |
//! | `local` | randomizers for people who trust nobody |
//! | `canaries` | those of them that one run audits |
//!
//! The claim is what the mechanism itself promises. No audit may convict any of them.

mod canaries;
mod choice;
mod local;
mod noise;
mod stable;
mod tables;

pub use canaries::canaried;

use super::examine::Claim;
use super::subject::Subject;
use demure_core::Result;
use demure_core::unit::{Delta, Epsilon};

/// All of them, each at ε and, where it needs one, at δ.
///
/// # Errors
/// Some mechanism refuses the ε or the δ.
pub fn all(epsilon: Epsilon, delta: Delta) -> Result<Vec<Subject>> {
    let mut subjects = noise::subjects(epsilon, delta)?;
    subjects.extend(choice::subjects(epsilon)?);
    subjects.extend(tables::subjects(epsilon, delta)?);
    subjects.extend(stable::subjects(epsilon, delta)?);
    subjects.extend(local::subjects(epsilon)?);
    Ok(subjects)
}

/// ε-DP.
fn pure(epsilon: Epsilon) -> Claim {
    Claim { epsilon: Some(epsilon.get()), delta: 0.0 }
}

/// (ε, δ)-DP.
fn approximate(epsilon: Epsilon, delta: Delta) -> Claim {
    Claim { epsilon: Some(epsilon.get()), delta: delta.get() }
}
