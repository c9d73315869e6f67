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
mod tests {
    use super::super::gate::tests::opening;
    use super::*;
    use crate::random::SeededForTests;
    use demure_testkit::datasets::{
        histogram_add_or_remove_one, histogram_replace_one, histograms,
    };
    use demure_testkit::distribution::Distribution;
    use demure_testkit::neighbours::check;

    fn near(neighbours: Neighbours) -> impl Fn(&Vec<u64>) -> Vec<Vec<u64>> {
        move |x| match neighbours {
            Neighbours::Replace => histogram_replace_one(x),
            Neighbours::AddRemove => histogram_add_or_remove_one(x),
        }
    }

    type Answer = fn(&Tally) -> (Vec<usize>, Distance);
    const ANSWERS: [(&str, Answer); 4] = [
        ("winner", |t| {
            let (winner, distance) = t.winner();
            (vec![winner], distance)
        }),
        ("top 2", |t| t.top(2)),
        ("first two in order", |t| t.ranking(2)),
        ("all", |t| t.top(3)),
    ];

    fn tally(x: &[u64], neighbours: Neighbours) -> Tally {
        Tally::votes(x, neighbours).unwrap()
    }

    #[test]
    fn vote_distances_are_exact() {
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            // Enough rows that the nearest other answer is never outside.
            let all = histograms(3, 12);
            for (name, answer) in ANSWERS {
                for x in all.iter().filter(|x| (1..=5).contains(&x.iter().sum::<u64>())) {
                    let (truth, Distance::ToOtherAnswer(claimed)) = answer(&tally(x, neighbours))
                    else {
                        panic!()
                    };
                    // Breadth first to another answer.
                    let mut seen = std::collections::BTreeSet::from([x.clone()]);
                    let mut shell = vec![x.clone()];
                    let mut steps = 0u64;
                    let other = |y: &Vec<u64>| answer(&tally(y, neighbours)).0 != truth;
                    while steps < 6 && !shell.iter().any(&other) {
                        let next: Vec<_> = shell.iter().flat_map(near(neighbours)).collect();
                        shell = next.into_iter().filter(|y| seen.insert(y.clone())).collect();
                        steps += 1;
                    }
                    let exact = if shell.iter().any(&other) { steps } else { u64::MAX };
                    assert_eq!(claimed, exact, "{name} {x:?} {neighbours}");
                }
            }
        }
    }

    /// The law of a stable release.
    fn law(stable: &Stable, answer: Vec<usize>, distance: u64) -> Distribution<Option<Vec<usize>>> {
        let p = opening(&stable.gate, distance);
        Distribution::new([(Some(answer), p), (None, 1.0 - p)])
    }

    #[test]
    fn stable_answers_are_private_in_both_relations_and_off_by_one_is_not() {
        let stable = |e, d| Stable::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            for (name, answer) in ANSWERS {
                for (e, d) in [(1.0, 1e-3), (0.3, 0.1), (2.0, 1e-6)] {
                    let stable = stable(e, d);
                    let mechanism = |x: &Vec<u64>| {
                        let (answer, distance) = answer(&tally(x, neighbours));
                        law(&stable, answer, distance.to_unstable())
                    };
                    let all = || histograms(3, 6);
                    check(mechanism, all(), near(neighbours), e, d)
                        .unwrap_or_else(|v| panic!("{name}: {v}"));
                    // The classic off-by-one: a distance to another answer taken for one to instability.
                    let off = |x: &Vec<u64>| {
                        let (answer, distance) = answer(&tally(x, neighbours));
                        law(&stable, answer, distance.to_unstable().saturating_add(1))
                    };
                    let seen = check(off, all(), near(neighbours), e, d);
                    assert!(seen.is_err() || name == "all", "{name} {neighbours}");
                }
            }
        }
    }

    #[test]
    fn modes_of_an_open_domain_are_private() {
        let (e, d) = (0.7, 0.01);
        let stable = Stable::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            let mechanism = |x: &Vec<u64>| {
                let rows = (0..3usize).flat_map(|v| std::iter::repeat_n(v, x[v] as usize));
                let (mode, distance) = mode(rows, neighbours);
                law(&stable, mode.into_iter().collect(), distance.to_unstable())
            };
            check(mechanism, histograms(3, 6), near(neighbours), e, d)
                .unwrap_or_else(|v| panic!("{v}"));
        }
        assert_eq!(mode::<u8>([], Neighbours::Replace).0, None);
        assert_eq!(mode([3, 1, 3, 1, 2], Neighbours::Replace).0, Some(1));
    }

    #[test]
    fn modes_of_people_with_several_rows_are_private_and_counting_them_as_one_is_not() {
        let (e, d) = (0.7, 0.01);
        let stable = Stable::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
        for neighbours in [Neighbours::Replace, Neighbours::AddRemove] {
            // One unit is at most two rows.
            let two = |x: &Vec<u64>| {
                let mut all: Vec<Vec<u64>> = histogram_add_or_remove_one(x);
                let again: Vec<_> =
                    all.iter().flat_map(|y| histogram_add_or_remove_one(y)).collect();
                if neighbours == Neighbours::AddRemove {
                    // Both come, or both go.
                    let total = x.iter().sum::<u64>();
                    all.extend(again.into_iter().filter(|y| y.iter().sum::<u64>() != total));
                    return all;
                }
                all.extend(again);
                let once: Vec<_> = all.iter().flat_map(|y| histogram_replace_one(y)).collect();
                all.extend(once.iter().flat_map(|y| histogram_replace_one(y)));
                all.extend(once);
                let most = |a: u64, b: u64| a.saturating_sub(b);
                all.retain(|y| {
                    let gone: u64 = x.iter().zip(y).map(|(a, b)| most(*a, *b)).sum();
                    let come: u64 = x.iter().zip(y).map(|(a, b)| most(*b, *a)).sum();
                    gone <= 2 && come <= 2
                });
                all
            };
            let by = |rows: u32| {
                let stable = &stable;
                move |x: &Vec<u64>| {
                    let counts = (0..3usize).filter(|v| x[*v] > 0).map(|v| (v, x[v])).collect();
                    let (mode, distance) = mode_of_counts(counts, rows, neighbours);
                    law(stable, mode.into_iter().collect(), distance.to_unstable())
                }
            };
            check(by(2), histograms(3, 7), two, e, d).unwrap_or_else(|v| panic!("{v}"));
            assert!(check(by(1), histograms(3, 7), two, e, d).is_err(), "{neighbours}");
        }
    }

    #[test]
    fn a_clear_winner_comes_back_and_a_close_one_does_not() {
        let stable = Stable::new(Epsilon::new(1.0).unwrap(), Delta::new(1e-9).unwrap()).unwrap();
        let mut rng = SeededForTests::insecure(3);
        let mut released = |counts: &[u64]| {
            let (winner, distance) = tally(counts, Neighbours::Replace).winner();
            (0..100)
                .filter_map(|_| stable.release(winner, distance, &mut rng).unwrap().into_value())
                .collect::<Vec<_>>()
        };
        assert_eq!(released(&[10, 200, 30]), vec![1; 100]);
        assert!(released(&[10, 200, 199]).is_empty());
        // Scores of sensitivity Δ: the gap counts in steps of 2Δ.
        let models = Tally::scores(vec![-900, -100, -750], 10).unwrap();
        assert_eq!(models.winner(), (1, Distance::ToOtherAnswer(33)));
        assert!(Tally::scores(vec![], 1).is_err() && Tally::scores(vec![1], 0).is_err());
        let text = format!("{models:?} {:?}", models.winner().1);
        assert!(!text.contains("900") && !text.contains("33"), "{text}");
    }
}
