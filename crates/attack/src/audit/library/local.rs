//! Randomizers for people who trust nobody: any value for any other.

use super::pure;
use crate::audit::feature::Output;
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::local::{
    Hadamard, Hybrid, LocalHash, Rappor, Report, Response, Sign, Subset, Unary, Window,
};
use demure_core::mechanism::Release;
use demure_core::unit::Epsilon;

/// Categories of those that have some.
const K: u32 = 5;

/// A report as numbers. A hash function says nothing by itself; what it makes of the two values does.
fn numbers(report: Release<Report>, hash: Option<&LocalHash>) -> Output {
    match report.into_value() {
        Report::Category(c) | Report::Cell(c) => vec![f64::from(c)],
        Report::Bits(words) => {
            (0..K).map(|i| ((words.first().unwrap_or(&0) >> i) & 1) as f64).collect()
        }
        Report::Hashed(function, bucket) => {
            let hits = |value| hash.is_some_and(|h| h.bucket(function, value) == bucket);
            vec![f64::from(hits(0)), f64::from(hits(1)), f64::from(bucket)]
        }
        Report::Row(row, sign) => vec![f64::from(row), f64::from(sign)],
        Report::Sign(sign) => vec![f64::from(sign)],
        _ => Vec::new(),
    }
}

pub(super) fn subjects(epsilon: Epsilon) -> Result<Vec<Subject>> {
    let claim = pure(epsilon);
    let twice = Epsilon::new(2.0 * epsilon.get())?;
    let values = || vec![("values 0 and 1", [0u32, 1])];
    let reals = || vec![("values 0 and 1", [0.0, 1.0]), ("values 0.4 and 0.6", [0.4, 0.6])];
    macro_rules! subject {
        ($name:literal, $about:literal, $mechanism:expr, $inputs:expr) => {
            Subject {
                name: $name,
                about: $about,
                claim,
                runs: USUAL,
                pairs: on($mechanism, $inputs, |m, x, rng| {
                    Ok(numbers(m.randomize(*x, rng.bits()?)?, None))
                }),
            }
        };
    }
    Ok(vec![
        subject!(
            "response",
            "randomized response to a yes-or-no question",
            Response::with_epsilon(2, epsilon)?,
            values()
        ),
        subject!(
            "response-5",
            "randomized response with five answers",
            Response::with_epsilon(K, epsilon)?,
            values()
        ),
        subject!(
            "unary-symmetric",
            "symmetric unary encoding",
            Unary::symmetric(K, epsilon)?,
            values()
        ),
        subject!(
            "unary-optimised",
            "optimised unary encoding",
            Unary::optimised(K, epsilon)?,
            values()
        ),
        subject!("subset", "subset selection", Subset::new(K, epsilon)?, values()),
        subject!("hadamard", "Hadamard response", Hadamard::new(K, epsilon)?, values()),
        subject!("piecewise", "the piecewise mechanism", Window::piecewise(epsilon)?, reals()),
        subject!(
            "square-wave",
            "the square wave mechanism",
            Window::square_wave(16, epsilon)?,
            reals()
        ),
        subject!("sign", "Duchi's coin", Sign::new(epsilon)?, reals()),
        subject!(
            "hybrid",
            "Duchi's coin or the piecewise mechanism",
            Hybrid::new(epsilon)?,
            reals()
        ),
        Subject {
            name: "local-hash",
            about: "optimised local hashing",
            claim,
            runs: USUAL,
            pairs: on(LocalHash::new(K, epsilon)?, values(), |m, x, rng| {
                Ok(numbers(m.randomize(*x, rng.bits()?)?, Some(m)))
            }),
        },
        Subject {
            name: "rappor-first",
            about: "RAPPOR, the first report",
            claim,
            runs: USUAL,
            pairs: on(Rappor::new(K, twice, epsilon)?, values(), |m, x, rng| {
                let bits = rng.bits()?;
                let permanent = m.permanent(*x, bits)?.into_value();
                Ok(numbers(m.report(&permanent, bits)?, None))
            }),
        },
        Subject {
            name: "rappor-forever",
            about: "RAPPOR, three reports from one permanent response",
            claim,
            runs: USUAL,
            pairs: on(
                Rappor::new(K, epsilon, Epsilon::new(0.5 * epsilon.get())?)?,
                values(),
                |m, x, rng| {
                    let bits = rng.bits()?;
                    let permanent = m.permanent(*x, bits)?.into_value();
                    let mut all = Vec::new();
                    for _ in 0..3 {
                        all.extend(numbers(m.report(&permanent, bits)?, None));
                    }
                    Ok(all)
                },
            ),
        },
    ])
}
