use super::super::bounded::BoundedSum;
use super::super::bounded::tests::{accumulate, bounds, epsilon, sensitivity, settings};
use super::*;
use crate::random::SeededForTests;
use crate::unit::{Grid, Rho};
use Neighbours::{AddRemove, Replace};
use demure_testkit::datasets::{add_or_remove_one, replace_one, rows};
use demure_testkit::distribution::{Distribution, shifted};
use demure_testkit::neighbours::check;

#[test]
fn sensitivities_are_exact_on_all_small_datasets() {
    for (b, relation, kind) in settings() {
        let name = format!("{b:?} {relation} {kind:?}");
        for degree in [1, 2] {
            let make = |budget| Moments::new(budget, b, relation, kind, degree).unwrap();
            let pure = make(epsilon(1.0).into());
            let whole = |a: &Accumulator| pure.vector(a).unwrap();
            if (pure.public, degree) == (true, 2) {
                // Two halves of the budget: twice the scale. (e² moves by less than
                // w² when w is odd: e is never 0.)
                for (i, noise) in pure.noise.iter().enumerate() {
                    let (l1, _) = sensitivity(|a| vec![whole(a)[i]], b, relation, kind);
                    let even = i == 0 || b.width % 2 == 0;
                    assert!(2.0 * l1 as f64 <= noise.calibration().scale * (1.0 + 1e-12), "{name}");
                    assert_eq!(
                        even,
                        (2.0 * l1 as f64 - noise.calibration().scale).abs() < 1e-9,
                        "{name}"
                    );
                }
                continue;
            }
            let (l1, l2_squared) = sensitivity(whole, b, relation, kind);
            assert!((pure.noise[0].calibration().scale - l1 as f64).abs() < 1e-9, "{name}");
            // At ρ = ½, σ is Δ₂.
            let sigma = make(Rho::new(0.5).unwrap().into()).noise[0].calibration().scale;
            assert!((sigma * sigma - l2_squared as f64).abs() < 1e-9, "{name}");
        }
    }
}

#[test]
fn a_mean_is_private_by_brute_force_and_less_noise_is_not() {
    let b = bounds(3.0, 5.0);
    let domain = [3u8, 4, 5];
    for (relation, kind) in [(AddRemove, Rows::AtMost(1)), (Replace, Rows::Exactly(1))] {
        let near = |x: &Vec<u8>| match relation {
            AddRemove => add_or_remove_one(x, &domain),
            Replace => replace_one(x, &domain),
        };
        let mean = BoundedMean::new(epsilon(1.0), b, relation, kind).unwrap().moments;
        let run = |scale: f64| {
            let pmf = |k: i128| (0.5 / scale).tanh() * (-(k.abs() as f64) / scale).exp();
            let released = |x: &Vec<u8>| {
                let parts = mean.vector(&accumulate(b, x.iter().map(|&v| f64::from(v))));
                let laws = parts.unwrap().into_iter().map(|p| shifted(p, pmf, -40..=60, 1e-2));
                laws.fold(Distribution::new([(Vec::new(), 1.0)]), |all, one| {
                    all.and(&one).map(|(list, y)| [list, vec![y]].concat())
                })
            };
            check(released, rows(&domain, 1..=2), near, 1.0, 0.0)
        };
        let scale = mean.noise[0].calibration().scale;
        assert!((run(scale).unwrap().epsilon - 1.0).abs() < 1e-9);
        assert!(run(scale * 0.99).is_err());
    }
}

#[test]
fn releases_are_near_the_truth_and_in_bounds() {
    let b = Bounds::new(-1.0, 3.0).unwrap();
    let values: Vec<f64> = (0..20_000).map(|i| f64::from(i % 100) / 40.0).collect();
    let (half, rest) = values.split_at(7_000);
    let mut all = accumulate(b, half.iter().copied());
    all.merge(&accumulate(b, rest.iter().copied())).unwrap();
    let mean = values.iter().sum::<f64>() / 20_000.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 20_000.0;
    let mut rng = SeededForTests::insecure(31);
    let beta = Beta::new(1e-6).unwrap();
    let rounding = 1e-5;
    for (relation, kind) in
        [(AddRemove, Rows::AtMost(2)), (Replace, Rows::Exactly(1)), (Replace, Rows::AtMost(1))]
    {
        for budget in [Budget::from(epsilon(1.0)), Budget::from(Rho::new(0.1).unwrap())] {
            let m = BoundedMean::new(budget, b, relation, kind).unwrap();
            let (found, bound) =
                (m.release(&all, &mut rng).unwrap(), m.error(20_000, beta).unwrap());
            assert!((found.value() - mean).abs() <= bound + rounding && bound < 0.03);
            assert_eq!(found.guarantee(), budget.guarantee());
            let v = BoundedVariance::new(budget, b, relation, kind).unwrap();
            let (found, bound) =
                (v.release(&all, &mut rng).unwrap(), v.error(20_000, beta).unwrap());
            assert!((found.value() - variance).abs() <= bound + rounding && bound < 0.3);
            let s = BoundedSum::new(budget, b, relation, kind).unwrap();
            let found = s.release(&all, &mut rng).unwrap().into_value();
            let bound = s.error(beta).unwrap() + rounding * 20_000.0;
            assert!((found - mean * 20_000.0).abs() <= bound);
            assert_eq!((found / b.grid().spacing()).fract(), 0.0);
        }
    }
    // Next to nothing in it: never NaN, never outside.
    let nothing = Accumulator::new(b);
    let m = BoundedMean::new(epsilon(0.1), b, AddRemove, Rows::AtMost(1)).unwrap();
    let v = BoundedVariance::new(epsilon(0.1), b, AddRemove, Rows::AtMost(1)).unwrap();
    for _ in 0..500 {
        let mean = m.release(&nothing, &mut rng).unwrap().into_value();
        let variance = v.release(&nothing, &mut rng).unwrap().into_value();
        assert!((-1.0..=3.0).contains(&mean) && (0.0..=4.0).contains(&variance));
    }
    assert_eq!(m.error(0, beta).unwrap(), b.distance());
}

#[test]
fn the_extremes_fit_and_empty_public_data_is_refused() {
    let (e, b) = (epsilon(1.0), bounds(-2.0, 5.0));
    let mut rng = SeededForTests::insecure(1);
    let mean = BoundedMean::new(e, b, Replace, Rows::Exactly(1)).unwrap();
    assert!(mean.release(&Accumulator::new(b), &mut rng).is_err());
    assert!(mean.release(&Accumulator::new(bounds(0.0, 1.0)), &mut rng).is_err());
    let full = Bounds::on(0.0, 2f64.powi(30), Grid::ONE).unwrap();
    let mut all = accumulate(full, [1e30]);
    for _ in 0..63 {
        let copy = all.clone();
        all.merge(&copy).unwrap(); // 2⁶³ rows of the greatest value
    }
    let variance = BoundedVariance::new(e, full, AddRemove, Rows::AtMost(1)).unwrap();
    assert_eq!(variance.moments.vector(&all).unwrap()[..2], [0, 0]);
    assert!(BoundedVariance::new(e, full, AddRemove, Rows::AtMost(u32::MAX)).is_err());
}

#[test]
fn error_bounds_include_the_grid_and_no_rows() {
    let beta = Beta::new(0.05).unwrap();
    let unit = Bounds::new(0.0, 1.0).unwrap();
    let exactly = Rows::Exactly(1);
    // A billion rows: the noise is nothing beside half a step of the grid.
    let mean = BoundedMean::new(epsilon(1.0), unit, Replace, exactly).unwrap();
    assert!(mean.error(1_000_000_000, beta).unwrap() >= unit.grid().spacing() * 0.5);
    let variance = BoundedVariance::new(epsilon(1.0), unit, Replace, exactly).unwrap();
    assert!(variance.error(0, beta).unwrap() >= 0.25);
    assert!(variance.error(1_000_000_000, beta).unwrap() >= unit.grid().spacing());
    let wide = Bounds::new(-1e300, 1e300).unwrap();
    assert!(BoundedVariance::new(epsilon(1.0), wide, AddRemove, exactly).is_err());
}
