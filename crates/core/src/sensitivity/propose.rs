//! Propose-test-release: propose a bound on the local sensitivity, test it, and release with noise for it.

use super::Statistic;
use super::gate::Gate;
use crate::error::{Error, Result};
use crate::mechanism::{AboveThreshold, Answer, Change, Geometric, Guarantee, Release};
use crate::num::directed::up;
use crate::num::fast;
use crate::random::Randomness;
use crate::unit::{Beta, Delta, Epsilon, Sensitivity};
use crate::utility::Accuracy;

/// Proposes a bound β on the local sensitivity, tests it privately, and releases with noise for β; `None` if the test
/// fails.
///
/// ```
/// use demure_core::mechanism::Bounds;
/// use demure_core::random::SystemRandom;
/// use demure_core::sensitivity::{OrderStatistic, ProposeTestRelease, Statistic, Values};
/// use demure_core::unit::{Delta, Epsilon};
///
/// let ages = (0..5_001).map(|i| f64::from(i % 90));
/// let values = Values::new(Bounds::new(0.0, 120.0)?, ages);
/// let median = OrderStatistic::median(&values)?;
/// // The median will move by at most 1 year: in steps of its grid.
/// let bound = (1.0 / median.unit()) as u64;
/// let propose = ProposeTestRelease::new(Epsilon::new(1.0)?, Delta::new(1e-6)?, bound)?;
/// println!("{:?}", propose.release(&median, &mut SystemRandom::new()?)?.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// With d the distance to the nearest dataset whose local sensitivity is above β: if `d + Z > T`, it releases
/// `f(x) + Geo(β/ε₂)`; else `None` (⊥). `P[Z = k] ∝ e^(−ε₁|k|)`, `Geo(s)` is two-sided geometric of scale s, and T is
/// the least integer with `e^(−ε₁(T+1))/(1+e^−ε₁) ≤ δ`.
///
/// # Guarantee
/// (ε₁ + ε₂, δ)-DP under the relation that the [`Statistic`] is for; any 1-Lipschitz lower bound on d is sufficient.
/// # Proof
/// Whether it goes on is ε₁-DP, as d is 1-Lipschitz. Let x, x′ be neighbours. If `LS(x) ≤ β`, then `|f(x) − f(x′)| ≤ β`
/// and the second stage is ε₂-DP: together ε₁ + ε₂. If not, d(x) = 0, and x gets anything but ⊥ with probability at
/// most δ; for ⊥ the first stage is enough. ∎
/// # Special values
/// `None` is an answer, and costs as much as any other. A β of at least the public [`most`](Statistic::most) is never
/// refused. A β of 0 is refused, as no noise would be added.
/// # References
/// Dwork, Lei 2009 (STOC); Dwork, Roth 2014, Section 7.2. The threshold `ln(1/δ)/ε₁` of the textbook spends δ/2.
#[derive(Clone, Debug)]
pub struct ProposeTestRelease {
    epsilon: Epsilon,
    delta: Delta,
    bound: u64,
    gate: Gate,
    noise: Geometric,
}

impl ProposeTestRelease {
    /// Spends half of ε on the test and half on the noise. `bound` is β, in steps of the statistic
    /// ([`Statistic::unit`] is the size of a step), chosen without looking at the data.
    pub fn new(epsilon: Epsilon, delta: Delta, bound: u64) -> Result<Self> {
        let half = Epsilon::new(0.5 * epsilon.get())?;
        Self::with_split(half, half, delta, bound)
    }

    /// Spends ε₁ on the test and ε₂ on the noise.
    pub fn with_split(test: Epsilon, noise: Epsilon, delta: Delta, bound: u64) -> Result<Self> {
        let gate = Gate::new(test, delta)?;
        let noise_law = Geometric::new(noise, steps(bound)?)?;
        let epsilon = Epsilon::new(sum(test.get(), noise.get()))?;
        Ok(Self { epsilon, delta, bound, gate, noise: noise_law })
    }

    /// The threshold T of the test.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.gate.threshold()
    }

    /// The proposed bound β, in steps.
    #[must_use]
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// The error, in steps, that an answer exceeds with probability at most β.
    pub fn error(&self, beta: Beta) -> Result<f64> {
        self.noise.error(beta)
    }

    /// Releases a statistic, or `None` if the test failed.
    pub fn release(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<Option<f64>>> {
        let distance = statistic.distance_above(self.bound).unwrap_or(u64::MAX);
        let answer = if self.gate.opens(distance, rng)? {
            let noised = self.noise.release(statistic.value(), rng)?.into_value();
            Some(statistic.answer(noised))
        } else {
            None
        };
        Ok(Release::new(answer, self.guarantee()))
    }
}

/// A β in steps, as a sensitivity.
fn steps<N: crate::unit::Norm>(bound: u64) -> Result<Sensitivity<N>> {
    if bound == 0 || bound > 1 << 53 {
        return Err(Error::OutOfRange {
            parameter: "the proposed bound",
            allowed: "from 1 to 2^53 steps of the statistic",
        });
    }
    Sensitivity::new(bound as f64)
}

/// a + b, rounded up unless it is exact.
pub(super) fn sum(a: f64, b: f64) -> f64 {
    let total = a + b;
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if total - large == small && total - small == large { total } else { up(total) }
}

/// Searches a public list of bounds for one that fits, and pays for the search once.
///
/// Of the bounds `β₁ < β₂ < … < β_m` it uses the first whose noised distance is above a noised threshold: the sparse
/// vector technique.
///
/// ```
/// use demure_core::mechanism::Bounds;
/// use demure_core::random::SystemRandom;
/// use demure_core::sensitivity::{OrderStatistic, Proposals, Values};
/// use demure_core::unit::{Delta, Epsilon};
///
/// let ages = (0..5_001).map(|i| f64::from(i % 90));
/// let values = Values::new(Bounds::new(0.0, 120.0)?, ages);
/// let median = OrderStatistic::median(&values)?;
/// let search = Proposals::for_statistic(Epsilon::new(1.0)?, Delta::new(1e-6)?, &median)?;
/// if let Some((median, bound)) = search.release(&median, &mut SystemRandom::new()?)?.value() {
///     println!("about {median:.1}, with noise for {bound} steps");
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// (ε₁ + ε₂, δ)-DP, ε₁ for the search however long the list, ε₂ for the noise. The β that was used is part of the
/// release.
/// # Proof
/// The distances `d_i` to `{LS > β_i}` are 1-Lipschitz, so the search is an [`AboveThreshold`] with one positive
/// answer: ε₁-DP. For a list of m, all `β_i < LS(x)` have d_i = 0 and are passed with probability at most
/// `m·P[ν − ρ ≥ T] ≤ δ`, ν and ρ being the noises of a query and of the threshold. Otherwise `|f(x) − f(x′)| ≤ β_i` and
/// the second stage is ε₂-DP; sum over i as for one β. ∎
/// # Special values
/// As [`ProposeTestRelease`]; `None` if the list is exhausted.
#[derive(Clone, Debug)]
pub struct Proposals {
    epsilon: Epsilon,
    noise: Epsilon,
    delta: Delta,
    bounds: Vec<u64>,
    search: AboveThreshold,
    threshold: i128,
}

impl Proposals {
    /// Spends ε₁ on the search and ε₂ on the noise. The bounds are in steps, in rising order.
    pub fn new(search: Epsilon, noise: Epsilon, delta: Delta, bounds: &[u64]) -> Result<Self> {
        let delta = Delta::positive(delta.get())?;
        let rising = bounds.windows(2).all(|pair| pair[0] < pair[1]);
        if bounds.is_empty() || !rising {
            return Err(Error::OutOfRange {
                parameter: "the list of bounds",
                allowed: "at least one, each larger than the one before",
            });
        }
        for &bound in bounds {
            steps::<crate::unit::L1>(bound)?;
        }
        let law = AboveThreshold::new(search, Sensitivity::new(1.0)?, 1, Change::General)?;
        let (rho, nu) = law.scales();
        let each = delta.get() / bounds.len() as f64;
        let threshold = least_threshold(rho, nu, each)?;
        let epsilon = Epsilon::new(sum(search.get(), noise.get()))?;
        let bounds = bounds.to_vec();
        Ok(Self { epsilon, noise, delta, bounds, search: law, threshold })
    }

    /// Spends 3/10 of ε on the search and the rest on the noise. The bounds double up to the largest possible step, so
    /// that one always fits.
    pub fn for_statistic(
        epsilon: Epsilon,
        delta: Delta,
        statistic: &(impl Statistic + ?Sized),
    ) -> Result<Self> {
        let search = Epsilon::new(0.3 * epsilon.get())?;
        // Rounded down: the two are ε at most.
        let noise = Epsilon::new((epsilon.get() - search.get()).next_down())?;
        let most = statistic.most().unwrap_or(1 << 53).clamp(1, 1 << 53);
        let made = Self::new(search, noise, delta, &Self::doubling(1, most))?;
        Ok(Self { epsilon, ..made })
    }

    /// A list of bounds that doubles from `first` and ends with `most`. If `most` is the public bound of a statistic,
    /// the search never fails.
    pub fn doubling(first: u64, most: u64) -> Vec<u64> {
        let doubled = std::iter::successors(Some(first.max(1)), |b| b.checked_mul(2));
        let mut list: Vec<u64> = doubled.take_while(|&b| b < most).collect();
        list.push(most.max(1));
        list
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// The threshold T of the search.
    #[must_use]
    pub fn threshold(&self) -> i128 {
        self.threshold
    }

    /// The error, in steps, that an answer with this bound exceeds with probability at most β.
    pub fn error(&self, bound: u64, beta: Beta) -> Result<f64> {
        Geometric::new(self.noise, steps(bound)?)?.error(beta)
    }

    /// Releases a statistic and the bound that was used, or `None` if none fits.
    pub fn release(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<Option<(f64, u64)>>> {
        let mut asking = self.search.start(self.threshold, rng)?;
        let mut chosen = None;
        for &bound in &self.bounds {
            // No distance at all is as good as a very long one, for all data alike.
            let distance = statistic.distance_above(bound).map_or(1 << 100, i128::from);
            if let Answer::Above(_) = asking.ask(distance, rng)?.into_value() {
                chosen = Some(bound);
                break;
            }
        }
        let answer = match chosen {
            None => None,
            Some(bound) => {
                let noise = Geometric::new(self.noise, steps(bound)?)?;
                let noised = noise.release(statistic.value(), rng)?.into_value();
                Some((statistic.answer(noised), bound))
            }
        };
        Ok(Release::new(answer, self.guarantee()))
    }
}

/// The least T ≥ 0 with `P[ν − ρ ≥ T] ≤ δ`, for two-sided geometric noises of these scales.
fn least_threshold(rho: f64, nu: f64, delta: f64) -> Result<i128> {
    let fail = Error::Infeasible {
        what: "so small an epsilon and delta put the threshold out of reach",
        remedy: "spend more on the search, or propose fewer bounds",
    };
    let (less, more) = (rho.min(nu), rho.max(nu));
    if more > f64::from(1 << 23) || more < 1.2 * less {
        return Err(fail);
    }
    // Galloping, then halving; P is monotone in T.
    let passes = |t: u64| difference_tail(rho, nu, t) <= delta;
    let (mut low, mut high) = (0u64, 1u64);
    if passes(0) {
        return Ok(0);
    }
    while !passes(high) {
        (low, high) = (high, 2 * high);
        if high > 1 << 22 {
            return Err(fail);
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if passes(middle) { high = middle } else { low = middle }
    }
    Ok(i128::from(high))
}

/// An upper bound on `P[ν − ρ ≥ t]`, for scales of at most 2²³ of which one is 1.2 times the other or more.
///
/// # Proof
/// With `a = e^(−1/ρ)` and `b = e^(−1/ν)`, `P[ν − ρ = k] = c·(ab/(1−ab)·(a^k + b^k) + (b^(k+1) − a^(k+1))/(b − a))` for
/// k ≥ 0, where `c = (1−a)(1−b)/((1+a)(1+b))`: the sum over ρ < 0, over 0 ≤ ρ ≤ k and beyond. Sum over k ≥ t. Powers
/// are good to a relative 2⁻⁴⁶, of which the differences `1−a`, `1−b`, `1−ab` and `b−a` lose at most 27 bits; the last
/// numerator is a sixth of its larger part at least, as `(e^y − 1)/(e^x − 1) ≤ y/x` for y ≤ x. Together less than 2⁻¹⁷.
/// What is cut off at e^−699 is below 10⁻³⁰⁰. ∎
fn difference_tail(rho: f64, nu: f64, t: u64) -> f64 {
    let power = |scale: f64, k: f64| fast::exp_neg((k / scale).min(699.0));
    let (a, b, t) = (power(rho, 1.0), power(nu, 1.0), t as f64);
    let (tail_a, tail_b) = (power(rho, t) / (1.0 - a), power(nu, t) / (1.0 - b));
    let outside = a * b / (1.0 - a * b) * (tail_a + tail_b);
    let between = (b * tail_b - a * tail_a) / (b - a);
    let share = (1.0 - a) * (1.0 - b) / ((1.0 + a) * (1.0 + b));
    share * (outside + between) * (1.0 + 2f64.powi(-16)) + 1e-300
}

#[cfg(test)]
mod tests;
