//! Randomized response: privacy before anything is collected.

use super::{Guarantee, Release};
use crate::error::{Error, Result};
use crate::local::{ErrorBound, Support, Target};
use crate::num::directed::{self, down, up};
use crate::num::{Enclosure, Ratio};
use crate::random::{Bits, Randomness};
use crate::sample::below;
use crate::unit::{Beta, Epsilon};

/// Probabilities of truth are multiples of 2⁻⁵³: exact as floats and as coins.
const ONE: u64 = 1 << 53;

/// Randomized response: each person reports their own category, or a random other one.
///
/// Of k categories the true one is reported with probability p, each other one with probability
/// `q = (1−p)/(k−1)`.
///
/// ```
/// use demure_core::mechanism::Response;
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::Epsilon;
///
/// let mut rng = SystemRandom::new()?;
/// let response = Response::with_epsilon(2, Epsilon::new(1.0)?)?;
/// // 10,000 people, of whom 3,000 would say yes; each randomizes their own answer.
/// let mut yes = 0;
/// for person in 0..10_000 {
///     yes += u64::from(response.respond_bit(person < 3_000, &mut rng)?.into_value());
/// }
/// println!("about {:.0} %", 100.0 * response.estimate(yes, 10_000)?);
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// The two parametrisations of yes/no (k = 2) are one mechanism:
/// truth with probability α, else a fair coin, has `p = (1+α)/2` and
/// `ε = ln((1+α)/(1−α))`; truth with probability ½ + γ has `ε = ln((½+γ)/(½−γ))`;
/// and `α = 2γ = p − q = tanh(ε/2)`.
///
/// # Guarantee
/// ε-local DP with `ε = ln(p/q)`, rounded up: for any two categories a person
/// might have, under any collector. For the collection of all reports, ε-DP under
/// replace. That someone reported at all is seen, so under add or remove there is
/// no promise.
/// # Proof
/// A report r has probability p or q, whatever the category, so two categories'
/// ratio is at most `p/q = p(k−1)/(1−p)`. The coin and the other category
/// are drawn exactly, with p the multiple of 2⁻⁵³ that ε was computed from.
/// Others' reports do not depend on this person's. ∎
/// # Special values
/// `p ≤ 1/k` (no information), `p ≥ 1` (no privacy), k < 2 and categories beyond k are
/// refused. p is rounded down to a multiple of 2⁻⁵³.
/// # References
/// Warner 1965. Kairouz, Bonawitz, Ramage 2016 (arXiv:1602.07387v3) for k categories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    categories: u32,
    truth: u64,
    pub(super) epsilon: Epsilon,
}

impl Response {
    /// Reports the true one of `categories` with probability `p`.
    pub fn truthful(categories: u32, p: f64) -> Result<Self> {
        let truth = coin(categories, p, "probability of truth")?;
        Ok(Self { categories, truth, epsilon: Epsilon::new(loss(categories, truth)?)? })
    }

    /// Yes or no: reports the truth with probability α, else a fair coin.
    pub fn alpha(alpha: f64) -> Result<Self> {
        let allowed = "strictly between 0 and 1";
        let refuse = |_| Error::OutOfRange { parameter: "alpha", allowed };
        Self::truthful(2, 0.5 + 0.5 * alpha).map_err(refuse)
    }

    /// Yes or no: reports the truth with probability ½ + γ.
    pub fn gamma(gamma: f64) -> Result<Self> {
        let allowed = "strictly between 0 and 1/2";
        let refuse = |_| Error::OutOfRange { parameter: "gamma", allowed };
        Self::truthful(2, 0.5 + gamma).map_err(refuse)
    }

    /// Reports the truth as often as ε allows: `p = e^ε/(e^ε + k − 1)`, rounded down.
    pub fn with_epsilon(categories: u32, epsilon: Epsilon) -> Result<Self> {
        let (_, lie) = directed::exp_neg(epsilon.get())?;
        let others = f64::from(categories.saturating_sub(1));
        let p = down(1.0 / up(1.0 + up(others * lie)));
        Ok(Self { categories, truth: coin(categories, p, "epsilon")?, epsilon })
    }

    /// The number of categories, k.
    #[must_use]
    pub fn categories(&self) -> u32 {
        self.categories
    }

    /// The exact probability of the true report.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.truth as f64 / ONE as f64
    }

    /// The probability of each of the other reports, `(1−p)/(k−1)`.
    #[must_use]
    pub fn q(&self) -> f64 {
        (1.0 - self.p()) / f64::from(self.categories - 1)
    }

    /// `p − q = (kp − 1)/(k−1)`: the α (and the 2γ) of yes or no.
    #[must_use]
    pub fn gap(&self) -> f64 {
        let above = u128::from(self.truth) * u128::from(self.categories) - u128::from(ONE);
        above as f64 / (ONE as f64 * f64::from(self.categories - 1))
    }

    /// The guarantee of one report.
    #[must_use]
    #[inline]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// Draws one person's report. The work is the same whatever the category and the report.
    pub fn respond(&self, category: u32, rng: &mut dyn Randomness) -> Result<Release<u32>> {
        Ok(Release::new(self.draw(category, rng.bits()?)?, self.guarantee()))
    }

    #[inline]
    pub(crate) fn draw(&self, category: u32, bits: &mut Bits) -> Result<u32> {
        if category >= self.categories {
            let allowed = "less than the number of categories";
            return Err(Error::OutOfRange { parameter: "category", allowed });
        }
        let truthful = bits.word()? >> 11 < self.truth;
        // With two categories there is only one other, so nothing is drawn.
        let others = u64::from(self.categories - 1);
        let other = if others == 1 { 0 } else { below(others, bits)? as u32 };
        let lie = other + u32::from(other >= category);
        Ok(if truthful { category } else { lie })
    }

    /// Draws one person's yes or no.
    pub fn respond_bit(&self, yes: bool, rng: &mut dyn Randomness) -> Result<Release<bool>> {
        if self.categories != 2 {
            let allowed = "2 for a yes or no";
            return Err(Error::OutOfRange { parameter: "categories", allowed });
        }
        Ok(self.respond(u32::from(yes), rng)?.map(|category| category == 1))
    }

    /// The support for estimation: a report supports the category it names.
    #[must_use]
    pub fn support(&self) -> Support {
        Support::exactly(self.p(), self.q(), self.gap())
    }

    /// Estimates the share of people whose category this is: [`Support::estimate`].
    pub fn estimate(&self, count: u64, people: u64) -> Result<f64> {
        self.support().estimate(count, people)
    }

    /// The variance of an estimate: [`Support::variance`].
    #[must_use]
    pub fn variance(&self, frequency: f64, people: u64, target: Target) -> f64 {
        self.support().variance(frequency, people, target)
    }

    /// A confidence interval by the normal approximation: [`Support::normal_interval`].
    pub fn normal_interval(
        &self,
        count: u64,
        people: u64,
        target: Target,
        beta: Beta,
    ) -> Result<(f64, f64)> {
        self.support().normal_interval(count, people, target, beta)
    }

    /// A confidence interval that holds for every number of people: [`Support::exact_interval`].
    pub fn exact_interval(&self, count: u64, people: u64, beta: Beta) -> Result<(f64, f64)> {
        self.support().exact_interval(count, people, beta)
    }

    /// The error that an estimate exceeds with probability at most β: [`Support::error`].
    pub fn error(&self, people: u64, bound: ErrorBound, beta: Beta) -> Result<f64> {
        self.support().error(people, bound, beta)
    }

    /// The number of people that make the error at most `error`: [`Support::people_for_error`].
    pub fn people_for_error(&self, error: f64, bound: ErrorBound, beta: Beta) -> Result<u64> {
        self.support().people_for_error(error, bound, beta)
    }

    /// The least ε at which n people give an error of at most `error`.
    pub fn epsilon_for_error(
        categories: u32,
        people: u64,
        error: f64,
        bound: ErrorBound,
        beta: Beta,
    ) -> Result<Epsilon> {
        if categories < 2 {
            return Err(Error::OutOfRange { parameter: "categories", allowed: "at least 2" });
        }
        let of = |epsilon| Ok(Self::with_epsilon(categories, epsilon)?.support());
        Support::epsilon_for_error(people, error, bound, beta, of)
    }
}

/// `⌊p·2⁵³⌋`, if that gives some information but not all.
fn coin(categories: u32, p: f64, parameter: &'static str) -> Result<u64> {
    if categories < 2 {
        return Err(Error::OutOfRange { parameter: "categories", allowed: "at least 2" });
    }
    // A product with a power of two is exact; the conversion truncates and saturates.
    let truth = (p * ONE as f64) as u64;
    if u128::from(truth) * u128::from(categories) <= u128::from(ONE) || truth >= ONE {
        let allowed = "such that the truth is likelier than 1/categories, and not certain";
        return Err(Error::OutOfRange { parameter, allowed });
    }
    Ok(truth)
}

/// The least float ε with `e^ε ≥ p(k−1)/(1−p)`, certified.
fn loss(categories: u32, truth: u64) -> Result<f64> {
    let (truth, lie) = (u128::from(truth), u128::from(ONE - truth));
    let others = u128::from(categories - 1);
    let inverse = Ratio::new(lie, truth * others).fixed(256).0;
    // p(k−1)/(1−p) − 1, without cancellation.
    let excess = (truth * (others + 1) - u128::from(ONE)) as f64 / lie as f64;
    let guess = excess.ln_1p();
    let mut epsilon = guess * (1.0 - 4.0 * f64::EPSILON);
    while epsilon <= guess * (1.0 + 16.0 * f64::EPSILON) {
        let exact = Ratio::from_f64(epsilon).unwrap_or_else(Ratio::zero);
        if Enclosure::exp_neg(&exact, 256).upper <= inverse {
            return Ok(epsilon);
        }
        epsilon = up(epsilon);
    }
    Err(Error::Precision { what: "the privacy loss of randomized response" })
}

#[cfg(test)]
mod tests;
