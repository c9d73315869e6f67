use super::*;

#[test]
fn exponentials_and_logarithms_are_enclosed_tightly() {
    for x in [0.0, 1e-300, 1e-9, 0.1, 0.5, 1.0, 3.7, 20.0, 300.0, 700.0] {
        let (lower, upper) = exp_neg(x).unwrap();
        let library = (-x).exp();
        assert!(lower <= upper && upper - lower <= 2.0 * f64::EPSILON * upper);
        assert!((library - lower).abs() <= 4.0 * f64::EPSILON * library, "{x}");
    }
    assert_eq!(exp_neg(1e6).unwrap().0, 0.0);
    assert!(exp_neg(f64::NAN).is_err() && exp_neg(-1.0).is_err());
    for x in [1e-300, 1e-5, 0.3, 0.999_999, 1.0, 1.000_001, 2.0, 1e5, 1e300] {
        let (lower, upper) = ln(x).unwrap();
        assert!(lower <= x.ln() && x.ln() <= upper);
        assert!(upper - lower <= 1e-15 * x.ln().abs().max(1.0), "{x} {lower} {upper}");
    }
    assert!(ln(0.0).is_err() && ln(f64::NAN).is_err());
}
