use super::*;

#[test]
fn only_what_is_best_stays() {
    let mut frontier = Frontier::default();
    let mut all = vec![];
    let mut state = 5u64;
    for _ in 0..500 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let point = ((state >> 40) % 30, (state >> 50) % 30);
        all.push(point);
        frontier.insert(point);
        let best = |a| all.iter().filter(|p| p.0 >= a).map(|p| p.1).max();
        assert!((0..31).all(|a| frontier.best(a) == best(a)));
        let sorted = |w: &[(u64, u64)]| w[0].0 > w[1].0 && w[0].1 < w[1].1;
        assert!(frontier.points().windows(2).all(sorted));
    }
}
