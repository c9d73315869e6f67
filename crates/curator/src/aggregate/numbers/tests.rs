use super::root_error;

#[test]
fn the_error_of_a_root_covers_all_variances_within_the_error() {
    for (variance, error) in [(0.0, 0.0), (0.0, 4.0), (100.0, 19.0), (100.0, 400.0), (1e9, 1.0)] {
        let told = root_error(variance, error);
        for i in 0..=100 {
            let v: f64 = variance - error + 2.0 * error * f64::from(i) / 100.0;
            let off = (v.max(0.0).sqrt() - f64::sqrt(variance)).abs();
            assert!(off <= told + 1e-9, "{variance} {error} {v}");
        }
    }
    // Much less than √error if the variance is much larger than the error.
    assert!(root_error(100.0, 19.0) == 1.0);
}
