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
mod tests {
    use super::*;
    use crate::local::lower_limit;
    use crate::random::SeededForTests;
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::{datasets, neighbours};

    fn beta(x: f64) -> Beta {
        Beta::new(x).unwrap()
    }

    fn epsilon(response: &Response) -> f64 {
        response.epsilon.get()
    }

    #[track_caller]
    fn near(found: f64, truth: f64, relative: f64) {
        assert!((found - truth).abs() <= relative * truth.abs(), "found {found}, truth {truth}");
    }

    #[test]
    fn parametrisations_agree_and_losses_are_known() {
        assert_eq!(epsilon(&Response::truthful(2, 0.75).unwrap()), 1.098_612_288_668_109_8);
        near(epsilon(&Response::truthful(4, 0.7).unwrap()), 1.945_910_149_055_313_2, 2.3e-16);
        for a in [1e-9, 0.1, 0.5, 0.9, 0.999_999] {
            let (alpha, gamma) = (Response::alpha(a).unwrap(), Response::gamma(a / 2.0).unwrap());
            assert_eq!(alpha, gamma);
            near(epsilon(&alpha), f64::ln_1p(a) - f64::ln_1p(-a), 1e-6);
            near(alpha.gap(), a, 1e-6);
            // ε → p → ε never gains, and α = tanh(ε/2).
            let back = Response::with_epsilon(2, alpha.epsilon).unwrap();
            assert!(back.p() <= alpha.p() && back.p() > alpha.p() - 4.0 * f64::EPSILON);
            near(back.gap(), (epsilon(&alpha) / 2.0).tanh(), 1e-6);
        }
        for (k, e) in [(2, 1e-6), (2, 1.0), (3, 0.2), (1000, 3.0), (u32::MAX, 20.0), (5, 700.0)] {
            let response = Response::with_epsilon(k, Epsilon::new(e).unwrap()).unwrap();
            let actual = loss(k, response.truth).unwrap();
            assert!(actual <= e, "{k} {e}: {actual}");
            assert!(e > 30.0 || actual > e * (1.0 - 1e-8), "{k} {e}: {actual}");
        }
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        for p in [0.5, 0.0, 1.0, 2.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Response::truthful(2, p).unwrap_err().to_string();
            assert!(error.contains("truth"), "{error}");
            let (alpha, gamma) = (2.0 * p - 1.0, p - 0.5);
            assert!(Response::alpha(alpha).unwrap_err().to_string().contains("alpha"));
            assert!(Response::gamma(gamma).unwrap_err().to_string().contains("gamma"));
        }
        assert!(Response::truthful(1, 0.9).is_err() && Response::truthful(4, 0.25).is_err());
        assert!(Response::with_epsilon(2, Epsilon::new(1e-17).unwrap()).is_err());
        let half = Response::alpha(0.5).unwrap();
        assert!(half.estimate(0, 0).is_err() && half.estimate(2, 1).is_err());
        let mut rng = SeededForTests::insecure(0);
        assert!(half.respond(2, &mut rng).is_err());
        assert!(Response::truthful(3, 0.5).unwrap().respond_bit(true, &mut rng).is_err());
    }

    #[test]
    fn reports_fit_their_law_and_the_test_has_power() {
        for (seed, k, p, category) in [(1, 2, 0.75, 1), (2, 5, 0.4, 3), (3, 300, 0.01, 299)] {
            let response = Response::truthful(k, p).unwrap();
            let mut rng = SeededForTests::insecure(seed);
            let draws: Vec<_> = (0..200_000)
                .map(|_| i128::from(response.respond(category, &mut rng).unwrap().into_value()))
                .collect();
            let fit = |p: f64| {
                let q = (1.0 - p) / f64::from(k - 1);
                let pmf = |r| if r == i128::from(category) { p } else { q };
                Fit::of(draws.iter().copied(), pmf, 0..=i128::from(k - 1))
            };
            assert!(fit(response.p()).accepts(), "{k}");
            let twin = Response::with_epsilon(k, Epsilon::new(1.05 * epsilon(&response)).unwrap());
            assert!(k == 300 || fit(twin.unwrap().p()).rejects(), "{k}");
        }
    }

    #[test]
    fn private_by_brute_force_when_a_row_is_replaced_and_not_when_it_is_added() {
        for (k, p) in [(2, 0.75), (3, 0.5)] {
            let domain: Vec<u32> = (0..k).collect();
            let response = Response::truthful(k, p).unwrap();
            let one = |x: u32| {
                let chance = move |r| if r == x { response.p() } else { response.q() };
                Distribution::new((0..k).map(move |r| (vec![r], chance(r))))
            };
            let all = |rows: &Vec<u32>| {
                let none = Distribution::new([(vec![], 1.0)]);
                rows.iter().fold(none, |d, &x| d.and(&one(x)).map(|(a, b)| [a, b].concat()))
            };
            let replace = |d: &Vec<u32>| datasets::replace_one(d, &domain);
            let add = |d: &Vec<u32>| datasets::add_or_remove_one(d, &domain);
            let data = || datasets::rows(&domain, 0..=2);
            let worst = neighbours::check(all, data(), replace, epsilon(&response), 0.0).unwrap();
            assert!(worst.epsilon > epsilon(&response) - 1e-12);
            let less = epsilon(&response) * 0.99;
            assert!(neighbours::check(all, data(), replace, less, 0.0).is_err());
            assert!(neighbours::check(all, data(), add, 100.0, 0.0).is_err());
        }
    }

    #[test]
    fn estimates_are_unbiased_with_the_stated_variance() {
        assert_eq!(Response::alpha(0.5).unwrap().estimate(9, 18).unwrap(), 0.5);
        for (k, p) in [(2, 0.75), (4, 0.7), (10, 0.2)] {
            let response = Response::truthful(k, p).unwrap();
            let (n, yes) = (12u64, 5u64);
            // The count's distribution: yes coins of p and n − yes coins of q, convolved.
            let mut pmf = vec![1.0];
            for i in 0..n {
                let c = if i < yes { response.p() } else { response.q() };
                let mut next = vec![0.0; pmf.len() + 1];
                for (j, mass) in pmf.iter().enumerate() {
                    next[j] += mass * (1.0 - c);
                    next[j + 1] += mass * c;
                }
                pmf = next;
            }
            let moment = |power, about| -> f64 {
                let value = |c| f64::powi(response.estimate(c, n).unwrap() - about, power);
                (0..=n).zip(&pmf).map(|(c, mass)| mass * value(c)).sum()
            };
            let f = yes as f64 / n as f64;
            near(moment(1, 0.0), f, 1e-12);
            near(moment(2, f), response.variance(f, n, Target::Respondents), 1e-12);
        }
        // Known forms: at f = 0, per person, and Var ≤ 1/(4α²n) for a population.
        let e = 1f64.exp();
        for k in [2, 3, 50] {
            let response = Response::with_epsilon(k, Epsilon::new(1.0).unwrap()).unwrap();
            let known = (f64::from(k) - 2.0 + e) / (e - 1.0).powi(2);
            near(response.variance(0.0, 1, Target::Respondents), known, 1e-12);
        }
        let yes_no = Response::alpha(0.3).unwrap();
        near(yes_no.variance(0.5, 7, Target::Population), 1.0 / (4.0 * 0.09 * 7.0), 1e-12);
        near(
            yes_no.variance(0.1, 1, Target::Respondents),
            0.25 / (epsilon(&yes_no) / 2.0).sinh().powi(2),
            1e-12,
        );
    }

    #[test]
    fn clopper_pearson_is_known_and_covers() {
        near(lower_limit(3, 10, 0.025), 0.066_739_511_177_734_47, 1e-9);
        near(1.0 - lower_limit(7, 10, 0.025), 0.652_452_850_059_997_3, 1e-9);
        near(lower_limit(1, 1000, 1e-6), 1.000_000_499_500_332_9e-9, 1e-9);
        near(lower_limit(600, 1000, 0.025), 0.568_878_445_955_893_1, 1e-9);
        near(lower_limit(10, 10, 0.025), 0.025f64.powf(0.1), 1e-9);
        let response = Response::alpha(0.5).unwrap();
        let n = 30;
        let intervals: Vec<_> =
            (0..=n).map(|c| response.exact_interval(c, n, beta(0.1)).unwrap()).collect();
        for step in 0..=100 {
            let f = f64::from(step) / 100.0;
            let pi = response.q() + f * response.gap();
            let missed: f64 = (0..=n)
                .filter(|&c| !(intervals[c as usize].0..=intervals[c as usize].1).contains(&f))
                .map(|c| {
                    let choose: f64 = (0..c).map(|i| (n - i) as f64 / (c - i) as f64).product();
                    choose * pi.powi(c as i32) * (1.0 - pi).powi((n - c) as i32)
                })
                .sum();
            assert!(missed <= 0.1, "{f}: {missed}");
        }
        assert_eq!(response.exact_interval(0, 50, beta(0.05)).unwrap(), (0.0, 0.0));
        // For many people it is close to the normal interval.
        let (a, b) = response.exact_interval(500_000, 1_000_000, beta(0.05)).unwrap();
        let (c, d) =
            response.normal_interval(500_000, 1_000_000, Target::Population, beta(0.05)).unwrap();
        assert!((a - c).abs() < 3e-6 && (b - d).abs() < 3e-6, "{a} {b} {c} {d}");
    }

    #[test]
    fn plans_invert_one_another_and_have_their_known_values() {
        let warner = Response::with_epsilon(2, Epsilon::new(1.0).unwrap()).unwrap();
        let noise = ErrorBound::Normal(Target::Respondents);
        assert_eq!(warner.people_for_error(0.01, noise, beta(0.05)).unwrap(), 35_368);
        let quarter = Response::gamma(0.25).unwrap();
        // ln(40)/(2·¼·10⁻⁴) and 1.96²·¼/(¼·10⁻⁴).
        assert_eq!(
            quarter.people_for_error(0.01, ErrorBound::Hoeffding, beta(0.05)).unwrap(),
            73_778
        );
        let population = ErrorBound::Normal(Target::Population);
        assert_eq!(quarter.people_for_error(0.01, population, beta(0.05)).unwrap(), 38_415);
        for bound in [ErrorBound::Hoeffding, noise, population] {
            for k in [2, 20] {
                let response = Response::with_epsilon(k, Epsilon::new(0.7).unwrap()).unwrap();
                let error = response.error(5_000, bound, beta(0.05)).unwrap();
                assert_eq!(response.people_for_error(error, bound, beta(0.05)).unwrap(), 5_000);
                let back = Response::epsilon_for_error(k, 5_000, error, bound, beta(0.05)).unwrap();
                near(back.get(), 0.7, 1e-8);
                // No frequency has a larger variance than the planned one.
                let worst = (0..=100).map(|f| f64::from(f) / 100.0).map(|f| match bound {
                    ErrorBound::Normal(target) => response.variance(f, 1, target),
                    ErrorBound::Hoeffding => response.variance(f, 1, Target::Population),
                });
                let planned = response.support().error_from(1.0, 1, bound).powi(2);
                assert!(worst.fold(0.0, f64::max) <= planned * (1.0 + 1e-12));
            }
        }
        assert!(warner.error(0, noise, beta(0.05)).is_err());
        assert!(Response::epsilon_for_error(1, 10, 0.1, noise, beta(0.05)).is_err());
        assert!(Response::epsilon_for_error(2, 10, 0.1, population, beta(0.05)).is_err());
    }
}
