use super::*;

#[test]
fn what_is_left_rounds_down_and_never_below_zero() {
    assert_eq!(subtract_down(1.0, 0.0), 1.0);
    assert!(subtract_down(1.0, 0.9) < 1.0 - 0.9);
    assert_eq!(subtract_down(1.0, 1.0), 0.0);
    assert_eq!(subtract_down(1.0, 7.0), 0.0);
    // The remainder of 1, and of anything else, can be bought.
    for spent in [1e-300, 1e-17, 0.1, 0.5, 0.875, 0.999, 1.0 - 1e-16, 1.0, 2.0] {
        for limit in [1.0, 0.3, 1e-9, 1e9] {
            let price = |main| Price { main, delta: 0.0 };
            let left = price(limit).left_after(price(spent)).main;
            assert!(left == 0.0 || (spent + left).next_up() <= limit, "{spent} {limit}");
            assert!(left >= limit - spent - 4.0 * f64::EPSILON * limit);
        }
    }
    let (a, b) = (Price { main: 1.0, delta: 0.0 }, Price { main: 1.0, delta: 1e-9 });
    assert!(a.within(b) && !b.within(a));
}
