//! Gaussian noise on Poisson samples, over the ranges that are trained with.

use super::super::*;
use std::time::{Duration, Instant};

fn cost(q: f64, sigma: f64, k: u64, delta: f64) -> Interval {
    let component = Component::poisson_gaussian(q, sigma).unwrap();
    epsilon(&[(component, k)], Delta::new(delta).unwrap()).unwrap()
}

/// At most 10⁻⁶, absolutely below 1 and relatively above.
fn is_narrow(found: &Interval) -> bool {
    found.upper - found.lower <= 1e-6 * found.upper.max(1.0)
}

/// A debug build on a busy machine gets thirty times what is promised for one.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn known_answers_lie_in_narrow_intervals() {
    // mpmath, 40 digits. Two steps: quadrature of one step's density against the other's closed
    // curve. More: the inversion integral with tilts and steps of its own, moments by
    // the trapezoidal rule at 30 digits.
    for (q, sigma, k, delta, truth) in [
        (1e-3, 1.0, 1000, 1e-5, 0.148_901_557_965_173_47),
        (1e-3, 0.8, 1000, 1e-5, 0.303_553_939_475_832_7),
        (1e-4, 1.0, 10_000, 1e-5, 0.038_016_961_065_570_57),
        (1e-5, 1.0, 2, 1e-12, 0.002_388_798_718_699_510_5),
        (1e-4, 0.5, 2, 1e-12, 3.803_298_211_654_816_6),
        (0.01, 1.0, 2, 1e-5, 0.245_465_976_078_121_08),
        (0.1, 2.0, 2, 1e-8, 0.837_985_779_241_932_8),
    ] {
        let start = Instant::now();
        let found = cost(q, sigma, k, delta);
        assert!(found.contains(truth), "{q} {sigma} {k} {delta}: {found} misses {truth}");
        assert!(is_narrow(&found), "{q} {sigma} {k} {delta}: {found}");
        assert!(start.elapsed() < PATIENCE, "{q} {sigma} {k} {delta}");
    }
    // Wider than promised where many steps and one rare loss count alike, and true.
    let wide = cost(1e-4, 1.0, 100_000, 1e-12);
    assert!(wide.upper - wide.lower < 1e-4 && wide.lower > 0.268, "{wide}");
}

#[test]
fn intervals_are_narrow_over_the_ranges() {
    for (q, sigma, k, delta) in NARROW {
        let start = Instant::now();
        let found = cost(q, sigma, k, delta);
        assert!(is_narrow(&found), "{q} {sigma} {k} {delta}: {found}");
        assert!(start.elapsed() < PATIENCE, "{q} {sigma} {k} {delta}");
    }
}

#[test]
fn more_steps_cost_more() {
    let mut last = Interval::new(0.0, 0.0);
    for k in [1000, 1500, 10_000, 100_000, 1_000_000] {
        let found = cost(1e-3, 1.0, k, 1e-5);
        assert!(last.upper < found.lower, "{k}: {last} {found}");
        last = found;
    }
    // δ(0) of so few and so rare steps is below δ.
    assert_eq!(cost(1e-5, 0.5, 100, 1e-2), Interval::new(0.0, 0.0));
}

#[test]
fn a_contour_that_forgets_its_rest_or_rounds_the_wrong_way_is_caught() {
    // The power twin: the truth leaves the interval of a contour that is cut short.
    let component = Component::poisson_gaussian(1e-3, 1.0).unwrap();
    let batch = Batch::new(&[(component, 1000)], Direction::Remove).unwrap();
    let tilt = Tilt { log_delta: 1e-5f64.ln(), ..Tilt::for_epsilon(&batch, 0.148_9) };
    let whole = Contour::new(&batch, &tilt, 1.0).unwrap();
    let found = cross(&whole, 1e-5, 0.148_9, tilt.spread);
    assert!(found.contains(0.148_901_557_965_173_47), "{found}");
    let broken = Contour::new(&batch, &tilt, 1.0).unwrap().cut_short(40);
    let broken = cross(&broken, 1e-5, 0.148_9, tilt.spread);
    assert!(!broken.contains(0.148_901_557_965_173_47), "{broken}");
}

/// A sample of the ranges, see `docs/accounting.md` for where they end.
const NARROW: [(f64, f64, u64, f64); 20] = [
    (0.5, 0.5, 10, 1e-8),
    (1e-5, 20.0, 1_000_000, 0.01),
    (0.01, 3.0, 1, 1e-5),
    (0.5, 1.0, 1, 1e-5),
    (0.1, 1.0, 10, 1e-12),
    (0.01, 0.5, 1_000_000, 1e-8),
    (0.5, 3.0, 10, 1e-8),
    (0.5, 0.5, 10_000, 1e-8),
    (0.0001, 1.0, 100_000, 1e-8),
    (0.01, 20.0, 100_000, 1e-5),
    (1e-5, 3.0, 1000, 1e-8),
    (0.0001, 1.0, 1_000_000, 1e-8),
    (0.5, 100.0, 10, 1e-5),
    (0.1, 0.5, 100_000, 0.01),
    (0.0001, 3.0, 1000, 1e-12),
    (0.001, 20.0, 10_000, 1e-12),
    (0.01, 3.0, 10, 1e-5),
    (0.5, 0.5, 100, 1e-12),
    (0.1, 20.0, 100, 1e-8),
    (1e-5, 0.5, 1_000_000, 1e-5),
];
