//! Gaussian differential privacy: as hard to distinguish as N(0,1) from N(μ,1).
//!
//! Gaussian noises compose *exactly*: `μ = √(Σμᵢ²)`. So the cost of any number of
//! them, at any δ, is one equation, and no numerical composition is needed.

use super::search;
use super::{Interval, basic};
use crate::error::{Error, Result};
use crate::mechanism::gaussian_delta;
use crate::num::directed::{down, up};
use crate::num::{Ratio, normal};
use crate::unit::{Delta, Epsilon, L2, Sensitivity};

/// The parameter μ ≥ 0 of Gaussian privacy, as a certified interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mu {
    lower: f64,
    upper: f64,
}

impl Mu {
    /// The μ of several Gaussian noises together, each given as `(distance, σ, count)`.
    ///
    /// # Proof
    /// By independence and rotation the pair is N(0,I) against N(v,I) with
    /// `‖v‖² = Σμᵢ²`; every operation is rounded outwards. ∎
    /// # References
    /// Dong, Roth, Su 2022 (arXiv:1905.02383v3), Corollary 2.1.
    pub fn of(noises: &[(f64, f64, u64)]) -> Result<Self> {
        let (mut low, mut high) = (0.0, 0.0);
        for &(distance, sigma, k) in noises {
            let (l, h) = (down(distance / sigma), up(distance / sigma));
            low += down(down(l * l) * k as f64);
            low = down(down(low));
            high = basic::add_up(high, basic::times_up(up(h * h), k));
        }
        let (lower, upper) = (down(low.max(0.0).sqrt()).max(0.0), up(high.sqrt()));
        if upper.is_finite() {
            Ok(Self { lower, upper })
        } else {
            Err(Error::Precision { what: "the total of Gaussian noises" })
        }
    }

    /// A lower bound on μ.
    #[must_use]
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// An upper bound on μ.
    #[must_use]
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// The least ε at δ: the root of
    /// `Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) = δ`; ∞ for δ = 0.
    ///
    /// # Guarantee
    /// The truth lies in the interval.
    /// # Proof
    /// The left side falls with ε and grows with μ; both ends are certified in
    /// multi-precision intervals, the upper at the upper μ. ∎
    /// # References
    /// Balle & Wang 2018 (arXiv:1805.06530v2), Theorem 8.
    pub fn epsilon(self, delta: Delta) -> Result<Interval> {
        if delta.get() == 0.0 {
            return Ok(Interval::INFINITE);
        }
        let log = -delta.get().ln();
        let start = self.upper * (0.5 * self.upper + (2.0 * log).sqrt());
        let found = search::crossing(start, delta.get(), |x| {
            Ok((profile(self.lower, x)?.0, profile(self.upper, x)?.1))
        })?;
        Ok(found)
    }
}

/// `(lower, upper)` around δ(ε) for a μ ≥ 0.
fn profile(mu: f64, epsilon: f64) -> Result<(f64, f64)> {
    if mu == 0.0 {
        return Ok((0.0, 0.0));
    }
    if epsilon == 0.0 {
        // 2Φ(μ/2) − 1.
        let half = Ratio::from_f64(mu).ok_or(Error::Precision { what: "mu" })?.scale(-1);
        let (low, high) = normal::upper_tail(&half, 256).to_f64();
        return Ok((down(1.0 - 2.0 * high).max(0.0), up(1.0 - 2.0 * low)));
    }
    gaussian_delta(1.0, Epsilon::new(epsilon)?, Sensitivity::<L2>::new(mu)?)
}

#[cfg(test)]
mod tests;
