//! The sparse vector technique: many questions, paying only for the "yes" answers.

use super::{Change, Geometric, Guarantee, Release};
use crate::error::{Error, Result};
use crate::num::directed::{down, up};
use crate::random::Randomness;
use crate::unit::{Beta, Epsilon, LInf, Sensitivity};
use crate::utility::Accuracy;
use std::fmt;

/// Values beyond ±2¹²⁰ are clamped there, so that no noise can overflow.
const LIMIT: i128 = 1 << 120;

/// Reports which of a stream of integer queries are above a public threshold, and stops after c of them: the sparse
/// vector technique.
///
/// ```
/// use demure_core::mechanism::{AboveThreshold, Answer, Change};
/// use demure_core::random::SystemRandom;
/// use demure_core::unit::{Epsilon, Sensitivity};
///
/// // The first three days with at least 1,000 visitors; a person visits at most once a day.
/// let mut rng = SystemRandom::new()?;
/// let sensitivity = Sensitivity::new(1.0)?;
/// let above = AboveThreshold::new(Epsilon::new(1.0)?, sensitivity, 3, Change::Monotone)?;
/// let mut transcript = above.start(1_000, &mut rng)?;
/// for (day, visitors) in [120, 2_400, 80, 1_900, 35].into_iter().enumerate() {
///     if let Answer::Above(_) = transcript.ask(visitors, &mut rng)?.into_value() {
///         println!("day {day}");
///     }
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// Query i is above if `q_i(x) + ν_i ≥ T + ρ`, with `ρ ~ Geo(Δ/ε₁)` drawn once and
/// kept, and a fresh `ν_i ~ Geo(2cΔ/ε₂)` for every query (`cΔ/ε₂` if the queries
/// are monotone), where `Geo(s)` is two-sided geometric, `P[k] ∝ e^(−|k|/s)`.
/// After the c-th "above" it halts. Optionally each "above" comes with
/// `q_i(x) + Geo(cΔ/ε₃)`, of noise of its own.
///
/// # Guarantee
/// The whole transcript, however long, is (ε₁ + ε₂ + ε₃)-DP under the relation
/// for which every `|q_i(x) − q_i(x′)| ≤ Δ`, for queries chosen adaptively (for
/// thresholds of their own, ask `q_i − T_i`). [`Change::Monotone`] requires that between any two neighbours no
/// query rises while another falls: counts under add or remove, not under replace.
/// # Proof
/// Fix a transcript; it fixes the queries. Given ρ = z its probability on x is
/// `Π_⊥ f_i(x,z)·Π_⊤ g_i(x,z)`, with `f_i(x,z) = P[ν_i < T + z − q_i(x)]` and `g_i = 1 − f_i`.
/// As `P[ν ≥ k − d] ≤ e^(d/s) P[ν ≥ k]` for integers d ≥ 0, moving z by integer steps
/// D = ⌊Δ⌋ compares x with x′:
/// - `P[ρ = z] ≤ e^ε₁ P[ρ = z + D]`;
/// - `f_i(x,z) ≤ f_i(x′,z+D)`, as `T + z − q_i(x) ≤ T + z + D − q_i(x′)`: a "below" is free;
/// - `g_i(x,z) ≤ e^(ε₂/c) g_i(x′,z+D)`, as the bound on ν_i rises by at most 2D.
///
/// Sum over z: at most c factors e^(ε₂/c) and one e^ε₁. *Monotone:* if no query
/// is less on x′, the bound on ν_i rises by at most D, so `cΔ/ε₂` is enough; if none is
/// greater, use no shift: `f_i(x,z) ≤ f_i(x′,z)`, `g_i(x,z) ≤ e^(ε₂/c) g_i(x′,z)`. The
/// numeric answers are c geometric mechanisms of ε₃/c each, composed. Whether
/// ties count as above (`≥`) does not matter to the proof, and ρ may serve for all c
/// answers because one shift of z serves the whole product. ∎
/// # Special values
/// Queries beyond ±2¹²⁰ are clamped, which enlarges no sensitivity.
/// # References
/// Lyu, Su, Li 2017 (arXiv:1603.01699v4), Algorithm 7; four of the variants it
/// collects are not private, and are in this file's tests.
#[derive(Clone, Debug)]
pub struct AboveThreshold {
    epsilon: Epsilon,
    positives: u32,
    threshold_noise: Geometric,
    query_noise: Geometric,
    answer_noise: Option<Geometric>,
}

/// How [`AboveThreshold`] spends its ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpsilonSplit {
    /// ε₁, for the threshold.
    pub threshold: Epsilon,
    /// ε₂, for the comparisons of all queries together.
    pub queries: Epsilon,
    /// ε₃, for the noisy values of the queries above; `None` for yes-or-no answers alone.
    pub answers: Option<Epsilon>,
}

/// The answer to one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The noised query was at least the threshold. Holds the noised value if ε was set aside for
    /// it: [`EpsilonSplit::answers`].
    Above(Option<i128>),
    /// The noised query was less than the threshold.
    Below,
    /// All "above" answers have been given, so the query was not looked at.
    Halted,
}

impl AboveThreshold {
    /// Answers yes or no for ε in all, until `positives` queries were above.
    ///
    /// ε is split `1 : (2c)^⅔` between threshold and queries (`1 : c^⅔` if monotone),
    /// which makes the variance of `ν − ρ` least.
    pub fn new(
        epsilon: Epsilon,
        sensitivity: Sensitivity<LInf>,
        positives: u32,
        change: Change,
    ) -> Result<Self> {
        let share = noise_factor(positives, change)?.powf(2.0 / 3.0);
        let first = Epsilon::new(down(epsilon.get() / (1.0 + share)))?;
        let second = Epsilon::new(down(epsilon.get() - first.get()))?;
        let split = EpsilonSplit { threshold: first, queries: second, answers: None };
        Ok(Self { epsilon, ..Self::with_split(split, sensitivity, positives, change)? })
    }

    /// As [`AboveThreshold::new`], with a split of ε of your choice.
    pub fn with_split(
        split: EpsilonSplit,
        sensitivity: Sensitivity<LInf>,
        positives: u32,
        change: Change,
    ) -> Result<Self> {
        let EpsilonSplit { threshold, queries, answers } = split;
        let factor = noise_factor(positives, change)?;
        let noise = |epsilon: Epsilon, factor: f64| {
            let scaled = factor * sensitivity.get();
            let exact = factor.mul_add(sensitivity.get(), -scaled) == 0.0;
            Geometric::new(epsilon, Sensitivity::new(if exact { scaled } else { up(scaled) })?)
        };
        let total = up(threshold.get() + queries.get());
        let total = answers.map_or(total, |answers| up(total + answers.get()));
        Ok(Self {
            epsilon: Epsilon::new(total)?,
            positives,
            threshold_noise: noise(threshold, 1.0)?,
            query_noise: noise(queries, factor)?,
            answer_noise: answers.map(|e| noise(e, f64::from(positives))).transpose()?,
        })
    }

    /// The guarantee of a whole transcript.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Pure(self.epsilon)
    }

    /// The scales of the noise on the threshold, ρ, and on each query, ν.
    #[must_use]
    pub fn scales(&self) -> (f64, f64) {
        (self.threshold_noise.scale(), self.query_noise.scale())
    }

    /// Draws the noise of the threshold and starts a transcript. This spends the whole ε.
    pub fn start(&self, threshold: i128, rng: &mut dyn Randomness) -> Result<Transcript> {
        if threshold.unsigned_abs() > LIMIT.unsigned_abs() {
            return Err(Error::OutOfRange { parameter: "threshold", allowed: "within ±2^120" });
        }
        let noised = self.threshold_noise.release(threshold, rng)?.into_value();
        Ok(Transcript { rules: self.clone(), noised, left: self.positives })
    }
}

/// The factor of Δ/ε₂ in the scale of ν.
fn noise_factor(positives: u32, change: Change) -> Result<f64> {
    match (positives, change) {
        (0, _) => Err(Error::OutOfRange { parameter: "positives", allowed: "at least 1" }),
        (_, Change::General) => Ok(2.0 * f64::from(positives)),
        (_, Change::Monotone) => Ok(f64::from(positives)),
    }
}

impl Accuracy for AboveThreshold {
    /// α such that, but for probability β, a query of at least T + α is answered
    /// "above" and one of at most T − α "below": half of β for each noise.
    fn error(&self, beta: Beta) -> Result<f64> {
        let half = Beta::new(beta.get() * 0.5)?;
        Ok(up(self.threshold_noise.error(half)? + self.query_noise.error(half)? + 1.0))
    }
}

/// The answers of one [`AboveThreshold`] so far. Its noised threshold is secret, so `Debug` does
/// not show it.
pub struct Transcript {
    rules: AboveThreshold,
    noised: i128,
    left: u32,
}

impl Transcript {
    /// Answers one query, given its exact value.
    ///
    /// The guarantee on the release is that of the *whole transcript*: charge it once, when the
    /// transcript starts.
    pub fn ask(&mut self, value: i128, rng: &mut dyn Randomness) -> Result<Release<Answer>> {
        let guarantee = self.rules.guarantee();
        if self.left == 0 {
            return Ok(Release::new(Answer::Halted, guarantee));
        }
        let value = value.clamp(-LIMIT, LIMIT);
        if self.rules.query_noise.release(value, rng)?.into_value() < self.noised {
            return Ok(Release::new(Answer::Below, guarantee));
        }
        self.left -= 1;
        let number = match &self.rules.answer_noise {
            Some(noise) => Some(noise.release(value, rng)?.into_value()),
            None => None,
        };
        Ok(Release::new(Answer::Above(number), guarantee))
    }

    /// How many more queries may be answered "above".
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcript").field("left", &self.left).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
