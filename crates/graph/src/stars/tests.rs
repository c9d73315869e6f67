use super::*;
use crate::graph::tests::{all, flipped, numbered};
use demure_core::sensitivity::{ProfileLimits, check_profile};

#[test]
fn the_profile_is_exact_on_all_graphs_of_at_most_6_vertices() {
    for k in 2..=4 {
        for n in 0..=6 {
            let made: Vec<Stars> = all(n).map(|g| Stars::of(&numbered(n, g), k).unwrap()).collect();
            for (g, made) in all(n).zip(&made) {
                let graph = numbered(n, g);
                let stars: u128 =
                    (0..n).map(|v| choose(u64::from(graph.degree(v)), k).unwrap()).sum();
                assert_eq!(made.count(), stars as i128);
            }
            let value = |&g: &u32| made[g as usize].value();
            let profile = |&g: &u32, s| made[g as usize].at_distance(s);
            let most = u64::from(n * n) / 2;
            let empty = Stars::without_edges(n, k).unwrap();
            let limits = ProfileLimits::of(&empty);
            assert!(limits.most.is_some() && limits.growth.is_some());
            let seen = check_profile(all(n), flipped(n), value, profile, limits, most)
                .unwrap_or_else(|flaw| panic!("{k} {n}: {flaw}"));
            assert!(seen.exact, "{k} {n}");
            let same = |s| empty.at_distance(s) == made[0].at_distance(s);
            assert!((0..=most).all(same), "{k} {n}");
        }
    }
}

#[test]
fn a_star_of_all_vertices_is_counted() {
    for (rays, stars) in [(998, 1_351_796_305_688_857), (999, 192_920_644_197_595_449)] {
        let graph = Graph::new(1000, (1..=rays).map(|v| (0, v))).unwrap();
        assert_eq!(Stars::of(&graph, 992).unwrap().count(), stars);
    }
}

#[test]
fn binomials_and_refusals() {
    assert_eq!(choose(5, 2), Some(10));
    assert_eq!((choose(3, 5), choose(7, 0), choose(7, 7)), (Some(0), Some(1), Some(1)));
    assert_eq!(choose_small(1 << 40, 5), None);
    let graph = numbered(4, 63);
    assert!(Stars::of(&graph, 1).is_err());
    assert!(Stars::of(&Graph::new(1 << 20, []).unwrap(), 9).is_err());
    assert!(!format!("{:?}", Stars::of(&graph, 2).unwrap()).contains("count"));
}
