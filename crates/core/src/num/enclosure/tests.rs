use super::*;

fn ratio(x: f64) -> Ratio {
    Ratio::from_f64(x).unwrap()
}

#[test]
fn exp_is_enclosed_and_narrow() {
    for x in [0.0, 1e-12, 0.001, 0.25, 1.0, 2.5, 17.0, 40.0] {
        for bits in [64, 128, 512] {
            let e = Enclosure::exp_neg(&ratio(x), bits);
            let width = e.upper.saturating_sub(&e.lower);
            assert!(width <= Natural::from(4u64), "{x} {bits} {width:?}");
            let (low, high) = e.to_f64();
            let truth = (-x).exp();
            assert!(low <= truth * (1.0 + 1e-15) + 1e-19);
            assert!(high >= truth * (1.0 - 1e-15));
        }
    }
    let tiny = Enclosure::exp_neg(&ratio(1000.0), 64);
    assert!(tiny.lower.is_zero() && tiny.upper == Natural::one());
}

#[test]
fn exp_reciprocates() {
    for x in [0.0, 0.3, 1.0, 5.5, 30.0] {
        let (low, high) = Enclosure::exp(&ratio(x), 128).unwrap().to_f64();
        assert!(low <= x.exp() * (1.0 + 1e-15) && high >= x.exp() * (1.0 - 1e-15));
        assert!(high - low <= 1e-15 * high);
    }
    assert!(Enclosure::exp(&ratio(1e9), 64).is_none());
}

#[test]
fn e_and_pi_have_their_published_digits() {
    // e^−1 and π to 60 digits.
    let digits = |e: &Enclosure, scale: u32| {
        let ten = (0..scale).fold(Natural::one(), |p, _| p.mul(&Natural::from(10u64)));
        let floor = |n: &Natural| n.mul(&ten).shr(e.bits);
        (floor(&e.lower), floor(&e.upper))
    };
    let parse = |text: &str| {
        text.bytes().fold(Natural::zero(), |n, d| {
            n.mul(&Natural::from(10u64)).add(&Natural::from(u64::from(d - b'0')))
        })
    };
    let e = parse("367879441171442321595523770161460867445811131031767834507836");
    let pi = parse("3141592653589793238462643383279502884197169399375105820974944");
    assert_eq!(digits(&Enclosure::exp_neg(&ratio(1.0), 256), 60), (e.clone(), e));
    assert_eq!(digits(&Enclosure::pi(256), 60), (pi.clone(), pi));
}

#[test]
fn roots_and_quotients_enclose() {
    let two = Enclosure::of_ratio(&Ratio::new(2u64, 1u64), 100);
    let root = two.sqrt();
    let square = root.mul(&root);
    assert!(square.lower <= two.lower && square.upper >= two.upper);
    let third = Enclosure::of_ratio(&Ratio::new(1u64, 1u64), 100)
        .div(&Enclosure::of_ratio(&Ratio::new(3u64, 1u64), 100))
        .unwrap();
    assert!(third.upper.saturating_sub(&third.lower) <= Natural::one());
    assert!(two.div(&Enclosure::of_ratio(&Ratio::zero(), 100)).is_none());
}
