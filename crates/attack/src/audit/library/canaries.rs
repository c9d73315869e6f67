//! Mechanisms that one run audits: each canary has a part of the output to itself.

use crate::audit::one_run::Canaried;
use demure_core::Result;
use demure_core::account::zcdp;
use demure_core::mechanism::{Contributions, Histogram, Response};
use demure_core::unit::{Delta, Epsilon, Neighbours};

/// Those there are, at ε and, where they need one, at δ.
///
/// # Errors
/// Some mechanism refuses the ε or the δ.
pub fn canaried(epsilon: Epsilon, delta: Delta) -> Result<Vec<Canaried>> {
    let response = Response::with_epsilon(2, epsilon)?;
    let laplace = Histogram::new(epsilon, Neighbours::AddRemove, Contributions::ONE)?;
    let rho = zcdp::for_target(epsilon, delta)?;
    let gaussian = Histogram::new(rho, Neighbours::AddRemove, Contributions::ONE)?;
    let counts = |m: &Histogram,
                  included: &[bool],
                  rng: &mut dyn demure_core::random::Randomness|
     -> Result<Vec<f64>> {
        let counts: Vec<u64> = included.iter().map(|&one| u64::from(one)).collect();
        Ok(m.release(&counts, rng)?.into_value().into_iter().map(|x| x as f64).collect())
    };
    Ok(vec![
        Canaried {
            name: "response",
            about: "a yes-or-no survey in which every canary answers yes or no",
            claim: (epsilon.get(), 0.0),
            share: 1.0,
            run: Box::new(move |included, rng| {
                let one = |&yes: &bool| Ok(f64::from(response.respond_bit(yes, rng)?.into_value()));
                included.iter().map(one).collect()
            }),
        },
        Canaried {
            name: "histogram",
            about: "a histogram in which every canary has a key to itself, or no row",
            claim: (epsilon.get(), 0.0),
            share: 0.5,
            run: Box::new(move |included, rng| counts(&laplace, included, rng)),
        },
        Canaried {
            name: "histogram-zcdp",
            about: "the same with Gaussian noise",
            claim: (epsilon.get(), delta.get()),
            share: 0.1,
            run: Box::new(move |included, rng| counts(&gaussian, included, rng)),
        },
    ])
}
