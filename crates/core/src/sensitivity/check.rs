//! Brute-force checks of profiles, on all datasets of a small universe.
//!
//! This is a test tool, also for your own statistics. It proves the claim for the given universe, and for no other.

use super::{SLACK, Smoothness};
use std::collections::BTreeMap;
use std::fmt;

/// The result of a check that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    /// The number of ordered pairs of neighbours compared. 0 means that nothing was checked.
    pub pairs: u64,
    /// Whether the profile equals the largest local sensitivity within k steps, for all k and all
    /// datasets; a profile may be larger. False where only smoothness was checked.
    pub exact: bool,
}

/// A flaw of a profile or a bound, and the neighbours that show it.
#[derive(Clone, Debug, PartialEq)]
pub enum Flaw<D> {
    /// The statistic moves by more than the bound says.
    TooSmall {
        /// The neighbours.
        pair: (D, D),
        /// How far the statistic moves.
        moves: u64,
    },
    /// The bound changes too much between neighbours.
    NotSmooth {
        /// The neighbours, the larger bound first.
        pair: (D, D),
        /// The distance; 0 for a smooth bound.
        distance: u64,
    },
    /// The profile falls as the distance grows.
    Falls {
        /// The dataset.
        dataset: D,
        /// The distance.
        distance: u64,
    },
    /// The profile is above the public `most`.
    AboveMost {
        /// The dataset.
        dataset: D,
        /// The distance.
        distance: u64,
    },
    /// The profile rises by more than the public `growth`.
    Grows {
        /// The dataset.
        dataset: D,
        /// The distance before the rise.
        distance: u64,
    },
    /// A neighbour is not in the universe, so nothing is known about it.
    Outside {
        /// The dataset, and the neighbour that is missing.
        pair: (D, D),
    },
}

/// The public limits of a profile on all datasets: [`most`](super::Statistic::most) and
/// [`growth`](super::Statistic::growth).
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfileLimits {
    /// The largest value of any `A_k`; `None` if there is no limit.
    pub most: Option<u64>,
    /// The largest difference of any `A_{k+1}` and its `A_k`; `None` if there is no limit.
    pub growth: Option<u64>,
}

impl ProfileLimits {
    /// The limits that a statistic states.
    pub fn of(statistic: &dyn super::Statistic) -> Self {
        Self { most: statistic.most(), growth: statistic.growth() }
    }
}

impl<D: fmt::Debug> fmt::Display for Flaw<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { pair: (x, y), moves } => {
                write!(
                    f,
                    "the statistic moves by {moves}, more than the bound, from {x:?} to {y:?}"
                )
            }
            Self::NotSmooth { pair: (x, y), distance } => {
                write!(f, "the bound at distance {distance} is too large on {x:?} beside {y:?}")
            }
            Self::Falls { dataset, distance } => {
                write!(f, "the profile of {dataset:?} falls after distance {distance}")
            }
            Self::AboveMost { dataset, distance } => {
                write!(f, "the profile of {dataset:?} is above `most` at distance {distance}")
            }
            Self::Grows { dataset, distance } => {
                write!(
                    f,
                    "the profile of {dataset:?} rises by more than `growth` after distance {distance}"
                )
            }
            Self::Outside { pair: (x, y) } => {
                write!(f, "{y:?}, a neighbour of {x:?}, is not in the universe")
            }
        }
    }
}

/// Checks that `bound` is a t-smooth upper bound on the local sensitivity of `value`, on all
/// of `universe`, which holds every neighbour of its members.
pub fn check_smooth<D: Ord + Clone>(
    universe: impl IntoIterator<Item = D>,
    neighbours: impl Fn(&D) -> Vec<D>,
    value: impl Fn(&D) -> i128,
    bound: impl Fn(&D) -> f64,
    t: Smoothness,
) -> Result<Checked, Flaw<D>> {
    let all: BTreeMap<D, (i128, f64)> =
        universe.into_iter().map(|x| (x.clone(), (value(&x), bound(&x)))).collect();
    // What a release allows for, and the rounding of this line.
    let factor = (t.get() + SLACK).exp() * (1.0 + 1e-14);
    let mut pairs = 0;
    for (x, &(value, bound)) in &all {
        for y in neighbours(x) {
            let Some(&(other, beside)) = all.get(&y) else {
                return Err(Flaw::Outside { pair: (x.clone(), y) });
            };
            pairs += 1;
            if bound.is_nan() || bound < value.abs_diff(other) as f64 {
                return Err(Flaw::TooSmall { pair: (x.clone(), y), moves: moves(value, other) });
            }
            if bound.is_nan() || bound > beside * factor {
                return Err(Flaw::NotSmooth { pair: (x.clone(), y), distance: 0 });
            }
        }
    }
    Ok(Checked { pairs, exact: false })
}

/// The distance of two values, saturating at `u64::MAX`.
fn moves(value: i128, other: i128) -> u64 {
    u64::try_from(value.abs_diff(other)).unwrap_or(u64::MAX)
}

/// Checks the four promises of [`Statistic`](super::Statistic) for distances up to `farthest`, on all of `universe`,
/// which contains every neighbour of its members. Also computes the least profile, and checks whether this is it.
pub fn check_profile<D: Ord + Clone>(
    universe: impl IntoIterator<Item = D>,
    neighbours: impl Fn(&D) -> Vec<D>,
    value: impl Fn(&D) -> i128,
    profile: impl Fn(&D, u64) -> u64,
    limits: ProfileLimits,
    farthest: u64,
) -> Result<Checked, Flaw<D>> {
    let all: Vec<D> = universe.into_iter().collect();
    let index: BTreeMap<&D, usize> = all.iter().enumerate().map(|(i, x)| (x, i)).collect();
    let values: Vec<i128> = all.iter().map(&value).collect();
    let mut near: Vec<Vec<usize>> = Vec::with_capacity(all.len());
    for x in &all {
        let inside = |y: D| index.get(&y).copied().ok_or(Flaw::Outside { pair: (x.clone(), y) });
        near.push(neighbours(x).into_iter().map(inside).collect::<Result<_, _>>()?);
    }
    let claimed: Vec<Vec<u64>> =
        all.iter().map(|x| (0..=farthest).map(|k| profile(x, k)).collect()).collect();
    // The least profile: LS at distance 0, then the largest among the neighbours.
    let mut least: Vec<u64> = (0..all.len())
        .map(|i| near[i].iter().map(|&j| moves(values[i], values[j])).max().unwrap_or(0))
        .collect();
    let (mut pairs, mut exact) = (0, true);
    for k in 0..=farthest as usize {
        for i in 0..all.len() {
            let (dataset, distance) = (|| all[i].clone(), k as u64);
            if limits.most.is_some_and(|most| claimed[i][k] > most) {
                return Err(Flaw::AboveMost { dataset: dataset(), distance });
            }
            if k == 0 && claimed[i][0] < least[i] {
                let far = |&&j: &&usize| moves(values[i], values[j]) == least[i];
                let j = near[i].iter().find(far).copied().unwrap_or(i);
                return Err(Flaw::TooSmall { pair: (dataset(), all[j].clone()), moves: least[i] });
            }
            exact &= claimed[i][k] == least[i];
            if k > 0 && claimed[i][k] < claimed[i][k - 1] {
                return Err(Flaw::Falls { dataset: dataset(), distance: distance - 1 });
            }
            let rise = if k > 0 { claimed[i][k] - claimed[i][k - 1] } else { 0 };
            if limits.growth.is_some_and(|growth| rise > growth) {
                return Err(Flaw::Grows { dataset: dataset(), distance: distance - 1 });
            }
            for &j in &near[i] {
                pairs += 1;
                if k > 0 && claimed[i][k - 1] > claimed[j][k] {
                    return Err(Flaw::NotSmooth {
                        pair: (dataset(), all[j].clone()),
                        distance: distance - 1,
                    });
                }
            }
        }
        let next = |i: usize| near[i].iter().map(|&j| least[j]).fold(least[i], u64::max);
        least = (0..all.len()).map(next).collect();
    }
    Ok(Checked { pairs, exact })
}

#[cfg(test)]
mod tests;
