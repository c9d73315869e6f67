//! Broken mechanisms, most as somebody shipped or published them, which every audit must convict. What names nobody is
//! a mistake of no known maker.
//!
//! | file | what is wrong |
//! |---|---|
//! | `noise` | the noise itself: floats, scales, coins, clipping, redrawing |
//! | `sparse` | sparse vectors and noisy maxima from the literature |
//! | `keys` | unknown keys: shown as they are, or by a threshold one off |
//! | `composition` | several answers: noise used twice, budgets not added up |
//!
//! Where the flaw is not the noise itself, the noise is `demure-core`'s, drawn exactly, so that it
//! is the flaw that is convicted. Every one has a twin in [`super::library`] that does the same right.
//!
//! # What this module is not
//! A library. Nothing here makes a release: the outputs are plain numbers, and none is private.

mod composition;
mod keys;
mod noise;
mod sparse;

use super::examine::Claim;
use super::subject::Subject;
use demure_core::Result;
use demure_core::mechanism::{Geometric, Laplace};
use demure_core::unit::{Epsilon, Grid, Sensitivity};

/// All of them, each with the claim that its makers make.
///
/// # Errors
/// None that can be met: the parameters are fixed.
pub fn all() -> Result<Vec<Subject>> {
    let mut subjects = noise::subjects()?;
    subjects.extend(sparse::subjects()?);
    subjects.extend(keys::subjects()?);
    subjects.extend(composition::subjects()?);
    Ok(subjects)
}

/// ε = 1, as everyone claims.
const ONE: Claim = Claim { epsilon: Some(1.0), delta: 0.0 };

/// Exact two-sided geometric noise of a scale.
fn whole_noise(scale: f64) -> Result<Geometric> {
    Geometric::new(Epsilon::new(1.0)?, Sensitivity::new(scale)?)
}

/// Exact Laplace noise of a scale, on a grid of 2⁻²⁰ whatever the scale.
fn real_noise(scale: f64) -> Result<Laplace> {
    Laplace::with_grid(Epsilon::new(1.0)?, Sensitivity::new(scale)?, Grid::power_of_two(-20)?)
}
