use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

#[test]
fn gumbel_fits_and_the_test_has_power() {
    for (seed, scale, centre, exponent) in
        [(1, 0.5, 0.0, 0), (2, 2.0, 0.3, -2), (3, 100.0, -50.1, -20), (4, 1e12, 7.0, 0)]
    {
        let grid = Grid::power_of_two(exponent).unwrap();
        let noise = RoundedGumbel::new(&Scale::new(scale).unwrap(), grid).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let samples: Vec<_> = (0..200_000).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
        let fit = |s: f64| {
            let cdf = move |k: i128| {
                let x = ((k as f64 + 0.5) * grid.spacing() - centre) / s;
                (-(-x).exp()).exp()
            };
            Fit::by_cdf(samples.iter().copied(), cdf, 60)
        };
        assert!(fit(scale).accepts(), "{scale}");
        assert!(fit(scale * 1.05).rejects(), "{scale}");
    }
}

#[test]
fn noise_far_below_the_grid_leaves_the_rounding_alone() {
    // Just below half a step: the true answer is certainly 0.
    let noise = RoundedGumbel::new(&Scale::new(2f64.powi(-60)).unwrap(), Grid::ONE).unwrap();
    let mut rng = SeededForTests::insecure(6);
    for _ in 0..100 {
        assert_eq!(noise.draw(0.499_999_999_999_999_94, &mut rng).unwrap(), 0);
    }
}

#[test]
fn the_bracket_always_holds_the_certified_answer() {
    let noise = RoundedGumbel::new(&Scale::new(1e5).unwrap(), Grid::ONE).unwrap();
    let centre = Centre::zero();
    let mut rng = SeededForTests::insecure(5);
    let bits = rng.bits().unwrap();
    let edges = [0, 1, 1 << 20, 1 << 40, u64::MAX, u64::MAX - (1 << 20), u64::MAX - (1 << 40)];
    let words: Vec<u64> = edges.into_iter().chain((0..300).map(|_| bits.word().unwrap())).collect();
    for word in words {
        let mut uniform = LazyUniform::starting(word, 64);
        let (low, high) = match noise.bracket(word, 0.5) {
            Some(bracket) => bracket,
            None => noise.gallop(&mut uniform, &centre, bits).unwrap(),
        };
        assert!(noise.reaches(&mut uniform, &centre, low, bits).unwrap(), "{word}");
        assert!(!noise.reaches(&mut uniform, &centre, high + 1, bits).unwrap(), "{word}");
    }
}
