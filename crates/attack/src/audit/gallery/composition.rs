//! Several answers.

use super::{ONE, real_noise, whole_noise};
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::mechanism::Response;
use demure_core::unit::Epsilon;

pub(super) fn subjects() -> Result<Vec<Subject>> {
    Ok(vec![
        Subject {
            name: "reused-noise",
            about: "one draw of noise for two answers: their difference is exact (generators seeded per request, and noise cached by value and \
                    not by query)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                real_noise(2.0)?,
                vec![("answers (3, 3) and (3, 4)", [[3.0, 3.0], [3.0, 4.0]])],
                |m, x, rng| {
                    let noise = m.release(0.0, rng)?.into_value();
                    Ok(x.iter().map(|answer| answer + noise).collect())
                },
            ),
        },
        Subject {
            name: "fixed-seed",
            about: "noise from a generator with a seed that is in the source: whoever has the source has the noise (what is left over \
                    from a test)",
            claim: ONE,
            runs: USUAL,
            pairs: on((), vec![("0 and 1", [0.0, 1.0])], |(), x, _| {
                Ok(vec![x + 0.374_540_118_847_362_5])
            }),
        },
        Subject {
            name: "wrong-composition",
            about: "three answers at ε each, and ε charged for all: budgets kept by hand, as in notebooks",
            claim: ONE,
            runs: USUAL,
            pairs: on(whole_noise(1.0)?, vec![("5 and 6", [5i128, 6])], |m, x, rng| {
                let answers = m.release_vector(&[*x; 3], rng)?.into_value();
                Ok(answers.into_iter().map(|x| x as f64).collect())
            }),
        },
        Subject {
            name: "overlapping-parts",
            about: "parallel composition claimed for groups that share people: one person in two groups moves both",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                whole_noise(1.0)?,
                vec![("counts (4, 9) and (5, 10)", [[4i128, 9], [5, 10]])],
                |m, x, rng| {
                    let answers = m.release_vector(x, rng)?.into_value();
                    Ok(answers.into_iter().map(|x| x as f64).collect())
                },
            ),
        },
        Subject {
            name: "fresh-response",
            about: "randomized response drawn afresh every day for a value that stays, and ε claimed for ever (why RAPPOR remembers: Erlingsson, \
                    Pihur, Korolova 2014; Apple's first release, Tang et al. 2017)",
            claim: ONE,
            runs: USUAL,
            pairs: on(
                Response::with_epsilon(2, Epsilon::new(1.0)?)?,
                vec![("yes and no for five days", [true, false])],
                |m, yes, rng| {
                    (0..5).map(|_| Ok(f64::from(m.respond_bit(*yes, rng)?.into_value()))).collect()
                },
            ),
        },
    ])
}
