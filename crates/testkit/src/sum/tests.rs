use super::compensated;

#[test]
fn keeps_what_a_plain_sum_loses() {
    assert_eq!(compensated([1.0, 1e100, 1.0, -1e100]), 2.0);
    let tenth = compensated(std::iter::repeat_n(0.1, 1_000_000));
    assert!((tenth - 100_000.0).abs() < 1e-10);
}

#[test]
fn passes_infinity_and_nan_on() {
    assert_eq!(compensated([1.0, f64::INFINITY, 1.0]), f64::INFINITY);
    assert!(compensated([1.0, f64::NAN]).is_nan());
}
