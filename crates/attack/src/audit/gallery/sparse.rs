//! Sparse vectors and noisy maxima as they were published.
//!
//! Numbers of algorithms are those of Lyu, Su and Li 2017 (arXiv:1603.01699), who collected six sparse vectors and
//! found four of them not private. A transcript is 1 for above, 0 for below, 2 for nothing.

use super::{ONE, whole_noise};
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::mechanism::{Exponential, Geometric, Scores};
use demure_core::random::Randomness;
use demure_core::unit::{Epsilon, Sensitivity};

/// A sparse vector with a threshold of 0.
struct Sparse {
    threshold: Geometric,
    query: Option<Geometric>,
    /// Positive answers until it stops; `None` for never.
    positives: Option<usize>,
    /// Whether the noised query itself is the answer.
    numeric: bool,
}

impl Sparse {
    fn run(&self, queries: &[i128], rng: &mut dyn Randomness) -> Result<Vec<f64>> {
        let rho = self.threshold.release(0, rng)?.into_value();
        let mut transcript = Vec::new();
        let mut left = self.positives;
        for &query in queries {
            if left == Some(0) {
                transcript.push(2.0);
                continue;
            }
            let noised = match &self.query {
                Some(noise) => noise.release(query, rng)?.into_value(),
                None => query,
            };
            if noised < rho {
                transcript.push(0.0);
                continue;
            }
            left = left.map(|left| left - 1);
            transcript.push(if self.numeric { noised as f64 } else { 1.0 });
        }
        Ok(transcript)
    }
}

/// `low` queries at 0 and then `high` at 1; and the other way round.
fn crossed(low: usize, high: usize) -> [Vec<i128>; 2] {
    let of = |a: i128, b: i128| [vec![a; low], vec![b; high]].concat();
    [of(0, 1), of(1, 0)]
}

fn sparse(
    name: &'static str,
    about: &'static str,
    mechanism: Sparse,
    inputs: Vec<(&str, [Vec<i128>; 2])>,
) -> Subject {
    let pairs = on(mechanism, inputs, |m, queries, rng| m.run(queries, rng));
    Subject { name, about, claim: ONE, runs: USUAL, pairs }
}

pub(super) fn subjects() -> Result<Vec<Subject>> {
    let crossed_6 =
        || vec![("six queries at 0 and six at 1, and the other way round", crossed(6, 6))];
    let unit = Sensitivity::new(1.0)?;
    Ok(vec![
        // What gives it away is rare.
        Subject {
            runs: 4 * USUAL,
            ..sparse(
                "svt-roth",
                "Algorithm 3, from lecture notes of 2011: a positive answer shows the noised query that was compared, which bounds the noised \
             threshold from above",
                Sparse {
                    threshold: whole_noise(2.0)?,
                    query: Some(whole_noise(2.0)?),
                    positives: Some(1),
                    numeric: true,
                },
                vec![("ten queries at 0 and one at 1, and the other way round", crossed(10, 1))],
            )
        },
        sparse(
            "svt-lee-clifton",
            "Algorithm 4 (Lee and Clifton 2014): the noise of the queries does not grow with the number of positive answers, here 4",
            Sparse {
                threshold: whole_noise(4.0)?,
                query: Some(whole_noise(4.0 / 3.0)?),
                positives: Some(4),
                numeric: false,
            },
            vec![
                ("three queries at 0 and three at 1, and the other way round", crossed(3, 3)),
                ("four queries at 0 and four at 1, and the other way round", crossed(4, 4)),
            ],
        ),
        sparse(
            "svt-stoddard",
            "Algorithm 5 (Stoddard, Chen, Machanavajjhala 2014): the queries have no noise at all",
            Sparse { threshold: whole_noise(2.0)?, query: None, positives: None, numeric: false },
            vec![("a query at 0 and one at 1, and the other way round", crossed(1, 1))],
        ),
        sparse(
            "svt-chen",
            "Algorithm 6 (Chen, Xiao, Zhang, Xu 2015): it never stops",
            Sparse {
                threshold: whole_noise(2.0)?,
                query: Some(whole_noise(2.0)?),
                positives: None,
                numeric: false,
            },
            crossed_6(),
        ),
        sparse(
            "svt-no-threshold-noise",
            "the naive form: no noise on the threshold, so that every negative answer costs as much as a positive one",
            Sparse {
                threshold: Geometric::new(Epsilon::new(100.0)?, unit)?,
                query: Some(whole_noise(2.0)?),
                positives: Some(1),
                numeric: false,
            },
            vec![("ten queries at −2, and at −1", [vec![-2; 10], vec![-1; 10]])],
        ),
        Subject {
            name: "noisy-max-value",
            about: "report noisy max that reports the noised value and not the candidate (one of the incorrect \
                    mechanisms by which Ding et al. 2018 show how such mistakes are found)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                whole_noise(2.0)?,
                vec![("eight scores at 0, and at 1", [[0i128; 8], [1; 8]])],
                |m, scores, rng| {
                    let noised = m.release_vector(scores, rng)?.into_value();
                    Ok(noised.into_iter().max().map(|x| x as f64).into_iter().collect())
                },
            ),
        },
        Subject {
            name: "monotone-on-general",
            about: "the exponential mechanism at the rate for scores that move in one direction, on scores that do not",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                Exponential::new(Epsilon::new(1.0)?, Sensitivity::new(1.0)?)?,
                vec![(
                    "twenty scores at 0, and one at 1 with the others at −1",
                    [[0.0; 20], std::array::from_fn(|i| if i == 0 { 1.0 } else { -1.0 })],
                )],
                |m, scores, rng| {
                    let scores = Scores::monotone(scores.to_vec())?;
                    Ok(vec![m.select(&scores, rng)?.into_value() as f64])
                },
            ),
        },
    ])
}
