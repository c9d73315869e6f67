use super::{Fit, Observation};
use crate::profile::{OneWay, Profile};
use crate::schema::Column;

/// Two columns of three codes with these counts, and nothing in the tree yet.
fn fit(rows: [f64; 3], columns: [f64; 3], total: f64, mu: f64) -> Fit {
    let column = Column::categorical("x", 3).unwrap();
    let one_way = |counts: [f64; 3]| OneWay { counts: counts.to_vec(), variance: 1.0 };
    let profile = |counts: [f64; 3]| Profile::of(&column, &one_way(counts), total, &[true; 3]);
    let profiles = vec![profile(rows), profile(columns)];
    Fit::new(profiles, vec![one_way(rows), one_way(columns)], total, mu)
}

const TABLE: [f64; 9] = [3000.0, 0.0, 1000.0, 0.0, 2000.0, 500.0, 1000.0, 500.0, 2000.0];

#[test]
fn without_pairs_columns_are_independent() {
    let mut fit = fit([4000.0, 2500.0, 3500.0], [4000.0, 2500.0, 3500.0], 10_000.0, 1.0);
    let estimate = fit.estimate().unwrap();
    let table = &estimate.passages().from(0)[0].1;
    assert!((table[0] - 0.16).abs() < 1e-3 && (table[4] - 0.0625).abs() < 1e-3, "{table:?}");
}

#[test]
fn a_measured_pair_is_met_inside_the_tree_and_outside() {
    for (outside, near) in [(false, 30.0), (true, 60.0)] {
        let mut fit = fit([4000.0, 2500.0, 3500.0], [4000.0, 2500.0, 3500.0], 10_000.0, 1.0);
        let seen = Observation::new(vec![0, 1], vec![0, 0], TABLE.to_vec(), 1.0);
        fit.closely(); // a usual fit stops earlier: half a nat from the optimum
        if outside {
            fit.add_outside(seen)
        } else {
            fit.add(seen)
        }
        let estimate = fit.estimate().unwrap();
        let table = &estimate.passages().from(0)[0].1;
        let found = estimate.table([0, 1], [0, 0], table, 10_000.0);
        for (found, truth) in found.iter().zip(TABLE) {
            assert!((found - truth).abs() < near, "{outside}: {found} {truth}");
        }
    }
}

#[test]
fn potentials_stay_finite_where_the_noise_is_far_below_a_row() {
    let mut fit = fit([4000.0, 2500.0, 3500.0], [4000.0, 2500.0, 3500.0], 10_000.0, 1e6);
    // Measured again and again, without any noise: empty cells pull towards −∞.
    for _ in 0..5 {
        fit.add(Observation::new(vec![0, 1], vec![0, 0], TABLE.to_vec(), 1e-12));
        let estimate = fit.estimate().unwrap();
        let logs = estimate.factors.iter().flat_map(|factor| &factor.log);
        assert!(logs.into_iter().all(|log| log.is_finite()));
        let sum: f64 = estimate.passages().from(0)[0].1.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}
