use super::*;

fn alpha(x: f64) -> Alpha {
    Alpha::new(x).unwrap()
}

fn e(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

#[test]
fn the_tight_conversion_has_its_known_values() {
    for (a, value) in [(2.0, 9.693_940_631_529_005), (5.0, 2.716_384_339_873_849)] {
        let found = epsilon(alpha(a), 0.5, Delta::new(1e-5).unwrap()).unwrap();
        // The known values come from a numeric search good to about 1e-12.
        assert!(found >= value * (1.0 - 1e-12) && found <= value * (1.0 + 1e-10), "{found}");
    }
}

#[test]
fn the_conversion_bounds_every_two_point_pair() {
    // All pairs on a grid, with their own divergence: the event's cost at δ
    // must not exceed the bound, and somewhere it must come close.
    for a in [1.5, 2.0, 7.0] {
        for gamma in [0.1, 1.0] {
            let delta = 1e-3;
            let bound = epsilon(alpha(a), gamma, Delta::new(delta).unwrap()).unwrap();
            let mut best: f64 = 0.0;
            for i in 1..3000 {
                let p = (f64::from(i) * -0.004).exp();
                // The least q with D(p,q) ≤ γ, by bisection.
                let (mut low, mut high) = (1e-12 * p, p);
                for _ in 0..100 {
                    let q = 0.5 * (low + high);
                    let d = (p.powf(a) * q.powf(1.0 - a)
                        + (1.0 - p).powf(a) * (1.0 - q).powf(1.0 - a))
                    .ln()
                        / (a - 1.0);
                    if d <= gamma { high = q } else { low = q }
                }
                if p > delta {
                    best = best.max(((p - delta) / high).ln());
                }
            }
            assert!(best <= bound * (1.0 + 1e-9), "{a} {gamma} {best} {bound}");
            assert!(best >= bound * (1.0 - 1e-4), "{a} {gamma} {best} {bound}");
        }
    }
}

#[test]
fn divergences_agree_with_brute_force() {
    let (a, b, d) = (3.5, 2.0, 3u64);
    let base = (-1.0f64 / b).exp();
    let p = |k: i64, c: i64| (1.0 - base) / (1.0 + base) * base.powi((k - c).unsigned_abs() as i32);
    let sum: f64 = (-400..=400).map(|k| p(k, 0).powf(a) * p(k, d as i64).powf(1.0 - a)).sum();
    let found = discrete_laplace(alpha(a), b, d);
    assert!(found >= sum.ln() / (a - 1.0) - 1e-12 && found <= sum.ln() / (a - 1.0) + 1e-9);
    // One integer away it is randomized response.
    let one = discrete_laplace(alpha(a), b, 1);
    assert!((one - pure(alpha(a), e(0.5))).abs() < 1e-12);
    // Laplace: the integral by a fine trapezoid.
    let h = 1e-3;
    let density = |x: f64| 0.5 * (-x.abs()).exp();
    let integral: f64 = (-40_000..40_000)
        .map(|i| {
            let x = f64::from(i) * h;
            h * density(x).powf(a) * density(x - 1.0).powf(1.0 - a)
        })
        .sum();
    let found = laplace(alpha(a), e(1.0));
    assert!((found - integral.ln() / (a - 1.0)).abs() < 1e-6);
    // m answers, by hand.
    let (q, m) = (1.0 / (1f64.exp() + 9.0), 10.0);
    let t = 1f64.exp() * q;
    let sum = t.powf(a) * q.powf(1.0 - a) + q.powf(a) * t.powf(1.0 - a) + (m - 2.0) * q;
    assert!((response(alpha(a), e(1.0), 10) - sum.ln() / (a - 1.0)).abs() < 1e-12);
}

#[test]
fn sampling_everything_is_the_gaussian_and_less_costs_less() {
    let whole = poisson_gaussian(4, Rate::new(1.0).unwrap(), 2.0);
    assert!((whole - gaussian(alpha(4.0), 0.5)).abs() < 1e-12);
    let (q, sigma) = (0.25, 1.5);
    // ∫ (mixture)^α N(0)^(1−α), by a trapezoid.
    let n = |x: f64, m: f64| (-(x - m) * (x - m) / (2.0 * sigma * sigma)).exp();
    let norm = sigma * (2.0 * std::f64::consts::PI).sqrt();
    let integral: f64 = (-30_000..30_000)
        .map(|i| {
            let x = f64::from(i) * 1e-3;
            let ratio = (1.0 - q) + q * n(x, 1.0) / n(x, 0.0);
            1e-3 * n(x, 0.0) / norm * ratio.powi(5)
        })
        .sum();
    let found = poisson_gaussian(5, Rate::new(q).unwrap(), sigma);
    assert!((found - integral.ln() / 4.0).abs() < 1e-9, "{found}");
    assert!(found < gaussian(alpha(5.0), 1.0 / sigma));
}

#[test]
fn trouble_is_infinite_or_refused() {
    let delta = Delta::new(1e-6).unwrap();
    assert!(epsilon(alpha(2.0), f64::NAN, delta).is_err());
    assert!(epsilon(alpha(2.0), -1.0, delta).is_err());
    assert_eq!(epsilon(alpha(2.0), f64::INFINITY, delta).unwrap(), f64::INFINITY);
    assert_eq!(epsilon(alpha(2.0), 1.0, Delta::ZERO).unwrap(), f64::INFINITY);
    assert!(epsilon(alpha(1.000_001), 0.1, delta).unwrap() > 1e3);
    assert!(epsilon(alpha(1e6), 1e-9, delta).unwrap() < 1e-3);
    assert!(epsilon(alpha(50.0), 1e5, delta).unwrap().is_finite());
}
