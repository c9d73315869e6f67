use demure_core::mechanism::{Bounds, Contributions, Groups, Statistics};
use demure_core::unit::{Epsilon, Grid, Neighbours};
use std::collections::BTreeSet;

/// The parts of a group's distinct values, within the bounds −1 and 2.
fn parts(values: &BTreeSet<i64>, mean: bool) -> Vec<i64> {
    let inside = |x: &i64| (*x).clamp(-1, 2);
    match mean {
        true => vec![
            values.iter().map(|x| inside(x) + 1).sum(),
            values.iter().map(|x| 2 - inside(x)).sum(),
        ],
        false => vec![values.iter().map(inside).sum()],
    }
}

/// Every set of other people's values, and all values of one unit: the change is at most the sensitivity, under both
/// relations, and reaches it.
#[test]
fn sensitivities_hold_on_all_small_groups_and_are_tight() {
    // Some lie outside the bounds.
    let domain: Vec<i64> = vec![-5, -1, 0, 2, 3, 9];
    let subsets = |most: usize| -> Vec<BTreeSet<i64>> {
        let chosen = |mask: u32| -> BTreeSet<i64> {
            (0..domain.len()).filter(|i| mask & 1 << i != 0).map(|i| domain[i]).collect()
        };
        (0..1u32 << domain.len()).map(chosen).filter(|set| set.len() <= most).collect()
    };
    for (mean, wanted) in [(false, Statistics::Sum), (true, Statistics::Mean)] {
        for m in 1..=2 {
            let claimed = |neighbours| {
                let bounds = Bounds::on(-1.0, 2.0, Grid::ONE).unwrap();
                let groups = Groups::values(bounds, wanted).single_group(true).calibrate(
                    Epsilon::new(1.0).unwrap(),
                    neighbours,
                    Contributions::new(1, m).unwrap(),
                );
                groups.unwrap().calibration().sensitivity
            };
            let (mut added, mut replaced) = (0, 0);
            for others in subsets(domain.len()) {
                let with = |own: &BTreeSet<i64>| parts(&others.union(own).copied().collect(), mean);
                let distance = |a: &[i64], b: &[i64]| -> i64 {
                    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
                };
                let units = subsets(m as usize);
                for unit in &units {
                    added = added.max(distance(&with(unit), &parts(&others, mean)));
                    for other in &units {
                        replaced = replaced.max(distance(&with(unit), &with(other)));
                    }
                }
            }
            assert_eq!(added as f64, claimed(Neighbours::AddRemove), "{wanted:?} {m}");
            assert_eq!(replaced as f64, claimed(Neighbours::Replace), "{wanted:?} {m}");
        }
    }
}
