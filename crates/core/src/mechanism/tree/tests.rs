use super::*;
use crate::random::SeededForTests;
use crate::unit::{Epsilon, Rho};
use Neighbours::{AddRemove, Replace};
use demure_testkit::datasets::{add_or_remove_one, replace_one, rows};
use demure_testkit::distribution::{Distribution, shifted};
use demure_testkit::neighbours::check;

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn tree(domain: u32, branching: u32, neighbours: Neighbours) -> Tree {
    Tree::new(epsilon(1.0), neighbours, TreeShape { cells: domain, branching }, 1).unwrap()
}

fn counts(dataset: &[Vec<u8>], domain: u32) -> Vec<u64> {
    let rows = || dataset.iter().flatten();
    (0..domain).map(|cell| rows().filter(|&&row| u32::from(row) == cell).count() as u64).collect()
}

#[test]
fn both_sensitivities_are_exact_on_all_small_datasets_in_both_relations() {
    for (domain, branching, k) in
        [(1, 2, 1), (1, 2, 2), (2, 2, 2), (5, 2, 1), (8, 2, 2), (9, 3, 1), (7, 3, 2), (10, 4, 1)]
    {
        // A unit is a list of at most k rows, each a cell.
        let cells: Vec<u8> = (0..domain as u8).collect();
        let units = rows(&cells, 0..=k as usize);
        for relation in [AddRemove, Replace] {
            let tree = tree(domain, branching, relation);
            let (mut l1, mut l2_squared) = (0, 0);
            let all = match relation {
                AddRemove => vec![vec![]],
                Replace => rows(&units, 1..=1),
            };
            for x in all {
                let near = match relation {
                    AddRemove => add_or_remove_one(&x, &units),
                    Replace => replace_one(&x, &units),
                };
                let at_x = tree.nodes(&counts(&x, domain)).concat();
                for y in near {
                    let at_y = tree.nodes(&counts(&y, domain)).concat();
                    let moved = || at_x.iter().zip(&at_y).map(|(p, q)| p.abs_diff(*q));
                    l1 = l1.max(moved().sum());
                    l2_squared = l2_squared.max(moved().map(|d| d * d).sum());
                }
            }
            let stated = sensitivity(tree.levels(), relation, k);
            assert_eq!((l1, l2_squared), stated, "{domain} {branching} {k} {relation}");
        }
    }
    // A peer's case: two rows on five levels are √20 = 4.472 apart, not 4.
    assert_eq!(sensitivity(5, AddRemove, 2), (10, 20));
    // And the noise is scaled to exactly that.
    let half = Rho::new(0.5).unwrap();
    let sigma = Tree::new(half, AddRemove, TreeShape { cells: 16, branching: 2 }, 2)
        .unwrap()
        .calibration()
        .scale;
    assert!((sigma - 20f64.sqrt()).abs() < 1e-12);
    assert_eq!(tree(16, 2, Replace).calibration().scale, 8.0);
}

#[test]
fn a_small_tree_is_private_by_brute_force_and_forgotten_levels_are_caught() {
    for relation in [AddRemove, Replace] {
        let tree =
            Tree::new(epsilon(4.0), relation, TreeShape { cells: 2, branching: 2 }, 1).unwrap();
        let units: Vec<Vec<u8>> = vec![vec![0], vec![1]];
        let near = |x: &Vec<Vec<u8>>| match relation {
            AddRemove => add_or_remove_one(x, &units),
            Replace => replace_one(x, &units),
        };
        let run = |scale: f64| {
            let pmf = |k: i128| (0.5 / scale).tanh() * (-(k.abs() as f64) / scale).exp();
            let released = |x: &Vec<Vec<u8>>| {
                let nodes = tree.nodes(&counts(x, 2)).concat();
                let node = |i: usize| shifted(nodes[i], pmf, -6..=8, 1e-2);
                let pair: Distribution<(i128, i128)> = node(0).and(&node(1));
                pair.and(&node(2))
            };
            check(released, rows(&units, 0..=2), near, 4.0, 0.0)
        };
        let scale = tree.calibration().scale;
        let worst = run(scale).unwrap();
        assert!((worst.epsilon - 4.0).abs() < 1e-9);
        assert!(run(scale / tree.levels() as f64).is_err());
    }
}

/// The estimate of each cell by solving the normal equations.
fn least_squares(tree: &Tree, noised: &[Vec<f64>]) -> Vec<f64> {
    let n = tree.levels[0];
    let mut system = vec![vec![0.0; n + 1]; n];
    for (level, nodes) in noised.iter().enumerate() {
        let width = tree.branching.pow(level as u32);
        for (i, y) in nodes.iter().enumerate() {
            let cells = i * width..((i + 1) * width).min(n);
            for row in &mut system[cells.clone()] {
                row[cells.clone()].iter_mut().for_each(|x| *x += 1.0);
                row[n] += y;
            }
        }
    }
    for pivot in 0..n {
        let row = system[pivot].clone();
        for other in (0..n).filter(|&other| other != pivot) {
            let factor = system[other][pivot] / row[pivot];
            system[other].iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
        }
    }
    (0..n).map(|i| system[i][n] / system[i][i]).collect()
}

#[test]
fn consistency_is_least_squares_with_weights_within_one() {
    for (domain, branching) in [(1, 2), (4, 2), (7, 2), (9, 3), (11, 3), (13, 4)] {
        let tree = tree(domain, branching, AddRemove);
        let empty: Vec<Vec<f64>> = tree.levels.iter().map(|&size| vec![0.0; size]).collect();
        let mut noised = empty.clone();
        for (i, node) in noised.iter_mut().flatten().enumerate() {
            *node = ((i * i * 37 + 11) % 23) as f64;
        }
        let (fast, slow) = (tree.consistent(noised.clone()), least_squares(&tree, &noised));
        for (cell, truth) in slow.iter().enumerate() {
            assert!((fast.count(cell..=cell) - truth).abs() < 1e-9);
        }
        // The weight of each node in each range: feed one node at a time.
        let size = domain as usize;
        let nodes = |level: usize| (0..tree.levels[level]).map(move |i| (level, i));
        let effects: Vec<Ranges> = (0..tree.levels())
            .flat_map(nodes)
            .map(|(level, i)| {
                let mut one = empty.clone();
                one[level][i] = 1.0;
                tree.consistent(one)
            })
            .collect();
        for low in 0..size {
            for high in low..size {
                let weights = effects.iter().map(|effect| effect.count(low..=high));
                let energy: f64 = weights.clone().map(|w| w * w).sum();
                assert!(weights.clone().all(|w| w.abs() <= 1.0 + 1e-12));
                let rest = 1 + tree.pieces(0, low) + tree.pieces(high + 1, size);
                let pieces = tree.pieces(low, high + 1).min(rest);
                assert!(energy <= pieces as f64 + 1e-9, "{domain} {branching} {low} {high}");
                let most = 2 * (u64::from(branching) - 1) * (tree.levels() as u64 - 1);
                assert!(pieces <= most.max(1));
            }
        }
    }
}

#[test]
fn ranges_and_quantiles_are_near_the_truth() {
    let counts: Vec<u64> = (0..1_000).map(|i| 50 + i % 7).collect();
    let mut rng = SeededForTests::insecure(41);
    let beta = Beta::new(1e-4).unwrap();
    for budget in [Budget::from(epsilon(1.0)), Budget::from(Rho::new(0.1).unwrap())] {
        let tree =
            Tree::new(budget, Replace, TreeShape { cells: 1_000, branching: 16 }, 1).unwrap();
        assert_eq!((tree.levels(), tree.guarantee()), (4, budget.guarantee()));
        let release = tree.release(&counts, &mut rng).unwrap();
        let ranges = release.value();
        let any = tree.error(beta).unwrap();
        for (low, high) in [(0, 999), (0, 0), (17, 17), (3, 800), (250, 749), (15, 32)] {
            let truth = counts[low..=high].iter().sum::<u64>() as f64;
            let bound = tree.error_of_range(low..=high, beta).unwrap();
            assert!((ranges.count(low..=high) - truth).abs() <= bound && bound <= any);
        }
        assert_eq!(ranges.count(0..=usize::MAX), ranges.total());
        assert!(ranges.quantile(0.5).unwrap().abs_diff(500) <= 5);
        assert!(ranges.quantile(0.0).unwrap() == 0 && ranges.quantile(1.0).unwrap() > 980);
        assert!(ranges.quantile(f64::NAN).is_err());
    }
    // A long range of single cells would have √800·√2/ε as its error; the tree does better.
    let plain = 800f64.sqrt() * 2f64.sqrt();
    let mut squares = 0.0;
    let tree =
        Tree::new(epsilon(1.0), AddRemove, TreeShape { cells: 1_000, branching: 16 }, 1).unwrap();
    for _ in 0..50 {
        let release = tree.release(&[0; 1_000], &mut rng).unwrap();
        squares += release.value().count(100..=899).powi(2);
    }
    assert!((squares / 50.0).sqrt() < 0.7 * plain);
}

#[test]
fn special_values() {
    let e = epsilon(1.0);
    assert!(
        Tree::new(e, Replace, TreeShape { cells: 0, branching: 2 }, 1).is_err()
            && Tree::new(e, Replace, TreeShape { cells: 2, branching: 1 }, 1).is_err()
    );
    assert!(Tree::new(e, Replace, TreeShape { cells: 2, branching: 2 }, 0).is_err());
    let mut rng = SeededForTests::insecure(1);
    let tree = tree(3, 2, Replace);
    assert!(tree.release(&[1, 2], &mut rng).is_err());
    let release = tree.release(&[1, u64::MAX, 3], &mut rng).unwrap();
    let ranges = release.value();
    assert_eq!((ranges.count(RangeInclusive::new(2, 1)), ranges.count(7..=9)), (0.0, 0.0));
    let beta = Beta::new(0.1).unwrap();
    assert_eq!(tree.error_of_range(5..=9, beta).unwrap(), 0.0);
}
