use super::*;

fn sum(terms: &[(u64, u128)]) -> LogSum {
    let mut sum = LogSum::new();
    for &(base, exponent) in terms {
        sum.add(base, exponent);
    }
    sum
}

#[test]
fn fixed_point_contains_the_slow_logarithm() {
    let some = [
        2_u64,
        3,
        5,
        7,
        10,
        127,
        128,
        129,
        30162,
        65537,
        200_000,
        1 << 40,
        (1 << 40) - 1,
        u64::MAX - 1,
        u64::MAX,
    ];
    for x in (1..300).chain(some) {
        let (low, error) = ln_natural(x, 192);
        let high = low.add(&Natural::from(error));
        let fixed = ln_fixed(x);
        assert!(Natural::from(fixed).shl(192 - FIXED_BITS) <= high, "{x}");
        assert!(low <= Natural::from(fixed + FIXED_ERROR).shl(192 - FIXED_BITS), "{x}");
        let near = low.to_f64() / 2_f64.powi(192);
        assert!((near - (x as f64).ln()).abs() <= 1e-13 * near.max(1.0), "{x}");
    }
}

#[test]
fn agrees_with_integer_powers() {
    for a in 1..30_u64 {
        for b in 1..30_u64 {
            for (e, f) in [(1, 1), (2, 3), (5, 4), (7, 12), (12, 5)] {
                let power = |base: u64, e: u128| {
                    (0..e).fold(Natural::from(1_u64), |p, _| p.mul(&Natural::from(base)))
                };
                let expected = power(a, e).cmp(&power(b, f));
                assert_eq!(sum(&[(a, e)]).compare(&sum(&[(b, f)])), expected, "{a}^{e} {b}^{f}");
            }
        }
    }
}

#[test]
fn ties_and_near_ties() {
    // 6^n·10^n = 15^n·4^n
    let n = u128::MAX / 7;
    assert_eq!(sum(&[(6, n), (10, n)]).compare(&sum(&[(15, n), (4, n)])), Ordering::Equal);
    // One unit in the exponent of 2 among 2¹²⁵ of them, in either direction.
    assert_eq!(
        sum(&[(6, n), (10, n), (2, 1)]).compare(&sum(&[(15, n), (4, n)])),
        Ordering::Greater
    );
    assert_eq!(sum(&[(6, n), (10, n)]).compare(&sum(&[(15, n), (4, n), (2, 1)])), Ordering::Less);
    // Neighbouring large bases.
    let big = u64::MAX - 1;
    assert_eq!(sum(&[(big, 1)]).compare(&sum(&[(big + 1, 1)])), Ordering::Less);
    assert_eq!(LogSum::new().compare(&sum(&[(1, 9)])), Ordering::Equal);
}

#[test]
fn units_are_powers_of_e() {
    let mut units = LogSum::new();
    assert!(units.add_units(10_000).is_some());
    // e^10000 against 2^14426 and 2^14427: 10000/ln 2 = 14426.95…
    assert_eq!(units.compare(&sum(&[(2, 14_426)])), Ordering::Greater);
    assert_eq!(units.compare(&sum(&[(2, 14_427)])), Ordering::Less);
    assert_eq!(units.compare(&units.clone()), Ordering::Equal);
    assert!(units.add_units(u128::MAX).is_none());
}
