//! ε and δ in plain words: how sure an attacker can become.
//!
//! For every set S of results and neighbours x, x′: `P[M(x) ∈ S] ≤ e^ε·P[M(x′) ∈ S]`. So by Bayes the odds of
//! "present" against "absent" (add or remove), or of a person having these values against those (replace), grow by at
//! most a factor of e^ε, and even odds become at most e^ε : 1, which is a probability of `e^ε/(1 + e^ε)`.

use demure_core::unit::{Delta, Epsilon, Neighbours};

/// Above it, a guarantee is weak.
const WEAK: f64 = 10.0;
/// From it on, δ alone is a risk.
const CARELESS: f64 = 1e-2;
/// The range of ε for a usual query.
const USUAL: (f64, f64) = (0.1, 5.0);

/// The meaning of ε in plain words.
///
/// ```text
/// someone unsure (50:50) whether a person is in the data can become at most 73.2 % sure
/// ```
#[must_use]
pub fn odds(epsilon: Epsilon, neighbours: Neighbours) -> String {
    let unsure = match neighbours {
        Neighbours::AddRemove => "whether a person is in the data",
        Neighbours::Replace => "which of two values a person has",
    };
    format!("someone unsure (50:50) {unsure} can become {}", certainty(epsilon.get()))
}

/// The probability that even odds can become: `e^ε/(1 + e^ε)`, rounded up.
fn certainty(epsilon: f64) -> String {
    let percent = 100.0 / (1.0 + (-epsilon).exp());
    let up = (percent * 10.0).ceil() / 10.0;
    match up {
        up if up < 100.0 => format!("at most {up} % sure"),
        _ => "practically certain".to_owned(),
    }
}

/// A warning if the whole budget is a weak guarantee.
pub(super) fn of_epsilon(epsilon: Epsilon, neighbours: Neighbours) -> Option<String> {
    (epsilon.get() > WEAK).then(|| {
        let odds = odds(epsilon, neighbours);
        format!("`epsilon` = {epsilon} protects little: {odds}; usual are at most {WEAK}")
    })
}

/// A warning if δ alone can expose people.
pub(super) fn of_delta(delta: Delta) -> Option<String> {
    (delta.get() >= CARELESS).then(|| {
        format!(
            "`delta` = {delta} protects little: the guarantee may fail with this probability; write \
             far less than 1 divided by the number of people, for example `delta = 1e-6`"
        )
    })
}

/// A warning if the default query would be mostly noise, or would reveal too much.
pub(super) fn of_query(per_query: Epsilon, neighbours: Neighbours) -> Option<String> {
    let (least, most) = USUAL;
    match per_query.get() {
        epsilon if epsilon < least => {
            let off = (1.0 / epsilon).floor();
            let off = match off {
                off if off < 1e15 => off.to_string(),
                off if off.is_finite() => format!("{off:e}"),
                _ => "more than can be written".to_owned(),
            };
            let per_query = match epsilon {
                epsilon if epsilon < 1e-6 => format!("{epsilon:e}"),
                epsilon => epsilon.to_string(),
            };
            Some(format!(
                "`per_query` = {per_query} is little: at this price even a count is off by {off} on \
                 average; usual are {least} to {most}"
            ))
        }
        epsilon if epsilon > most => Some(format!(
            "`per_query` = {per_query} is much for one query: {}; usual are {least} to {most}",
            odds(per_query, neighbours)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
