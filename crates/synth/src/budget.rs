//! What a run costs, and how its noise is divided: one Gaussian event, decided before anything is read.
//!
//! # Guarantee
//! Let `μ` be [`Price::mu`] and let every release of a run be a Gaussian mechanism whose ℓ₂ sensitivity is Δᵢ under
//! the price's neighbour relation and whose noise is σᵢ. If `Σ Δᵢ²/σᵢ² ≤ μ²` in every run, then the run, with all that
//! is made from its releases, is μ-Gaussian private. For (ε, δ) this means: at most `Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ)
//! ≤ δ`. Both which queries are asked and their σᵢ may depend on earlier releases.
//!
//! # Proof
//! *The sum holds.* A `Purse` begins with 2⁵⁰ quanta. A `Slice` of q quanta is taken out of it by an exact integer
//! subtraction, and is consumed by the one release that it pays for: it is neither `Clone` nor `Copy`. The noise of
//! that release has `Δᵢ²/σᵢ² ≤ μ²·q/2⁵⁰`: `Slice::rho` is rounded down and the mechanism's σ is rounded up. The q
//! add up to at most 2⁵⁰.
//!
//! *The sum is enough*, also when everything is chosen from earlier releases. Fix two neighbouring tables. Given the
//! earlier releases, release i is `N(f, σᵢ²I)` on one and `N(f′, σᵢ²I)` on the other with `‖f − f′‖₂ = dᵢσᵢ` and
//! `dᵢ ≤ Δᵢ/σᵢ`. (It is rounded to a public grid afterwards, which is post-processing.) Along the line from f to f′ it
//! is a standard normal Zᵢ, shifted by dᵢ. Add one last, fictitious release of one number with
//! `d² = μ² − Σ dᵢ² ≥ 0`: the real run is a post-processing of this one. Now `Σ dᵢ² = μ²` always, and the privacy
//! loss is `L = Σ (dᵢ²/2 + dᵢZᵢ) = μ²/2 + S` with `S = Σ dᵢZᵢ`. Each dᵢ is fixed by what came before Zᵢ. So, for
//! every real u, `E[exp(iuS + u²/2·Σdᵢ²)] = 1`, by taking the expectation over the last Zᵢ first, then over the one
//! before it, and so on. As `Σdᵢ² = μ²` is a constant, `E[e^(iuS)] = e^(−u²μ²/2)`: S is N(0, μ²), and L is N(μ²/2,
//! μ²). That is the privacy loss of N(0,1) against N(μ,1), and δ(ε) is a function of its law alone. ∎
//!
//! The noise is a *rounded* real Gaussian of the core and not its discrete Gaussian. Both are exact, and both give
//! integers. But the discrete Gaussian is not rotation invariant, so the step to the line above fails for it. Many of
//! them compose by zCDP only, which at δ = 10⁻⁹ costs about a tenth of the budget.
//!
//! # References
//! Smith & Thakurta 2022 (arXiv:2210.17520), "Fully Adaptive Composition for Gaussian Differential Privacy"; Balle &
//! Wang 2018 (arXiv:1805.06530v2), Theorem 8.

use crate::error::{Error, Result};
use demure_core::account::Account;
use demure_core::account::pld::{self, Component};
use demure_core::event::{Event, Noise};
use demure_core::mechanism::{Gaussian, Guarantee};
use demure_core::unit::{Delta, Epsilon, L2, Neighbours, Rho, Sensitivity};
use std::num::NonZeroU32;

/// What a run promises, and the noise that this buys.
///
/// ```
/// use demure_core::account::Account;
/// use demure_core::mechanism::Guarantee;
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
/// use demure_synth::Price;
///
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-9)?);
/// let price = Price::new(Guarantee::Approximate(epsilon, delta), Neighbours::AddRemove)?;
/// let account = Account::of(&[price.event()], Neighbours::AddRemove)?;
/// assert!(account.epsilon(delta)?.upper <= 1.0);
/// # Ok::<(), demure_synth::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    guarantee: Guarantee,
    neighbours: Neighbours,
    rows_per_unit: NonZeroU32,
    sigma: f64,
}

impl Price {
    /// The most information that `guarantee` allows: (ε, δ) with δ > 0, or ρ. One unit has one row.
    pub fn new(guarantee: Guarantee, neighbours: Neighbours) -> Result<Self> {
        let sigma = match guarantee {
            Guarantee::Approximate(epsilon, delta) if delta.get() > 0.0 => {
                least_sigma(epsilon, delta, neighbours)?
            }
            // μ = √(2ρ), so σ = 1/√(2ρ), rounded up.
            Guarantee::Concentrated(rho) => (2.0 * rho.get()).sqrt().next_down().recip().next_up(),
            _ => return Err(IMPOSSIBLE),
        };
        event(sigma, neighbours)?;
        Ok(Self { guarantee, neighbours, rows_per_unit: NonZeroU32::MIN, sigma })
    }

    /// The same promise where one unit (a person) has up to `rows` rows, which whoever counts the rows must see to.
    ///
    /// All noise becomes `rows` times as wide.
    #[must_use]
    pub fn rows_per_unit(self, rows: NonZeroU32) -> Self {
        Self { rows_per_unit: rows, ..self }
    }

    /// The guarantee.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// The neighbour relation.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// How many rows a unit may have.
    #[must_use]
    pub fn rows(&self) -> NonZeroU32 {
        self.rows_per_unit
    }

    /// μ of Gaussian privacy: two neighbouring tables are as hard to tell apart as N(0,1) and N(μ,1). Rounded down.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.sigma.recip().next_down()
    }

    /// The event of the whole run, for an account or a ledger: Gaussian noise of standard deviation 1/μ on a number
    /// that moves by 1 under the price's relation.
    ///
    /// It holds under the other relation too, where it is more than the truth: replacing a unit moves every query by at
    /// most twice as much as adding one, and adding one by no more than replacing one.
    #[must_use]
    pub fn event(&self) -> Event {
        match event(self.sigma, self.neighbours) {
            Ok(event) => event,
            // Cannot happen: `new` has made the same event. The guarantee itself is always a valid one.
            Err(_) => self.guarantee.event(),
        }
    }

    /// An upper bound on `2Φ(μ/2) − 1`: how much more often than by tossing a coin someone can at most tell whether a
    /// unit is in the table, as a difference of true and false alarms.
    pub fn advantage(&self) -> Result<f64> {
        Ok(pld::delta(&[(Component::gaussian(self.sigma)?, 1)], 0.0)?.upper)
    }

    /// The least ε at `delta`, rounded up.
    pub fn epsilon(&self, delta: Delta) -> Result<f64> {
        let account = Account::of(&[self.event()], self.neighbours)?;
        Ok(account.epsilon(delta)?.upper)
    }

    /// How far one unit moves a histogram in ℓ₂: k rows in one cell, or k rows from one cell to another. Rounded up.
    ///
    /// # Proof
    /// Adding a unit adds a vector u ≥ 0 with `‖u‖₁ ≤ k`, and `‖u‖₂ ≤ ‖u‖₁`. Replacing it takes away another such
    /// vector v, and `‖u − v‖₂² = ‖u‖₂² + ‖v‖₂² − 2u·v ≤ 2k²`. ∎
    pub(crate) fn histogram_sensitivity(&self) -> Result<Sensitivity<L2>> {
        let rows = f64::from(self.rows_per_unit.get());
        Ok(Sensitivity::new(match self.neighbours {
            Neighbours::AddRemove => rows,
            Neighbours::Replace => (2f64.sqrt().next_up() * rows).next_up(),
        })?)
    }

    /// How far one unit moves `n` ℓ₁ distances between a histogram and public tables, in ℓ₂. Rounded up.
    ///
    /// # Proof
    /// By the triangle inequality each distance moves by at most `‖u − v‖₁ ≤ k` (adding) or `2k` (replacing), n of
    /// them by √n times that. ∎
    pub(crate) fn distance_sensitivity(&self, n: usize) -> Result<Sensitivity<L2>> {
        let rows = f64::from(self.rows_per_unit.get());
        let each = match self.neighbours {
            Neighbours::AddRemove => rows,
            Neighbours::Replace => 2.0 * rows,
        };
        Ok(Sensitivity::new(((n as f64).sqrt().next_up() * each).next_up())?)
    }
}

/// Noise σ on a number that moves by 1 under the relation.
fn event(sigma: f64, neighbours: Neighbours) -> Result<Event> {
    let noise = Noise::new(sigma)?;
    Ok(Event::Gaussian(match neighbours {
        Neighbours::AddRemove => noise,
        Neighbours::Replace => noise.replacing(1.0)?,
    }))
}

/// About the least σ whose event costs at most ε at δ, by the account's own upper bound.
///
/// The core's calibration certifies σ to a relative 10⁻¹²; the account certifies ε, and may be a hair more cautious.
fn least_sigma(epsilon: Epsilon, delta: Delta, neighbours: Neighbours) -> Result<f64> {
    let sigma = Gaussian::new(epsilon, delta, Sensitivity::new(1.0)?)?.sigma();
    for wider in [0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7] {
        let sigma = sigma * (1.0 + wider);
        let account = Account::of(&[event(sigma, neighbours)?], neighbours)?;
        if account.epsilon(delta)?.upper <= epsilon.get() {
            return Ok(sigma);
        }
    }
    Err(Error::Core(demure_core::Error::Precision { what: "the price" }))
}

const IMPOSSIBLE: Error = Error::OutOfRange {
    parameter: "the guarantee of a synthetic table",
    allowed: "(epsilon, delta) with a delta greater than 0, or rho",
};

/// The quanta of a whole budget: a power of two, so that floats divide by it exactly.
pub(crate) const WHOLE: u64 = 1 << 50;

/// What is left of a budget.
#[derive(Debug)]
pub(crate) struct Purse {
    left: u64,
    half_mu_squared: f64,
}

impl Purse {
    pub(crate) fn new(price: &Price) -> Self {
        let mu = price.mu();
        Self { left: WHOLE, half_mu_squared: (mu * mu).next_down() * 0.5 }
    }

    /// The quanta that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Takes `quanta` out.
    ///
    /// # Special values
    /// If fewer are left, or none are asked for, this is an error and nothing is taken.
    pub(crate) fn take(&mut self, quanta: u64) -> Result<Slice> {
        if quanta == 0 || quanta > self.left {
            return Err(Error::Core(demure_core::Error::Infeasible {
                what: "the budget does not stretch to another release",
                remedy: "ask for fewer columns, or raise epsilon",
            }));
        }
        self.left -= quanta;
        let rho = ((self.half_mu_squared * quanta as f64).next_down()) / WHOLE as f64;
        Ok(Slice { rho: Rho::new(rho)? })
    }
}

/// A part of the budget that pays for one release.
#[derive(Debug)]
pub(crate) struct Slice {
    rho: Rho,
}

impl Slice {
    /// `Δ²/2σ²` of the release, rounded down.
    pub(crate) fn rho(self) -> Rho {
        self.rho
    }
}

/// A fraction of the whole budget in quanta, rounded down.
pub(crate) fn quanta(fraction: f64) -> u64 {
    (fraction.clamp(0.0, 1.0) * WHOLE as f64) as u64
}

#[cfg(test)]
mod tests;
