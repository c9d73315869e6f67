use super::*;

#[test]
fn floats_are_exact_and_come_back() {
    for x in [0.0, 1.0, 0.1, 1.5e-300, 5e-324, f64::MAX, f64::MIN_POSITIVE, 3.0e17, 1.0 / 3.0] {
        let ratio = Ratio::from_f64(x).unwrap();
        assert_eq!(ratio.to_f64(), x);
        assert_eq!(ratio, Ratio::from_f64(-x).unwrap());
    }
    assert!(Ratio::from_f64(f64::NAN).is_none());
    assert!(Ratio::from_f64(f64::INFINITY).is_none());
    // The float 0.1 is not one tenth, and the type shows it.
    assert_ne!(Ratio::from_f64(0.1).unwrap(), Ratio::new(1u64, 10u64));
}

#[test]
fn arithmetic_is_that_of_fractions() {
    let (a, b) = (Ratio::new(3u64, 4u64), Ratio::new(2u64, 3u64));
    assert_eq!(a.add(&b), Ratio::new(17u64, 12u64));
    assert_eq!(a.saturating_sub(&b), Ratio::new(1u64, 12u64));
    assert!(b.saturating_sub(&a).is_zero());
    assert_eq!(a.mul(&b), Ratio::new(1u64, 2u64));
    assert_eq!(a.div(&b), Ratio::new(9u64, 8u64));
    assert_eq!(a.scale(3), Ratio::new(6u64, 1u64));
    assert_eq!(a.scale(-1), Ratio::new(3u64, 8u64));
    assert_eq!(Ratio::new(17u64, 5u64).split().0, Natural::from(3u64));
    assert_eq!(Ratio::new(17u64, 5u64).split().1, Ratio::new(2u64, 5u64));
    assert_eq!(Ratio::new(1u64, 3u64).fixed(4), (Natural::from(5u64), false));
    assert!(b < a && a != b);
}
