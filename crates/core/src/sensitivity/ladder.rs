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
mod tests {
    use super::super::order::tests::{ALL, databases, replaced, values};
    use super::*;
    use crate::random::SeededForTests;
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::neighbours::check;

    /// A statistic with a given profile: `min(start + k·growth, most)`.
    struct Line {
        value: i128,
        start: u64,
        growth: u64,
        most: u64,
    }

    impl Statistic for Line {
        fn value(&self) -> i128 {
            self.value
        }
        fn at_distance(&self, k: u64) -> u64 {
            (self.start + k * self.growth).min(self.most)
        }
        fn most(&self) -> Option<u64> {
            Some(self.most)
        }
        fn growth(&self) -> Option<u64> {
            Some(self.growth)
        }
    }

    /// P[release = o], from the definition.
    fn law(ladder: &Ladder, statistic: &dyn Statistic, reach: i128) -> Distribution<i128> {
        let rate = ladder.rate(statistic.growth().unwrap_or(0)).unwrap();
        let floor = ladder.floor().unwrap_or(0);
        let mut weights = vec![1.0];
        let (mut rung, mut far) = (0u64, 0);
        while weights.len() as i128 <= 4 * reach {
            far += i128::from(statistic.at_distance(rung).max(floor));
            rung += 1;
            weights.resize(far as usize + 1, (-rate * rung as f64).exp());
        }
        let mut norm = 1.0;
        for k in 0..(45.0 / rate) as u64 {
            let width = statistic.at_distance(k).max(floor) as f64;
            norm += 2.0 * width * (-rate * (k + 1) as f64).exp();
        }
        let mass = |o: i128| weights[(o - statistic.value()).unsigned_abs() as usize] / norm;
        let listed: f64 = (-reach..=reach).map(mass).sum();
        let table = (-reach..=reach).map(|o| (o, mass(o)));
        Distribution::with_tail(table, (1.0 - listed + 1e-9).clamp(0.0, 1.0))
    }

    #[test]
    fn ladders_are_private_on_all_small_databases() {
        for e in [0.3, 1.0, 3.0] {
            let ladder = Ladder::classic(Epsilon::new(e).unwrap());
            for (name, _, make) in ALL {
                for n in (1..=6).filter(|&n| make(&values(&vec![0; n])).is_some()) {
                    let mechanism = |x: &Vec<u8>| law(&ladder, &*make(&values(x)).unwrap(), 40);
                    check(mechanism, databases(n), replaced, e, 0.0)
                        .unwrap_or_else(|v| panic!("{name} {n}: {v}"));
                }
            }
        }
    }

    /// Profiles that differ as neighbours may: value by up to A_0, profile by up to the growth.
    #[test]
    fn a_floor_pays_for_the_normaliser_and_less_does_not() {
        for (e, floor) in [(1.0, 4), (0.5, 10), (2.0, 1)] {
            let ladder = Ladder::with_floor(Epsilon::new(e).unwrap(), floor).unwrap();
            let mechanism = |&(value, start): &(i128, u64)| {
                law(&ladder, &Line { value, start, growth: 1, most: 30 }, 200)
            };
            let all: Vec<(i128, u64)> =
                (0..12).flat_map(|start| (-20..=20).map(move |value| (value, start))).collect();
            let near = |&(value, start): &(i128, u64)| -> Vec<(i128, u64)> {
                let starts = start.saturating_sub(1)..=(start + 1).min(11);
                let next = starts.flat_map(|s| {
                    let reach = s.min(start) as i128;
                    (value - reach..=value + reach).map(move |v| (v, s))
                });
                next.filter(|&(v, s)| v.abs() <= 20 && (v, s) != (value, start)).collect()
            };
            let worst = check(mechanism, all.clone(), near, e, 0.0).unwrap();
            assert!(worst.epsilon > 0.75 * e, "{} {e}", worst.epsilon);
            // Without a floor ε′ = ε − ln(1 + 1/c) is too much: profiles of 0 and 1 tell.
            let bare = |&(value, start): &(i128, u64)| {
                let rate = ladder.rate(1).unwrap();
                let classic = Ladder::classic(Epsilon::new(2.0 * rate).unwrap());
                law(&classic, &Line { value, start, growth: 1, most: 30 }, 200)
            };
            if floor > 1 {
                assert!(check(bare, all, near, e, 0.0).is_err());
            }
        }
    }

    #[test]
    fn releases_fit_the_law_and_the_test_has_power() {
        for (seed, e, floor, start) in
            [(1, 1.0, None, 3), (2, 0.5, Some(8), 2), (3, 2.0, None, 0), (4, 0.2, Some(1), 20)]
        {
            let epsilon = Epsilon::new(e).unwrap();
            let ladder = Ladder { epsilon, floor };
            let Ok(_) = ladder.rate(1) else { continue };
            let line = |start| Line { value: 5, start, growth: 1, most: 40 };
            let mut rng = SeededForTests::insecure(seed);
            let samples: Vec<i128> = (0..100_000)
                .map(|_| ladder.release_steps(&line(start), &mut rng).unwrap().into_value())
                .collect();
            let reach = 2_000;
            let right = law(&ladder, &line(start), reach);
            let fit = |law: &Distribution<i128>| {
                Fit::of(samples.iter().copied(), |o| law.probability(&o), -reach..=reach)
            };
            assert!(fit(&right).accepts(), "{e} {floor:?}");
            let off = Ladder { epsilon: Epsilon::new(e * 1.05).unwrap(), floor };
            assert!(fit(&law(&off, &line(start), reach)).rejects(), "{e} {floor:?}");
        }
    }

    #[test]
    fn the_tail_beyond_the_listed_rungs_has_its_weight() {
        // Cut the list short: everything beyond two rungs goes through the proposals.
        let line = Line { value: 0, start: 2, growth: 1, most: 6 };
        let ladder = Ladder::classic(Epsilon::new(1.0).unwrap());
        let mut rungs = ladder.rungs(&line).unwrap();
        rungs.widths.truncate(2);
        let mut rng = SeededForTests::insecure(9);
        let samples: Vec<i128> = (0..200_000)
            .filter_map(|_| rungs.propose(&line, 0, &mut rng).unwrap())
            .take(60_000)
            .collect();
        let right = law(&ladder, &line, 300);
        assert!(Fit::of(samples, |o| right.probability(&o), -300..=300).accepts());
    }

    #[test]
    fn what_cannot_be_weighed_is_refused() {
        let mut rng = SeededForTests::insecure(1);
        let e = |x| Epsilon::new(x).unwrap();
        let line = Line { value: 0, start: 2, growth: 1, most: 1 << 61 };
        assert!(Ladder::classic(e(1.0)).release(&line, &mut rng).is_err());
        assert!(Ladder::with_floor(e(1.0), 0).is_err());
        assert!(Ladder::with_floor(e(0.1), 1).unwrap().rate(1).is_err());
        let line = Line { value: 0, start: 2, growth: 1, most: 100 };
        assert!(Ladder::classic(e(1e-9)).release(&line, &mut rng).is_err());
        assert_eq!(Ladder::for_statistic(e(1.0), &line).unwrap().floor(), Some(6));
        // Steep profiles and tiny ε have no use for a floor.
        let steep = Line { value: 0, start: 1, growth: 1_000, most: 1_000_000 };
        assert_eq!(Ladder::for_statistic(e(1.0), &steep).unwrap().floor(), None);
        let line = Line { value: 0, start: 2, growth: 1, most: 5_000 };
        assert_eq!(Ladder::for_statistic(e(0.1), &line).unwrap().floor(), Some(60));
        assert_eq!(Ladder::for_statistic(e(0.01), &line).unwrap().floor(), None);
    }
}
