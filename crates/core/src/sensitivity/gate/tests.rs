use super::*;
use crate::random::SeededForTests;

/// `P[Z = k]` of two-sided geometric noise of scale s.
pub(crate) fn laplace_pmf(s: f64, k: i128) -> f64 {
    (0.5 / s).tanh() * (-(k.abs() as f64) / s).exp()
}

/// `P[Z ≤ k]`.
pub(crate) fn laplace_cdf(s: f64, k: i128) -> f64 {
    let a = (-1.0 / s).exp();
    if k < 0 {
        (k as f64 / s).exp() / (1.0 + a)
    } else {
        1.0 - (-(k as f64 + 1.0) / s).exp() / (1.0 + a)
    }
}

/// `P[d + Z > T]`, for tests of whole mechanisms.
pub(crate) fn opening(gate: &Gate, distance: u64) -> f64 {
    let a = (-gate.epsilon).exp();
    let margin = gate.threshold as f64 + 1.0 - distance as f64;
    if margin >= 1.0 {
        (-gate.epsilon * margin).exp() / (1.0 + a)
    } else {
        1.0 - (-gate.epsilon * (1.0 - margin)).exp() / (1.0 + a)
    }
}

#[test]
fn the_threshold_is_the_least_and_the_formula_of_the_docs() {
    for (e, d) in [(1.0, 1e-6), (0.5, 0.02), (0.1, 1e-9), (3.0, 0.3), (0.01, 0.4)] {
        let gate = Gate::new(Epsilon::new(e).unwrap(), Delta::new(d).unwrap()).unwrap();
        let formula = ((1.0 / (d * (1.0 + (-e).exp()))).ln() / e).ceil() - 1.0;
        assert_eq!(gate.threshold() as f64, formula.max(0.0), "{e} {d}");
        assert!(gate.chance(0).unwrap() <= d);
        assert!(gate.threshold() == 0 || gate.chance(1).unwrap() > d);
    }
    assert!(Gate::new(Epsilon::new(1.0).unwrap(), Delta::ZERO).is_err());
    assert!(Gate::new(Epsilon::new(1e-300).unwrap(), Delta::new(1e-9).unwrap()).is_err());
}

#[test]
fn it_opens_as_often_as_it_says() {
    // False alarm 1e-6: 4.9 standard deviations.
    let gate = Gate::new(Epsilon::new(0.7).unwrap(), Delta::new(0.05).unwrap()).unwrap();
    let mut rng = SeededForTests::insecure(1);
    for distance in [0, 1, 4, 9] {
        let opened = (0..100_000).filter(|_| gate.opens(distance, &mut rng).unwrap()).count();
        let p = opening(&gate, distance);
        let band = 4.9 * (p * (1.0 - p) / 1e5).sqrt();
        assert!((opened as f64 / 1e5 - p).abs() < band, "{distance}");
        // One step off is seen.
        assert!((opened as f64 / 1e5 - opening(&gate, distance + 1)).abs() > band);
    }
}
