use super::segment;

/// The least cost over all 2ⁿ⁻¹ ways to cut.
fn best_cost(y: &[f64], variance: f64, penalty: f64) -> f64 {
    let n = y.len();
    (0u32..1 << (n - 1))
        .map(|cuts| {
            let (mut cost, mut from) = (0.0, 0);
            for to in 1..=n {
                if to == n || cuts >> (to - 1) & 1 == 1 {
                    let mean = y[from..to].iter().sum::<f64>() / (to - from) as f64;
                    let misfit: f64 = y[from..to].iter().map(|v| (v - mean).powi(2)).sum();
                    cost += misfit / (2.0 * variance) + penalty;
                    from = to;
                }
            }
            cost
        })
        .fold(f64::INFINITY, f64::min)
}

fn cost(y: &[f64], fit: &[f64], variance: f64, penalty: f64) -> f64 {
    let pieces = 1 + fit.windows(2).filter(|two| two[0] != two[1]).count();
    let misfit: f64 = y.iter().zip(fit).map(|(y, f)| (y - f).powi(2)).sum();
    misfit / (2.0 * variance) + penalty * pieces as f64
}

#[test]
fn the_fit_is_the_best_of_all_cuts() {
    let mut state = 1u64;
    for n in 1..=11 {
        for _ in 0..20 {
            let y: Vec<f64> = (0..n)
                .map(|i| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ((state >> 40) % 100) as f64 / 10.0 + if i > n / 2 { 8.0 } else { 0.0 }
                })
                .collect();
            for variance in [0.1, 4.0, 100.0] {
                let fit = segment(&y, variance, 2.0);
                let (found, best) = (cost(&y, &fit, variance, 2.0), best_cost(&y, variance, 2.0));
                assert!((found - best).abs() < 1e-6, "{y:?} {variance}: {found} {best}");
            }
        }
    }
}

#[test]
fn a_spike_stays_and_noise_is_averaged() {
    let mut y = vec![10.0, 12.0, 9.0, 11.0, 10.0, 10.0];
    y[3] = 500.0;
    let fit = segment(&y, 4.0, 2.0);
    assert_eq!(fit[3], 500.0);
    assert_eq!(fit[0], fit[2]);
    assert_eq!(segment(&[], 1.0, 2.0), Vec::<f64>::new());
}

#[test]
fn the_longest_column_takes_seconds() {
    let y = vec![1.0; 1 << 16];
    let fit = segment(&y, 1.0, 2.0);
    assert!(fit.iter().all(|f| (f - 1.0).abs() < 1e-9));
}
