use super::*;
use crate::random::SeededForTests;

fn frequency(mut coin: impl FnMut() -> bool) -> f64 {
    f64::from((0..400_000).map(|_| u32::from(coin())).sum::<u32>()) / 400_000.0
}

#[test]
fn coins_have_their_probability_and_the_test_has_power() {
    // False alarm 1e-6: 4.9 standard deviations of at most 0.5/√400000.
    let band = 4.9 * 0.5 / 400_000f64.sqrt();
    let mut rng = SeededForTests::insecure(11);
    for (p, q) in [(0, 5), (1, 3), (2, 3), (7, 7), (1, 1000)] {
        let measured = frequency(|| bernoulli(p, q, &mut rng).unwrap());
        assert!((measured - p as f64 / q as f64).abs() < band);
    }
    for scale in [0.05, 0.5, 1.0, 3.0, 1e9] {
        let exact = Scale::new(scale).unwrap();
        let measured = frequency(|| bernoulli_exp(&exact, &mut rng).unwrap());
        assert!((measured - (-1.0 / scale).exp()).abs() < band, "{scale}");
        if scale == 1.0 {
            assert!((measured - (-1.0 / (1.05 * scale)).exp()).abs() > band);
        }
    }
    assert!(bernoulli(2, 1, &mut rng).is_err() && bernoulli(0, 0, &mut rng).is_err());
}

#[test]
fn the_slow_path_has_the_same_distribution() {
    // A slack of 1 sends every doubtful draw to the certified comparison.
    let mut rng = SeededForTests::insecure(12);
    let x = Ratio::new(3u64, 4u64);
    let measured = frequency(|| {
        let bits = rng.bits().unwrap();
        accept(0.75, 1.0, bits, |b| Enclosure::exp_neg(&x, b)).unwrap()
    });
    assert!((measured - (-0.75f64).exp()).abs() < 4.9 * 0.5 / 400_000f64.sqrt());
}
