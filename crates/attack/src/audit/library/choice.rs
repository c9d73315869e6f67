//! Selection: a candidate, a quantile, the queries above a threshold.

use super::pure;
use crate::audit::examine::Claim;
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::mechanism::{
    AboveThreshold, Answer, Change, EpsilonSplit, Exponential, NoisyMax, PermuteAndFlip, Quantile,
    Scores,
};
use demure_core::unit::{Epsilon, Grid, Neighbours, Sensitivity};

/// Scores that each move by 1 in either direction: the winner loses, the others gain.
fn general() -> Vec<(&'static str, [Vec<f64>; 2])> {
    vec![
        ("scores (1, 0) and (0, 1)", [vec![1.0, 0.0], vec![0.0, 1.0]]),
        ("scores (0, 0, 0, 0) and (1, −1, −1, −1)", [vec![0.0; 4], vec![1.0, -1.0, -1.0, -1.0]]),
    ]
}

/// Scores that all move in one direction.
fn monotone() -> Vec<(&'static str, [Vec<f64>; 2])> {
    vec![
        ("counts (0, 0) and (1, 0)", [vec![0.0, 0.0], vec![1.0, 0.0]]),
        ("counts (0, 3, 3) and (1, 3, 3)", [vec![0.0, 3.0, 3.0], vec![1.0, 3.0, 3.0]]),
    ]
}

fn whole(pairs: Vec<(&'static str, [Vec<f64>; 2])>) -> Vec<(&'static str, [Vec<i64>; 2])> {
    let cast = |scores: Vec<f64>| scores.into_iter().map(|x| x as i64).collect();
    pairs.into_iter().map(|(what, sides)| (what, sides.map(cast))).collect()
}

fn selections(epsilon: Epsilon) -> Result<Vec<Subject>> {
    let unit = Sensitivity::new(1.0)?;
    let claim = pure(epsilon);
    Ok(vec![
        Subject {
            name: "exponential",
            about: "the exponential mechanism, scores of any change",
            claim,
            runs: USUAL,
            pairs: on(Exponential::new(epsilon, unit)?, general(), |m, x, rng| {
                Ok(vec![m.select(&Scores::general(x.clone())?, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "exponential-monotone",
            about: "the exponential mechanism, scores that move in one direction",
            claim,
            runs: USUAL,
            pairs: on(Exponential::new(epsilon, unit)?, monotone(), |m, x, rng| {
                Ok(vec![m.select(&Scores::monotone(x.clone())?, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "permute-and-flip",
            about: "permute-and-flip, scores of any change",
            claim,
            runs: USUAL,
            pairs: on(PermuteAndFlip::new(epsilon, unit)?, general(), |m, x, rng| {
                Ok(vec![m.select(&Scores::general(x.clone())?, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "permute-and-flip-monotone",
            about: "permute-and-flip, scores that move in one direction",
            claim,
            runs: USUAL,
            pairs: on(PermuteAndFlip::new(epsilon, unit)?, monotone(), |m, x, rng| {
                Ok(vec![m.select(&Scores::monotone(x.clone())?, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "noisy-max",
            about: "report noisy max, scores of any change",
            claim,
            runs: USUAL,
            pairs: on(NoisyMax::new(epsilon, unit)?, whole(general()), |m, x, rng| {
                Ok(vec![m.select(&Scores::general(x.clone())?, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "noisy-max-monotone",
            about: "report noisy max, scores that move in one direction",
            claim,
            runs: USUAL,
            pairs: on(NoisyMax::new(epsilon, unit)?, whole(monotone()), |m, x, rng| {
                Ok(vec![m.select(&Scores::monotone(x.clone())?, rng)?.into_value() as f64])
            }),
        },
    ])
}

pub(super) fn subjects(epsilon: Epsilon) -> Result<Vec<Subject>> {
    let claim = pure(epsilon);
    let coarse = Grid::power_of_two(-3)?;
    let median = |neighbours| Quantile::with_grid(epsilon, neighbours, 0.5, 0.0..=1.0, coarse);
    let mut subjects = selections(epsilon)?;
    subjects.extend([
        Subject {
            name: "median",
            about: "a median by the exponential mechanism, a value replaced",
            claim,
            runs: USUAL,
            pairs: on(
                median(Neighbours::Replace)?,
                vec![
                    (
                        "(0, 0, 0, 1, 1) and (0, 0, 1, 1, 1)",
                        [vec![0.0, 0.0, 0.0, 1.0, 1.0], vec![0.0, 0.0, 1.0, 1.0, 1.0]],
                    ),
                    ("(0) and (1)", [vec![0.0], vec![1.0]]),
                ],
                |m, x, rng| Ok(vec![m.release(x, rng)?.into_value()]),
            ),
        },
        Subject {
            name: "quantile",
            about: "the 0.9 quantile by the exponential mechanism, a value added",
            claim,
            runs: USUAL,
            pairs: on(
                Quantile::with_grid(epsilon, Neighbours::AddRemove, 0.9, 0.0..=1.0, coarse)?,
                vec![("(0, 0) and (0, 0, 1)", [vec![0.0, 0.0], vec![0.0, 0.0, 1.0]])],
                |m, x, rng| Ok(vec![m.release(x, rng)?.into_value()]),
            ),
        },
    ]);
    subjects.extend(sparse(epsilon)?);
    Ok(subjects)
}

/// Transcripts: 1 above, 0 below, 2 nothing; then the numbers, if bought.
fn sparse(epsilon: Epsilon) -> Result<Vec<Subject>> {
    let unit = Sensitivity::new(1.0)?;
    let third = Epsilon::new(epsilon.get() / 3.0)?;
    let run = |m: &AboveThreshold,
               queries: &Vec<i128>,
               rng: &mut dyn demure_core::random::Randomness|
     -> Result<Vec<f64>> {
        let mut asking = m.start(0, rng)?;
        let mut transcript = Vec::new();
        for &query in queries {
            match asking.ask(query, rng)?.into_value() {
                Answer::Below => transcript.push(0.0),
                Answer::Above(None) => transcript.push(1.0),
                Answer::Above(Some(value)) => transcript.extend([1.0, value as f64]),
                Answer::Halted => transcript.push(2.0),
            }
        }
        Ok(transcript)
    };
    let falling = |n: usize| {
        // Nothing is above, then one thing is; each moves against the other.
        let mut left = vec![0; n];
        left.push(1);
        let mut right = vec![1; n];
        right.push(0);
        [left, right]
    };
    let inputs = |c: usize| {
        vec![
            ("queries (0, …, 0, 1) and (1, …, 1, 0)", falling(4)),
            ("queries all 0 and all 1", [vec![0; 2 * c + 1], vec![1; 2 * c + 1]]),
        ]
    };
    Ok(vec![
        Subject {
            name: "sparse-vector",
            about: "the sparse vector technique, one positive answer",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(AboveThreshold::new(epsilon, unit, 1, Change::General)?, inputs(1), run),
        },
        Subject {
            name: "sparse-vector-3",
            about: "the sparse vector technique, three positive answers",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(AboveThreshold::new(epsilon, unit, 3, Change::General)?, inputs(3), run),
        },
        Subject {
            name: "sparse-vector-monotone",
            about: "the sparse vector technique, two positive answers to queries that move in one direction",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                AboveThreshold::new(epsilon, unit, 2, Change::Monotone)?,
                vec![("queries all 0 and all 1", [vec![0; 5], vec![1; 5]])],
                run,
            ),
        },
        Subject {
            name: "sparse-vector-answers",
            about: "the sparse vector technique, with noised answers",
            claim: Claim { epsilon: Some(3.0 * third.get().next_up()), delta: 0.0 },
            runs: USUAL,
            pairs: on(
                AboveThreshold::with_split(
                    EpsilonSplit { threshold: third, queries: third, answers: Some(third) },
                    unit,
                    1,
                    Change::General,
                )?,
                inputs(1),
                run,
            ),
        },
    ])
}
