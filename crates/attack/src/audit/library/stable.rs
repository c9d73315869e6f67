//! Noise that fits the data.

use super::{approximate, pure};
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::account::zcdp;
use demure_core::mechanism::{Bounds, Guarantee};
use demure_core::sensitivity::{
    InterquartileRange, Ladder, OrderStatistic, PrivateBound, Proposals, ProposeTestRelease,
    Reciprocal, SmoothNoise, Stable, Tally, TrimmedMean, Values, WinsorisedMean,
};
use demure_core::unit::{Delta, Epsilon, Grid, Neighbours};

/// Values of which one is replaced: the median jumps; the median stays and what is around it goes; nothing is
/// spread, and one is.
fn values() -> Result<Vec<(&'static str, [Values; 2])>> {
    let bounds = Bounds::on(0.0, 1.0, Grid::power_of_two(-6)?)?;
    let of = |values: &[f64]| Values::new(bounds, values.iter().copied());
    Ok(vec![
        (
            "(0, 0, 0, 1, 1) and (0, 0, 1, 1, 1)",
            [of(&[0.0, 0.0, 0.0, 1.0, 1.0]), of(&[0.0, 0.0, 1.0, 1.0, 1.0])],
        ),
        (
            "nine times 0.5, and one of them at 1",
            [of(&[0.5; 9]), of(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.0])],
        ),
    ])
}

fn smooth(
    name: &'static str,
    about: &'static str,
    noise: SmoothNoise,
    claim: crate::audit::Claim,
) -> Result<Subject> {
    let pairs = on(noise, values()?, |m, x, rng| {
        Ok(vec![m.release(&OrderStatistic::median(x)?, rng)?.into_value()])
    });
    Ok(Subject { name, about, claim, runs: USUAL, pairs })
}

pub(super) fn subjects(epsilon: Epsilon, delta: Delta) -> Result<Vec<Subject>> {
    let t = demure_core::sensitivity::Smoothness::new(0.2 * epsilon.get().min(5.0))?;
    let rho = zcdp::for_target(epsilon, delta)?;
    let bound = 32;
    let winner = Stable::new(epsilon, delta)?;
    let mut subjects = vec![
        smooth(
            "smooth-student",
            "a median with noise of Student's t in proportion to a smooth bound",
            SmoothNoise::student(epsilon, 4, t)?,
            pure(epsilon),
        )?,
        smooth(
            "smooth-laplace-pareto",
            "a median with Laplace–Pareto noise in proportion to a smooth bound",
            SmoothNoise::laplace_pareto(epsilon, 4, t)?,
            pure(epsilon),
        )?,
        smooth(
            "smooth-best",
            "a median with the noise that suits the smooth bound best",
            SmoothNoise::new(Guarantee::Pure(epsilon), None)?,
            pure(epsilon),
        )?,
        smooth(
            "smooth-log-normal",
            "a median with Laplace–log-normal noise, by ρ-zCDP",
            SmoothNoise::new(Guarantee::Concentrated(rho), None)?,
            approximate(epsilon, delta),
        )?,
        smooth(
            "smooth-approximate",
            "a median with noise for (ε, δ) in proportion to a smooth bound",
            SmoothNoise::new(Guarantee::Approximate(epsilon, delta), None)?,
            approximate(epsilon, delta),
        )?,
    ];
    subjects.extend([
        Subject {
            name: "smooth-trimmed-mean",
            about: "a trimmed and a winsorised mean and an interquartile range, a third of ε each",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                SmoothNoise::new(
                    Guarantee::Pure(Epsilon::new((epsilon.get() / 3.0).next_down())?),
                    None,
                )?,
                values()?,
                |m, x, rng| {
                    Ok(vec![
                        m.release(&TrimmedMean::new(x, 1)?, rng)?.into_value(),
                        m.release(&WinsorisedMean::new(x, 1)?, rng)?.into_value(),
                        m.release(&InterquartileRange::new(x)?, rng)?.into_value(),
                    ])
                },
            ),
        },
        Subject {
            name: "ladder",
            about: "a median by the ladder of its local sensitivity",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(Ladder::classic(epsilon), values()?, |m, x, rng| {
                Ok(vec![m.release(&OrderStatistic::median(x)?, rng)?.into_value()])
            }),
        },
        Subject {
            name: "stable-winner",
            about: "the winner of a vote, where it is far from changing",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                winner.clone(),
                vec![
                    ("votes (5, 5) and (5, 6)", [vec![5u64, 5], vec![5, 6]]),
                    (
                        "votes about as far apart as the threshold",
                        [vec![winner.threshold(), 0], vec![winner.threshold() + 1, 0]],
                    ),
                ],
                |m, x, rng| {
                    let (winner, distance) = Tally::votes(x, Neighbours::AddRemove)?.winner();
                    let told = m.release(winner, distance, rng)?.into_value();
                    Ok(vec![told.map_or(f64::NAN, |winner| winner as f64)])
                },
            ),
        },
        Subject {
            name: "propose-test-release",
            about: "a median with a proposed bound on its local sensitivity, tested first",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(ProposeTestRelease::new(epsilon, delta, bound)?, values()?, |m, x, rng| {
                let told = m.release(&OrderStatistic::median(x)?, rng)?.into_value();
                Ok(vec![told.unwrap_or(f64::NAN)])
            }),
        },
        Subject {
            name: "proposals",
            about: "a median with the first of several bounds that holds",
            claim: approximate(epsilon, delta),
            runs: USUAL / 5,
            pairs: on(
                Proposals::new(
                    Epsilon::new(0.5 * epsilon.get())?,
                    Epsilon::new(0.5 * epsilon.get())?,
                    delta,
                    &Proposals::doubling(1, 64),
                )?,
                values()?,
                |m, x, rng| {
                    let told = m.release(&OrderStatistic::median(x)?, rng)?.into_value();
                    let (value, bound) = told.unwrap_or((f64::NAN, 0));
                    Ok(vec![value, bound as f64])
                },
            ),
        },
        Subject {
            name: "private-bound",
            about: "one over a count, with a private bound on its local sensitivity",
            claim: approximate(epsilon, delta),
            runs: USUAL / 5,
            pairs: on(
                PrivateBound::new(epsilon, delta)?,
                vec![("counts 2 and 3", [2u64, 3]), ("counts 60 and 61", [60, 61])],
                |m, x, rng| {
                    let statistic = Reciprocal::new(*x, Grid::power_of_two(-10)?)?;
                    let told = m.release_reciprocal(&statistic, rng)?.into_value();
                    let (value, bound) = told.unwrap_or((f64::NAN, 0));
                    Ok(vec![value, bound as f64])
                },
            ),
        },
    ]);
    Ok(subjects)
}
