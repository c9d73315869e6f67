//! Noise on numbers.

use super::{approximate, pure};
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::account::zcdp;
use demure_core::mechanism::{DiscreteGaussian, Gaussian, Geometric, Laplace};
use demure_core::unit::{Delta, Epsilon, Sensitivity};

/// Reals of distance 1: at 0, off the grid, with a fraction that no float has, and far out.
fn reals() -> Vec<(&'static str, [f64; 2])> {
    vec![
        ("0 and 1", [0.0, 1.0]),
        ("0.1 and 1.1", [0.1, 1.1]),
        ("1/3 and 4/3", [1.0 / 3.0, 4.0 / 3.0]),
        ("1,000,000 and 1,000,001", [1e6, 1e6 + 1.0]),
    ]
}

fn integers() -> Vec<(&'static str, [i128; 2])> {
    vec![("0 and 1", [0, 1]), ("41 and 40", [41, 40])]
}

pub(super) fn subjects(epsilon: Epsilon, delta: Delta) -> Result<Vec<Subject>> {
    let rho = zcdp::for_target(epsilon, delta)?;
    Ok(vec![
        Subject {
            name: "laplace",
            about: "Laplace noise on a real number",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(Laplace::new(epsilon, Sensitivity::new(1.0)?)?, reals(), |m, x, rng| {
                Ok(vec![m.release(*x, rng)?.into_value()])
            }),
        },
        Subject {
            name: "laplace-vector",
            about: "Laplace noise on a vector whose ℓ₁ norm moves by 1",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(
                Laplace::new(epsilon, Sensitivity::new(1.0)?)?,
                vec![
                    ("(0, 0, 0) and (0.5, −0.25, 0.25)", [[0.0; 3], [0.5, -0.25, 0.25]]),
                    ("(0, 0, 0) and (1, 0, 0)", [[0.0; 3], [1.0, 0.0, 0.0]]),
                ],
                |m, x, rng| Ok(m.release_vector(x, rng)?.into_value()),
            ),
        },
        Subject {
            name: "geometric",
            about: "two-sided geometric noise on an integer",
            claim: pure(epsilon),
            runs: USUAL,
            pairs: on(Geometric::new(epsilon, Sensitivity::new(1.0)?)?, integers(), |m, x, rng| {
                Ok(vec![m.release(*x, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "gaussian",
            about: "Gaussian noise on a real number, calibrated analytically",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                Gaussian::new(epsilon, delta, Sensitivity::new(1.0)?)?,
                reals(),
                |m, x, rng| Ok(vec![m.release(*x, rng)?.into_value()]),
            ),
        },
        Subject {
            name: "gaussian-zcdp",
            about: "Gaussian noise by ρ-zCDP, on a vector whose ℓ₂ norm moves by 1",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                Gaussian::concentrated(rho, Sensitivity::new(1.0)?)?,
                vec![("(0, 0) and (0.6, −0.8)", [[0.0, 0.0], [0.6, -0.8]])],
                |m, x, rng| Ok(m.release_vector(x, rng)?.into_value()),
            ),
        },
        Subject {
            name: "discrete-gaussian",
            about: "discrete Gaussian noise on an integer",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(DiscreteGaussian::new(epsilon, delta, 1)?, integers(), |m, x, rng| {
                Ok(vec![m.release(*x, rng)?.into_value() as f64])
            }),
        },
        Subject {
            name: "discrete-gaussian-zcdp",
            about: "discrete Gaussian noise by ρ-zCDP, on a vector of integers whose ℓ₂ norm moves by √2",
            claim: approximate(epsilon, delta),
            runs: USUAL,
            pairs: on(
                DiscreteGaussian::concentrated(rho, Sensitivity::new(2f64.sqrt().next_up())?)?,
                vec![("(0, 0) and (1, −1)", [[0, 0], [1, -1]])],
                |m, x, rng| {
                    let drawn = m.release_vector(x, rng)?.into_value();
                    Ok(drawn.into_iter().map(|x| x as f64).collect())
                },
            ),
        },
    ])
}
