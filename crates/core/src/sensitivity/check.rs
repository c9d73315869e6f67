//! Brute force: is a profile what it claims to be, on all the datasets of a small universe?
//!
//! A test tool that users may want for statistics of their own. It proves the claim for the universe
//! it is given, and for no other.

use super::{SLACK, Smoothness};
use std::collections::BTreeMap;
use std::fmt;

/// What a passed check has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    /// Ordered pairs of neighbours compared.
    pub pairs: u64,
    /// Whether the profile equals the largest local sensitivity within k steps, for all k and all
    /// datasets; a profile may be larger. False where only smoothness was checked.
    pub exact: bool,
}

/// What is wrong, and the neighbours that show it. Holds the datasets of the check's own universe.
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
        /// At which distance; 0 for a smooth bound.
        distance: u64,
    },
    /// The profile falls as the distance grows.
    Falls {
        /// Where.
        dataset: D,
        /// At which distance.
        distance: u64,
    },
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
            let Some(&(other, beside)) = all.get(&y) else { continue };
            pairs += 1;
            let moves = value.abs_diff(other) as u64;
            if bound.is_nan() || bound < moves as f64 {
                return Err(Flaw::TooSmall { pair: (x.clone(), y), moves });
            }
            if bound.is_nan() || bound > beside * factor {
                return Err(Flaw::NotSmooth { pair: (x.clone(), y), distance: 0 });
            }
        }
    }
    Ok(Checked { pairs, exact: false })
}

/// Checks the three lines of [`Statistic`](super::Statistic) for distances up to `most`, and whether the profile is
/// the least there is, by computing that one.
pub fn check_profile<D: Ord + Clone>(
    universe: impl IntoIterator<Item = D>,
    neighbours: impl Fn(&D) -> Vec<D>,
    value: impl Fn(&D) -> i128,
    profile: impl Fn(&D, u64) -> u64,
    most: u64,
) -> Result<Checked, Flaw<D>> {
    let all: Vec<D> = universe.into_iter().collect();
    let index: BTreeMap<&D, usize> = all.iter().enumerate().map(|(i, x)| (x, i)).collect();
    let values: Vec<i128> = all.iter().map(&value).collect();
    let near: Vec<Vec<usize>> = all
        .iter()
        .map(|x| neighbours(x).iter().filter_map(|y| index.get(y).copied()).collect())
        .collect();
    let claimed: Vec<Vec<u64>> =
        all.iter().map(|x| (0..=most).map(|k| profile(x, k)).collect()).collect();
    // The least profile: LS at distance 0, then the largest among the neighbours.
    let mut least: Vec<u64> = (0..all.len())
        .map(|i| near[i].iter().map(|&j| values[i].abs_diff(values[j]) as u64).max().unwrap_or(0))
        .collect();
    let (mut pairs, mut exact) = (0, true);
    for k in 0..=most as usize {
        for i in 0..all.len() {
            if k == 0 && claimed[i][0] < least[i] {
                let far = |&&j: &&usize| values[i].abs_diff(values[j]) as u64 == least[i];
                let j = near[i].iter().find(far).copied().unwrap_or(i);
                return Err(Flaw::TooSmall {
                    pair: (all[i].clone(), all[j].clone()),
                    moves: least[i],
                });
            }
            exact &= claimed[i][k] == least[i];
            if k > 0 && claimed[i][k] < claimed[i][k - 1] {
                return Err(Flaw::Falls { dataset: all[i].clone(), distance: k as u64 - 1 });
            }
            for &j in &near[i] {
                pairs += 1;
                if k > 0 && claimed[i][k - 1] > claimed[j][k] {
                    return Err(Flaw::NotSmooth {
                        pair: (all[i].clone(), all[j].clone()),
                        distance: k as u64 - 1,
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
mod tests {
    use super::*;

    /// Two bits; their sum, which moves by 1.
    fn bits() -> Vec<(u8, u8)> {
        vec![(0, 0), (0, 1), (1, 0), (1, 1)]
    }

    fn flipped(&(a, b): &(u8, u8)) -> Vec<(u8, u8)> {
        vec![(1 - a, b), (a, 1 - b)]
    }

    #[test]
    fn flaws_are_found() {
        let sum = |&(a, b): &(u8, u8)| i128::from(a + b);
        let product = |&(a, b): &(u8, u8)| i128::from(a * b);
        let seen = check_profile(bits(), flipped, sum, |_, _| 1, 3).unwrap();
        assert!(seen.exact && seen.pairs == 32);
        let zero = check_profile(bits(), flipped, sum, |_, _| 0, 3);
        assert!(matches!(zero, Err(Flaw::TooSmall { moves: 1, .. })));
        // The product moves by 1 but at (0, 0): a profile that forgets it there is refused.
        let local = |x: &(u8, u8), k: u64| u64::from(*x != (0, 0) || k > 0);
        assert!(check_profile(bits(), flipped, product, local, 3).unwrap().exact);
        let late = |x: &(u8, u8), k: u64| u64::from(*x != (0, 0) || k > 1);
        let flaw = check_profile(bits(), flipped, product, late, 3).unwrap_err();
        assert!(matches!(flaw, Flaw::NotSmooth { distance: 0, .. }), "{flaw}");
        let falls = check_profile(bits(), flipped, product, |_, k| 3 - k, 2);
        assert!(matches!(falls, Err(Flaw::NotSmooth { .. } | Flaw::Falls { .. })));
    }
}
