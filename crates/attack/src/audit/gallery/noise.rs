//! What is wrong with the noise itself.

use super::{ONE, real_noise, whole_noise};
use crate::audit::examine::Claim;
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::mechanism::Gaussian;
use demure_core::random::Randomness;
use demure_core::sample::uniform_below;
use demure_core::unit::{Rho, Sensitivity};

/// A uniform float as programming languages give it: a multiple of 2⁻⁵³ in [0, 1).
fn uniform(rng: &mut dyn Randomness) -> Result<f64> {
    Ok(uniform_below(1 << 53, rng)? as f64 * 2f64.powi(-53))
}

/// Laplace noise by the inverse distribution function in floats: the textbook, and most libraries.
fn textbook_laplace(scale: f64, rng: &mut dyn Randomness) -> Result<f64> {
    let centred = uniform(rng)? - 0.5;
    let tail = (1.0 - 2.0 * centred.abs()).max(f64::MIN_POSITIVE);
    Ok(-scale * centred.signum() * tail.ln())
}

/// Normal noise by Box and Muller in floats.
fn textbook_normal(sigma: f64, rng: &mut dyn Randomness) -> Result<f64> {
    let radius = (-2.0 * (1.0 - uniform(rng)?).ln()).sqrt();
    Ok(sigma * radius * (std::f64::consts::TAU * uniform(rng)?).cos())
}

pub(super) fn subjects() -> Result<Vec<Subject>> {
    let mut subjects = floats();
    subjects.extend(coins()?);
    subjects.extend(scales()?);
    Ok(subjects)
}

fn floats() -> Vec<Subject> {
    let near = || vec![("0 and 1", [0.0, 1.0]), ("1 and 2", [1.0, 2.0])];
    vec![
        Subject {
            name: "float-laplace",
            about: "Laplace noise by −b·sgn(u)·ln(1−2|u|) in floats. What is added to 1 is a multiple \
                    of 2⁻⁵³, what is near 0 is not: the low bits tell the inputs apart (Mironov 2012; \
                    found again in many libraries since, by Haney et al. 2022)",
            claim: ONE,
            runs: USUAL,
            pairs: on((), near(), |(), x, rng| Ok(vec![x + textbook_laplace(1.0, rng)?])),
        },
        Subject {
            name: "float-gaussian",
            about: "Gaussian noise by Box and Muller in floats: the low bits again (Jin, McMurtry, Rubinstein, \
                    Ohrimenko 2022). σ is right for ε = 1 at δ = 0.01",
            claim: Claim { epsilon: Some(1.0), delta: 0.01 },
            runs: USUAL,
            pairs: on((), near(), |(), x, rng| Ok(vec![x + textbook_normal(2.2, rng)?])),
        },
        Subject {
            name: "byte-laplace",
            about: "Laplace noise from one random byte: only 256 outputs, other ones for every input (any generator with too \
                    few bits; the extreme case of Mironov 2012)",
            claim: ONE,
            runs: USUAL,
            pairs: on((), near(), |(), x, rng| {
                let u = (uniform_below(256, rng)? as f64 + 0.5) / 256.0 - 0.5;
                Ok(vec![x - u.signum() * (1.0 - 2.0 * u.abs()).ln()])
            }),
        },
    ]
}

fn coins() -> Result<Vec<Subject>> {
    Ok(vec![
        Subject {
            name: "modulo-coin",
            about: "randomized response that tells the truth if a random byte modulo 100 is below 73: small remainders are \
                    likelier, and the truth has probability 0.79 (the modulo bias, in every list of mistakes with \
                    random numbers)",
            claim: ONE,
            runs: USUAL,
            pairs: on((), vec![("yes and no", [1u64, 0])], |(), bit, rng| {
                let truthful = uniform_below(256, rng)? % 100 < 73;
                Ok(vec![if truthful { *bit as f64 } else { 1.0 - *bit as f64 }])
            }),
        },
        Subject {
            name: "clipped-noise",
            about: "noise cut to ±4 so that answers look sane: the ends are reached from one input alone \
                    (a common request of users)",
            claim: ONE,
            runs: USUAL,
            pairs: on(whole_noise(1.0)?, vec![("0 and 1", [0i128, 1])], |m, x, rng| {
                let noise = m.release(0, rng)?.into_value().clamp(-4, 4);
                Ok(vec![(x + noise) as f64])
            }),
        },
        Subject {
            name: "redrawn-noise",
            about: "a count drawn again until it is not negative: how often that happens depends on the count (rejection in \
                    place of post-processing; Holohan et al. 2020 say what it costs)",
            claim: ONE,
            runs: USUAL,
            pairs: on(whole_noise(1.0)?, vec![("counts 0 and 1", [0i128, 1])], |m, x, rng| {
                loop {
                    let noised = m.release(*x, rng)?.into_value();
                    if noised >= 0 {
                        return Ok(vec![noised as f64]);
                    }
                }
            }),
        },
    ])
}

fn scales() -> Result<Vec<Subject>> {
    // σ = √(2 ln(1.25/δ))/ε.
    let (epsilon, delta) = (8.0, 0.2);
    let sigma = (2.0 * (1.25f64 / delta).ln()).sqrt() / epsilon;
    let classic = Gaussian::concentrated(Rho::new(0.5 / (sigma * sigma))?, Sensitivity::new(1.0)?)?;
    Ok(vec![
        Subject {
            name: "wrong-sensitivity",
            about: "a count of visits with noise for one visit, where a person has up to three (the first thing that \
                    goes wrong in SQL: Wilson et al. 2019)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                whole_noise(1.0)?,
                vec![("5 visits and 6", [5i128, 6]), ("5 visits and 8", [5, 8])],
                |m, x, rng| Ok(vec![m.release(*x, rng)?.into_value() as f64]),
            ),
        },
        Subject {
            name: "epsilon-as-scale",
            about: "Laplace noise of scale ε in place of 1/ε: at ε = ½ it is four times too little (an incorrect \
                    histogram of Ding et al. 2018)",
            claim: Claim { epsilon: Some(0.5), delta: 0.0 },
            runs: USUAL,
            pairs: on(real_noise(0.5)?, vec![("0 and 1", [0.0, 1.0])], |m, x, rng| {
                Ok(vec![m.release(*x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "relation-mixed-up",
            about: "a histogram with noise for a row added, sold as private when a row is replaced: that moves two counts (the two \
                    relations confused)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                whole_noise(1.0)?,
                vec![("counts (3, 3) and (2, 4)", [[3i128, 3], [2, 4]])],
                |m, x, rng| {
                    let noised = m.release_vector(x, rng)?.into_value();
                    Ok(noised.into_iter().map(|x| x as f64).collect())
                },
            ),
        },
        Subject {
            name: "gaussian-classic",
            about: "Gaussian noise with σ = √(2 ln(1.25/δ))/ε at ε = 8, where that formula is proved for ε ≤ 1 and fails for large ε (Balle \
                    and Wang 2018)",
            claim: Claim { epsilon: Some(epsilon), delta },
            runs: 1_000_000,
            pairs: on(classic, vec![("0 and 1", [0.0, 1.0])], |m, x, rng| {
                Ok(vec![m.release(*x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "private-scale",
            about: "a mean with noise in proportion to 1/n, where n is itself what changes: the scale gives it away (as if the number of rows were \
                    public and neighbours could differ in it all the same)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                [real_noise(1.0)?, real_noise(0.5)?],
                vec![("one row and two", [1usize, 2])],
                |m, rows, rng| Ok(vec![m[rows - 1].release(0.5, rng)?.into_value()]),
            ),
        },
        Subject {
            name: "local-sensitivity",
            about: "a median with noise in proportion to its local sensitivity at the data: where that is 0 there is no noise (the \
                    warning with which Nissim, Raskhodnikova and Smith 2007 begin)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                [real_noise(1.0)?],
                vec![(
                    "(0, 0, 0, 0, 1) and (0, 0, 0, 1, 1)",
                    [vec![0.0, 0.0, 0.0, 0.0, 1.0], vec![0.0, 0.0, 0.0, 1.0, 1.0]],
                )],
                |[m], sorted, rng| {
                    let middle = sorted.len() / 2;
                    let local = f64::max(
                        sorted[middle + 1] - sorted[middle],
                        sorted[middle] - sorted[middle - 1],
                    );
                    let noise = m.release(0.0, rng)?.into_value();
                    Ok(vec![sorted[middle] + local * noise])
                },
            ),
        },
    ])
}
