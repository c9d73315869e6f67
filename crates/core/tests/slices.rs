//! Mechanisms take slices as they are: bounds are given once, and rows are counted for the user.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

use demure_core::mechanism::{
    Accumulator, BoundedMean, BoundedSum, BoundedVariance, Bounds, Contributions, GroupTotals,
    Groups, Histogram, Quantile, Rows, Statistics,
};
use demure_core::random::SeededForTests;
use demure_core::unit::{Epsilon, Neighbours::AddRemove};
use std::collections::BTreeMap;

const VALUES: [f64; 6] = [-5.0, 0.25, 1.5, 2.0, 99.0, f64::NAN];

fn epsilon() -> Epsilon {
    Epsilon::new(0.7).unwrap()
}

fn bounds() -> Bounds {
    Bounds::new(-1.0, 3.0).unwrap()
}

fn rng() -> SeededForTests {
    SeededForTests::insecure(4)
}

/// The same, with bounds given twice and values added one by one.
fn by_hand() -> Accumulator {
    let mut accumulator = Accumulator::new(bounds());
    VALUES.into_iter().for_each(|value| accumulator.add(value));
    accumulator
}

#[test]
fn sum_mean_and_variance_accumulate_within_their_own_bounds() {
    let few = Rows::AtMost(1);
    let sum = BoundedSum::new(epsilon(), bounds(), AddRemove, few).unwrap();
    let mean = BoundedMean::new(epsilon(), bounds(), AddRemove, few).unwrap();
    let variance = BoundedVariance::new(epsilon(), bounds(), AddRemove, few).unwrap();
    assert_eq!(
        sum.release(&sum.accumulate(VALUES), &mut rng()),
        sum.release(&by_hand(), &mut rng())
    );
    assert_eq!(
        mean.release(&mean.accumulate(VALUES.as_slice()), &mut rng()),
        mean.release(&by_hand(), &mut rng())
    );
    assert_eq!(
        variance.release(&variance.accumulate(VALUES.iter()), &mut rng()),
        variance.release(&by_hand(), &mut rng())
    );
}

#[test]
fn groups_total_within_their_own_bounds() {
    let groups = Groups::values(bounds(), Statistics::Variance)
        .with_nulls(true)
        .calibrate(epsilon(), AddRemove, Contributions::ONE)
        .unwrap();
    let (ours, theirs) = (groups.totals(VALUES, 2), GroupTotals::values(by_hand(), 2));
    assert_eq!(groups.release(&[ours], &mut rng()), groups.release(&[theirs], &mut rng()));
}

#[test]
fn histograms_count_rows() {
    let histogram = Histogram::new(epsilon(), AddRemove, Contributions::ONE).unwrap();
    let counts = BTreeMap::from([("a", 3), ("b", 1), ("not public", 2)]);
    let rows = ["a", "not public", "b", "a", "not public", "a"];
    assert_eq!(
        histogram.release_rows(&["a", "b", "c"], rows, &mut rng()),
        histogram.release_keys(&["a", "b", "c"], &counts, &mut rng())
    );
}

#[test]
fn quantiles_use_the_grid_of_their_bounds() {
    let bounds = Bounds::new(-1.0, 3.0).unwrap();
    let one = Quantile::new(epsilon(), AddRemove, 0.5, bounds).unwrap();
    let grid = bounds.grid();
    let other = Quantile::with_grid(epsilon(), AddRemove, 0.5, -1.0..=3.0, grid).unwrap();
    assert_eq!(one.grid(), grid);
    assert_eq!(one.release(&VALUES, &mut rng()), other.release(&VALUES, &mut rng()));
    let between = Quantile::between(epsilon(), AddRemove, 0.5, -1.0..=3.0).unwrap();
    assert_eq!(one.release(&VALUES, &mut rng()), between.release(&VALUES, &mut rng()));
}
