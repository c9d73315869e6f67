use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

/// P[Xe^(σY) > x] for x ≥ 0, by the trapezoidal rule, which is exact to 15 digits here.
pub(crate) fn upper(sigma: f64, x: f64) -> f64 {
    let h = 1.0 / 64.0;
    let sum: f64 = (-640..=640)
        .map(|i| {
            let y = f64::from(i) * h;
            (-0.5 * y * y - x * (-sigma * y).exp()).exp()
        })
        .sum();
    0.5 * sum * h / std::f64::consts::TAU.sqrt()
}

fn cdf(s: f64, sigma: f64, centre: f64, grid: f64) -> impl Fn(i128) -> f64 {
    move |k| {
        let x = ((k as f64 + 0.5) * grid - centre) / s;
        if x < 0.0 { upper(sigma, -x) } else { 1.0 - upper(sigma, x) }
    }
}

#[test]
fn laplace_log_normal_fits_and_the_test_has_power() {
    let grid = Grid::power_of_two(-1).unwrap();
    for (seed, scale, sigma, centre) in
        [(1, 3.0, 0.31, 0.0), (2, 0.7, 1.2, 0.3), (3, 1e6, 0.05, -7.9), (4, 1e14, 0.5, 12.25)]
    {
        let noise = RoundedLaplaceLogNormal::new(&Scale::new(scale).unwrap(), sigma, grid).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let count = if scale > 1e10 { 20_000 } else { 200_000 };
        let samples: Vec<_> = (0..count).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
        let fit = |s: f64, sigma: f64| {
            Fit::by_cdf(samples.iter().copied(), cdf(s, sigma, centre, 0.5), 60)
        };
        assert!(fit(scale, sigma).accepts(), "{scale} {sigma}");
        if count == 200_000 {
            assert!(fit(scale * 1.05, sigma).rejects(), "{scale} {sigma}");
        }
        if sigma > 1.0 {
            assert!(fit(scale, sigma * 1.05).rejects(), "{scale} {sigma}");
        }
    }
}

#[test]
fn the_certified_path_agrees_with_the_fast_one() {
    let noise = RoundedLaplaceLogNormal::new(&Scale::new(40.0).unwrap(), 0.6, Grid::ONE).unwrap();
    let centre = Centre::rounding(0.3, Grid::ONE).unwrap();
    let mut rng = SeededForTests::insecure(5);
    let bits = rng.bits().unwrap();
    for _ in 0..400 {
        let word = bits.word().unwrap();
        let (low, mut normal) = lazy_normal(bits).unwrap();
        let g = centre.offset(word & 1 == 1);
        let (from, to) = noise.bracket(word >> 1, low, &normal, g.near()).unwrap();
        let mut uniform = LazyUniform::starting(word >> 1, 63);
        let slow =
            magnitude::search(None, |k| noise.reaches(k, g, &mut uniform, low, &mut normal, bits))
                .unwrap();
        assert!((from..=to).contains(&slow) && to - from <= 1);
    }
}

#[test]
fn the_variance_is_the_stated_one() {
    let sigma = 0.309_197_818_894_132f64;
    let noise =
        RoundedLaplaceLogNormal::new(&Scale::new(1000.0).unwrap(), sigma, Grid::ONE).unwrap();
    let mut samples = vec![0; 400_000];
    noise.fill(&mut samples, &mut SeededForTests::insecure(6)).unwrap();
    let variance: f64 = samples.iter().map(|&z| (z as f64 / 1000.0).powi(2)).sum::<f64>() / 4e5;
    // The fourth moment is 24e^(8σ²): 4.9 standard deviations of the mean of squares.
    let wanted = 2.0 * (2.0 * sigma * sigma).exp();
    let sd = ((24.0 * (8.0 * sigma * sigma).exp() - wanted * wanted) / 4e5).sqrt();
    assert!((variance - wanted).abs() < 4.9 * sd, "{variance} {wanted}");
    for bad in [0.0, 9.0, f64::NAN] {
        let scale = Scale::new(1.0).unwrap();
        assert!(RoundedLaplaceLogNormal::new(&scale, bad, Grid::ONE).is_err());
    }
}
