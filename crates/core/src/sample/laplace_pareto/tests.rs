use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

fn upper(gamma: u32, x: f64) -> f64 {
    let (g, start) = (f64::from(gamma), f64::from(gamma) + 1.0);
    let edge = (-start).exp();
    let norm = 1.0 + edge / g;
    if x <= start {
        ((-x).exp() + edge / g) / norm
    } else {
        start / g * edge * (start / x).powi(gamma as i32) / norm
    }
}

#[test]
fn laplace_pareto_fits_and_the_test_has_power() {
    let grid = Grid::power_of_two(-2).unwrap();
    for (seed, gamma, scale, centre) in
        [(1, 3, 3.0, 0.1), (2, 1, 0.7, 0.0), (3, 4, 1e9, -7.9), (4, 2, 50.0, 0.3)]
    {
        let noise = RoundedLaplacePareto::new(gamma, &Scale::new(scale).unwrap(), grid).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let samples: Vec<_> = (0..200_000).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
        let cdf = |gamma: u32, s: f64| {
            move |k: i128| {
                let x = ((k as f64 + 0.5) * 0.25 - centre) / s;
                let tail = 0.5 * upper(gamma, x.abs());
                if x < 0.0 { tail } else { 1.0 - tail }
            }
        };
        let fit = |g, s| Fit::by_cdf(samples.iter().copied(), cdf(g, s), 60);
        assert!(fit(gamma, scale).accepts(), "{gamma} {scale}");
        assert!(fit(gamma, scale * 1.05).rejects(), "{gamma} {scale}");
        // Beyond 3 the laws hardly differ in bulk; the certified test below sees the tail.
        assert!(gamma > 2 || fit(gamma + 1, scale).rejects(), "{gamma} {scale}");
    }
    for bad in [0, 33] {
        assert!(RoundedLaplacePareto::new(bad, &Scale::new(1.0).unwrap(), grid).is_err());
    }
}

#[test]
fn the_certified_path_agrees_with_the_fast_one() {
    for gamma in [1, 3, 9] {
        let noise = RoundedLaplacePareto::new(gamma, &Scale::new(1.0).unwrap(), Grid::ONE).unwrap();
        let mut rng = SeededForTests::insecure(u64::from(gamma));
        let bits = rng.bits().unwrap();
        let mut tails = 0;
        for i in 0..2_000 {
            let known = (bits.word().unwrap() >> 1) >> (i % 24);
            let Some((x, error)) = noise.magnitude(known) else { continue };
            tails += u32::from(x > f64::from(gamma) + 1.0);
            // U is in [known, known+1)/2⁶³: P[|X| ≥ x + error] ≤ U ≤ P[|X| ≥ x − error].
            let at = |x: f64| noise.tail(&Ratio::from_f64(x.max(0.0)).unwrap(), 256);
            let low = Enclosure::of_ratio(&Ratio::new(known, 1u64).scale(-63), 256);
            let high = Enclosure::of_ratio(&Ratio::new(known + 1, 1u64).scale(-63), 256);
            assert!(at(x + error).upper <= low.lower, "{gamma} {x}");
            assert!(x < error || at(x - error).lower >= high.upper, "{gamma} {x}");
            assert!(error < 1e-3 * (1.0 + x), "{gamma} {x} {error}");
        }
        assert!(tails > 20);
    }
}
