//! Stable releases: the exact answer, without noise, if it is far from changing.

use super::gate::Gate;
use crate::error::{Error, Result};
use crate::mechanism::{Guarantee, Release};
use crate::random::Randomness;
use crate::unit::{Delta, Epsilon, Neighbours};
use std::collections::BTreeMap;
use std::fmt;

/// How far the data are from a dataset where the answer changes, in steps of the neighbour relation.
///
/// There are two ways to count, which differ by one. Mistaking one for the other would cost a factor `e^ε` in δ, so the
/// type says which is meant.
///
/// Any lower bound that is 1-Lipschitz is sufficient, if it is 1 (or 0) wherever a neighbour's answer differs.
/// Protected: `Debug` shows nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// The distance to the nearest dataset with *another answer*: 1 or more.
    ToOtherAnswer(u64),
    /// The distance to the nearest *unstable* dataset, one that has a neighbour with another answer: 0 or more.
    ToUnstable(u64),
}

impl Distance {
    /// Converts to the second kind.
    fn to_unstable(self) -> u64 {
        match self {
            Self::ToOtherAnswer(d) => d.saturating_sub(1),
            Self::ToUnstable(d) => d,
        }
    }
}

impl fmt::Debug for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToOtherAnswer(_) => "ToOtherAnswer(protected)",
            Self::ToUnstable(_) => "ToUnstable(protected)",
        })
    }
}

/// Releases the exact answer if it is far from changing, and `None` otherwise.
///
/// ```
/// use demure_core::random::SystemRandom;
/// use demure_core::sensitivity::{Stable, Tally};
/// use demure_core::unit::{Delta, Epsilon, Neighbours};
///
/// let (winner, distance) = Tally::votes(&[310, 95, 240], Neighbours::AddRemove)?.winner();
/// let stable = Stable::new(Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
/// match stable.release(winner, distance, &mut SystemRandom::new()?)?.into_value() {
///     Some(winner) => println!("candidate {winner}"),
///     None => println!("too close to call"),
/// }
/// # Ok::<(), demure_core::Error>(())
/// ```
///
/// f(x) is released if `d(x) + Z > T`, where d is the distance to the nearest unstable dataset, `P[Z = k] ∝ e^(−ε|k|)`,
/// and T is the least integer with `e^(−ε(T+1))/(1+e^−ε) ≤ δ`: `⌈ln(1/(δ(1+e^−ε)))/ε⌉ − 1`.
///
/// # Guarantee
/// (ε,δ)-DP under the relation that the distance is for, whatever f is.
/// # Proof
/// Let x, x′ be neighbours. If f(x) = f(x′), the release is a function of whether `d + Z > T`, and d is 1-Lipschitz:
/// ε-DP. If not, both are unstable, d = 0, and either is released with probability at most δ:
/// `P[M(x)∈S] ≤ δ + P[M(x)=⊥, ⊥∈S] ≤ δ + e^ε P[M(x′)∈S]`, as d is the same for both. With the distance to another
/// answer the threshold is one higher. ∎
/// # Special values
/// `None` is an answer, and costs as much as any other: the caller must handle it.
/// # References
/// Dwork, Roth 2014, Section 7.3; Thakurta, Smith 2013. Their threshold `ln(1/δ)/ε` spends δ/2.
#[derive(Clone, Debug)]
pub struct Stable {
    epsilon: Epsilon,
    delta: Delta,
    gate: Gate,
}

impl Stable {
    /// Calibrates the threshold for (ε,δ).
    pub fn new(epsilon: Epsilon, delta: Delta) -> Result<Self> {
        Ok(Self { epsilon, delta, gate: Gate::new(epsilon, delta)? })
    }

    /// The threshold T: an answer whose distance is well above it is released.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.gate.threshold()
    }

    /// The guarantee of one release.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        Guarantee::Approximate(self.epsilon, self.delta)
    }

    /// Releases the answer, or `None`.
    pub fn release<T>(
        &self,
        answer: T,
        distance: Distance,
        rng: &mut dyn Randomness,
    ) -> Result<Release<Option<T>>> {
        let opens = self.gate.opens(distance.to_unstable(), rng)?;
        Ok(Release::new(opens.then_some(answer), self.guarantee()))
    }
}

/// Scores of public candidates: votes, counts, or how well each of several models fits. Of equal scores the lower index
/// wins.
///
/// Protected: `Debug` shows nothing.
#[derive(Clone)]
pub struct Tally {
    scores: Vec<i64>,
    /// By how much the difference of two scores can change in one step.
    step: u64,
}

impl Tally {
    /// Counts of votes, one per unit. The gap between two candidates changes by 1 under add or remove, and by 2 under
    /// replace, where a vote moves from one to the other.
    pub fn votes(counts: &[u64], neighbours: Neighbours) -> Result<Self> {
        Self::rows(counts, 1, neighbours)
    }

    /// Counts of votes, at most `rows` per unit, for any candidates. The gap between two changes by `rows` under add or
    /// remove, and by twice that under replace. 0 rows count as 1.
    pub fn rows(counts: &[u64], rows: u32, neighbours: Neighbours) -> Result<Self> {
        let rows = u64::from(rows.max(1));
        let step = match neighbours {
            Neighbours::Replace => 2 * rows,
            Neighbours::AddRemove => rows,
        };
        let scores: Option<Vec<i64>> = counts.iter().map(|&c| i64::try_from(c).ok()).collect();
        Self::build(scores.unwrap_or_default(), step)
    }

    /// Integer scores that each change by at most `sensitivity` between neighbours: for model selection, with losses
    /// negated. If all change in one direction, half of this sensitivity is enough.
    pub fn scores(scores: Vec<i64>, sensitivity: u64) -> Result<Self> {
        let step =
            sensitivity.checked_mul(2).filter(|&step| step > 0).ok_or(Error::OutOfRange {
                parameter: "sensitivity",
                allowed: "from 1 to 2^63 − 1",
            })?;
        Self::build(scores, step)
    }

    fn build(scores: Vec<i64>, step: u64) -> Result<Self> {
        if scores.is_empty() {
            return Err(Error::OutOfRange {
                parameter: "candidates",
                allowed: "at least one, with scores that fit 63 bits",
            });
        }
        Ok(Self { scores, step })
    }

    /// The winner, and its distance from losing.
    #[must_use]
    pub fn winner(&self) -> (usize, Distance) {
        let (order, distance) = self.ranking(1);
        (order.first().copied().unwrap_or(0), distance)
    }

    /// The k best as a set, by index.
    #[must_use]
    pub fn top(&self, k: usize) -> (Vec<usize>, Distance) {
        let order = self.order();
        let mut best = order[..k.min(order.len())].to_vec();
        best.sort_unstable();
        let edge = match (k.checked_sub(1).and_then(|last| order.get(last)), order.get(k)) {
            (Some(&inside), Some(&outside)) => self.steps(inside, outside),
            _ => u64::MAX, // none or all of them: never changes
        };
        (best, Distance::ToOtherAnswer(edge))
    }

    /// The k best in order.
    #[must_use]
    pub fn ranking(&self, k: usize) -> (Vec<usize>, Distance) {
        let order = self.order();
        let k = k.min(order.len());
        let steps = order.windows(2).take(k).map(|pair| self.steps(pair[0], pair[1]));
        let distance = steps.min().unwrap_or(u64::MAX);
        (order[..k].to_vec(), Distance::ToOtherAnswer(distance))
    }

    /// Best first, lower index first among equals.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.scores.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(self.scores[i]), i));
        order
    }

    /// A lower bound on the number of steps until `worse` comes before `better`: with the gap g ≥ 0 and the largest
    /// change c of a gap, `⌈g/c⌉` if ties go to `worse`, else `⌊g/c⌋ + 1`.
    ///
    /// # Proof
    /// The order flips when g falls to 0, or below 0. Either number is 1-Lipschitz in steps of c, and 1 where one step
    /// can flip the order. For votes it is exact. ∎
    fn steps(&self, better: usize, worse: usize) -> u64 {
        let gap = self.scores[better].abs_diff(self.scores[worse]);
        if worse < better { gap.div_ceil(self.step) } else { gap / self.step + 1 }
    }
}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tally").field("candidates", &self.scores.len()).finish_non_exhaustive()
    }
}

/// The most frequent of values that need not come from a public list, and how far it is from changing. Each unit has
/// one value; of equally frequent ones it is the least. `None` if there are no values.
///
/// The distance is to another answer, and a lower bound: a value that no unit has so far is assumed to win ties.
pub fn mode<T: Ord + Clone>(
    values: impl IntoIterator<Item = T>,
    neighbours: Neighbours,
) -> (Option<T>, Distance) {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    mode_of_counts(counts, 1, neighbours)
}

/// As [`mode`], from the number of times that each value occurs. One unit has at most `rows` of them.
///
/// # Proof
/// The distance is the least of [`Tally`]'s steps over all other values, including an unused value that no unit has.
/// Let x, x′ be neighbours with the same winner. For a value that both have, the steps differ by at most 1, and so
/// they do for the unused value. A value that only x′ has, with a gap g′, is an unused one in x, with a gap g ≤ g′ +
/// c: `⌈g/c⌉ ≤ ⌈g′/c⌉ + 1 ≤ ⌊g′/c⌋ + 2`. So every term of x′ has one of x that is greater by at most 1, and the other
/// way round. If the winners differ, the gap between them is at most c in either, and the steps are 1, whether both
/// have both values or not. ∎
pub fn mode_of_counts<T: Ord + Clone>(
    counts: BTreeMap<T, u64>,
    rows: u32,
    neighbours: Neighbours,
) -> (Option<T>, Distance) {
    let (names, mut numbers): (Vec<T>, Vec<u64>) = counts.into_iter().unzip();
    // The new value comes first, so that ties go against the others.
    numbers.insert(0, 0);
    let Ok(tally) = Tally::rows(&numbers, rows, neighbours) else {
        return (None, Distance::ToUnstable(0));
    };
    let (winner, distance) = tally.winner();
    match winner.checked_sub(1).and_then(|i| names.get(i)) {
        Some(name) => (Some(name.clone()), distance),
        None => (None, Distance::ToUnstable(0)),
    }
}

#[cfg(test)]
mod tests;
