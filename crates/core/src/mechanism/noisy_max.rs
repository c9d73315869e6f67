//! Report noisy max: the candidate whose score is largest after Laplace noise.

use super::exponential::{Change, Scores};
use super::{Geometric, Guarantee, Release};
use crate::error::{Error, Result};
use crate::random::Randomness;
use crate::sample::{DiscreteLaplace, Scale};
use crate::unit::{Beta, Epsilon, LInf, Rho, Sensitivity};
use crate::utility::Accuracy;

/// Chooses the candidate whose integer score is largest after noise, the first one if several
/// are.
///
/// The noise of each `qᵢ` is independent, `P[Zᵢ = k] ∝ a^|k|` with `a = e^(−ε/(2Δ))`, or `e^(−ε/Δ)`
/// for [monotone](Change::Monotone) scores.
///
/// ```
/// use demure_core::mechanism::{NoisyMax, Scores};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours, Sensitivity};
///
/// let votes = Scores::counts(&[310, 95, 240], Neighbours::AddRemove)?;
/// let noisy_max = NoisyMax::new(Epsilon::new(0.5)?, Sensitivity::new(1.0)?)?;
/// let winner = noisy_max.select(&votes, &mut SystemRandom::new()?)?;
/// println!("candidate {}", winner.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP under the neighbour relation for which every score changes by at most Δ
/// and, if monotone, all in one direction. As zCDP it costs ε²/2, what any ε-DP
/// mechanism does, and **not** the ε²/8 of the exponential mechanism.
/// # Proof
/// Fix `Zᵢ` for i ≠ r. Ties go to the lower index, so r is chosen iff
/// `Z_r ≥ m = max(max_{i<r}(qᵢ − q_r + Zᵢ) + 1, max_{i>r}(qᵢ − q_r + Zᵢ))`, an integer.
/// From x to x′ a difference of two scores changes by at most D = 2Δ, or Δ if
/// they move together, so `m′ ≤ m + D`. As `P[Z = k+D] ≥ a^D·P[Z = k]` for all k,
/// `P[Z ≥ m′] ≥ P[Z ≥ m+D] ≥ a^D·P[Z ≥ m] = e^−ε·P[Z ≥ m]`. Average over the `Zᵢ`. ∎
/// # Special values
/// All integers are legal. Which of equal scores comes first is public.
/// # References
/// Dwork, Roth 2014, Claim 3.9, for real noise, where ties do not occur.
#[derive(Clone, Debug)]
pub struct NoisyMax {
    epsilon: Epsilon,
    sensitivity: Sensitivity<LInf>,
    general: DiscreteLaplace,
    monotone: DiscreteLaplace,
}

impl NoisyMax {
    /// Calibrates the noise to scores that change by at most `sensitivity`.
    pub fn new(epsilon: Epsilon, sensitivity: Sensitivity<LInf>) -> Result<Self> {
        let noise = |change| {
            let shift = distance(change) * sensitivity.get();
            DiscreteLaplace::new(&Scale::quotient(shift, epsilon.get())?)
        };
        let (general, monotone) = (noise(Change::General)?, noise(Change::Monotone)?);
        Ok(Self { epsilon, sensitivity, general, monotone })
    }

    /// The scale of the noise: `2Δ/ε`, or `Δ/ε` for monotone scores.
    #[must_use]
    pub fn scale(&self, change: Change) -> f64 {
        distance(change) * self.sensitivity.get() / self.epsilon.get()
    }

    /// The guarantee of one choice.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The guarantee as zCDP: ρ = ε²/2, rounded up.
    pub fn rho(&self) -> Result<Rho> {
        self.epsilon.to_rho()
    }

    /// Chooses a candidate and returns its index. Draws once per candidate, whatever the scores.
    pub fn select(&self, scores: &Scores<i64>, rng: &mut dyn Randomness) -> Result<Release<usize>> {
        let mut noised = vec![0; scores.len()];
        let noise = match scores.change() {
            Change::General => &self.general,
            Change::Monotone => &self.monotone,
        };
        noise.fill(&mut noised, rng)?;
        let mut best = (0, i128::MIN);
        for (i, (noise, &score)) in noised.iter().zip(scores.values()).enumerate() {
            // Noise of 2¹²⁶ has probability below e^(−2⁶⁶): the sum does not saturate.
            let value = noise.saturating_add(i128::from(score));
            if value > best.1 {
                best = (i, value);
            }
        }
        Ok(Release::new(best.0, self.guarantee()))
    }

    /// By how much the chosen score may fall short of the best, except with probability β: twice
    /// the bound that all noises stay within.
    pub fn error(&self, candidates: usize, change: Change, beta: Beta) -> Result<f64> {
        let answers = u32::try_from(candidates).map_err(|_| Error::OutOfRange {
            parameter: "candidates",
            allowed: "fewer than 2^32",
        })?;
        let shift = Sensitivity::new(distance(change) * self.sensitivity.get())?;
        Ok(2.0 * Geometric::new(self.epsilon, shift)?.error_of_all(answers, beta)?)
    }
}

/// The largest change of the difference of two scores, in Δ.
fn distance(change: Change) -> f64 {
    match change {
        Change::General => 2.0,
        Change::Monotone => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SeededForTests;
    use crate::unit::Neighbours;
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::{datasets, neighbours};

    fn mechanism(epsilon: f64) -> NoisyMax {
        NoisyMax::new(Epsilon::new(epsilon).unwrap(), Sensitivity::new(1.0).unwrap()).unwrap()
    }

    /// The choice's probabilities at noise scale s, from the definition.
    fn table(counts: &[u64], s: f64) -> Vec<f64> {
        let a = (-1.0 / s).exp();
        let pmf = |k: i64| (1.0 - a) / (1.0 + a) * a.powi(k.unsigned_abs() as i32);
        let at_most = |k: i64| {
            let tail = |k: i64| a.powi(k as i32) / (1.0 + a); // P[Z ≥ k], k ≥ 1
            if k < 0 { tail(-k) } else { 1.0 - tail(k + 1) }
        };
        let reach = (40.0 * s) as i64 + 40;
        let chance = |r: usize| {
            let given = |z: i64| {
                let lead = |i: usize| z + counts[r] as i64 - counts[i] as i64;
                let others = (0..counts.len()).filter(|&i| i != r);
                others.map(|i| at_most(lead(i) - i64::from(i < r))).product::<f64>()
            };
            (-reach..=reach).map(|z| pmf(z) * given(z)).sum()
        };
        (0..counts.len()).map(chance).collect()
    }

    #[test]
    fn choices_fit_the_definition_and_the_test_has_power() {
        let counts = [3, 5, 4, 5, 0];
        for (seed, relation, s) in [(1, Neighbours::Replace, 4.0), (2, Neighbours::AddRemove, 2.0)]
        {
            let scores = Scores::counts(&counts, relation).unwrap();
            let mut rng = SeededForTests::insecure(seed);
            let chooser = mechanism(0.5);
            let draws: Vec<_> = (0..200_000)
                .map(|_| chooser.select(&scores, &mut rng).unwrap().into_value() as i128)
                .collect();
            let fit = |s| {
                let table = table(&counts, s);
                Fit::of(draws.iter().copied(), |i| table[i as usize], 0..=4)
            };
            assert!(fit(s).accepts() && fit(1.05 * s).rejects(), "{relation}");
        }
    }

    #[test]
    fn private_by_brute_force_ties_and_all() {
        let all = || datasets::histograms(3, 5);
        let replace = |d: &Vec<u64>| datasets::histogram_replace_one(d);
        let add = |d: &Vec<u64>| datasets::histogram_add_or_remove_one(d);
        for e in [0.5, 1.0, 2.0] {
            let choice = |s: f64| {
                move |counts: &Vec<u64>| Distribution::new(table(counts, s).into_iter().enumerate())
            };
            neighbours::check(choice(2.0 / e), all(), replace, e, 0.0).unwrap();
            neighbours::check(choice(2.0 / e), all(), add, e, 0.0).unwrap();
            neighbours::check(choice(1.0 / e), all(), add, e, 0.0).unwrap();
            // The noise for monotone scores is not enough if a count rises as another falls.
            assert!(neighbours::check(choice(1.0 / e), all(), replace, e, 0.0).is_err());

            let orders = [1.01, 1.1, 1.5, 2.0, 4.0, 16.0];
            let rho = mechanism(e).rho().unwrap().get();
            let zcdp = |rho| neighbours::check_zcdp(choice(2.0 / e), all(), replace, rho, &orders);
            zcdp(rho).unwrap();
            // The price of the exponential mechanism would be too low.
            assert!(e < 2.0 || zcdp(0.25 * rho).is_err());
        }
    }

    #[test]
    fn special_values_and_the_error_bound() {
        let mut rng = SeededForTests::insecure(3);
        let extreme = Scores::general(vec![i64::MIN, i64::MAX, 0]).unwrap();
        assert_eq!(mechanism(1.0).select(&extreme, &mut rng).unwrap().into_value(), 1);
        // Almost no noise: a tie goes to the first.
        let tie = Scores::general(vec![1, 7, 7]).unwrap();
        assert_eq!(mechanism(1e4).select(&tie, &mut rng).unwrap().into_value(), 1);
        assert!(Scores::<i64>::general(vec![]).is_err());
        let beta = Beta::new(0.05).unwrap();
        let t = mechanism(1.0).error(3, Change::General, beta).unwrap();
        let missed = 1.0 - table(&[t as u64 + 1, 0, 0], 2.0)[0];
        assert!(missed <= 0.05 && missed > 1e-4, "{missed}");
        assert!(mechanism(1.0).error(0, Change::General, beta).is_err());
        assert!(
            NoisyMax::new(Epsilon::new(1e-300).unwrap(), Sensitivity::new(1.0).unwrap()).is_err()
        );
    }
}
