use super::*;
use crate::graph::tests::numbered;
use demure_core::random::SeededForTests;

#[test]
fn it_is_a_share_whatever_the_noise() {
    let graph = numbered(5, 0b11_0110_1111);
    let (triangles, stars) = (Triangles::of(&graph).unwrap(), Stars::of(&graph, 2).unwrap());
    let mut rng = SeededForTests::insecure(1);
    for epsilon in [0.05, 1.0, 50.0] {
        let budget = Guarantee::Pure(Epsilon::new(epsilon).unwrap());
        let mut release = |s: &dyn demure_core::sensitivity::Statistic| {
            Method::Naive.release(s, budget, &mut rng).unwrap().map(|x| x.unwrap_or(0.0))
        };
        let (t, w) = (release(&triangles), release(&stars));
        let share = clustering(&t, &w);
        assert!((0.0..=1.0).contains(&share));
        if epsilon == 50.0 {
            let truth = 3.0 * triangles.count() as f64 / stars.count() as f64;
            assert!((share - truth).abs() < 0.05);
        }
    }
}

#[test]
fn the_error_of_a_ratio_is_its_worst_corner() {
    let error = farthest(0.5, (10.0, 1.0), (60.0, 6.0));
    assert!((error - (33.0 / 54.0 - 0.5)).abs() < 1e-12);
    assert_eq!(farthest(1.0, (10.0, 1.0), (5.0, 6.0)), 1.0);
    assert_eq!(farthest(0.25, (0.0, 9.0), (5.0, 6.0)), 0.75);
}
