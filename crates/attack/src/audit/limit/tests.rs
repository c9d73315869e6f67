use super::*;
use demure_testkit::falsify::{binomial_lower, binomial_upper};

#[test] // against the independent copy, by the incomplete beta function
fn limits_agree_with_the_falsifiers() {
    for n in [1, 2, 17, 1000, 200_000] {
        for k in [0, 1, n / 7, n / 2, n - 1, n] {
            for error in [0.4, 0.025, 1e-6, 1e-9] {
                let (low, high) = (at_least(k, n, error), at_most(k, n, error));
                let (l, h) = (binomial_lower(k, n, error), binomial_upper(k, n, error));
                assert!((low - l).abs() <= 1e-7 * l, "{k} of {n} at {error}: {low} {l}");
                assert!((high - h).abs() <= 1e-7 * h, "{k} of {n} at {error}: {high} {h}");
                assert!(low <= k as f64 / n as f64 && high >= k as f64 / n as f64);
            }
        }
    }
}

#[test]
fn what_can_be_reached_and_what_it_takes() {
    // (α/2)^(1/n) / (1 − (α/2)^(1/n)).
    let root = 0.5e-6f64.powf(1e-4);
    assert!((reachable(10_000, 0.0, 1e-6) - (root / (1.0 - root)).ln()).abs() < 1e-9);
    assert!(reachable(1, 0.0, 1e-6) == 0.0);
    // 90 % of ε = 1 at 95 % confidence takes about 3,800 runs a side.
    let (p, q) = (0.5, 0.5 * (-1f64).exp());
    let laplace = needed(p, q, 0.9, 0.0, 0.05).unwrap();
    let (p, q) = best_event(1.0, 0.0);
    let response = needed(p, q, 0.9, 0.0, 0.05).unwrap();
    assert!((3_000..4_600).contains(&laplace), "{laplace}");
    assert!((1_500..laplace).contains(&response), "{response}");
    assert!(epsilon_lower((p * 1e6) as u64, (q * 1e6) as u64, 1_000_000, 0.0, 1e-6) > 0.95);
    assert_eq!(needed(p, q, 1.0, 0.0, 0.05), None); // more than there is
    assert_eq!(needed(0.1, 0.2, 0.1, 0.0, 0.05), None);
    assert_eq!(needed(0.1, 0.01, 0.1, 0.2, 0.05), None); // all of it is δ
    // An event that never happens on the other side shows as much as anyone wants.
    assert!(needed(0.2, 0.0, 5.0, 0.0, 1e-6).unwrap() < 20_000);
}

/// P[Bin(n, p) = k] for all k, by the ratio of neighbours.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let odds = (p / (1.0 - p)).ln();
    let mut logs = vec![n as f64 * (1.0 - p).ln()];
    for k in 0..n {
        let step = ((n - k) as f64 / (k + 1) as f64).ln() + odds;
        logs.push(logs[k as usize] + step);
    }
    logs.into_iter().map(f64::exp).collect()
}

#[test] // exact: no sample is drawn
fn every_limit_misses_as_rarely_as_it_says_and_a_shorter_one_does_not() {
    // What an audit at 5 % leaves to each side of each of four events.
    let each = 0.05 / 4.0 / 2.0;
    let missed = |n: u64, p: f64, limits: &dyn Fn(u64) -> (f64, f64)| {
        let all = binomial(n, p).into_iter().zip(0..);
        let misses = |(mass, k): (f64, u64)| {
            let (low, high) = limits(k);
            [if low > p { mass } else { 0.0 }, if high < p { mass } else { 0.0 }]
        };
        all.map(misses).fold([0.0, 0.0], |a, b| [a[0] + b[0], a[1] + b[1]])
    };
    let (mut longest, mut shorter, mut wald) = (0.0f64, 0.0f64, 0.0f64);
    for (n, p) in [(50, 0.5), (500, 0.27), (500, 0.73), (500, 0.01), (2_000, 0.002)] {
        let at = |error: f64| move |k: u64| (at_least(k, n, error), at_most(k, n, error));
        let exact = missed(n, p, &at(each));
        assert!(exact.iter().all(|miss| *miss <= each * (1.0 + 1e-9)), "{n} {p}: {exact:?}");
        longest = exact.into_iter().fold(longest, f64::max);
        // The twins: limits at twice the error, and the normal approximation.
        shorter = missed(n, p, &at(2.0 * each)).into_iter().fold(shorter, f64::max);
        let normal = |k: u64| {
            let share = k as f64 / n as f64;
            let off = 2.498 * (share * (1.0 - share) / n as f64).sqrt();
            (share - off, share + off)
        };
        wald = missed(n, p, &normal).into_iter().fold(wald, f64::max);
    }
    assert!(longest > 0.7 * each, "{longest}");
    assert!(shorter > 1.2 * each && wald > 2.0 * each, "{shorter} {wald}");
}

#[test] // exact too
fn the_bound_on_epsilon_exceeds_it_as_rarely_as_it_says() {
    let wrong = |n: u64, (p, q): (f64, f64), error: f64| {
        let truth = (p / q).ln();
        let (here, there) = (binomial(n, p), binomial(n, q));
        let mut sum = 0.0;
        for (k1, a) in here.iter().enumerate() {
            for (k0, b) in there.iter().enumerate().filter(|(_, b)| a * **b > 1e-12) {
                let shown = epsilon_lower(k1 as u64, k0 as u64, n, 0.0, error);
                sum += if shown > truth { a * b } else { 0.0 };
            }
        }
        sum
    };
    let error = 0.05 / 4.0;
    for pair in [best_event(1.0, 0.0), (0.5, 0.5 * (-1f64).exp()), (0.1, 0.01)] {
        assert!(wrong(150, pair, error) <= error);
        // Both limits must fail together, so it is far less. The twin: limits too short by far.
        assert!(wrong(150, pair, 0.6) > error);
    }
}
