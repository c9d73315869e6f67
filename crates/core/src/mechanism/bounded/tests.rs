use super::*;
use crate::random::SeededForTests;
use crate::unit::{Epsilon, Rho};
use Neighbours::{AddRemove, Replace};
use demure_testkit::datasets::{add_or_remove_one, replace_one, rows};
use demure_testkit::distribution::shifted;
use demure_testkit::neighbours::check;

pub(crate) fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

pub(crate) fn bounds(lower: f64, upper: f64) -> Bounds {
    Bounds::on(lower, upper, Grid::ONE).unwrap()
}

pub(crate) fn accumulate(bounds: Bounds, values: impl IntoIterator<Item = f64>) -> Accumulator {
    let mut all = Accumulator::new(bounds);
    all.extend(values);
    all
}

/// Each unit's rows: all that [`Rows`] allows, over a domain with bad values.
fn units(kind: Rows, b: Bounds) -> Vec<Vec<u8>> {
    // Codes: 0 is NaN, 1 is −∞, 2 is beyond b, others are in between.
    let codes: Vec<u8> = (0..=3 + b.width as u8).collect();
    match kind {
        Rows::Exactly(k) => rows(&codes, k as usize..=k as usize),
        Rows::AtMost(k) => rows(&codes, 0..=k as usize),
    }
}

fn value(code: u8, b: Bounds) -> f64 {
    match code {
        0 => f64::NAN,
        1 => f64::NEG_INFINITY,
        2 => b.upper() + 1e9,
        code => b.lower() + f64::from(code) - 3.0,
    }
}

/// The largest ‖·‖₁ and ‖·‖₂² between neighbours, over all datasets of at most one
/// unit (the others cancel in a sum).
pub(crate) fn sensitivity(
    statistic: impl Fn(&Accumulator) -> Vec<i128>,
    b: Bounds,
    relation: Neighbours,
    kind: Rows,
) -> (u128, u128) {
    let domain = units(kind, b);
    let of = |dataset: &[Vec<u8>]| {
        statistic(&accumulate(b, dataset.iter().flatten().map(|&code| value(code, b))))
    };
    let mut most = (0, 0);
    let start = if relation == Replace { rows(&domain, 1..=1) } else { vec![vec![]] };
    for x in start {
        let near = match relation {
            Replace => replace_one(&x, &domain),
            AddRemove => add_or_remove_one(&x, &domain),
        };
        for y in near {
            let moved: Vec<u128> = of(&x).iter().zip(of(&y)).map(|(p, q)| p.abs_diff(q)).collect();
            most.0 = most.0.max(moved.iter().sum());
            most.1 = most.1.max(moved.iter().map(|d| d * d).sum());
        }
    }
    most
}

/// Bounds of every sign, both relations, every kind of unit.
pub(crate) fn settings() -> Vec<(Bounds, Neighbours, Rows)> {
    let mut all = Vec::new();
    for (lower, upper) in [(0.0, 2.0), (-1.0, 2.0), (3.0, 5.0), (-6.0, -4.0)] {
        for relation in [AddRemove, Replace] {
            for k in [1, 2] {
                let b = bounds(lower, upper);
                all.push((b, relation, Rows::Exactly(k)));
                all.push((b, relation, Rows::AtMost(k)));
            }
        }
    }
    all
}

#[test]
fn sensitivities_are_exact_on_all_small_datasets() {
    for (b, relation, kind) in settings() {
        let (e, scale) = (epsilon(1.0), |noise: &Noise| noise.calibration().scale.round() as u128);
        let sum = BoundedSum::new(e, b, relation, kind).unwrap();
        let (l1, _) = sensitivity(|a| vec![sum.exact(a).unwrap()], b, relation, kind);
        assert_eq!(l1, scale(&sum.noise), "{b:?} {relation} {kind:?}");
        let (l1, _) = sensitivity(|a| vec![i128::from(a.rows)], b, relation, kind);
        match Count::new(e, relation, kind) {
            Ok(count) => assert_eq!(l1, scale(&count.noise)),
            Err(_) => assert_eq!(l1, 0),
        }
    }
}

#[test]
fn a_sum_is_private_by_brute_force_and_a_wrong_sensitivity_is_not() {
    let b = bounds(3.0, 5.0);
    let domain = [3u8, 4, 5];
    for (relation, kind) in [(AddRemove, Rows::AtMost(1)), (Replace, Rows::Exactly(1))] {
        let near = |x: &Vec<u8>| match relation {
            AddRemove => add_or_remove_one(x, &domain),
            Replace => replace_one(x, &domain),
        };
        let sum = BoundedSum::new(epsilon(1.0), b, relation, kind).unwrap();
        let run = |scale: f64| {
            let pmf = |k: i128| (0.5 / scale).tanh() * (-(k.abs() as f64) / scale).exp();
            let released = |x: &Vec<u8>| {
                let all = accumulate(b, x.iter().map(|&v| f64::from(v)));
                shifted(sum.exact(&all).unwrap(), pmf, -40..=60, 1e-2)
            };
            check(released, rows(&domain, 1..=2), near, 1.0, 0.0)
        };
        let worst = run(sum.calibration().scale).unwrap();
        assert!((worst.epsilon - 1.0).abs() < 1e-9);
        // The twins: b − a where max(|a|, |b|) is due, and half of b − a.
        assert!(run(if relation == AddRemove { 2.0 } else { 1.0 }).is_err());
    }
}

#[test]
fn special_values_and_bad_parameters() {
    let b = bounds(-2.0, 5.0);
    let offsets = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -0.4, 2.5];
    assert_eq!(offsets.map(|v| b.offset(v) + b.lower as i64), [0, 5, -2, 5, 0, 3]);
    assert_eq!(bounds(3.0, 5.0).offset(f64::NAN), 0);
    assert_eq!(offsets.map(|v| b.step(v)), [2, 7, 0, 7, 2, 5]);
    let whole = accumulate(b, offsets);
    let parts = Accumulator::of_parts(b, 6, whole.sum, whole.squares).unwrap();
    assert_eq!((parts.rows, parts.sum, parts.squares), (6, 23, 4 + 49 + 49 + 4 + 25));
    assert!(Accumulator::of_parts(b, 2, 14, 98).is_ok());
    for (sum, squares) in [(15, 98), (14, 99), (-1, 0), (0, -1)] {
        let refused = Accumulator::of_parts(b, 2, sum, squares).unwrap_err();
        assert!(!refused.to_string().contains(char::is_numeric), "{refused}");
    }
    let full = Bounds::on(0.0, 2f64.powi(30), Grid::ONE).unwrap();
    assert!(Accumulator::of_parts(full, u64::MAX, i128::MAX, 0).is_err());
    assert_eq!(full.step(f64::INFINITY), 1 << 30);
    assert_eq!((b.lower(), b.upper()), (-2.0, 5.0));
    let nan = f64::NAN;
    for (low, high) in [(1.0, 1.0), (2.0, 1.0), (nan, 1.0), (0.0, nan), (0.0, f64::INFINITY)] {
        assert!(Bounds::new(low, high).is_err());
    }
    assert!(Bounds::on(0.0, 0.4, Grid::ONE).is_err());
    assert!(Bounds::on(0.0, 2f64.powi(31), Grid::ONE).is_err());
    assert!(Bounds::new(1e17, 1e17 + 64.0).is_err());
    let e = epsilon(1.0);
    assert!(BoundedSum::new(e, b, AddRemove, Rows::AtMost(0)).is_err());
    let far = Bounds::on(2f64.powi(61), 2f64.powi(61) + 1e6, Grid::ONE).unwrap();
    for budget in [Budget::from(epsilon(1e9)), Budget::from(Rho::new(1e30).unwrap())] {
        let wide = BoundedSum::new(budget, far, AddRemove, Rows::AtMost(u32::MAX));
        assert!(wide.unwrap_err().to_string().contains("coarser grid"));
    }
    assert!(Count::new(e, Replace, Rows::Exactly(1)).is_err());
    let mut rng = SeededForTests::insecure(1);
    let sum = BoundedSum::new(e, b, AddRemove, Rows::AtMost(1)).unwrap();
    assert!(sum.release(&Accumulator::new(bounds(0.0, 1.0)), &mut rng).is_err());
    let mut all = accumulate(b, [1.0]);
    assert!(all.merge(&Accumulator::new(bounds(0.0, 1.0))).is_err());
    assert!(!format!("{all:?}").contains("rows"));
    let count = Count::new(e, AddRemove, Rows::AtMost(1)).unwrap();
    assert!(count.release(1_000, &mut rng).unwrap().value().abs_diff(1_000) < 40);
}
