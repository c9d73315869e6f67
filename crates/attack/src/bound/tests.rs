use super::*;

#[test]
fn the_best_guess_is_where_the_two_lines_meet() {
    for (epsilon, delta) in [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 1e-6)] {
        let (e, d) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
        // Over all rates of false alarms the best is what `guess` says.
        let best = (0..=100_000)
            .map(|i| f64::from(i) / 100_000.0)
            .map(|f| 0.5 * true_alarms(e, d, f) + 0.5 * (1.0 - f))
            .fold(0.0, f64::max);
        assert!((best - guess(e, d)).abs() < 1e-4, "{epsilon} {delta}: {best}");
        if delta == 0.0 {
            let area_below: f64 = (0..100_000)
                .map(|i| true_alarms(e, d, (f64::from(i) + 0.5) / 100_000.0) / 100_000.0)
                .sum();
            assert!((area_below - area(e)).abs() < 1e-6);
        }
    }
    // A Gaussian of ρ = 1/(2σ²) is guessed right Φ(1/(2σ)) of the time: within the bound, and
    // near it where ρ is small.
    for rho in [0.001, 0.1, 1.0, 8.0] {
        let gaussian = crate::normal::normal((rho / 2.0f64).sqrt());
        let most = guess_concentrated(Rho::new(rho).unwrap());
        assert!(gaussian < most && most <= 1.0, "{rho}");
        assert!(rho > 0.2 || (most - 0.5) / (gaussian - 0.5) < 1.3, "{rho}");
    }
    let one = Epsilon::new(1.0).unwrap();
    assert!((guess(one, Delta::ZERO) - 0.731_058_578_630_005).abs() < 1e-14);
    assert_eq!(guess(Epsilon::new(1e4).unwrap(), Delta::ZERO), 1.0);
    assert_eq!(true_alarms(Epsilon::new(1e4).unwrap(), Delta::ZERO, 0.0), 0.0);
}

#[test]
fn a_value_is_guessed_at_twice_epsilon_where_rows_are_added_and_removed() {
    let (one, two) = (Epsilon::new(1.0).unwrap(), Epsilon::new(2.0).unwrap());
    let delta = Delta::new(0.01).unwrap();
    let both = Delta::new(0.01 * (1.0 + 1f64.exp())).unwrap();
    assert_eq!(value(Neighbours::Replace, one, delta), guess(one, delta));
    let found = value(Neighbours::AddRemove, one, delta);
    assert!((found - guess(two, both)).abs() < 1e-15);
    assert_eq!(value(Neighbours::AddRemove, Epsilon::new(1e4).unwrap(), delta), 1.0);
    let (rho, four) = (Rho::new(0.1).unwrap(), Rho::new(0.4).unwrap());
    assert_eq!(value_concentrated(Neighbours::AddRemove, rho), guess_concentrated(four));
    assert_eq!(value_concentrated(Neighbours::Replace, rho), guess_concentrated(rho));
    // A sum of ±1 with Laplace noise of scale 1/ε is private for a row added or removed. The sign of
    // the row that is there is guessed right 1 − ½e^{−ε} of the time: above `guess`, below `value`.
    let sign = 1.0 - 0.5 * (-1f64).exp();
    assert!(guess(one, Delta::ZERO) < sign);
    assert!(sign < value(Neighbours::AddRemove, one, Delta::ZERO));
}
