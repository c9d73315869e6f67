use super::*;
use crate::graph::tests::{all, flipped, numbered};
use demure_core::random::SeededForTests;

#[test]
fn the_sorted_degrees_move_by_at_most_2_on_all_small_graphs() {
    for n in 2..=6 {
        let rising = |g: u32| -> Vec<i64> {
            let graph = numbered(n, g);
            (0..n).rev().map(|v| i64::from(graph.degree(v))).collect()
        };
        let every: Vec<_> = all(n).map(rising).collect();
        for g in all(n) {
            assert!(every[g as usize].is_sorted());
            for h in flipped(n)(&g) {
                let pairs = every[g as usize].iter().zip(&every[h as usize]);
                assert!(pairs.map(|(a, b)| (a - b).abs()).sum::<i64>() <= 2);
            }
        }
    }
}

#[test]
fn inference_gives_the_closest_rising_sequence() {
    assert_eq!(consistent(vec![1, 3, 2, 2, 4]), [1.0, 7.0 / 3.0, 7.0 / 3.0, 7.0 / 3.0, 4.0]);
    assert_eq!(consistent(vec![-5, 9]), [0.0, 1.0]);
    assert_eq!(consistent(vec![3, 2, 1]), [2.0; 3]);
    assert!(consistent(vec![]).is_empty());
    assert_eq!(histogram(vec![0.0, 0.4, 1.0, 3.0]), [2, 1, 0, 1]);
}

#[test]
fn inference_helps_where_many_degrees_are_equal() {
    // A circle: all degrees are 2.
    let n = 2_000;
    let graph = Graph::new(n, (0..n).map(|v| (v, (v + 1) % n))).unwrap();
    let degrees = DegreeSequence::new(Epsilon::new(1.0).unwrap()).unwrap();
    let mut rng = SeededForTests::insecure(3);
    let released = degrees.release(&graph, &mut rng).unwrap().into_value();
    let error: f64 = released.iter().map(|d| (d - 2.0).powi(2)).sum::<f64>() / f64::from(n);
    assert!(error < 0.4, "{error}"); // 8 without
    let counts = degrees.release_histogram(&graph, &mut rng).unwrap().into_value();
    assert_eq!(counts.iter().sum::<u64>(), u64::from(n));
}
