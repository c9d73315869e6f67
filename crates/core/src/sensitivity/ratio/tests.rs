use super::super::gate::Gate;
use super::super::gate::tests::{laplace_cdf, opening};
use super::super::propose::ProposeTestRelease;
use super::super::{ProfileLimits, check_profile};
use super::*;
use crate::random::SeededForTests;
use crate::unit::{Delta, Epsilon};
use demure_testkit::distribution::Distribution;
use demure_testkit::neighbours::check;

#[test]
fn the_reciprocal_has_a_profile_at_every_grid() {
    for exponent in [0, -3, -10, -60] {
        let grid = Grid::power_of_two(exponent).unwrap();
        let at = |c: &u64| Reciprocal::new(*c, grid).unwrap();
        let near = |&c: &u64| {
            let beside = [c.checked_sub(1), Some(c + 1)].into_iter().flatten();
            beside.filter(|&c| c <= 40).collect()
        };
        // The counts 0 and 1 are without bound, so what happens between them is not claimed.
        let value = |c: &u64| at(c).value();
        let profile = |c: &u64, k| at(c).at_distance(k);
        let limits = ProfileLimits::of(&at(&1));
        check_profile(0..=40, near, value, profile, limits, 12).unwrap();
        assert_eq!(at(&5).distance_above(at(&5).at_distance(0) - 1), Some(0));
        assert_eq!(at(&30).distance_above(u64::MAX - 1), Some(29));
    }
    assert!(Reciprocal::new(1, Grid::power_of_two(-61).unwrap()).is_err());
}

/// Multisets of n of the points of a 3 × 3 grid.
fn points(n: usize) -> Vec<Vec<u8>> {
    let mut all = vec![vec![]];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|x: Vec<u8>| {
                let from = x.last().copied().unwrap_or(0);
                (from..9).map(move |v| x.iter().copied().chain([v]).collect())
            })
            .collect();
    }
    all
}

fn replaced(x: &Vec<u8>) -> Vec<Vec<u8>> {
    let one = |(i, v): (usize, u8)| {
        let mut y = x.clone();
        y[i] = v;
        y.sort_unstable();
        y
    };
    (0..x.len()).flat_map(|i| (0..9).map(move |v| (i, v))).map(one).filter(|y| y != x).collect()
}

fn slope(x: &[u8]) -> Slope {
    let bounds = Bounds::on(0.0, 2.0, Grid::ONE).unwrap();
    let pairs = x.iter().map(|&v| (f64::from(v / 3), f64::from(v % 3)));
    Slope::new(bounds, bounds, pairs).unwrap()
}

#[test]
fn the_slope_has_a_profile_on_all_small_datasets() {
    for n in 2..=5 {
        let value = |x: &Vec<u8>| slope(x).value();
        let profile = |x: &Vec<u8>, k| slope(x).at_distance(k);
        let limits = ProfileLimits::of(&slope(&[0, 8]));
        check_profile(points(n), replaced, value, profile, limits, 6)
            .unwrap_or_else(|flaw| panic!("{n}: {flaw}"));
    }
    // Finite only where V > X²: many points, spread out.
    let spread: Vec<u8> = (0..40).map(|i| if i % 2 == 0 { 0 } else { 8 }).collect();
    assert_eq!(slope(&spread).value(), 1 << FINE);
    assert!(slope(&spread).at_distance(0) < 1 << FINE);
    assert_eq!(slope(&spread).at_distance(10), u64::MAX);
    assert_eq!(slope(&[0, 1, 2]).value(), 0);
}

#[test]
fn the_distance_of_a_slope_is_lipschitz_where_it_is_finite() {
    // Random walks through larger datasets: the distance moves by one at most.
    let mut state = 3u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (state >> 33) % n
    };
    let mut x: Vec<u8> = (0..60).map(|_| next(9) as u8).collect();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3_000 {
        let before = slope(&x);
        let moved = before.value();
        let bounds = [1u64 << 14, 1 << 16, 1 << 18];
        let distances = bounds.map(|b| before.distance_above(b).unwrap());
        x[next(60) as usize] = next(9) as u8;
        let after = slope(&x);
        assert!(moved.abs_diff(after.value()) <= u128::from(before.at_distance(0)));
        for (b, d) in bounds.into_iter().zip(distances) {
            seen.insert(d);
            assert!(d.abs_diff(after.distance_above(b).unwrap()) <= 1);
        }
    }
    assert!(seen.len() > 5, "{seen:?}");
}

/// A proposal's release, put into cells: a post-processing that leaves enough to see.
fn coarse(
    statistic: &dyn Statistic,
    (gate, bound, e2): (&Gate, u64, f64),
    cell: i128,
) -> Distribution<Option<i128>> {
    let p = opening(gate, statistic.distance_above(bound).unwrap_or(1 << 41));
    let below = |o: i128| match o {
        -12 => 0.0,
        12 => 1.0,
        _ => laplace_cdf(bound as f64 / e2, o * cell - statistic.value()),
    };
    let cells = (-12..12).map(|o| (Some(o), p * (below(o + 1) - below(o))));
    Distribution::new(cells.chain([(None, 1.0 - p)]))
}

#[test]
fn proposals_for_reciprocals_and_slopes_are_private_on_all_small_datasets() {
    let (e1, e2, d) = (1.0, 1.0, 0.05);
    let gate = Gate::new(Epsilon::new(e1).unwrap(), Delta::new(d).unwrap()).unwrap();
    let grid = Grid::power_of_two(-6).unwrap();
    let counts = |&c: &u64| [c.wrapping_sub(1), c + 1].into_iter().filter(|&c| c <= 30).collect();
    for bound in [2, 5, 12] {
        let law = |&c: &u64| coarse(&Reciprocal::new(c, grid).unwrap(), (&gate, bound, e2), 6);
        check(law, 0..=30, counts, e1 + e2 + 1e-9, d).unwrap_or_else(|v| panic!("{v}"));
    }
    for bound in [1u64 << 18, 1 << 20, 1 << 22] {
        for n in 2..=5 {
            let law = |x: &Vec<u8>| coarse(&slope(x), (&gate, bound, e2), 1 << 19);
            check(law, points(n), replaced, e1 + e2 + 1e-9, d)
                .unwrap_or_else(|v| panic!("{n}: {v}"));
        }
    }
}

#[test]
fn a_slope_of_many_points_comes_back_and_one_of_few_does_not() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let pairs = |n: u32| {
        (0..n).map(move |i| {
            let x = f64::from(i) / f64::from(n);
            (x, 0.2 + 0.5 * x)
        })
    };
    let many = Slope::new(bounds, bounds, pairs(50_000)).unwrap();
    let mut rng = SeededForTests::insecure(4);
    let (e, d) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let bound = (0.01 / many.unit()) as u64;
    let m = ProposeTestRelease::new(e, d, bound).unwrap();
    let answer = m.release(&many, &mut rng).unwrap().into_value().unwrap();
    assert!((answer - 0.5).abs() < 0.5, "{answer}");
    let few = Slope::new(bounds, bounds, pairs(20)).unwrap();
    assert_eq!(m.release(&few, &mut rng).unwrap().into_value(), None);
    let gate = Gate::new(Epsilon::new(0.5).unwrap(), d).unwrap();
    assert!(opening(&gate, 0) <= 1e-6);
}
