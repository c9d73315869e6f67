use super::*;
use crate::random::SeededForTests;
use demure_testkit::distribution::Distribution;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

fn unit() -> Sensitivity<L2> {
    Sensitivity::new(1.0).unwrap()
}

#[test]
fn the_analytic_sigma_is_never_below_the_truth_and_at_most_1e12_above() {
    for (e, d, truth) in [
        (0.1, 1e-5, 30.749_566_131_977_450_2),
        (1.0, 1e-5, 3.730_631_634_815_941_83),
        (1.0, 1e-9, 5.495_266_157_238_296_19),
        (2.0, 1e-5, 1.993_812_445_643_536_69),
        (10.0, 1e-6, 0.541_086_831_818_365_981),
    ] {
        let sigma = Gaussian::new(epsilon(e), delta(d), unit()).unwrap().sigma();
        assert!(sigma >= truth && sigma <= truth * (1.0 + 1e-12), "{e} {d}: {sigma}");
    }
}

#[test]
fn the_exact_delta_has_its_known_values() {
    for (sigma, e, s, truth) in [
        (10.0, 0.1, 1.0, 0.008_751_768_145_809_594),
        (10.0, 3f64.ln(), 5.0, 0.004_159_742_234_000_786_8),
        (1.0, 1.0, 1.0, 0.126_936_737_506_643_95),
    ] {
        let (low, high) = gaussian_delta(sigma, epsilon(e), Sensitivity::new(s).unwrap()).unwrap();
        assert!((low / truth - 1.0).abs() < 1e-15 && low <= high && high <= low * (1.0 + 1e-15));
    }
}

#[test]
fn the_discrete_gaussian_has_a_delta_of_its_own() {
    for (sigma, truth) in [(1.0, 0.141_351_339_405_621_92), (2.0, 0.007_248_776_845_952_582_5)] {
        let (low, high) = discrete_delta(sigma, epsilon(1.0), 1).unwrap();
        assert!((low / truth - 1.0).abs() < 1e-14 && high <= low * (1.0 + 1e-14), "{low}");
    }
    // Calibrated by it, the noise is larger than the analytic one at small σ …
    let discrete = DiscreteGaussian::new(epsilon(1.0), delta(0.1), 1).unwrap();
    let analytic = Gaussian::new(epsilon(1.0), delta(0.1), unit()).unwrap();
    assert!(discrete.sigma() > analytic.sigma() * 1.01);
    let at = discrete_delta(discrete.sigma(), epsilon(1.0), 1).unwrap();
    assert!(at.1 <= 0.1);
    // … and the same at large σ, on both sides of where the method changes.
    for d in [20u32, 3_000] {
        let wide = Sensitivity::new(f64::from(d)).unwrap();
        let analytic = Gaussian::new(epsilon(1.0), delta(1e-6), wide).unwrap().sigma();
        let discrete = DiscreteGaussian::new(epsilon(1.0), delta(1e-6), d).unwrap().sigma();
        assert!((discrete / analytic - 1.0).abs() < 1e-3, "{d}: {discrete} {analytic}");
    }
}

#[test]
fn the_discrete_delta_agrees_with_brute_force() {
    for (sigma, e, d) in
        [(0.7, 0.5, 1), (1.3, 2.0, 2), (3.0, 0.2, 3), (0.4, 5.0, 1), (5.0, 0.1, 20)]
    {
        let mass = |k: i64| (-(k * k) as f64 / (2.0 * sigma * sigma)).exp();
        let total: f64 = (-200..=200).map(mass).sum();
        let at =
            |centre: i64| Distribution::new((-150..=150).map(|k| (k, mass(k - centre) / total)));
        let brute = at(0).hockey_stick(&at(i64::from(d)), e);
        let (low, high) = discrete_delta(sigma, epsilon(e), d).unwrap();
        assert!((low - brute).abs() <= 1e-12 + 1e-9 * brute, "{sigma} {e} {d}: {low} {brute}");
        assert!(high >= brute * (1.0 - 1e-9) - 1e-15);
        // A smaller shift never has a larger δ.
        if d > 1 {
            assert!(discrete_delta(sigma, epsilon(e), d - 1).unwrap().1 <= high);
        }
    }
}

#[test]
fn the_classic_calibration_is_offered_where_it_holds_and_refused_where_not() {
    let classic = Gaussian::classic(epsilon(1.0), delta(1e-5), unit()).unwrap();
    assert!((classic.sigma() - (2.0 * (2e5f64).ln()).sqrt()).abs() < 1e-12);
    let refused = Gaussian::classic(epsilon(10.0), delta(1e-6), unit());
    assert!(matches!(refused, Err(Error::Infeasible { .. })));
}

#[test]
fn small_deltas_are_calibrated_as_tightly_as_large_ones() {
    // Checked with mpmath: the true sigma to 10 digits.
    let sigma = DiscreteGaussian::new(epsilon(1.0), delta(1e-60), 7).unwrap().sigma();
    let below = discrete_delta(sigma * (1.0 - 1e-11), epsilon(1.0), 7).unwrap();
    assert!(below.0 > 1e-60, "{below:?}");
}

#[test]
fn concentrated_noise_has_the_textbook_sigma() {
    let sigma = Gaussian::concentrated(Rho::new(0.5).unwrap(), unit()).unwrap().sigma();
    assert!((1.0..1.0 + 1e-15).contains(&sigma));
    let vector = DiscreteGaussian::concentrated(Rho::new(0.5).unwrap(), unit()).unwrap();
    let mut rng = SeededForTests::insecure(1);
    assert_eq!(vector.release_vector(&[1, 2, 3], &mut rng).unwrap().value().len(), 3);
    let scalar = DiscreteGaussian::new(epsilon(1.0), delta(1e-5), 1).unwrap();
    assert!(scalar.release_vector(&[1, 2], &mut rng).is_err());
    assert!(scalar.release(5, &mut rng).is_ok());
}

#[test]
fn error_bounds_have_their_known_values() {
    let gaussian = Gaussian::concentrated(Rho::new(0.5).unwrap(), unit()).unwrap();
    let t = gaussian.error(Beta::new(0.05).unwrap()).unwrap();
    assert!((1.959_963_984_540_053_8..1.959_97).contains(&t));
    // σ = 1: P[|Z| > 2] = 0.0089, P[|Z| > 1] = 0.117.
    let discrete = DiscreteGaussian::concentrated(Rho::new(0.5).unwrap(), unit()).unwrap();
    assert_eq!(discrete.error(Beta::new(0.05).unwrap()).unwrap(), 2.0);
    assert_eq!(discrete.error(Beta::new(0.12).unwrap()).unwrap(), 1.0);
}

#[test]
fn impossible_parameters_are_refused() {
    assert!(Gaussian::new(epsilon(1.0), Delta::ZERO, unit()).is_err());
    assert!(DiscreteGaussian::new(epsilon(1e6), delta(1e-5), 1).is_err());
    let large = Gaussian::new(epsilon(1e6), delta(1e-5), unit()).unwrap().sigma();
    assert!((large - 0.5f64.sqrt() * 1e-3).abs() < 1e-5, "{large}"); // Δ/√(2ε), about
    Gaussian::new(epsilon(1e-40), delta(0.1), unit()).unwrap();
    assert!(Gaussian::new(epsilon(1.0), delta(1e-300), unit()).is_ok());
    let far = discrete_delta(100.0, epsilon(10.0), 1).unwrap();
    assert_eq!(far, NEXT_TO_NOTHING);
    let gaussian = Gaussian::new(epsilon(1.0), delta(1e-5), unit()).unwrap();
    assert!(gaussian.release(f64::NAN, &mut SeededForTests::insecure(1)).is_err());
}
