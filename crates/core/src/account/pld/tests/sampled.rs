//! Gaussian noise on Poisson samples, over the ranges used in training.

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

/// A debug build on a busy machine gets thirty times the promised time.
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
}

/// The interval of the sum over large losses alone, for a batch of which `expected` are large.
fn by_jumps(batch: &Batch, delta: f64, expected: f64, near: f64) -> Option<Interval> {
    let split = Split::new(batch, delta, expected)?;
    let tilt = Tilt { log_delta: delta.ln(), epsilon: near, ..Tilt::for_epsilon(batch, near) };
    let jumps = Jumps::new(batch, &split, &tilt)?;
    Some(cross(&jumps, delta, near, split.spread))
}

#[test]
fn the_sum_over_large_losses_agrees_with_known_answers() {
    // The truths above, of which the contour or the lattice found the interval there.
    for (q, sigma, k, delta, truth) in [
        (1e-3, 1.0, 1000, 1e-5, 0.148_901_557_965_173_47),
        (1e-3, 0.8, 1000, 1e-5, 0.303_553_939_475_832_7),
        (1e-4, 1.0, 10_000, 1e-5, 0.038_016_961_065_570_57),
        (1e-5, 1.0, 2, 1e-12, 0.002_388_798_718_699_510_5),
        (1e-4, 0.5, 2, 1e-12, 3.803_298_211_654_816_6),
    ] {
        let component = Component::poisson_gaussian(q, sigma).unwrap();
        let batch = Batch::new(&[(component, k)], Direction::Remove).unwrap();
        let mut narrow = 0;
        for expected in [1e-6, 1e-4, 1e-2] {
            // A little off, as a steered ε would be.
            let Some(found) = by_jumps(&batch, delta, expected, 1.000_1 * truth) else { continue };
            assert!(found.contains(truth), "{q} {sigma} {k} {expected}: {found} misses {truth}");
            narrow += u32::from(is_narrow(&found));
        }
        assert!(narrow > 0, "{q} {sigma} {k}");
    }
}

#[test]
fn a_sum_that_forgets_its_largest_losses_is_caught() {
    let (delta, truth) = (1e-5, 0.038_016_961_065_570_57);
    let component = Component::poisson_gaussian(1e-4, 1.0).unwrap();
    let batch = Batch::new(&[(component, 10_000)], Direction::Remove).unwrap();
    let split = Split::new(&batch, delta, 1e-2).unwrap();
    let tilt = Tilt { log_delta: delta.ln(), ..Tilt::for_epsilon(&batch, truth) };
    let whole = Jumps::new(&batch, &split, &tilt).unwrap();
    let found = cross(&whole, delta, truth, split.spread);
    assert!(found.contains(truth) && is_narrow(&found), "{found}");
    let broken = Jumps::new(&batch, &split, &tilt).unwrap().without_far_terms();
    let broken = cross(&broken, delta, truth, split.spread);
    assert!(!broken.contains(truth), "{broken}");
}

#[test]
fn many_small_and_few_large_losses_are_narrow_together() {
    // Enclosures by squaring the law on a grid that is finer towards 0, in positive sums: from above each
    // cell's mass is split between its ends, from below it is merged into one outcome.
    for (q, sigma, k, delta, low, high) in RIVALS {
        let start = Instant::now();
        let found = cost(q, sigma, k, delta);
        assert!(is_narrow(&found), "{q} {sigma} {k} {delta}: {found}");
        assert!(found.lower <= high && low <= found.upper, "{q} {sigma} {k} {delta}: {found}");
        assert!(start.elapsed() < PATIENCE, "{q} {sigma} {k} {delta}");
    }
    // And both questions agree.
    let component = Component::poisson_gaussian(1e-5, 0.8).unwrap();
    let found = cost(1e-5, 0.8, 1024, 1e-12);
    let back = delta(&[(component, 1024)], found.upper).unwrap();
    assert!(back.upper <= 1e-12 * (1.0 + 1e-4) && back.lower > 0.99e-12, "{found} {back}");
}

/// `(q, σ, steps, δ, ε at least, ε at most)`.
const RIVALS: [(f64, f64, u64, f64, f64, f64); 8] = [
    (1e-5, 1.0, 1024, 1e-8, 0.001_891_667_6, 0.001_891_730_9),
    (1e-5, 1.0, 1024, 1e-12, 0.007_064_328_2, 0.007_064_695),
    (1e-5, 0.8, 64, 1e-12, 0.024_576_074, 0.024_576_526),
    (1e-5, 0.5, 64, 1e-12, 2.016_339_4, 2.016_357_4),
    (1e-5, 0.5, 1024, 1e-8, 0.471_839_9, 0.471_849_6),
    (1e-4, 0.8, 1024, 1e-12, 0.518_655_9, 0.518_682_7),
    (1e-4, 0.5, 1024, 1e-12, 5.775_610_6, 5.776_224_9),
    (1e-4, 1.0, 32_768, 1e-12, 0.169_946_4, 0.169_962),
];

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
const NARROW: [(f64, f64, u64, f64); 25] = [
    // Few steps with heavy tails.
    (1.114e-4, 0.5104, 644, 4.45e-11),
    (1.57e-5, 0.5633, 66, 2.13e-10),
    // Adding a unit needs a large tilt here.
    (1.284e-5, 77.13, 1477, 2.92e-11),
    (1.043e-5, 34.51, 10, 5.43e-8),
    (8.354e-5, 14.69, 4, 1.16e-10),
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
