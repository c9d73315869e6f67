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
mod tests {
    use super::*;
    use crate::draw::Draw;

    #[track_caller]
    fn near(found: f64, truth: f64) {
        assert!((found - truth).abs() <= 1e-9 * truth, "found {found}, the truth is {truth}");
    }

    #[test] // beta quantiles computed with mpmath at 40 digits
    fn clopper_pearson_is_known() {
        near(binomial_lower(3, 10, 0.025), 0.06673951117773447);
        near(binomial_upper(3, 10, 0.025), 0.6524528500599973);
        near(binomial_lower(1, 1000, 1e-6), 1.0000004995003329e-09);
        near(binomial_upper(1, 1000, 1e-6), 0.016558164174744126);
        near(binomial_lower(50, 1000, 5e-7), 0.022983431793702394);
        near(binomial_upper(50, 1000, 5e-7), 0.09180293292061964);
        near(binomial_lower(600, 1000, 0.025), 0.5688784459558931);
        near(binomial_upper(600, 1000, 0.025), 0.6305310124510876);
        assert_eq!(binomial_lower(0, 10, 0.025), 0.0);
        assert_eq!(binomial_upper(10, 10, 0.025), 1.0);
        // k = n and k = 0 have closed forms.
        near(binomial_lower(10, 10, 0.025), 0.025f64.powf(0.1));
        near(binomial_upper(0, 10, 0.025), 1.0 - 0.025f64.powf(0.1));
    }

    #[test]
    fn clopper_pearson_covers() {
        // At every p, the chance that the lower bound exceeds p is at most the error:
        // sum the pmf of the k where it does, for n = 30.
        let (n, error) = (30u64, 0.05);
        let bounds: Vec<f64> = (0..=n).map(|k| binomial_lower(k, n, error)).collect();
        for step in 1..200 {
            let p = f64::from(step) / 200.0;
            let mut pmf = (1.0 - p).powi(n as i32);
            let mut missed = 0.0;
            for (k, bound) in bounds.iter().enumerate() {
                if *bound > p {
                    missed += pmf;
                }
                pmf *= (n as f64 - k as f64) / (k as f64 + 1.0) * p / (1.0 - p);
            }
            assert!(missed <= error + 1e-12, "p = {p}: {missed}");
        }
    }

    fn counts(scale: f64, seed: u64, n: usize) -> (Vec<i128>, Vec<i128>) {
        let mut draw = Draw(seed);
        let left = (0..n).map(|_| draw.laplace(scale)).collect();
        let right = (0..n).map(|_| 1 + draw.laplace(scale)).collect();
        (left, right)
    }

    #[test] // false alarm 1e-6 on a fixed seed
    fn half_the_scale_is_refuted_and_the_right_scale_is_not() {
        let (left, right) = counts(1.0, 1, 200_000);
        let right_scale = falsify(&left, &right, 0.0, 1e-6);
        assert!(!right_scale.refutes(1.0));
        assert!(right_scale.epsilon > 0.95, "{right_scale:?}");

        let (left, right) = counts(0.5, 2, 200_000);
        let half = falsify(&left, &right, 0.0, 1e-6);
        assert!(half.refutes(1.0) && half.epsilon > 1.9, "{half:?}");
        // The samples may come in either order.
        assert!(falsify(&right, &left, 0.0, 1e-6).refutes(1.0));
    }

    #[test] // the power twin: 5 % off
    fn noise_5_percent_too_small_is_refuted_by_a_million_samples() {
        let (left, right) = counts(1.0 / 1.05, 3, 1_000_000);
        assert!(falsify(&left, &right, 0.0, 1e-6).refutes(1.0));
        let (left, right) = counts(1.0, 3, 1_000_000);
        assert!(!falsify(&left, &right, 0.0, 1e-6).refutes(1.0));
    }

    #[test]
    fn delta_is_taken_off() {
        // A coin that gives the input away one time in a hundred.
        let mut draw = Draw(4);
        let mut leak = |bit: u8| (draw.uniform() < 0.01).then_some(bit);
        let left: Vec<_> = (0..100_000).map(|_| leak(0)).collect();
        let right: Vec<_> = (0..100_000).map(|_| leak(1)).collect();
        assert!(falsify(&left, &right, 0.0, 1e-6).refutes(3.0));
        assert!(falsify(&left, &right, 0.005, 1e-6).refutes(1.0));
        assert!(!falsify(&left, &right, 0.01, 1e-6).refutes(0.0));
    }

    #[test]
    fn rounded_gaussian_is_within_its_analytic_epsilon() {
        // σ = 1, δ = 0.12694 at ε = 1.
        let mut draw = Draw(5);
        let left: Vec<_> = (0..200_000).map(|_| draw.normal(1e3)).collect();
        let right: Vec<_> = (0..200_000).map(|_| draw.normal(1e3) + 1_000).collect();
        let evidence = falsify(&left, &right, 0.126_94, 1e-6);
        assert!(!evidence.refutes(1.0) && evidence.epsilon > 0.8, "{evidence:?}");
        assert!(falsify(&left, &right, 0.05, 1e-6).refutes(1.0));
    }

    #[test]
    fn the_bound_is_right_as_often_as_stated() {
        // Error 5 %: of 400 audits of a mechanism with ε exactly 1, at most 20 + 4·√19 err.
        let wrong = (0..400)
            .filter(|seed| {
                let (left, right) = counts(1.0, 100 + seed, 2_000);
                falsify(&left, &right, 0.0, 0.05).refutes(1.0)
            })
            .count();
        assert!(wrong <= 37, "{wrong} of 400");
    }

    #[test]
    #[should_panic(expected = "two samples a side")]
    fn too_few_samples_are_refused() {
        falsify(&[0], &[1, 2], 0.0, 0.05);
    }
}
