//! The ladder: a value by the rungs of its local sensitivity, for pure ε.

use super::Statistic;
use crate::error::{Error, Result};
use crate::mechanism::choice::{self, Alternative};
use crate::mechanism::{Guarantee, Release};
use crate::num::directed::{self, down, up};
use crate::num::{Enclosure, Ratio};
use crate::random::{Bits, Randomness};
use crate::sample::{Geometric, LazyUniform, Scale, uniform_below};
use crate::unit::Epsilon;

/// The largest number of rungs that are weighed one by one.
const MOST_RUNGS: f64 = 4_194_304.0;

/// Releases a statistic with pure ε: values on a lower rung of a ladder around the truth are likelier.
///
/// An integer y has a probability proportional to `e^(−ε′·r(y))`, where the rung r(y) is the least u with
/// `|y − f(x)| ≤ W_0 + … + W_{u−1}`, `W_k = max(A_k(x), c)` and c is a public floor.
///
/// ```
/// use demure_core::mechanism::Bounds;
/// use demure_core::random::SystemRandom;
/// use demure_core::sensitivity::{Ladder, OrderStatistic, Values};
/// use demure_core::unit::Epsilon;
///
/// let ages = (0..501).map(|i| f64::from(i % 90));
/// let values = Values::new(Bounds::new(0.0, 120.0)?, ages);
/// let ladder = Ladder::classic(Epsilon::new(1.0)?);
/// let median = ladder.release(&OrderStatistic::median(&values)?, &mut SystemRandom::new()?)?;
/// println!("about {:.0}", median.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP under the relation that the [`Statistic`] is for, where
/// - *classic*, c = 0: `ε′ = ε/2`;
/// - *with a floor*, for a statistic whose profile [grows](Statistic::growth) by at most g:
///   `ε′ = ε − ln(1 + g/c)`. Where the local sensitivity is above c this is almost twice as accurate.
/// # Proof
/// *Rungs.* W is again a profile. Let y be on rung u of x, so `|y − f(x)| ≤ Σ_{v<u} W_v(x)`. Then
/// `|y − f(x′)| ≤ W_0(x′) + Σ_{v<u} W_{v+1}(x′)`: y is on rung u+1 of x′ or a lower one. So `|r_x(y) − r_x′(y)| ≤ 1`,
/// and the weight of y changes by a factor of at most `e^ε′`. *Normaliser.* Rung u ≥ 1 has `2W_{u−1}` integers and rung
/// 0 one: `N(x) = 1 + 2Σ_{u≥1} W_{u−1}(x)e^(−ε′u)`. Classic: `W_{u−1}(x′) ≤ W_u(x)`, so
/// `N(x′) ≤ 1 + e^ε′(N(x) − 1) ≤ e^ε′ N(x)`. With a floor: `A_k(x′) ≤ A_{k+1}(x) ≤ A_k(x) + g`, so
/// `W_k(x′) ≤ W_k(x) + g ≤ (1 + g/c)W_k(x)`, and `N(x′) ≤ (1 + g/c)N(x)`. ∎
/// # Special values
/// A statistic without a public [`most`](Statistic::most) is refused, as the weights may not add up. A width of 0 makes
/// an empty rung. Results saturate at the ends of `i128`.
/// # References
/// Zhang, Cormode, Procopiuc, Srivastava, Xiao 2015 (SIGMOD), for the classic ladder. The floor is ours.
#[derive(Clone, Debug)]
pub struct Ladder {
    epsilon: Epsilon,
    floor: Option<u64>,
}

/// The rungs that were weighed, and a bound on those beyond.
struct Rungs {
    rate: f64,
    exact: Ratio,
    /// `W_0 … W_{U−1}`: rungs 1 to U.
    widths: Vec<u64>,
    most: u64,
    /// At least `1/(1 − e^−ε′)`.
    whole: u64,
}

impl Ladder {
    /// The classic ladder.
    #[must_use]
    pub fn classic(epsilon: Epsilon) -> Self {
        Self { epsilon, floor: None }
    }

    /// A ladder with a floor of c ≥ 1 steps; `ln(1 + g/c)` must leave something of ε.
    pub fn with_floor(epsilon: Epsilon, floor: u64) -> Result<Self> {
        if floor == 0 {
            return Err(Error::OutOfRange { parameter: "floor", allowed: "at least 1" });
        }
        Ok(Self { epsilon, floor: Some(floor) })
    }

    /// Chooses the ladder that suits a statistic, by public facts: with a floor of `⌈6g/ε⌉` (this costs about a sixth
    /// of ε), or the classic one, whichever has the smaller [expected error](Ladder::expected_error).
    pub fn for_statistic(epsilon: Epsilon, statistic: &(impl Statistic + ?Sized)) -> Result<Self> {
        let classic = Self::classic(epsilon);
        let (Some(growth), Some(most)) = (statistic.growth(), statistic.most()) else {
            return Ok(classic);
        };
        // A floor above the largest step is no better than that step.
        let floor = (6.0 * growth.max(1) as f64 / epsilon.get()).ceil().min(most.max(1) as f64);
        let floored = Self::with_floor(epsilon, floor as u64)?;
        let better = match floored.expected_error(statistic) {
            Ok(error) => error <= classic.expected_error(statistic)?,
            Err(_) => false, // the floor takes all of ε
        };
        Ok(if better { floored } else { classic })
    }

    /// A rough guess of the error of a release, in steps, for choosing between methods. It assumes a local sensitivity
    /// of √most and uses public facts only. The width of a rung (of the floor, or grown over 1/ε rungs) over ε′.
    pub fn expected_error(&self, statistic: &(impl Statistic + ?Sized)) -> Result<f64> {
        let guess = (statistic.most().ok_or_else(super::unbounded)? as f64).sqrt();
        let width = match self.floor {
            Some(floor) => guess.max(floor as f64),
            None => guess + statistic.growth().unwrap_or(0) as f64 / self.epsilon.get(),
        };
        Ok(width / self.rate(statistic.growth().unwrap_or(0))?)
    }

    /// The floor c; `None` for the classic ladder.
    #[must_use]
    pub fn floor(&self) -> Option<u64> {
        self.floor
    }

    /// The ε′ per rung for a profile that grows by at most `growth`, rounded down.
    pub fn rate(&self, growth: u64) -> Result<f64> {
        let Some(floor) = self.floor else { return Ok(0.5 * self.epsilon.get()) };
        let (_, cost) = directed::ln(up(1.0 + up(up(growth as f64) / floor as f64)))?;
        let rate = down(self.epsilon.get() - cost.max(0.0));
        if rate > 0.0 {
            return Ok(rate);
        }
        Err(Error::Infeasible {
            what: "so low a floor takes all of epsilon",
            remedy: "raise the floor, or use the classic ladder",
        })
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// Releases a statistic.
    pub fn release(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<f64>> {
        let noised = self.release_steps(statistic, rng)?.into_value();
        Ok(Release::new(statistic.answer(noised), self.guarantee()))
    }

    /// Releases a statistic in steps of its grid, before [`Statistic::answer`].
    pub fn release_steps(
        &self,
        statistic: &(impl Statistic + ?Sized),
        rng: &mut dyn Randomness,
    ) -> Result<Release<i128>> {
        let rungs = self.rungs(statistic)?;
        let offset = loop {
            if let Some(offset) = rungs.propose(statistic, self.floor.unwrap_or(0), rng)? {
                break offset;
            }
        };
        Ok(Release::new(statistic.value().saturating_add(offset), self.guarantee()))
    }

    fn rungs(&self, statistic: &(impl Statistic + ?Sized)) -> Result<Rungs> {
        let most = statistic.most().ok_or_else(super::unbounded)?;
        let growth = match (self.floor, statistic.growth()) {
            (Some(_), None) => {
                return Err(Error::Infeasible {
                    what: "a ladder with a floor needs a statistic whose profile grows slowly",
                    remedy: "use the classic ladder",
                });
            }
            (_, growth) => growth.unwrap_or(0),
        };
        let floor = self.floor.unwrap_or(0);
        let most = most.max(floor).max(1);
        if most > 1 << 60 {
            return Err(Error::OutOfRange {
                parameter: "the largest step of the statistic",
                allowed: "at most 2^60",
            });
        }
        let rate = self.rate(growth)?;
        // Beyond these rungs there is less than e^−20 of the weight, even with all of them widest.
        let count = (((most as f64).ln() + 20.0 + (1.0 + 1.0 / rate).ln()) / rate).ceil();
        let whole = (1.0 + 1.0 / rate).ceil();
        let exact = Ratio::from_f64(rate).filter(|_| count <= MOST_RUNGS);
        let exact = exact.ok_or(Error::OutOfRange {
            parameter: "epsilon",
            allowed: "large enough for a ladder of at most 2^22 rungs",
        })?;
        let widths = (0..count as u64).map(|k| statistic.at_distance(k).max(floor)).collect();
        Ok(Rungs { rate, exact, widths, most, whole: whole as u64 })
    }
}

impl Rungs {
    /// The signed distance from f(x), or `None` for a proposal that is rejected.
    ///
    /// # Proof of exactness
    /// Rung 0 has weight 1, rung u ≤ U weight `2W_{u−1}e^(−ε′u)`, and all beyond are proposed with weight
    /// `2·most·K·e^(−ε′(U+1))`, K an integer of at least `1/(1−e^−ε′)`. Such a proposal is kept with probability
    /// `1/(K(1−e^−ε′))`, then rung U+1+j is taken with probability `(1−e^−ε′)e^(−ε′j)` and kept with probability
    /// `W/most`: the product is the rung's own weight. The choice is exact ([`choice`]), and so is every coin. ∎
    fn propose(
        &self,
        statistic: &(impl Statistic + ?Sized),
        floor: u64,
        rng: &mut dyn Randomness,
    ) -> Result<Option<i128>> {
        let count = self.widths.len();
        let mut all = Vec::with_capacity(count + 2);
        all.push(Alternative { count: 1, near: 0.0 });
        let near = |rung: usize| self.rate * rung as f64;
        all.extend(
            self.widths
                .iter()
                .enumerate()
                .map(|(k, &width)| Alternative { count: 2 * width, near: near(k + 1) }),
        );
        // most·K is split into a count that fits and the rest, which the exponent would have to hold;
        // most ≤ 2⁶⁰ and K small keep it below 2⁶³ but for tiny ε, where most is clipped by `widest`.
        let widest = (2 * self.most).saturating_mul(self.whole);
        if widest > 1 << 63 {
            return Err(Error::OutOfRange {
                parameter: "epsilon",
                allowed: "large enough for the largest step of the statistic",
            });
        }
        all.push(Alternative { count: widest, near: near(count + 1) });
        let exact = |i: usize| self.exact.mul(&Ratio::new(i as u64, 1u64));
        let rung = choice::choose(&all, exact, rng.bits()?)?;
        if rung == 0 {
            return Ok(Some(0));
        }
        let (rung, width) = if rung <= count {
            (rung as u64, self.widths[rung - 1])
        } else {
            if !self.keep(rng.bits()?)? {
                return Ok(None);
            }
            let scale = Scale::quotient(1.0, self.rate)?;
            // 2⁴⁰ rungs have a probability below e^(−10⁶), so the cut is invisible.
            let more = Geometric::new(&scale)?.draw(rng)?.clamp(0, 1 << 40) as u64;
            let rung = count as u64 + 1 + more;
            let width = statistic.at_distance(rung - 1).max(floor).min(self.most);
            if uniform_below(self.most, rng)? >= width {
                return Ok(None);
            }
            (rung, width)
        };
        let listed =
            self.widths.iter().take(rung as usize - 1).map(|&w| i128::from(w)).sum::<i128>();
        let beyond = (count as u64..rung - 1)
            .map(|k| i128::from(statistic.at_distance(k).max(floor)))
            .sum::<i128>();
        let within = i128::from(uniform_below(width, rng)?);
        let distance = listed + beyond + 1 + within;
        Ok(Some(if rng.bits()?.word()? & 1 == 1 { -distance } else { distance }))
    }

    /// A coin of probability `1/(K(1−e^−ε′))`.
    #[cold]
    fn keep(&self, bits: &mut Bits) -> Result<bool> {
        LazyUniform::draw(bits)?.below(bits, |b| {
            let work = b + 80;
            let one = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), work);
            let rest = one.saturating_sub(&Enclosure::exp_neg(&self.exact, work));
            let whole = rest.mul_ratio(&Ratio::new(self.whole, 1u64));
            match one.div(&whole) {
                Some(p) => p.truncate(b),
                None => one.truncate(b), // never: ε′ is far above 2^−80
            }
        })
    }
}

#[cfg(test)]
mod tests;
