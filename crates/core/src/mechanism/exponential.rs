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
mod tests {
    use super::*;
    use crate::random::SeededForTests;
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::{datasets, neighbours};

    fn mechanism(epsilon: f64) -> Exponential {
        Exponential::new(Epsilon::new(epsilon).unwrap(), Sensitivity::new(1.0).unwrap()).unwrap()
    }

    const CASES: [u64; 4] = [24, 8, 28, 5]; // Diabetes, hepatitis, flu, HIV

    #[test]
    fn the_table_of_the_chapter() {
        let scores = Scores::counts(&CASES, Neighbours::Replace).unwrap();
        assert_eq!(Exponential::uniform(&scores), [0.25; 4]);
        for (epsilon, digits, known) in [
            (0.1, 4, [0.3271, 0.1470, 0.3995, 0.1265]),
            (1.0, 4, [0.1192, 3.999e-5, 0.8808, 8.922e-6]),
        ] {
            let table = mechanism(epsilon).probabilities(&scores).unwrap();
            for (p, k) in table.iter().zip(known) {
                let unit = 10f64.powi(f64::log10(k).floor() as i32 + 1 - digits);
                assert!((p - k).abs() <= 0.5001 * unit, "{p} {k}");
            }
            assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            // 1e-15 against the formula: P = 1/Σ e^(λ(qⱼ − qᵢ)), for the best i.
            let sum: f64 = CASES.iter().map(|&q| (0.5 * epsilon * (q as f64 - 28.0)).exp()).sum();
            assert!((table[2] - 1.0 / sum).abs() < 1e-15);
        }
    }

    #[test]
    fn choices_fit_the_table_and_the_test_has_power() {
        for (seed, relation) in [(1, Neighbours::Replace), (2, Neighbours::AddRemove)] {
            let scores = Scores::counts(&CASES, relation).unwrap();
            let mut rng = SeededForTests::insecure(seed);
            let chooser = mechanism(0.1);
            let draws: Vec<_> = (0..200_000)
                .map(|_| chooser.select(&scores, &mut rng).unwrap().into_value() as i128)
                .collect();
            let fit = |epsilon| {
                let table = mechanism(epsilon).probabilities(&scores).unwrap();
                Fit::of(draws.iter().copied(), |i| table[i as usize], 0..=3)
            };
            assert!(fit(0.1).accepts() && fit(0.105).rejects(), "{relation}");
        }
    }

    /// The distribution of the choice among three counts.
    fn choice(epsilon: f64, change: Change) -> impl Fn(&Vec<u64>) -> Distribution<usize> {
        move |counts| {
            let values = counts.iter().map(|&c| c as f64).collect();
            let scores = Scores::new(values, change).unwrap();
            let table = mechanism(epsilon).probabilities(&scores).unwrap();
            Distribution::new(table.into_iter().enumerate())
        }
    }

    #[test]
    fn private_by_brute_force_and_only_as_monotone_as_the_relation() {
        let all = || datasets::histograms(3, 6);
        let replace = |d: &Vec<u64>| datasets::histogram_replace_one(d);
        let add = |d: &Vec<u64>| datasets::histogram_add_or_remove_one(d);
        for e in [0.3, 1.0, 2.0] {
            neighbours::check(choice(e, Change::General), all(), replace, e, 0.0).unwrap();
            neighbours::check(choice(e, Change::General), all(), add, e, 0.0).unwrap();
            neighbours::check(choice(e, Change::Monotone), all(), add, e, 0.0).unwrap();
            // Counts are not monotone when one row replaces another: twice the ε.
            let wrong = neighbours::check(choice(e, Change::Monotone), all(), replace, e, 0.0);
            assert!(wrong.is_err());

            let orders = [1.01, 1.5, 2.0, 4.0, 16.0, 64.0];
            let rho = mechanism(e).rho().unwrap().get();
            assert!((rho - e * e / 8.0).abs() < 1e-15);
            let zcdp = |change, rho| {
                neighbours::check_zcdp(choice(e, change), all(), replace, rho, &orders)
            };
            zcdp(Change::General, rho).unwrap();
            assert!(zcdp(Change::General, 0.7 * rho).is_err()); // it is nearly tight
            assert!(zcdp(Change::Monotone, rho).is_err());
            neighbours::check_zcdp(choice(e, Change::Monotone), all(), add, rho, &orders).unwrap();
        }
    }

    #[test]
    fn special_values() {
        for bad in [vec![], vec![f64::NAN], vec![1.0, f64::INFINITY], vec![f64::NEG_INFINITY]] {
            assert!(Scores::general(bad).unwrap_err().to_string().contains("scores"));
        }
        let mut rng = SeededForTests::insecure(3);
        let pick = |values: &[f64], rng: &mut SeededForTests| {
            let scores = Scores::general(values.to_vec()).unwrap();
            mechanism(1.0).select(&scores, rng).unwrap().into_value()
        };
        assert_eq!(pick(&[f64::MIN], &mut rng), 0);
        assert_eq!(pick(&[f64::MIN, f64::MAX, 1e308], &mut rng), 1);
        assert!(pick(&[-0.0, 0.0], &mut rng) < 2);
        let far = Scores::general(vec![-1e300, -1e300 - 1e285, 5e-324, 0.0]).unwrap();
        assert_eq!(mechanism(1.0).probabilities(&far).unwrap(), [0.0, 0.0, 0.5, 0.5]);
        let secret = Scores::general(vec![31_337.0]).unwrap();
        assert!(!format!("{secret:?}").contains("31"));
        assert_eq!(
            <Scores<f64>>::counts(&[u64::MAX], Neighbours::Replace).unwrap().values,
            [2f64.powi(53)]
        );
        let (tiny, huge) = (Epsilon::new(1e-300).unwrap(), Sensitivity::new(1e300).unwrap());
        assert!(Exponential::new(tiny, huge).is_err());
    }

    #[test]
    fn the_error_bound_is_attained() {
        let beta = Beta::new(0.05).unwrap();
        let t = mechanism(1.0).error(10, Change::General, beta).unwrap();
        assert!((t - 2.0 * (9.0 * 19.0f64).ln()).abs() < 1e-13);
        let mut values = vec![-t; 10];
        values[0] = 0.0;
        let scores = Scores::general(values).unwrap();
        let missed = 1.0 - mechanism(1.0).probabilities(&scores).unwrap()[0];
        assert!(missed <= 0.05 && missed > 0.05 - 1e-12, "{missed}");
        assert_eq!(mechanism(1.0).error(1, Change::General, beta).unwrap(), 0.0);
        assert!(mechanism(1.0).error(10, Change::Monotone, beta).unwrap() < 0.51 * t);
    }
}
