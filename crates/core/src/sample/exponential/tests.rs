use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

#[test]
fn rounded_exponential_fits_and_the_test_has_power() {
    for (seed, scale) in [(1, 0.4), (2, 2.0), (3, 1e5), (4, 1e14)] {
        let mut samples = vec![0; 200_000];
        RoundedExponential::new(&Scale::new(scale).unwrap(), Grid::ONE)
            .unwrap()
            .fill(&mut samples, &mut SeededForTests::insecure(seed))
            .unwrap();
        let cdf =
            |s: f64| move |k: i128| if k < 0 { 0.0 } else { -(-(k as f64 + 0.5) / s).exp_m1() };
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale), 50).accepts(), "{scale}");
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale * 1.05), 50).rejects());
    }
}
