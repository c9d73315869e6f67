//! Permute-and-flip: a choice that is never worse than the exponential
//! mechanism's, at the same ε.

use super::exponential::{Change, Rates, Scores, shortfall};
use super::{Guarantee, Release};
use crate::error::Result;
use crate::num::directed::up;
use crate::num::{Enclosure, Ratio, fast};
use crate::random::{Bits, Randomness};
use crate::sample::LazyUniform;
use crate::unit::{Beta, Epsilon, LInf, Rho, Sensitivity};

/// Chooses a candidate by its score: never worse than [`Exponential`](super::Exponential) at the
/// same ε.
///
/// It takes the largest `λqᵢ + Eᵢ` with independent standard exponential `Eᵢ` and `λ = ε/(2Δ)`, or
/// `ε/Δ` for [monotone](Change::Monotone) scores. With `pᵢ = e^(−λ(q* − qᵢ))` and q* the best
/// score, `P[r] = p_r·∫₀¹ Π_{i≠r}(1 − pᵢu) du`.
///
/// ```
/// use demure_core::mechanism::{PermuteAndFlip, Scores};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Neighbours, Sensitivity};
///
/// let votes = Scores::counts(&[310, 95, 240], Neighbours::AddRemove)?;
/// let choice = PermuteAndFlip::new(Epsilon::new(0.5)?, Sensitivity::new(1.0)?)?;
/// let winner = choice.select(&votes, &mut SystemRandom::new()?)?;
/// println!("candidate {}", winner.value());
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// # Guarantee
/// ε-DP under the neighbour relation for which every score changes by at most Δ
/// and, if monotone, all in one direction. Its loss does *not* have a range of
/// length ε, so the exponential mechanism's ε²/8-zCDP is false here: at ε = 1, three
/// small counts under replace have a `D_α/α` of 0.28. As zCDP it costs what any
/// ε-DP mechanism does, ε²/2 ([`Self::rho`]).
/// # Proof
/// Fix `Eᵢ` for i ≠ r. Then r is chosen iff `E_r > m = max_{i≠r}(λqᵢ − λq_r + Eᵢ)`.
/// From x to x′ a difference of two scores changes by at most 2Δ, or Δ if they
/// move together, so `m′ ≤ m + ε`. And `P[E > m+ε] ≥ e^−ε·P[E > m]` for every real
/// m: for m ≥ 0 it is an equality, for m < 0 the right side is `e^−ε`. Average over
/// the `Eᵢ`. ∎
/// # Proof of the formula, and of the name
/// r is chosen with `E_r = λ(q* − q_r) + t` iff `Eᵢ < t + λ(q* − qᵢ)` for the others,
/// of probability `1 − pᵢe^−t`; t ≥ 0, or q*'s candidate wins. Integrate over t
/// with density `p_re^−t` and put `u = e^−t`. Visiting the candidates at independent
/// uniform times u, which is a random permutation, and stopping at the first
/// whose coin of probability pᵢ shows heads has the same formula. ∎
/// # Special values
/// As [`Exponential`](super::Exponential).
/// # References
/// McKenna, Sheldon 2020 (arXiv:2010.12603v1), Algorithm 1 and Theorem 2. Ding,
/// Kifer, Saghaian, Steinke, Wang, Xiao, Zhang 2021 (arXiv:2105.07260v3) for the noise.
#[derive(Clone, Debug)]
pub struct PermuteAndFlip {
    epsilon: Epsilon,
    rates: Rates,
}

impl PermuteAndFlip {
    /// Calibrates the choice to scores that change by at most `sensitivity`.
    pub fn new(epsilon: Epsilon, sensitivity: Sensitivity<LInf>) -> Result<Self> {
        Ok(Self { epsilon, rates: Rates::new(epsilon, sensitivity)? })
    }

    /// The mean of the noise, in units of the score: `1/λ`, so `2Δ/ε` or `Δ/ε`.
    #[must_use]
    pub fn scale(&self, change: Change) -> f64 {
        1.0 / self.rates.of(change).near
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

    /// The probability of each candidate, to about 10⁻¹³, in n³ steps. Depends on protected
    /// scores, so do not publish it.
    ///
    /// # Proof
    /// At place k of a random permutation the k earlier coins have all failed
    /// with probability `aₖ`, the mean over the k-subsets S of the others of
    /// `Π_{i∈S}(1 − pᵢ)`; so `P[r] = (p_r/n)·Σₖaₖ`. One more candidate is in a
    /// k-subset of j with probability k/j. All terms are positive. ∎
    #[must_use]
    pub fn probabilities(&self, scores: &Scores<f64>) -> Vec<f64> {
        let (_, exponents) = self.rates.of(scores.change()).exponents(scores.values());
        let n = exponents.len();
        let chance = |r: usize| {
            let mut failed = vec![0.0; n];
            failed[0] = 1.0;
            let others = (0..n).filter(|&i| i != r);
            for (j, i) in (1..).zip(others) {
                let tails = -f64::exp_m1(-exponents[i]);
                for k in (1..=j).rev() {
                    let share = k as f64 / j as f64;
                    failed[k] = (1.0 - share) * failed[k] + share * tails * failed[k - 1];
                }
            }
            (-exponents[r]).exp() * failed.iter().sum::<f64>() / n as f64
        };
        (0..n).map(chance).collect()
    }

    /// Chooses a candidate and returns its index.
    ///
    /// # Proof of exactness
    /// `Eᵢ = −ln Uᵢ`, for a real Uᵢ of which 63 bits are drawn. They and floats of known
    /// error give an interval for `Eᵢ − λ(q* − qᵢ)`; candidates whose interval
    /// ends below another's start have lost. Any two that remain are compared
    /// in certified arithmetic with the same U's, and more bits of them. ∎
    /// # Work
    /// One word and a fixed amount per candidate, whatever the scores, but for
    /// the last comparison, needed with probability about `n·2⁻⁴¹`.
    pub fn select(&self, scores: &Scores<f64>, rng: &mut dyn Randomness) -> Result<Release<usize>> {
        let bits = rng.bits()?;
        let words: Result<Vec<u64>> =
            scores.values().iter().map(|_| Ok(bits.word()? >> 1)).collect();
        let winner = self.winner(scores, &words?, bits)?;
        Ok(Release::new(winner, self.guarantee()))
    }

    /// The choice, when each Uᵢ starts with the 63 bits of its word.
    fn winner(&self, scores: &Scores<f64>, words: &[u64], bits: &mut Bits) -> Result<usize> {
        let rate = self.rates.of(scores.change());
        let (_, exponents) = rate.exponents(scores.values());
        // Each x is within a relative 2⁻⁵⁰; two more roundings.
        let relative = 1.0 / (1u64 << 49) as f64;
        let low = |(&word, x): (&u64, &f64)| {
            fast::neg_ln_bits((word + 1).min(i64::MAX as u64))
                - x * (1.0 + relative)
                - 2.0 * fast::LN_ERROR
        };
        let high = |(&word, x): (&u64, &f64)| {
            let e = if word == 0 { f64::INFINITY } else { fast::neg_ln_bits(word) };
            e - x * (1.0 - relative) + 2.0 * fast::LN_ERROR
        };
        let bar = words.iter().zip(&exponents).map(low).fold(f64::NEG_INFINITY, f64::max);
        let mut leader: Option<(usize, LazyUniform)> = None;
        for (i, pair) in words.iter().zip(&exponents).enumerate() {
            if high(pair) < bar {
                continue;
            }
            let mut uniform = LazyUniform::starting(words[i], 63);
            leader = match leader.take() {
                None => Some((i, uniform)),
                Some((j, mut leading)) => {
                    let (qi, qj) = (scores.values()[i], scores.values()[j]);
                    let wins = if qi <= qj {
                        !beats(&mut leading, &mut uniform, &rate.exponent(qj, qi), bits)?
                    } else {
                        beats(&mut uniform, &mut leading, &rate.exponent(qi, qj), bits)?
                    };
                    Some(if wins { (i, uniform) } else { (j, leading) })
                }
            };
        }
        Ok(leader.map_or(0, |(index, _)| index))
    }

    /// The t by which the choice falls short of the best score at most, except with probability β: `ln((n−1)/(2β))/λ`,
    /// rounded up.
    ///
    /// # Proof
    /// To be chosen, a candidate short by s > t must have `Eᵢ ≥ λs + E*`, of
    /// probability `½e^(−λs)`; there are at most n − 1. ∎
    pub fn error(&self, candidates: usize, change: Change, beta: Beta) -> Result<f64> {
        let others = candidates.saturating_sub(1) as f64;
        shortfall(up(0.5 * others / beta.get()), self.rates.of(change))
    }
}

/// Whether `−ln U > −ln W − x`, that is `U·e^(−x) < W`, for an exact x ≥ 0.
#[cold]
fn beats(u: &mut LazyUniform, w: &mut LazyUniform, x: &Ratio, bits: &mut Bits) -> Result<bool> {
    loop {
        let (a, b) = (u.enclosure(), w.enclosure());
        let work = a.bits.max(b.bits);
        let widen = |e: &Enclosure| Enclosure {
            lower: e.lower.shl(work - e.bits),
            upper: e.upper.shl(work - e.bits),
            bits: work,
        };
        let (left, right) = (widen(&a).mul(&Enclosure::exp_neg(x, work)), widen(&b));
        if left.upper <= right.lower {
            return Ok(true);
        }
        if left.lower >= right.upper {
            return Ok(false);
        }
        u.extend(bits)?;
        w.extend(bits)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Exponential;
    use crate::random::SeededForTests;
    use crate::unit::Neighbours;
    use demure_testkit::distribution::Distribution;
    use demure_testkit::fit::Fit;
    use demure_testkit::{datasets, neighbours};

    fn parameters(epsilon: f64) -> (Epsilon, Sensitivity<LInf>) {
        (Epsilon::new(epsilon).unwrap(), Sensitivity::new(1.0).unwrap())
    }

    fn mechanism(epsilon: f64) -> PermuteAndFlip {
        let (epsilon, sensitivity) = parameters(epsilon);
        PermuteAndFlip::new(epsilon, sensitivity).unwrap()
    }

    /// The algorithm of the name, over all permutations of the candidates.
    fn by_permutations(p: &[f64], left: &[usize]) -> Vec<f64> {
        let mut chosen = vec![0.0; p.len()];
        for (at, &next) in left.iter().enumerate() {
            let share = 1.0 / left.len() as f64;
            chosen[next] += share * p[next];
            let mut rest = left.to_vec();
            rest.remove(at);
            for (sum, later) in chosen.iter_mut().zip(by_permutations(p, &rest)) {
                *sum += share * (1.0 - p[next]) * later;
            }
        }
        chosen
    }

    #[test]
    fn the_table_is_that_of_permuting_and_flipping_and_never_worse_than_exponential() {
        for values in [
            vec![3.0],
            vec![0.0, 0.0],
            vec![24.0, 8.0, 28.0, 5.0],
            vec![1.0, 2.0, 2.0, 0.0, -9.0, 1.5],
        ] {
            for epsilon in [0.1, 1.0, 4.0] {
                let scores = Scores::general(values.clone()).unwrap();
                let table = mechanism(epsilon).probabilities(&scores);
                let best = values.iter().copied().fold(f64::MIN, f64::max);
                let p: Vec<_> = values.iter().map(|q| (0.5 * epsilon * (q - best)).exp()).collect();
                let everyone: Vec<_> = (0..p.len()).collect();
                for (ours, theirs) in table.iter().zip(by_permutations(&p, &everyone)) {
                    assert!((ours - theirs).abs() < 1e-13);
                }
                let (e, s) = parameters(epsilon);
                let exponential = Exponential::new(e, s).unwrap().probabilities(&scores).unwrap();
                let mean = |t: &[f64]| t.iter().zip(&values).map(|(p, q)| p * q).sum::<f64>();
                assert!(mean(&table) >= mean(&exponential) - 1e-12);
            }
        }
    }

    #[test]
    fn choices_fit_the_table_and_the_test_has_power() {
        for (seed, relation) in [(1, Neighbours::Replace), (2, Neighbours::AddRemove)] {
            let scores = Scores::counts(&[24, 8, 28, 5], relation).unwrap();
            let mut rng = SeededForTests::insecure(seed);
            let chooser = mechanism(0.1);
            let draws: Vec<_> = (0..200_000)
                .map(|_| chooser.select(&scores, &mut rng).unwrap().into_value() as i128)
                .collect();
            let fit = |epsilon| {
                let table = mechanism(epsilon).probabilities(&scores);
                Fit::of(draws.iter().copied(), |i| table[i as usize], 0..=3)
            };
            assert!(fit(0.1).accepts() && fit(0.105).rejects(), "{relation}");
        }
    }

    #[test]
    fn close_calls_are_settled_by_more_bits() {
        // All candidates share their first 63 bits: only later bits can decide, and those are fair among equal scores.
        let scores = Scores::general(vec![5.0; 4]).unwrap();
        let mut rng = SeededForTests::insecure(3);
        let bits = rng.bits().unwrap();
        for word in [0, 1, 1 << 40, u64::MAX >> 1] {
            let draws = (0..4_000)
                .map(|_| mechanism(1.0).winner(&scores, &[word; 4], bits).unwrap() as i128);
            assert!(Fit::of(draws, |_| 0.25, 0..=3).accepts(), "{word}");
        }
        // e^(−½)·U < W: as sharp as the bits allow, on both sides of the boundary.
        let half = Ratio::new(1u64, 2u64);
        let boundary = (Enclosure::exp_neg(&half, 64).lower.to_u128().unwrap() as u64) >> 1;
        let mut beats = |w| {
            let (mut u, mut w) = (LazyUniform::starting(1 << 63, 64), LazyUniform::starting(w, 64));
            beats(&mut u, &mut w, &half, bits).unwrap()
        };
        assert!(beats(boundary + 4) && !beats(boundary - 4));
    }

    /// The distribution of the choice among three counts.
    fn choice(epsilon: f64, change: Change) -> impl Fn(&Vec<u64>) -> Distribution<usize> {
        move |counts| {
            let values = counts.iter().map(|&c| c as f64).collect();
            let scores = match change {
                Change::General => Scores::general(values),
                Change::Monotone => Scores::monotone(values),
            };
            Distribution::new(
                mechanism(epsilon).probabilities(&scores.unwrap()).into_iter().enumerate(),
            )
        }
    }

    #[test]
    fn private_by_brute_force_and_only_as_monotone_as_the_relation() {
        let all = || datasets::histograms(3, 6);
        let replace = |d: &Vec<u64>| datasets::histogram_replace_one(d);
        let add = |d: &Vec<u64>| datasets::histogram_add_or_remove_one(d);
        for e in [0.3, 1.0, 2.0] {
            let general = choice(e, Change::General);
            let worst = neighbours::check(&general, all(), replace, e, 0.0).unwrap();
            assert!(worst.epsilon > 0.6 * e, "{worst:?}");
            neighbours::check(&general, all(), add, e, 0.0).unwrap();
            neighbours::check(choice(e, Change::Monotone), all(), add, e, 0.0).unwrap();
            let wrong = neighbours::check(choice(e, Change::Monotone), all(), replace, e, 0.0);
            assert!(wrong.is_err());
            let zcdp =
                |rho| neighbours::check_zcdp(&general, all(), replace, rho, &[1.01, 2.0, 8.0]);
            let rho = mechanism(e).rho().unwrap().get();
            let worst = zcdp(rho).unwrap();
            assert!(zcdp(0.25 * rho).is_err(), "the exponential mechanism's price is too little");
            assert!(e != 1.0 || (0.28..0.29).contains(&worst.rho), "{worst:?}");
        }
    }

    #[test]
    fn special_values_and_the_error_bound() {
        let mut rng = SeededForTests::insecure(4);
        let far = Scores::general(vec![f64::MIN, f64::MAX, 1e308]).unwrap();
        assert_eq!(mechanism(1.0).select(&far, &mut rng).unwrap().into_value(), 1);
        assert_eq!(mechanism(1.0).probabilities(&far), [0.0, 1.0, 0.0]);
        // A word of 0 is a huge noise, not an infinite one.
        let bits = rng.bits().unwrap();
        assert_eq!(mechanism(1.0).winner(&far, &[0, 9, 0], bits).unwrap(), 1);
        let beta = Beta::new(0.05).unwrap();
        let t = mechanism(1.0).error(10, Change::General, beta).unwrap();
        assert!((t - 2.0 * 90f64.ln()).abs() < 1e-13);
        let mut values = vec![-t; 10];
        values[0] = 0.0;
        let missed = 1.0 - mechanism(1.0).probabilities(&Scores::general(values).unwrap())[0];
        assert!(missed <= 0.05 && missed > 0.045, "{missed}");
        assert_eq!(mechanism(1.0).error(1, Change::General, beta).unwrap(), 0.0);
    }
}
