use super::*;
use crate::num::normal;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

fn phi(x: f64) -> f64 {
    let (low, _) = normal::upper_tail(&Ratio::from_f64(x.abs()).unwrap(), 128).to_f64();
    if x < 0.0 { low } else { 1.0 - low }
}

/// P[Z ≤ k] of the discrete Gaussian: by summing where that is short, else
/// by the normal distribution, which it equals to within 10⁻⁴ per cell.
fn discrete_cdf(sigma: f64) -> impl Fn(i128) -> f64 {
    let reach = (40.0 * sigma.min(400.0)).ceil() as i128 + 2;
    let mass = move |k: i128| (-(k as f64).powi(2) / (2.0 * sigma * sigma)).exp();
    let total: f64 = (-reach..=reach).map(mass).sum();
    let mut sums = vec![0.0];
    for k in -reach..=reach {
        sums.push(sums[sums.len() - 1] + mass(k) / total);
    }
    move |k| {
        if sigma > 400.0 {
            phi((k as f64 + 0.5) / sigma)
        } else {
            sums[(k + reach + 1).clamp(0, 2 * reach + 1) as usize]
        }
    }
}

#[test]
fn known_probabilities() {
    let expected = [
        0.398_942_278_266_861_71,
        0.241_970_723_224_460_61,
        0.053_990_966_224_305_285,
        0.004_431_848_388_225_065_6,
    ];
    let mut samples = vec![0; 1_000_000];
    DiscreteGaussian::new(&Scale::new(1.0).unwrap())
        .unwrap()
        .fill(&mut samples, &mut SeededForTests::insecure(1))
        .unwrap();
    for (k, p) in expected.into_iter().enumerate() {
        for k in [k as i128, -(k as i128)] {
            let share = samples.iter().filter(|&&z| z == k).count() as f64 / 1e6;
            assert!((share - p).abs() < 4.9 * (p * (1.0 - p) / 1e6).sqrt(), "{k}: {share}");
        }
    }
}

#[test]
fn discrete_gaussian_fits_and_the_test_has_power() {
    let sigmas = [0.3, 0.5, 1.0, 2.7, 20.0, 63.9, 64.1, 100.0, 300.0, 1e6, 1e10, 2f64.powi(60)];
    for (seed, sigma) in sigmas.into_iter().enumerate() {
        let mut samples = vec![0; 200_000];
        DiscreteGaussian::new(&Scale::new(sigma).unwrap())
            .unwrap()
            .fill(&mut samples, &mut SeededForTests::insecure(seed as u64))
            .unwrap();
        let fit = |s: f64| Fit::by_cdf(samples.iter().copied(), discrete_cdf(s), 60);
        assert!(fit(sigma).accepts(), "{sigma}");
        assert!(fit(sigma * 1.05).rejects(), "{sigma}");
    }
    for exponent in [-10, -100, -1000] {
        let tiny = DiscreteGaussian::new(&Scale::new(2f64.powi(exponent)).unwrap()).unwrap();
        assert_eq!(tiny.draw(&mut SeededForTests::insecure(1)).unwrap(), 0);
    }
}

#[test]
fn rounded_gaussian_is_the_rounding_of_the_real_one() {
    for (seed, sigma, centre, exponent) in [
        (1, 0.4, 0.0, 0),
        (2, 1.0, 0.3, -1),
        (3, 5.0, -7.9, -20),
        (4, 2f64.powi(58), 12.25, 0),
        (5, 1e-5, 3e-5, -20),
    ] {
        let grid = Grid::power_of_two(exponent).unwrap();
        let noise = RoundedGaussian::new(&Scale::new(sigma).unwrap(), grid).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let samples: Vec<_> = (0..200_000).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
        let fit = |s: f64| {
            let cdf = move |k: i128| phi(((k as f64 + 0.5) * grid.spacing() - centre) / s);
            Fit::by_cdf(samples.iter().copied(), cdf, 60)
        };
        assert!(fit(sigma).accepts(), "{sigma}");
        assert!(fit(sigma * 1.05).rejects(), "{sigma}");
    }
}

#[test]
fn the_tail_and_the_slow_path_have_the_right_shape() {
    // Draw from the tail's proposal alone: accepted magnitudes beyond 8.5σ
    // must fall off like the curve (a chi-square on the first cells).
    let sigma = 3.0;
    let noise = DiscreteGaussian::new(&Scale::new(sigma).unwrap()).unwrap();
    let mut rng = SeededForTests::insecure(8);
    let bits = rng.bits().unwrap();
    let start = noise.strips.count() as i128;
    // The envelope's tail is oversized by design (2⁻³⁰ of the total), so
    // acceptance is rare; thin it by conditioning the acceptance on the
    // peak: compare ratios instead of frequencies.
    let p = |k: i128| {
        let width = Ratio::new(noise.piece, noise.width);
        let curve = |b| noise.curve(k as u128, b);
        noise.strips.tail(0, &width, curve, 400).to_f64().0
    };
    for k in start..start + 3 {
        let ratio = p(k + 1) / p(k);
        let truth = (-((2 * k + 1) as f64) / (2.0 * sigma * sigma)).exp();
        assert!((ratio / truth - 1.0).abs() < 1e-9, "{ratio} {truth}");
        assert!(p(k) < 1.0);
    }
    // The joint density of a strip's point and a tail's point agrees too:
    // weight/width · acceptance ∝ the curve.
    let last = noise.strips.count() - 1;
    let curve = |b| noise.curve(last as u128, b);
    let strip = noise.strips.strip(last, curve, 400).to_f64().0;
    let weight = |j: usize| noise.strips.weight(j) as f64;
    let (in_strip, in_tail) = (
        weight(last) * strip,
        weight(last + 1) * (1.0 - 2f64.powi(-11)) / noise.piece as f64 * p(start),
    );
    let truth = (-((2 * last + 1) as f64) / (2.0 * sigma * sigma)).exp();
    assert!((in_tail / in_strip / truth - 1.0).abs() < 1e-9);
    // And the certified decision is a coin of that probability.
    let n = 20_000;
    let hits = (0..n).filter(|_| {
        let word = bits.word().unwrap();
        noise.decide(2, 2, word, bits).unwrap()
    });
    let share = hits.count() as f64 / f64::from(n);
    let curve = |b| noise.curve(2, b);
    let truth = noise.strips.strip(2, curve, 200).to_f64().0;
    assert!((share - truth).abs() < 0.001 + 4.9 * (truth * (1.0 - truth) / f64::from(n)).sqrt());
}
