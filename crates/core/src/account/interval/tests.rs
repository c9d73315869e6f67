use super::*;

#[test]
fn trouble_widens_and_never_narrows() {
    let lost = Interval::new(f64::NAN, f64::NAN);
    assert_eq!((lost.lower, lost.upper), (0.0, f64::INFINITY));
    assert_eq!(Interval::new(-1.0, 2.0).lower, 0.0);
    let (a, b) = (Interval::new(1.0, 3.0), Interval::new(2.0, 4.0));
    assert_eq!(a.and(&b), Ok(Interval::new(2.0, 3.0)));
    // Disjoint bounds are an error in every build, and touching ones are not.
    assert_eq!(a.and(&Interval::new(3.5, 4.0)), Err(CONTRADICTION));
    assert_eq!(Interval::new(0.0, 0.5).and(&a), Err(CONTRADICTION));
    assert_eq!(a.and(&Interval::new(3.0, 4.0)), Ok(Interval::new(3.0, 3.0)));
    assert_eq!(a.or(&b), Interval::new(2.0, 4.0));
    assert!(a.contains(1.5) && !a.contains(3.5));
    assert_eq!(Interval::INFINITE.relative_width(), 0.0);
    assert_eq!(Interval::at_most(f64::INFINITY).relative_width(), f64::INFINITY);
    assert_eq!(a.to_string(), "[1, 3]");
}
