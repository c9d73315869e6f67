use super::*;

#[test]
fn a_grid_rounds_down_to_a_power_of_two() {
    for (given, power) in [(0.01, -7), (1.0, 0), (1.5, 0), (0.125, -3), (3e9, 31)] {
        assert_eq!(power_below(given).unwrap().exponent(), power, "{given}");
    }
    assert!(power_below(5e-324).is_err());
    assert!(power_below(f64::MAX).is_err());
}

#[test]
fn a_grid_that_is_suggested_fits() {
    assert_eq!(fitting(0.0, 5000.0), "a `grid` from 7.62939453125e-6 to 5000.0");
    assert!(Bounds::on(0.0, 5000.0, power_below(7.62939453125e-6).unwrap()).is_ok());
    assert!(Bounds::on(0.0, 5000.0, power_below(5000.0).unwrap()).is_ok());
    assert_eq!(fitting(-1e308, 1.7e308), "narrower bounds around 0");
    assert_eq!(fitting(1e18, 1e18 + 1024.0), "a `grid` from 0.25 to 1024.0");
    assert_eq!(fitting(0.0, 5e-324), "narrower bounds around 0");
}
