//! The exponential mechanism: choosing the best of several, privately.

use super::choice::{self, Alternative};
use super::{Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::Ratio;
use crate::num::directed::{self, down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Epsilon, LInf, Neighbours, Rho, Sensitivity};
use std::fmt;

/// How scores may change between two neighbouring datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Each score changes by at most Δ, up or down.
    General,
    /// Each score changes by at most Δ, and all in the same direction: none rises while another
    /// falls.
    Monotone,
}

/// The score of each candidate on the protected data, and how scores may change between
/// neighbours.
///
/// A mechanism chooses twice as sharply among monotone scores as among general ones, for the
/// same ε. Say that scores are monotone only if they are, for the neighbour relation in use:
///
/// | score of a candidate | add or remove one | replace one |
/// |---|---|---|
/// | how many rows have it | monotone: a row more raises counts and lowers none | **general**: one count rises, another falls |
/// | a sum of non-negative terms, one per row | monotone | general |
/// | minus a distance or an error | general | general |
///
/// # Special values
/// No score, or one that is not finite, is refused. `Debug` shows no score.
#[derive(Clone)]
pub struct Scores<T> {
    values: Vec<T>,
    change: Change,
}

/// A number that can be a score: `f64`, or `i64` where noise is on the integers.
pub trait Score: Copy + sealed::Score {}
impl Score for f64 {}
impl Score for i64 {}

mod sealed {
    pub trait Score {
        fn finite(&self) -> bool;
        /// Counts too large for the type stay at its largest exact one. A clamp
        /// is 1-Lipschitz and monotone, so sensitivity and direction survive it.
        fn count(count: u64) -> Self;
    }
    impl Score for f64 {
        fn finite(&self) -> bool {
            self.is_finite()
        }
        fn count(count: u64) -> Self {
            count.min(1 << 53) as f64
        }
    }
    impl Score for i64 {
        fn finite(&self) -> bool {
            true
        }
        fn count(count: u64) -> Self {
            count.min(i64::MAX as u64) as i64
        }
    }
}

impl<T: Score> Scores<T> {
    /// Scores of which only the sensitivity is known.
    pub fn general(values: Vec<T>) -> Result<Self> {
        Self::new(values, Change::General)
    }

    /// Scores that are monotone under the neighbour relation in use.
    pub fn monotone(values: Vec<T>) -> Result<Self> {
        Self::new(values, Change::Monotone)
    }

    /// The number of units (rows, people) that have each candidate: of sensitivity 1 if a unit
    /// counts at most once for each. They are monotone under add or remove.
    pub fn counts(counts: &[u64], neighbours: Neighbours) -> Result<Self> {
        let change = match neighbours {
            Neighbours::AddRemove => Change::Monotone,
            Neighbours::Replace => Change::General,
        };
        Self::new(counts.iter().map(|&count| T::count(count)).collect(), change)
    }

    fn new(values: Vec<T>, change: Change) -> Result<Self> {
        if values.is_empty() || !values.iter().all(T::finite) {
            let allowed = "at least one, and all finite numbers";
            return Err(Error::OutOfRange { parameter: "scores", allowed });
        }
        Ok(Self { values, change })
    }

    /// The number of candidates, at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no scores are ever empty")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// How the scores may change between neighbours.
    #[must_use]
    pub fn change(&self) -> Change {
        self.change
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T> fmt::Debug for Scores<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scores({} protected, {:?})", self.values.len(), self.change)
    }
}

/// The factor `λ = ε/(2Δ)` or, for monotone scores, `ε/Δ`: exactly, and as a
/// float within a relative 2⁻⁵¹.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    exact: Ratio,
    pub(super) near: f64,
}

impl Rate {
    pub(super) fn new(
        epsilon: Epsilon,
        sensitivity: Sensitivity<LInf>,
        change: Change,
    ) -> Result<Self> {
        let ratio = |x| Ratio::from_f64(x).unwrap_or_else(Ratio::zero);
        let exact = ratio(epsilon.get()).div(&ratio(sensitivity.get()));
        let exact = if change == Change::General { exact.scale(-1) } else { exact };
        let near = exact.to_f64();
        if !(2f64.powi(-900)..=2f64.powi(900)).contains(&near) {
            let allowed = "between 2^-900 and 2^900";
            return Err(Error::OutOfRange { parameter: "epsilon / sensitivity", allowed });
        }
        Ok(Self { exact, near })
    }

    /// `x = λ·(best − score)` of every score, as floats.
    pub(super) fn exponents(&self, scores: &[f64]) -> (f64, Vec<f64>) {
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (best, scores.iter().map(|score| (best - score) * self.near).collect())
    }

    /// `λ·(high − low)`, exactly, for high ≥ low.
    pub(super) fn exponent(&self, high: f64, low: f64) -> Ratio {
        let ratio = |x| Ratio::from_f64(x).unwrap_or_else(Ratio::zero);
        let (h, l) = (ratio(high), ratio(low));
        let difference = match (high >= 0.0, low >= 0.0) {
            (true, true) => h.saturating_sub(&l),
            (false, _) => l.saturating_sub(&h),
            (true, false) => h.add(&l),
        };
        self.times(&difference)
    }

    /// `λ·difference`, exactly.
    pub(super) fn times(&self, difference: &Ratio) -> Ratio {
        difference.mul(&self.exact)
    }
}

/// The factors for general and for monotone scores.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    general: Rate,
    monotone: Rate,
}

impl Rates {
    pub(super) fn new(epsilon: Epsilon, sensitivity: Sensitivity<LInf>) -> Result<Self> {
        let rate = |change| Rate::new(epsilon, sensitivity, change);
        Ok(Self { general: rate(Change::General)?, monotone: rate(Change::Monotone)? })
    }

    pub(super) fn of(&self, change: Change) -> &Rate {
        match change {
            Change::General => &self.general,
            Change::Monotone => &self.monotone,
        }
    }
}

/// Chooses a candidate with a probability that is exponential in its score.
///
/// Candidate i of score qᵢ has probability `e^(λqᵢ) / Σⱼe^(λqⱼ)`, where `λ = ε/(2Δ)`, or `ε/Δ` for
/// [monotone](Change::Monotone) scores.
///
/// ```
/// use demure_core::mechanism::{Exponential, Scores};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours, Sensitivity};
///
/// let drinks = ["tea", "coffee", "water"];
/// let votes = Scores::counts(&[310, 95, 240], Neighbours::AddRemove)?;
/// let exponential = Exponential::new(Epsilon::new(0.5)?, Sensitivity::new(1.0)?)?;
/// let winner = exponential.select(&votes, &mut SystemRandom::new()?)?;
/// println!("{}", drinks[*winner.value()]);
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP, and ε²/8-zCDP ([`Self::rho`]), under the neighbour relation for which
/// every score changes by at most Δ and, if monotone, all in one direction.
/// # Proof
/// Let `dᵢ = λ(qᵢ(x) − qᵢ(x′))`. The loss at i is `Lᵢ = dᵢ − ln(C/C′)`, C the
/// normalisers. The `dᵢ` lie in [−ε/2, ε/2], or for monotone scores in [0, ε] or
/// in [−ε, 0]: in all cases in an interval of length ε, hence so do the `Lᵢ`.
/// The loss cannot be of one sign everywhere, since both sides sum to 1, so
/// that interval contains 0, and `|Lᵢ| ≤ ε`.
/// For zCDP, let `K(α) = ln E_x′[e^(αL)] = (α−1)·D_α(x‖x′)`. `K″(α)` is the variance of
/// L under a tilted distribution, at most ε²/4 for a range of length ε, and
/// `K(0) = K(1) = 0`. So `K(α) − (ε²/8)·α(α−1)` is concave with zeros at 0 and 1,
/// and not positive for α > 1: `D_α ≤ (ε²/8)·α`. The draw is exact. ∎
/// # Special values
/// Scores that are not finite do not get here. One candidate is chosen
/// surely. Differences of any size are fine: the work is in log space, and
/// scores are compared exactly as the numbers their floats are.
/// # References
/// McSherry, Talwar 2007, Theorem 6. Cesar, Rogers 2021 (bounding,
/// concentrating, and truncating) for the zCDP bound.
#[derive(Clone, Debug)]
pub struct Exponential {
    pub(super) epsilon: Epsilon,
    rates: Rates,
}

impl Exponential {
    /// Calibrates the choice to scores that change by at most `sensitivity`.
    pub fn new(epsilon: Epsilon, sensitivity: Sensitivity<LInf>) -> Result<Self> {
        Ok(Self { epsilon, rates: Rates::new(epsilon, sensitivity)? })
    }

    /// The difference of scores that multiplies the odds by e: `1/λ`, so `2Δ/ε` or `Δ/ε`.
    #[must_use]
    pub fn scale(&self, change: Change) -> f64 {
        1.0 / self.rates.of(change).near
    }

    /// The guarantee of one choice.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The guarantee as zCDP: ρ = ε²/8, rounded up; a quarter of what ε-DP alone implies.
    pub fn rho(&self) -> Result<Rho> {
        bounded_range(self.epsilon)
    }

    /// The probability of each candidate, to about 3 units in the last place; 0 below 10⁻³⁰⁸.
    /// Depends on protected scores, so do not publish it.
    pub fn probabilities(&self, scores: &Scores<f64>) -> Result<Vec<f64>> {
        let (best, alternatives) = self.alternatives(scores);
        choice::table(&alternatives, |i| {
            self.rates.of(scores.change).exponent(best, scores.values[i])
        })
    }

    /// The probabilities in the limit ε → 0, where scores do not matter: `1/n` each.
    #[must_use]
    pub fn uniform<T: Score>(scores: &Scores<T>) -> Vec<f64> {
        vec![1.0 / scores.len() as f64; scores.len()]
    }

    /// Chooses a candidate and returns its index.
    pub fn select(&self, scores: &Scores<f64>, rng: &mut dyn Randomness) -> Result<Release<usize>> {
        let (best, alternatives) = self.alternatives(scores);
        let exact = |i: usize| self.rates.of(scores.change).exponent(best, scores.values[i]);
        let index = choice::choose(&alternatives, exact, rng.bits()?)?;
        Ok(Release::new(index, self.guarantee()))
    }

    /// By how much the chosen score may fall short of the best, except with probability β:
    /// `t = ln((n−1)(1−β)/β)/λ`, rounded up.
    ///
    /// # Proof
    /// Candidates short by more than t weigh at most `B = (n−1)e^(−λt)` against at
    /// least 1, so they have probability at most `B/(1+B)`, and `B = β/(1−β)`.
    /// It is attained if all but the best tie. ∎
    pub fn error(&self, candidates: usize, change: Change, beta: Beta) -> Result<f64> {
        exponential_error(candidates as u64, self.rates.of(change), beta)
    }

    fn alternatives(&self, scores: &Scores<f64>) -> (f64, Vec<Alternative>) {
        let (best, near) = self.rates.of(scores.change).exponents(&scores.values);
        (best, near.into_iter().map(|near| Alternative { count: 1, near }).collect())
    }
}

/// ρ of a mechanism whose loss has a range of length ε: `ε²/8`, rounded up.
pub(super) fn bounded_range(epsilon: Epsilon) -> Result<Rho> {
    Rho::new(up(epsilon.get() * up(epsilon.get() * 0.125)))
}

/// [`Exponential::error`] among n outcomes.
pub(super) fn exponential_error(n: u64, rate: &Rate, beta: Beta) -> Result<f64> {
    let odds = up(up(1.0 - beta.get()) / beta.get());
    shortfall(up(up(n.saturating_sub(1) as f64) * odds), rate)
}

/// `max(0, ln(odds))/λ`, rounded up.
pub(super) fn shortfall(odds: f64, rate: &Rate) -> Result<f64> {
    if odds <= 1.0 {
        return Ok(0.0);
    }
    Ok(up(directed::ln(odds)?.1 / down(down(rate.near))))
}

#[cfg(test)]
mod tests;
