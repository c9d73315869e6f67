use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

#[test]
fn geometric_fits_its_distribution_and_the_test_has_power() {
    for (seed, scale) in [(1, 0.3), (2, 1.0), (3, 17.5), (4, 1e6), (5, 1e13), (6, 2f64.powi(60))] {
        let mut rng = SeededForTests::insecure(seed);
        let mut samples = vec![0; 200_000];
        Geometric::new(&Scale::new(scale).unwrap()).unwrap().fill(&mut samples, &mut rng).unwrap();
        let cdf =
            |s: f64| move |k: i128| if k < 0 { 0.0 } else { -(-(k as f64 + 1.0) / s).exp_m1() };
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale), 50).accepts(), "{scale}");
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale * 1.05), 50).rejects(), "{scale}");
    }
}
