//! Counts, sums, means, histograms, trees, groups and unknown keys.

use super::{approximate, pure};
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::account::zcdp;
use demure_core::mechanism::{
    Accumulator, BoundedMean, BoundedSum, BoundedVariance, Bounds, Contributions, Count,
    GroupTotals, Groups, Histogram, KeySelection, Rows, Statistics, ThresholdHistogram, Tree,
    TreeShape,
};
use demure_core::unit::{Delta, Epsilon, Neighbours};
use std::collections::BTreeMap;

const ADD: Neighbours = Neighbours::AddRemove;
const REPLACE: Neighbours = Neighbours::Replace;

fn of(bounds: Bounds, values: &[f64]) -> Accumulator {
    let mut sum = Accumulator::new(bounds);
    values.iter().for_each(|&value| sum.add(value));
    sum
}

fn floats(counts: Vec<i128>) -> Vec<f64> {
    counts.into_iter().map(|count| count as f64).collect()
}

fn histograms(epsilon: Epsilon, delta: Delta) -> Result<Vec<Subject>> {
    let rho = zcdp::for_target(epsilon, delta)?;
    let two = Contributions::new(2, 1)?;
    Ok(vec![
        Subject {
            name: "histogram",
            about: "counts over public keys, a person with two rows added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                Histogram::new(epsilon, ADD, two)?,
                vec![("counts (3, 3, 3) and (4, 4, 3)", [vec![3u64, 3, 3], vec![4, 4, 3]])],
                |m, x, rng| Ok(floats(m.release(x, rng)?.into_value())),
            ),
        },
        Subject {
            name: "histogram-replace",
            about: "counts over public keys, a row moved from one key to another",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                Histogram::new(epsilon, REPLACE, Contributions::ONE)?,
                vec![("counts (3, 3) and (2, 4)", [vec![3u64, 3], vec![2, 4]])],
                |m, x, rng| Ok(floats(m.release(x, rng)?.into_value())),
            ),
        },
        Subject {
            name: "histogram-zcdp",
            about: "counts over public keys by ρ-zCDP, a person with two rows added",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                Histogram::new(rho, ADD, two)?,
                vec![("counts (3, 3, 3) and (4, 4, 3)", [vec![3u64, 3, 3], vec![4, 4, 3]])],
                |m, x, rng| Ok(floats(m.release(x, rng)?.into_value())),
            ),
        },
        Subject {
            name: "tree",
            about: "counts of all ranges of eight values, a row added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                Tree::new(epsilon, ADD, TreeShape { cells: 8, branching: 2 }, 1)?,
                vec![("no row and one row", [vec![0u64; 8], vec![1, 0, 0, 0, 0, 0, 0, 0]])],
                |m, x, rng| {
                    let ranges = m.release(x, rng)?.into_value();
                    let ends = [(0, 0), (0, 1), (0, 3), (0, 7), (1, 1), (4, 7)];
                    Ok(ends.iter().map(|&(a, b)| ranges.count(a..=b)).collect())
                },
            ),
        },
        Subject {
            name: "tree-zcdp",
            about: "counts of all ranges of eight values by ρ-zCDP, a row moved",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                Tree::new(rho, REPLACE, TreeShape { cells: 8, branching: 2 }, 1)?,
                vec![(
                    "a row at the one end, and at the other",
                    [vec![1u64, 0, 0, 0, 0, 0, 0, 0], vec![0, 0, 0, 0, 0, 0, 0, 1]],
                )],
                |m, x, rng| {
                    let ranges = m.release(x, rng)?.into_value();
                    let ends = [(0, 0), (0, 1), (0, 3), (7, 7), (6, 7), (4, 7)];
                    Ok(ends.iter().map(|&(a, b)| ranges.count(a..=b)).collect())
                },
            ),
        },
    ])
}

/// Unknown keys: the universe is (a, b, c), and a key that is not released is missing.
fn keys(epsilon: Epsilon, delta: Delta) -> Result<Vec<Subject>> {
    type Keys = BTreeMap<char, u64>;
    let many = |counts: [u64; 3]| -> Keys {
        ['a', 'b', 'c'].into_iter().zip(counts).filter(|(_, count)| *count > 0).collect()
    };
    let listed = |kept: BTreeMap<char, i128>| -> Vec<f64> {
        ['a', 'b', 'c']
            .iter()
            .map(|key| kept.get(key).map_or(f64::NAN, |count| *count as f64))
            .collect()
    };
    let laplace = ThresholdHistogram::laplace(epsilon, delta, ADD, Contributions::ONE)?;
    let gaussian = ThresholdHistogram::gaussian(epsilon, delta, ADD, Contributions::ONE)?;
    let near = |m: &ThresholdHistogram| u64::try_from(m.threshold().value()).unwrap_or(1);
    let selection = KeySelection::new(epsilon, delta, ADD, 1)?;
    let middle = selection.crossovers().0;
    let inputs = |at: u64| {
        vec![
            ("a key nobody has, and one that one person has", [many([9, 0, 0]), many([9, 1, 0])]),
            (
                "a key at the threshold, with one person more",
                [many([at, 0, 0]), many([at + 1, 0, 0])],
            ),
        ]
    };
    Ok(vec![
        Subject {
            name: "threshold-histogram",
            about: "counts over unknown keys, by Laplace noise and a threshold",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on((laplace.clone(), listed), inputs(near(&laplace)), |(m, listed), x, rng| {
                Ok(listed(m.release(x, rng)?.into_value()))
            }),
        },
        Subject {
            name: "threshold-histogram-gaussian",
            about: "counts over unknown keys, by Gaussian noise and a threshold",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                (gaussian.clone(), listed),
                inputs(near(&gaussian)),
                |(m, listed), x, rng| Ok(listed(m.release(x, rng)?.into_value())),
            ),
        },
        Subject {
            name: "key-selection",
            about: "which unknown keys exist, with the best probabilities there are",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(selection, inputs(middle), |m, x, rng| {
                let kept = m.release(x, rng)?.into_value();
                Ok(['a', 'b', 'c'].iter().map(|key| f64::from(kept.contains(key))).collect())
            }),
        },
    ])
}

pub(super) fn subjects(epsilon: Epsilon, delta: Delta) -> Result<Vec<Subject>> {
    let rho = zcdp::for_target(epsilon, delta)?;
    let bounds = Bounds::new(-1.0, 3.0)?;
    let (few, exactly) = (Rows::AtMost(1), Rows::Exactly(1));
    // One row at the upper bound more; and one moved from bound to bound.
    let added = || {
        vec![
            ("(0) and (0, 3)", [of(bounds, &[0.0]), of(bounds, &[0.0, 3.0])]),
            ("nothing and (3)", [of(bounds, &[]), of(bounds, &[3.0])]),
        ]
    };
    let moved =
        || vec![("(0, −1) and (0, 3)", [of(bounds, &[0.0, -1.0]), of(bounds, &[0.0, 3.0])])];
    let group = |values: &[f64]| GroupTotals::values(of(bounds, values), 0);
    let mut subjects = histograms(epsilon, delta)?;
    subjects.extend(keys(epsilon, delta)?);
    subjects.extend([
        Subject {
            name: "count",
            about: "a count, a row added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                Count::new(epsilon, ADD, few)?,
                vec![("5 rows and 6", [5u64, 6])],
                |m, x, rng| Ok(vec![m.release(*x, rng)?.into_value() as f64]),
            ),
        },
        Subject {
            name: "sum",
            about: "a sum of bounded values, a row added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(BoundedSum::new(epsilon, bounds, ADD, few)?, added(), |m, x, rng| {
                Ok(vec![m.release(x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "sum-replace",
            about: "a sum of bounded values, a row moved from bound to bound",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(BoundedSum::new(epsilon, bounds, REPLACE, exactly)?, moved(), |m, x, rng| {
                Ok(vec![m.release(x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "sum-zcdp",
            about: "a sum of bounded values by ρ-zCDP, a row added",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(BoundedSum::new(rho, bounds, ADD, few)?, added(), |m, x, rng| {
                Ok(vec![m.release(x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "mean",
            about: "a mean of bounded values, a row added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(BoundedMean::new(epsilon, bounds, ADD, few)?, added(), |m, x, rng| {
                Ok(vec![m.release(x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "mean-replace",
            about: "a mean of a known number of bounded values, a row moved from bound to bound",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                BoundedMean::new(epsilon, bounds, REPLACE, exactly)?,
                moved(),
                |m, x, rng| Ok(vec![m.release(x, rng)?.into_value()]),
            ),
        },
        Subject {
            name: "variance",
            about: "a variance of bounded values, a row added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(BoundedVariance::new(epsilon, bounds, ADD, few)?, added(), |m, x, rng| {
                Ok(vec![m.release(x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "groups-mean",
            about: "count, sum and mean of two groups together, a person in both added",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                Groups::values(bounds, Statistics::Mean).calibrate(
                    epsilon,
                    ADD,
                    Contributions::new(2, 1)?,
                )?,
                vec![(
                    "(0), (0) and (0, 3), (0, −1)",
                    [
                        vec![group(&[0.0]), group(&[0.0])],
                        vec![group(&[0.0, 3.0]), group(&[0.0, -1.0])],
                    ],
                )],
                |m, x, rng| {
                    let groups = m.release(x, rng)?.into_value();
                    let parts = groups.iter().flat_map(|g| [g.count, g.sum, g.mean]);
                    Ok(parts.flatten().collect())
                },
            ),
        },
        Subject {
            name: "groups-variance",
            about: "variances of two groups by ρ-zCDP, a person's rows replaced",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                Groups::values(bounds, Statistics::Variance).calibrate(
                    rho,
                    REPLACE,
                    Contributions::ONE,
                )?,
                vec![(
                    "(0, 3), (0) and (0), (0, −1)",
                    [
                        vec![group(&[0.0, 3.0]), group(&[0.0])],
                        vec![group(&[0.0]), group(&[0.0, -1.0])],
                    ],
                )],
                |m, x, rng| {
                    let groups = m.release(x, rng)?.into_value();
                    let parts = groups.iter().flat_map(|g| [g.count, g.sum, g.mean, g.variance]);
                    Ok(parts.flatten().collect())
                },
            ),
        },
    ]);
    Ok(subjects)
}
