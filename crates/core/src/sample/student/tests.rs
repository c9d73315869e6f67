use super::*;
use crate::random::SeededForTests;
use demure_testkit::fit::Fit;

/// P[X ≤ x] for d = 1 and for even d: `½ + ½·(∫₀^v (1−w²)^(d/2−1))/(∫₀¹ …)`.
fn student_cdf(d: u32, x: f64) -> f64 {
    if d == 1 {
        return 0.5 + x.atan() / std::f64::consts::PI;
    }
    let v = x / (f64::from(d) + x * x).sqrt();
    let integral = |v: f64| match d {
        2 => v,
        4 => v - v.powi(3) / 3.0,
        6 => v - 2.0 * v.powi(3) / 3.0 + v.powi(5) / 5.0,
        _ => unreachable!("not used below"),
    };
    0.5 + 0.5 * integral(v) / integral(1.0)
}

#[test]
fn student_fits_and_the_test_has_power() {
    let grid = Grid::power_of_two(-2).unwrap();
    for (seed, d, scale, centre) in [
        (1, 1, 3.0, 0.1),
        (2, 2, 0.7, 0.0),
        (3, 4, 3.0, -7.9),
        (4, 4, 1e9, 0.3),
        (5, 6, 40.0, 0.0),
        (6, 1, 1e9, 0.0),
    ] {
        let noise = RoundedStudent::new(d, &Scale::new(scale).unwrap(), grid).unwrap();
        let mut rng = SeededForTests::insecure(seed);
        let samples: Vec<_> = (0..200_000).map(|_| noise.draw(centre, &mut rng).unwrap()).collect();
        let cdf = |s: f64| move |k: i128| student_cdf(d, ((k as f64 + 0.5) * 0.25 - centre) / s);
        assert!(Fit::by_cdf(samples.iter().copied(), cdf(scale), 60).accepts(), "{d} {scale}");
        let off = Fit::by_cdf(samples.iter().copied(), cdf(scale * 1.05), 60);
        assert!(off.rejects(), "{d} {scale}");
    }
    for bad in [0, 3, 66] {
        assert!(RoundedStudent::new(bad, &Scale::new(1.0).unwrap(), grid).is_err());
    }
}

#[test]
fn the_certified_path_agrees_with_the_fast_one() {
    for d in [1, 2, 4, 8] {
        let noise = RoundedStudent::new(d, &Scale::new(300.0).unwrap(), Grid::ONE).unwrap();
        let centre = Centre::rounding(0.3, Grid::ONE).unwrap();
        let mut rng = SeededForTests::insecure(u64::from(d));
        let bits = rng.bits().unwrap();
        for _ in 0..500 {
            let (negative, near, mut behind) =
                if d == 1 { RoundedStudent::disc(bits) } else { noise.median(bits) }.unwrap();
            let g = centre.offset(negative);
            let slow = magnitude::search(None, |k| noise.reaches(k, g, &mut behind, bits)).unwrap();
            let (z, error) = near.unwrap();
            let y = 300.0 * z + g.near();
            let (low, high) = magnitude::bracket(y, 300.0 * error + rounding(y)).unwrap();
            assert!((low..=high).contains(&slow) && high - low <= 1, "{d}");
        }
    }
}
