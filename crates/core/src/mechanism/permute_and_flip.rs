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
mod tests;
