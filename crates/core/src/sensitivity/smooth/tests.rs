use super::super::Reciprocal;
use super::super::order::tests::{ALL, databases, replaced, values};
use super::*;
use crate::random::SeededForTests;
use demure_testkit::datasets::{add_or_remove_one, rows};
use demure_testkit::distribution::Distribution;
use demure_testkit::fit::Fit;
use demure_testkit::neighbours::{check, check_zcdp};

fn t(x: f64) -> Smoothness {
    Smoothness::new(x).unwrap()
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn delta(x: f64) -> Delta {
    Delta::new(x).unwrap()
}

/// P[Z > z] for z ≥ 0.
fn upper(family: NoiseFamily, z: f64) -> f64 {
    match family {
        NoiseFamily::LaplaceLogNormal { sigma } => {
            let h = 1.0 / 32.0;
            let sum: f64 = (-320..=320)
                .map(|i| {
                    let y = f64::from(i) * h;
                    (-0.5 * y * y - z * (-sigma * y).exp()).exp()
                })
                .sum();
            0.5 * sum * h / std::f64::consts::TAU.sqrt()
        }
        NoiseFamily::Student { degrees: 1 } => {
            // arccot loses nothing far out.
            (1.0f64).atan2(z) / std::f64::consts::PI
        }
        NoiseFamily::Student { degrees } => {
            // With v = z/√(d+z²), 1 − v = u: ∫_{1−u}^1 (1−w²)^(d/2−1) without cancellation.
            let d = f64::from(degrees);
            let root = (d + z * z).sqrt();
            let u = d / (root * (root + z));
            match degrees {
                2 => 0.5 * u,
                // ∫_0^u x(2−x) = u² − u³/3, over 4/3.
                4 => (u * u - u * u * u / 3.0) / (4.0 / 3.0),
                _ => unreachable!("not used below"),
            }
        }
        NoiseFamily::LaplacePareto { gamma } => {
            let (g, x) = (f64::from(gamma), f64::from(gamma) + 1.0);
            let edge = (-x).exp();
            let tail = if z <= x {
                (-z).exp() + edge / g
            } else {
                x / g * edge * (x / z).powi(gamma as i32)
            };
            0.5 * tail / (1.0 + edge / g)
        }
        NoiseFamily::Laplace => 0.5 * (-z).exp(),
        NoiseFamily::Gaussian => {
            let ratio = crate::num::Ratio::from_f64(z).unwrap();
            normal::upper_tail(&ratio, 400).to_f64().0
        }
    }
}

/// `P[noise ≥ k − ½]` for k = 1, 2, …, at one scale.
fn tails(noise: &SmoothNoise, smooth: f64, count: i128) -> Vec<f64> {
    let scale = up(smooth / noise.s);
    (1..=count).map(|k| upper(noise.family, (k as f64 - 0.5) / scale)).collect()
}

/// The law of a release: integers of −reach..=reach around the middle, the ends folded.
fn law(tails: &[f64], value: i128, reach: i128) -> Distribution<i128> {
    let tail = |k: i128| tails[k as usize - 1];
    let mass = |o: i128| {
        let k = (o - value).abs();
        match (o.abs() == reach, k) {
            (true, k) if (o > value) == (o > 0) => tail(k),
            (_, 0) => 1.0 - 2.0 * tail(1),
            _ => tail(k) - tail(k + 1),
        }
    };
    Distribution::new((-reach..=reach).map(|o| (o, mass(o))))
}

/// Checks a noise on all databases of 5 values and n rows, by whole output distributions.
fn brute_force(noise: &SmoothNoise, n: usize, reach: i128) {
    let orders = [1.05, 1.5, 2.0, 4.0, 16.0, 64.0];
    let scales = std::cell::RefCell::new(std::collections::BTreeMap::new());
    for (name, _, make) in ALL {
        if make(&values(&vec![0; n])).is_none() {
            continue;
        }
        let mechanism = |x: &Vec<u8>| {
            let data = values(x);
            let statistic = make(&data).unwrap();
            let smooth = statistic.smooth(noise.t).unwrap();
            let mut scales = scales.borrow_mut();
            let tails = scales
                .entry(smooth.to_bits())
                .or_insert_with(|| tails(noise, smooth, 2 * reach + 2));
            law(tails, statistic.value(), reach)
        };
        // The probabilities are floats: allow for their last digits.
        let fine = 1.0 + 1e-9;
        match noise.guarantee {
            Guarantee::Pure(e) => {
                let seen = check(mechanism, databases(n), replaced, e.get() * fine, 0.0);
                seen.unwrap_or_else(|v| panic!("{name} {:?}: {v}", noise.family));
            }
            Guarantee::Approximate(e, d) => {
                let seen = check(mechanism, databases(n), replaced, e.get() * fine, d.get() * fine);
                seen.unwrap_or_else(|v| panic!("{name} {:?}: {v}", noise.family));
            }
            Guarantee::Concentrated(rho) => {
                let seen = check_zcdp(mechanism, databases(n), replaced, rho.get() * fine, &orders);
                seen.unwrap_or_else(|v| panic!("{name} {:?}: {v}", noise.family));
            }
        }
    }
}

#[test]
fn known_calibrations() {
    let noise = SmoothNoise::laplace_log_normal(Rho::new(0.5).unwrap(), t(0.1)).unwrap();
    let NoiseFamily::LaplaceLogNormal { sigma } = noise.family() else { panic!() };
    assert!((sigma - 0.309_197_818_894_132).abs() < 1e-9);
    assert!((noise.s() - 0.586_193_175_167_011_6).abs() < 1e-8 && noise.s() < 0.586_193_175_17);
    assert!((noise.deviation() - 2.654_57).abs() < 1e-4);
    // ρ = ½(t/σ + e^(1.5σ²)s)², never more than asked for.
    let rho = 0.5 * (0.1 / sigma + (1.5 * sigma * sigma).exp() * noise.s()).powi(2);
    assert!(rho <= 0.5 && rho > 0.5 - 1e-8);
    let student = SmoothNoise::student(epsilon(1.0), 4, t(0.1)).unwrap();
    assert!((student.s() - 0.6 * 0.8).abs() < 1e-9);
    let pareto = SmoothNoise::pure(epsilon(1.0), t(0.1)).unwrap();
    assert_eq!(pareto.family(), NoiseFamily::LaplacePareto { gamma: 3 });
    assert!((pareto.s() - 0.7).abs() < 1e-9 && pareto.deviation() < student.deviation());
    assert!((pareto.deviation() - 2.339).abs() < 1e-3, "{}", pareto.deviation());
    assert!((student.deviation() - 2.946).abs() < 1e-3, "{}", student.deviation());
    // Var Z = ∫ 4z·P[Z > z] dz, for every family that has one.
    for noise in [&noise, &student, &pareto] {
        let cell = |i: u32| {
            let (low, high) = ((1e-3 * f64::from(i)).exp(), (1e-3 * f64::from(i + 1)).exp());
            let z = 0.5 * (low + high) - 1.0;
            4.0 * z * upper(noise.family, z) * (high - low)
        };
        let variance: f64 = (0..12_000).map(cell).sum();
        let stated = (noise.deviation() * noise.s).powi(2);
        assert!((variance / stated - 1.0).abs() < 1e-3, "{} {variance}", noise.family);
    }
    // The textbook's s = ε/2 needs t = ε/(2 ln(2/δ)); ours has it with a larger t.
    let laplace =
        SmoothNoise::new(Guarantee::Approximate(epsilon(1.0), delta(1e-6)), None).unwrap();
    assert!((laplace.s() - 0.5).abs() < 1e-3);
    assert!(laplace.t().get() > 0.5 / (2.0f64 / 1e-6).ln());
    assert!(SmoothNoise::student(epsilon(1.0), 4, t(0.25)).is_err());
    assert!(SmoothNoise::student(epsilon(1.0), 3, t(0.01)).is_err());
    assert!(SmoothNoise::laplace(epsilon(1.0), Delta::ZERO, t(0.01)).is_err());
    assert!(SmoothNoise::pure(epsilon(0.1), t(0.1)).is_err());
}

#[test]
fn pure_noise_is_private_on_all_small_databases() {
    for (e, steep) in [(1.0, 0.1), (3.0, 0.5), (0.4, 0.05)] {
        let noises = [
            SmoothNoise::student(epsilon(e), 1, t(steep)).unwrap(),
            SmoothNoise::student(epsilon(e), 2, t(steep)).unwrap(),
            SmoothNoise::student(epsilon(e), 4, t(steep)).unwrap(),
            SmoothNoise::laplace_pareto(epsilon(e), 1, t(steep)).unwrap(),
            SmoothNoise::laplace_pareto(epsilon(e), 3, t(steep)).unwrap(),
        ];
        for noise in noises {
            for n in 1..=6 {
                brute_force(&noise, n, 100);
            }
        }
    }
}

#[test]
fn approximate_noise_is_private_on_all_small_databases() {
    for (e, d) in [(1.0, 1e-3), (2.0, 1e-5), (0.5, 0.05)] {
        let laplace = SmoothNoise::new(Guarantee::Approximate(epsilon(e), delta(d)), None).unwrap();
        let steep = t(laplace.t().get() / 2.0);
        for n in 1..=6 {
            brute_force(&laplace, n, 80);
            brute_force(&SmoothNoise::laplace(epsilon(e), delta(d), steep).unwrap(), n, 80);
        }
        // Certified normal tails are slow: fewer rows.
        let narrow = t(0.1 * laplace.t().get());
        brute_force(&SmoothNoise::gaussian(epsilon(e), delta(d), narrow).unwrap(), 2, 30);
    }
}

#[test]
fn laplace_log_normal_noise_is_zcdp_on_all_small_databases() {
    for (rho, steep) in [(0.5, 0.1), (2.0, 0.5), (0.05, 0.05)] {
        let noise = SmoothNoise::laplace_log_normal(Rho::new(rho).unwrap(), t(steep)).unwrap();
        for n in 1..=6 {
            brute_force(&noise, n, 100);
        }
    }
}

#[test]
#[should_panic(expected = "not (")]
fn a_scale_of_the_local_sensitivity_itself_is_not_private() {
    // The same noise with S replaced by LS: the classic mistake, seen by the same check.
    let noise = SmoothNoise::laplace_pareto(epsilon(1.0), 3, t(0.1)).unwrap();
    let make = ALL[0].2;
    let mechanism = |x: &Vec<u8>| {
        let data = values(x);
        let statistic = make(&data).unwrap();
        let local = statistic.at_distance(0) as f64;
        let tails = tails(&noise, local.max(super::super::LEAST), 202);
        law(&tails, statistic.value(), 100)
    };
    check(mechanism, databases(5), replaced, 1.0, 0.0).unwrap_or_else(|v| panic!("{v}"));
}

#[test]
fn the_laplace_dilation_costs_what_the_formula_says_and_no_less() {
    // δ(ε₂) of Lap(1) against Lap(e^−t), summed finely.
    for (steep, d) in [(0.05, 1e-4), (0.3, 1e-2), (0.01, 1e-9)] {
        let e2 = laplace_dilation(steep, delta(d)).unwrap();
        let h = 1e-3;
        let excess: f64 = (0..200_000)
            .map(|i| {
                let z = (f64::from(i) + 0.5) * h;
                ((-z).exp() - (e2 + steep - z * steep.exp()).exp()).max(0.0) * h
            })
            .sum();
        let tight = e2 > steep;
        assert!(excess <= d * 1.000_1 && (!tight || excess > 0.99 * d), "{steep} {excess} {d}");
    }
}

#[test]
fn releases_are_in_bounds_and_near_the_truth() {
    let data = values(&[0, 2, 2, 2, 2, 2, 4]);
    let median = super::super::OrderStatistic::median(&data).unwrap();
    let mut rng = SeededForTests::insecure(1);
    let noise = SmoothNoise::new(Guarantee::Pure(epsilon(8.0)), None).unwrap();
    let mut near = 0;
    for _ in 0..1_000 {
        let answer = noise.release(&median, &mut rng).unwrap().into_value();
        assert!((0.0..=8.0).contains(&answer));
        near += u32::from((answer - 3.0).abs() <= 2.0);
    }
    assert!(near > 800, "{near}");
}

#[test]
fn releases_fit_the_law_and_the_test_has_power() {
    let data = values(&[0, 1, 2, 2, 3, 4]);
    let statistic = super::super::TrimmedMean::new(&data, 1).unwrap();
    let (e, steep) = (epsilon(1.0), t(0.05));
    let noises = [
        SmoothNoise::student(e, 1, steep).unwrap(),
        SmoothNoise::student(e, 4, steep).unwrap(),
        SmoothNoise::laplace_pareto(e, 3, steep).unwrap(),
        SmoothNoise::laplace(epsilon(2.0), delta(1e-3), steep).unwrap(),
        SmoothNoise::laplace_log_normal(Rho::new(0.5).unwrap(), steep).unwrap(),
    ];
    for (seed, noise) in noises.into_iter().enumerate() {
        let mut rng = SeededForTests::insecure(seed as u64);
        let mut draw = || noise.release_steps(&statistic, &mut rng).unwrap().into_value();
        let samples: Vec<i128> = (0..100_000).map(|_| draw()).collect();
        let smooth = statistic.smooth(steep).unwrap();
        let fit = |smooth: f64| {
            let law = law(&tails(&noise, smooth, 402), statistic.value(), 200);
            let folded = samples.iter().map(|&o| o.clamp(-200, 200));
            Fit::of(folded, |o| law.probability(&o), -200..=200)
        };
        assert!(fit(smooth).accepts(), "{}", noise.family());
        assert!(fit(1.05 * smooth).rejects(), "{}", noise.family());
    }
}

#[test]
fn a_padded_quantile_is_private_under_add_or_remove() {
    let bounds = crate::mechanism::Bounds::on(0.0, 4.0, Grid::ONE).unwrap();
    let noise = SmoothNoise::laplace_pareto(epsilon(1.0), 3, t(0.1)).unwrap();
    for rank in [0.5, 0.25] {
        let mechanism = |x: &Vec<u8>| {
            let values = x.iter().map(|&v| f64::from(v));
            let data = super::super::Values::padded(bounds, values, 5, rank).unwrap();
            let statistic = super::super::OrderStatistic::quantile(&data, rank).unwrap();
            let smooth = statistic.smooth(noise.t).unwrap();
            law(&tails(&noise, smooth, 102), statistic.value(), 50)
        };
        let domain = [0u8, 1, 4];
        let near = |x: &Vec<u8>| add_or_remove_one(x, &domain);
        check(mechanism, rows(&domain, 0..=5), near, 1.0 + 1e-9, 0.0)
            .unwrap_or_else(|v| panic!("{v}"));
    }
}

#[test]
fn a_quantile_of_a_protected_number_of_rows_is_private() {
    let bounds = crate::mechanism::Bounds::on(0.0, 4.0, Grid::ONE).unwrap();
    let noise = SmoothNoise::laplace_pareto(epsilon(1.0), 3, t(0.1)).unwrap();
    let domain = [0u8, 1, 4];
    let near = |x: &Vec<u8>| add_or_remove_one(x, &domain);
    let replaced = |x: &Vec<u8>| {
        let each = (0..x.len()).flat_map(|i| domain.map(|v| (i, v)));
        let change = |(i, v)| {
            let mut x = x.clone();
            x[i] = v;
            x
        };
        each.map(change).collect()
    };
    for rank in [0.5, 0.25, 0.9] {
        let law_of = |x: &Vec<u8>, shift: i64| {
            let data = super::super::Values::new(bounds, x.iter().map(|&v| f64::from(v)));
            let statistic = super::super::OrderStatistic::of_rows(&data, rank).unwrap();
            let smooth = statistic.smooth(noise.t).unwrap();
            let smooth = if shift == 0 { smooth } else { smooth.min(1.0) };
            law(&tails(&noise, smooth, 102), statistic.value(), 50)
        };
        let all = || rows(&domain, 0..=5);
        check(|x: &Vec<u8>| law_of(x, 0), all(), near, 1.0 + 1e-9, 0.0)
            .unwrap_or_else(|v| panic!("{v}"));
        check(|x: &Vec<u8>| law_of(x, 0), all(), replaced, 1.0 + 1e-9, 0.0)
            .unwrap_or_else(|v| panic!("{v}"));
        // The check has power: noise of one step for all data is not enough.
        assert!(check(|x: &Vec<u8>| law_of(x, 1), all(), near, 1.0 + 1e-9, 0.0).is_err());
    }
    let nothing = super::super::Values::new(bounds, []);
    let statistic = super::super::OrderStatistic::of_rows(&nothing, 0.5).unwrap();
    assert_eq!((statistic.value(), statistic.at_distance(0)), (0, 4));
    for q in [0.0, 1.0, f64::NAN, 1e-12] {
        assert!(super::super::OrderStatistic::of_rows(&nothing, q).is_err());
    }
}

#[test]
fn an_infinite_smooth_sensitivity_is_refused_with_what_works_instead() {
    let mut rng = SeededForTests::insecure(2);
    let noise = SmoothNoise::new(Guarantee::Pure(epsilon(1.0)), None).unwrap();
    for count in [0, 1, 1_000_000] {
        let reciprocal = Reciprocal::new(count, Grid::power_of_two(-40).unwrap()).unwrap();
        let error = noise.release(&reciprocal, &mut rng).unwrap_err().to_string();
        assert!(error.contains("infinite") && error.contains("propose-test-release"), "{error}");
    }
}
