#![expect(clippy::excessive_precision, reason = "known answers keep all their digits")]

use super::*;

fn shuffled(n: u64, local: f64, delta: f64) -> Interval {
    epsilon(NonZeroU64::new(n).unwrap(), Epsilon::new(local).unwrap(), Delta::new(delta).unwrap())
        .unwrap()
}

#[test]
fn the_clones_bound_has_its_known_values() {
    // Roots of the exact sum, to 20 digits.
    for (local, value) in [(0.5, 0.070_523_467_595_981_576_84), (1.0, 0.182_412_347_480_582_175_51)]
    {
        let found = shuffled(1000, local, 1e-6);
        assert!(found.contains(value), "{found} {value}");
        assert!(found.relative_width() < 1e-8, "{found}");
    }
    let large = shuffled(100_000, 1.0, 1e-6);
    assert!(large.lower > 0.0150 && large.upper < 0.0160, "{large}");
}

/// The pair summed outcome by outcome, for a few reports.
fn brute_force(n: u64, local: f64, epsilon: f64) -> f64 {
    let (p, t) = ((-local).exp(), 1.0 / (1.0 + (-local).exp()));
    let choose = |n: u64, k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    let mut total = 0.0;
    for c in 0..n {
        let w = choose(n - 1, c) * p.powi(c as i32) * (1.0 - p).powi((n - 1 - c) as i32);
        let half = |j: i64| {
            if j < 0 || j > c as i64 { 0.0 } else { choose(c, j as u64) / 2f64.powi(c as i32) }
        };
        for i in 0..=(c + 1) as i64 {
            let a = t * half(i - 1) + (1.0 - t) * half(i);
            let b = (1.0 - t) * half(i - 1) + t * half(i);
            total += w * (a - epsilon.exp() * b).max(0.0);
        }
    }
    total
}

#[test]
fn small_populations_agree_with_brute_force() {
    for n in [1, 2, 3, 10, 40] {
        for local in [0.3, 1.0, 3.0] {
            for delta in [1e-9, 1e-3, 0.1] {
                let found = shuffled(n, local, delta);
                let (low, high) =
                    (brute_force(n, local, found.lower), brute_force(n, local, found.upper));
                assert!(high <= delta * (1.0 + 1e-9) + 1e-15, "{n} {local} {delta} {high}");
                assert!(found.lower == 0.0 || low >= delta * (1.0 - 1e-9) - 1e-15);
                assert!(found.upper <= local);
                assert!(found.upper - found.lower < 1e-7, "{n} {local} {delta} {found}");
            }
        }
    }
}

#[test]
fn the_threshold_is_right_for_the_weakest_randomizers() {
    // In floats alone, y·t − (1−t) loses all digits here.
    for local in [1e-12, 1e-9, 1e-3, 1.0, 20.0] {
        let clones = Clones::new(10, local, 1e-6);
        for part in [0.0, 0.25, 0.5, 0.999] {
            let e = part * local;
            let gap = -(-local).exp_m1();
            let exact = (e.exp_m1() + gap) / (gap * (1.0 + e.exp()));
            let found = clones.share(e).unwrap();
            assert!((found - exact).abs() < 1e-12, "{local} {part}: {found} {exact}");
        }
    }
}

#[test]
fn limits() {
    let (n, e) = (NonZeroU64::new(10).unwrap(), Epsilon::new(1.0).unwrap());
    assert_eq!(epsilon(n, e, Delta::ZERO).unwrap().upper, 1.0);
    assert!(epsilon(NonZeroU64::MAX, e, Delta::ZERO).is_err());
}
