use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

/// P[Z ≤ k] of the discrete Laplace.
fn cdf(s: f64) -> impl Fn(i128) -> f64 {
    let a = (-1.0 / s).exp();
    move |k| {
        if k < 0 {
            ((k as f64) / s).exp() / (1.0 + a)
        } else {
            1.0 - (-(k as f64 + 1.0) / s).exp() / (1.0 + a)
        }
    }
}

#[test]
fn known_probabilities() {
    // known-answers: s = 1.
    let expected = [0.462_117_157_260_009_76, 0.170_003_401_568_547_92, 0.062_540_756_366_281_71];
    let mut rng = SeededForTests::insecure(1);
    let noise = DiscreteLaplace::new(&Scale::new(1.0).unwrap()).unwrap();
    let mut samples = vec![0; 1_000_000];
    noise.fill(&mut samples, &mut rng).unwrap();
    for (k, p) in expected.into_iter().enumerate() {
        let share = samples.iter().filter(|&&z| z == k as i128).count() as f64 / 1e6;
        assert!((share - p).abs() < 4.9 * (p * (1.0 - p) / 1e6).sqrt(), "{k}: {share}");
    }
}

#[test]
fn discrete_laplace_fits_and_the_test_has_power() {
    let scales = [0.25, 1.0, 3.3, 100.0, 1e6, 1e9, 1e12, 2f64.powi(60)];
    for (seed, scale) in scales.into_iter().enumerate() {
        let mut rng = SeededForTests::insecure(seed as u64);
        let mut samples = vec![0; 200_000];
        let noise = DiscreteLaplace::new(&Scale::new(scale).unwrap()).unwrap();
        noise.fill(&mut samples, &mut rng).unwrap();
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale), 60).accepts(), "{scale}");
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale * 1.05), 60).rejects(), "{scale}");
    }
    // Almost no noise: a scale of 2⁻¹⁰ never leaves 0.
    let tiny = DiscreteLaplace::new(&Scale::new(2f64.powi(-10)).unwrap()).unwrap();
    let mut samples = vec![1; 10_000];
    tiny.fill(&mut samples, &mut SeededForTests::insecure(3)).unwrap();
    assert!(samples.iter().all(|&z| z == 0));
}

#[test]
fn low_digits_are_uniform_at_wide_scales() {
    let noise = DiscreteLaplace::new(&Scale::new(2f64.powi(60)).unwrap()).unwrap();
    let mut samples = vec![0; 100_000];
    noise.fill(&mut samples, &mut SeededForTests::insecure(4)).unwrap();
    let low = samples.iter().map(|z| z.rem_euclid(16));
    assert!(Fit::of(low, |_| 1.0 / 16.0, 0..=15).accepts());
}

#[test]
fn rounded_laplace_is_the_rounding_of_the_real_one() {
    let grid = Grid::power_of_two(-1).unwrap();
    for (seed, scale, centre) in
        [(1, 0.7, 0.0), (2, 3.0, 0.3), (3, 3.0, -7.9), (4, 1e11, 12.25), (5, 0.01, 0.24)]
    {
        let noise = RoundedLaplace::new(&Scale::new(scale).unwrap(), grid).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let samples: Vec<_> = (0..200_000).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
        // P[result ≤ k] = P[centre + X < (k + ½)/2].
        let cdf = |s: f64| {
            move |k: i128| {
                let x = ((k as f64 + 0.5) * 0.5 - centre) / s;
                if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
            }
        };
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale), 60).accepts(), "{scale}");
        if scale > 0.1 {
            assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale * 1.05), 60).rejects());
        }
    }
}
