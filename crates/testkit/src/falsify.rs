//! Falsification from samples: a lower bound on ε of a mechanism whose probabilities are
//! not known, only its draws on two neighbouring inputs.
//!
//! If a mechanism is (ε, δ)-DP then `P(S) ≤ e^ε Q(S) + δ` for every event `S`, so
//! `ε ≥ ln((P(S) − δ)/Q(S))`. The event is chosen on the first half of the samples and
//! tested on the second, where the choice is independent of the data and the Clopper–Pearson
//! bounds hold: the result exceeds the true ε with probability at most the stated error.
//!
//! A large bound refutes a claim. A small one shows nothing: the input or the event may be
//! the wrong one. See [`crate::neighbours`] where probabilities can be computed.

use crate::special::{beta, bisect};
use std::collections::BTreeMap;

/// A set of outputs, of a simple form that can be searched.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<O> {
    /// Outputs up to and including this one.
    AtMost(O),
    /// Outputs from this one on.
    AtLeast(O),
    /// This output alone.
    Exactly(O),
}

impl<O: Ord> Event<O> {
    /// Whether the event happened.
    pub fn holds(&self, output: &O) -> bool {
        match self {
            Event::AtMost(bound) => output <= bound,
            Event::AtLeast(bound) => output >= bound,
            Event::Exactly(value) => output == value,
        }
    }
}

/// What the samples show.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence<O> {
    /// A lower bound on ε; 0 if the samples show nothing.
    pub epsilon: f64,
    /// The event that shows it.
    pub event: Event<O>,
    /// Whether the event is likelier on the left input (otherwise on the right).
    pub left: bool,
    /// How often the event happened where it is likelier and where it is not, in the tested halves.
    pub counts: (u64, u64),
}

impl<O> Evidence<O> {
    /// Whether a claim of `epsilon` is refuted.
    pub fn refutes(&self, epsilon: f64) -> bool {
        self.epsilon > epsilon
    }
}

/// A lower bound on ε at `delta` from the samples of a mechanism on two neighbouring
/// inputs, wrong with probability at most `error`. The samples must be independent, and
/// in the order in which they were drawn.
///
/// # Panics
/// If a side has fewer than two samples, or if `delta` or `error` is not in [0, 1).
pub fn falsify<O: Ord + Clone>(left: &[O], right: &[O], delta: f64, error: f64) -> Evidence<O> {
    assert!(
        left.len() >= 2 && right.len() >= 2,
        "two samples a side: one to choose by, one to test on"
    );
    assert!(
        (0.0..1.0).contains(&delta) && error > 0.0 && error < 1.0,
        "δ {delta} and the error {error} are probabilities"
    );
    let (left_first, left_second) = left.split_at(left.len() / 2);
    let (right_first, right_second) = right.split_at(right.len() / 2);
    let (event, on_left) = choose(left_first, right_first, delta);

    let (likelier, other) =
        if on_left { (left_second, right_second) } else { (right_second, left_second) };
    let happened = |side: &[O]| side.iter().filter(|o| event.holds(o)).count() as u64;
    let (k1, k0) = (happened(likelier), happened(other));
    Evidence {
        epsilon: bound((k1, likelier.len() as u64), (k0, other.len() as u64), delta, error),
        event,
        left: on_left,
        counts: (k1, k0),
    }
}

/// `max(0, ln((lower(k₁) − δ)/upper(k₀)))`, each bound with half of the error.
fn bound((k1, n1): (u64, u64), (k0, n0): (u64, u64), delta: f64, error: f64) -> f64 {
    let low = binomial_lower(k1, n1, error / 2.0) - delta;
    let high = binomial_upper(k0, n0, error / 2.0);
    if low > high { (low / high).ln() } else { 0.0 }
}

/// The event that best separates these samples, and whether it is likelier on the left.
///
/// Events are ranked by the log-ratio minus four of its standard deviations: a rough score is enough, since the choice
/// is tested on other samples.
fn choose<O: Ord + Clone>(left: &[O], right: &[O], delta: f64) -> (Event<O>, bool) {
    let mut table: BTreeMap<&O, [f64; 2]> = BTreeMap::new();
    for (side, samples) in [left, right].into_iter().enumerate() {
        for output in samples {
            table.entry(output).or_default()[side] += 1.0;
        }
    }
    let size = [left.len() as f64, right.len() as f64];
    let score = |k1: f64, n1: f64, k0: f64, n0: f64| {
        let (k1, k0) = (k1 + 0.5, k0 + 0.5);
        (k1 / n1 - delta).max(0.0).ln() - (k0 / n0).ln() - 4.0 * (1.0 / k1 + 1.0 / k0).sqrt()
    };

    let mut best = (f64::NEG_INFINITY, Event::Exactly(left[0].clone()), true);
    let mut consider = |[l, r]: [f64; 2], event: &dyn Fn() -> Event<O>| {
        let on_left = score(l, size[0], r, size[1]);
        let on_right = score(r, size[1], l, size[0]);
        if on_left.max(on_right) > best.0 {
            best = (on_left.max(on_right), event(), on_left >= on_right);
        }
    };
    let mut below = [0.0; 2];
    for (output, at) in table {
        let to_here = [below[0] + at[0], below[1] + at[1]];
        let from_here = [size[0] - below[0], size[1] - below[1]];
        consider(to_here, &|| Event::AtMost(output.clone()));
        consider(from_here, &|| Event::AtLeast(output.clone()));
        consider(at, &|| Event::Exactly(output.clone()));
        below = to_here;
    }
    (best.1, best.2)
}

/// Clopper–Pearson: the largest `p` such that `P[Bin(trials, p) ≥ successes] ≤ error`.
/// The true probability is below it with probability at most `error`.
///
/// # Panics
/// If there are more successes than trials.
pub fn binomial_lower(successes: u64, trials: u64, error: f64) -> f64 {
    assert!(successes <= trials, "{successes} of {trials}");
    if successes == 0 {
        return 0.0;
    }
    let (k, n) = (successes as f64, trials as f64);
    bisect(0.0, 1.0, |p| beta(k, n - k + 1.0, p) <= error).0
}

/// Clopper–Pearson: the least `p` such that `P[Bin(trials, p) ≤ successes] ≤ error`.
/// The true probability is above it with probability at most `error`.
///
/// # Panics
/// If there are more successes than trials.
pub fn binomial_upper(successes: u64, trials: u64, error: f64) -> f64 {
    assert!(successes <= trials, "{successes} of {trials}");
    // Failures are successes of the complement; 1 − p keeps all digits that a bound needs.
    1.0 - binomial_lower(trials - successes, trials, error)
}

#[cfg(test)]
mod tests;
