//! Keys that nobody declared.

use super::{ONE, whole_noise};
use crate::audit::examine::Claim;
use crate::audit::subject::{Subject, USUAL, on};
use demure_core::Result;
use demure_core::mechanism::Geometric;

/// The least t with `P[1 + Z > t] ≤ δ`, for two-sided geometric noise of scale 1.
fn threshold(delta: f64) -> i128 {
    // P[Z ≥ k] = e^−k/(1 + e^−1) for k ≥ 1.
    let tail = |k: i128| (-(k as f64)).exp() / (1.0 + (-1f64).exp());
    (1..100).find(|&t| tail(t) <= delta).unwrap_or(100)
}

struct Keys {
    noise: Geometric,
    /// What a noised count must reach.
    least: i128,
}

impl Keys {
    fn run(
        &self,
        counts: &[i128],
        rng: &mut dyn demure_core::random::Randomness,
    ) -> Result<Vec<f64>> {
        let one = |&count: &i128| {
            // A key with no row is not seen at all.
            if count == 0 {
                return Ok(f64::NAN);
            }
            let noised = self.noise.release(count, rng)?.into_value();
            Ok(if noised >= self.least { noised as f64 } else { f64::NAN })
        };
        counts.iter().map(one).collect()
    }
}

pub(super) fn subjects() -> Result<Vec<Subject>> {
    let delta = 0.02;
    let inputs =
        || vec![("a key nobody has, and one that one person has", [vec![9i128, 0], vec![9, 1]])];
    let off_by_one = Keys { noise: whole_noise(1.0)?, least: threshold(delta) };
    let shown = Keys { noise: whole_noise(1.0)?, least: i128::MIN };
    let positive = Keys { noise: whole_noise(1.0)?, least: 1 };
    Ok(vec![
        Subject {
            name: "off-by-one-threshold",
            about: "a key is released if its noised count is at least the threshold, and δ is computed for more than the threshold (OpenDP, \
                    issue 2922)",
            claim: Claim { epsilon: Some(1.0), delta },
            runs: USUAL,
            pairs: on(off_by_one, inputs(), |m, counts, rng| m.run(counts, rng)),
        },
        Subject {
            name: "key-leak",
            about: "noise on the counts of GROUP BY, and every key of the data shown: a key that one person has tells of her \
                    (what a query rewritten to add noise does: Wilson et al. 2019)",
            claim: ONE,
            runs: USUAL,
            pairs: on(shown, inputs(), |m, counts, rng| m.run(counts, rng)),
        },
        Subject {
            name: "positive-keys",
            about: "only keys whose noised count is positive are shown, which hides a key of one person 27 % of the time and is no threshold",
            claim: Claim { epsilon: Some(1.0), delta: 1e-6 },
            runs: USUAL,
            pairs: on(positive, inputs(), |m, counts, rng| m.run(counts, rng)),
        },
    ])
}
