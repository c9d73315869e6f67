//! Exact samplers: every draw has *exactly* the distribution its type names.
//!
//! | file | draws |
//! |---|---|
//! | `uniform` | integers below n; a real in \[0,1) revealed bit by bit |
//! | `bernoulli` | coins of rational and of exponential probability |
//! | `centre` | a protected value on the grid, exactly |
//! | `strips` | the envelope behind the Gaussian samplers |
//! | `geometric` | `⌊sE + g⌋` for an exponential E: the engine of the next two |
//! | `laplace` | discrete Laplace; a real Laplace rounded to the grid |
//! | `exponential` | a real exponential rounded to the grid |
//! | `gaussian` | discrete Gaussian; a real Gaussian rounded to the grid |
//! | `gumbel` | a real Gumbel rounded to the grid |
//! | `log_normal` | a real Laplace of log-normal scale, rounded to the grid |
//! | `student` | a real Student's t rounded to the grid |
//! | `laplace_pareto` | a real Laplace with a Pareto tail, rounded to the grid |
//! | `magnitude` | the search that the last three share |
//!
//! # How a draw is exact and still fast
//! Sixty-four random bits pin a uniform real U down to 2⁻⁶⁴. The wanted integer
//! is computed from them in floats together with a bound on every error made,
//! U's unknown bits included. If the whole interval rounds to one integer,
//! that integer is the answer the infinitely precise algorithm would have
//! given. If not (about one draw in 2²⁵ at scale 10⁶), more bits of the *same*
//! U are drawn and the comparison is repeated in certified arithmetic until it
//! is decided. So the output is a function of an ideal real, and a release on
//! a grid is a post-processing of the ideal real-valued mechanism.
//!
//! All are `draw` for one value and `fill` for a slice. The work of a draw does
//! not depend on the value drawn, beyond what `docs/known-limits.md` states.

mod bernoulli;
mod centre;
mod exponential;
mod gaussian;
mod geometric;
mod gumbel;
mod laplace;
mod laplace_pareto;
mod log_normal;
mod magnitude;
mod strips;
mod student;
mod uniform;

pub use bernoulli::{bernoulli, bernoulli_exp};
pub use exponential::RoundedExponential;
pub use gaussian::{DiscreteGaussian, RoundedGaussian};
pub use geometric::Geometric;
pub use gumbel::RoundedGumbel;
pub use laplace::{DiscreteLaplace, RoundedLaplace};
pub use laplace_pareto::RoundedLaplacePareto;
pub use log_normal::RoundedLaplaceLogNormal;
pub use student::RoundedStudent;
pub use uniform::uniform_below;

pub(crate) use centre::Centre;
pub(crate) use uniform::{LazyUniform, below};

use crate::error::{Error, Result};
use crate::num::Ratio;
use crate::unit::Grid;

/// The exact scale of a noise distribution, in steps of the grid.
///
/// A quotient of two floats, kept exactly: for `Δ/ε` no rounding happens
/// between the privacy parameters and the sampler.
#[derive(Clone, Debug)]
pub struct Scale {
    exact: Ratio,
    approximate: f64,
}

impl Scale {
    /// The scale `value` itself.
    pub fn new(value: f64) -> Result<Self> {
        Self::quotient(value, 1.0)
    }

    /// `numerator / denominator`, exactly; for Laplace noise, Δ/ε.
    pub fn quotient(numerator: f64, denominator: f64) -> Result<Self> {
        let exact = match (Ratio::from_f64(numerator), Ratio::from_f64(denominator)) {
            (Some(n), Some(d)) if numerator > 0.0 && denominator > 0.0 => n.div(&d),
            _ => return Err(Self::range()),
        };
        Self::of(exact)
    }

    fn of(exact: Ratio) -> Result<Self> {
        let approximate = exact.to_f64();
        if approximate.is_normal() { Ok(Self { exact, approximate }) } else { Err(Self::range()) }
    }

    /// Refuses scales that the samplers do not support.
    fn in_steps(&self) -> Result<&Self> {
        // 2^−1000 and 2^60.
        let allowed = 9.332_636_185_032_189e-302..=1_152_921_504_606_846_976.0;
        if allowed.contains(&self.approximate) { Ok(self) } else { Err(Self::range()) }
    }

    fn range() -> Error {
        Error::OutOfRange {
            parameter: "scale",
            allowed: "between 2^-1000 and 2^60 steps of the grid; choose a grid that fits the noise",
        }
    }

    /// The same scale counted in steps of `grid` instead of in ones.
    pub fn on(&self, grid: Grid) -> Result<Self> {
        Self::of(self.exact.scale(-grid.exponent()))
    }

    /// The nearest float (within 2 units in the last place).
    #[must_use]
    pub fn get(&self) -> f64 {
        self.approximate
    }
}

/// Slack that covers every rounding of a float expression with |result| ≤ `x`
/// and at most 16 operations: a relative 2⁻⁴⁸ and a subnormal's worth.
#[inline]
fn rounding(x: f64) -> f64 {
    x.abs() * (1.0 / (1u64 << 48) as f64) + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests;
