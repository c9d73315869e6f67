use super::*;
use crate::graph::tests::{all, flipped, numbered, pairs};
use demure_core::sensitivity::{ProfileLimits, Smoothness, check_profile, check_smooth};

/// `(a, b)` of all pairs, by definition.
fn by_definition(n: u32, number: u32) -> (u64, Vec<(u64, u64)>) {
    let list = pairs(n);
    let has = |x: u32, y: u32| {
        let place = list.iter().position(|&p| p == (x.min(y), x.max(y))).unwrap();
        number >> place & 1 == 1
    };
    let others = |x: u32, y: u32| (0..n).filter(move |&z| z != x && z != y);
    let both = list.iter().map(|&(x, y)| {
        let a = others(x, y).filter(|&z| has(x, z) && has(y, z)).count() as u64;
        let b = others(x, y).filter(|&z| has(x, z) != has(y, z)).count() as u64;
        (a, b, u64::from(has(x, y)))
    });
    let all: Vec<_> = both.collect();
    let corners: u64 = all.iter().map(|&(a, _, joined)| a * joined).sum();
    (corners / 3, all.into_iter().map(|(a, b, _)| (a, b)).collect())
}

#[test]
fn the_profile_is_exact_on_all_graphs_of_at_most_6_vertices() {
    for n in 0..=6 {
        let made: Vec<Triangles> =
            all(n).map(|g| Triangles::of(&numbered(n, g)).unwrap()).collect();
        let most = u64::from(n * n) / 2;
        for (g, made) in all(n).zip(&made) {
            let (count, near) = by_definition(n, g);
            assert_eq!(made.count(), count);
            for s in 0..=most {
                let formula = |&(a, b): &(u64, u64)| {
                    (a + (s + s.min(b)) / 2).min(u64::from(n).saturating_sub(2))
                };
                let slow = near.iter().map(formula).max().unwrap_or(0);
                assert_eq!(made.at_distance(s), slow, "{n} {g:b} {s}");
            }
        }
        let value = |&g: &u32| made[g as usize].value();
        let profile = |&g: &u32, s| made[g as usize].at_distance(s);
        let empty = Triangles::without_edges(n);
        let limits = ProfileLimits::of(&empty);
        assert!(limits.most.is_some() && limits.growth == Some(1));
        let seen = check_profile(all(n), flipped(n), value, profile, limits, most).unwrap();
        assert!(seen.exact, "{n}");
        assert!((0..=most).all(|s| empty.at_distance(s) == made[0].at_distance(s)), "{n}");
        let t = Smoothness::new(0.2).unwrap();
        let bound = |&g: &u32| made[g as usize].smooth(t).unwrap();
        check_smooth(all(n), flipped(n), value, bound, t).unwrap();
    }
}

#[test]
fn larger_graphs_agree_with_all_pairs() {
    let mut state = 11u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        (state >> 33) % n
    };
    for (n, edges) in [(40u32, 90), (60, 400), (30, 300), (80, 120), (50, 0)] {
        for skew in [1, 3] {
            // Skewed ends make hubs.
            let mut end = || (0..skew).map(|_| next(u64::from(n))).min().unwrap_or(0) as u32;
            let list: Vec<(u32, u32)> = (0..edges).map(|_| (end(), end())).collect();
            let graph = Graph::new(n, list).unwrap();
            let made = Triangles::of(&graph).unwrap();
            let joined = |x, y| graph.adjacent(x, y);
            let mut count = 0;
            let mut points = vec![];
            for (x, y) in pairs(n) {
                let near = |z: &u32| *z != x && *z != y;
                let a = (0..n).filter(near).filter(|&z| joined(x, z) && joined(y, z)).count();
                let b = (0..n).filter(near).filter(|&z| joined(x, z) != joined(y, z)).count();
                count += if joined(x, y) { a as u64 } else { 0 };
                points.push((a as u64, b as u64));
            }
            assert_eq!(made.count(), count / 3);
            for s in 0..2 * u64::from(n) {
                let formula = |&(a, b): &(u64, u64)| (a + (s + s.min(b)) / 2).min(u64::from(n) - 2);
                let slow = points.iter().map(formula).max().unwrap();
                assert_eq!(made.at_distance(s), slow, "{n} {edges} {s}");
            }
        }
    }
    let text = format!("{:?}", Triangles::of(&numbered(4, 63)).unwrap());
    assert_eq!(text, "Triangles { vertices: 4, .. }");
}
