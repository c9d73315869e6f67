use super::*;

#[test]
fn a_value_sits_on_the_grid_exactly() {
    let grid = Grid::power_of_two(-2).unwrap();
    // value/grid + ½ = whole + fraction.
    for (value, whole, fraction) in [
        (0.0, 0, 0.5),
        (0.25, 1, 0.5),
        (0.125, 1, 0.0),
        (0.1875, 1, 0.25),
        (-0.125, 0, 0.0),
        (-0.25, -1, 0.5),
        (-0.0625, 0, 0.25),
        (-0.1875, -1, 0.75),
        (-0.375, -1, 0.0),
        (1e6, 4_000_000, 0.5),
        (-1e6, -4_000_000, 0.5),
        (5e-324, 0, 0.5),
    ] {
        let centre = Centre::rounding(value, grid).unwrap();
        assert_eq!((centre.whole, centre.near), (whole, fraction), "{value}");
    }
    assert_eq!(Centre::rounding(f64::MAX, grid).unwrap().whole, 1 << 120);
    assert_eq!(Centre::rounding(f64::MIN, grid).unwrap().whole, -(1 << 120));
    assert!(Centre::rounding(f64::NAN, grid).is_err());
    assert!(Centre::rounding(f64::INFINITY, grid).is_err());
}

#[test]
fn the_float_and_the_exact_fraction_agree_with_the_value() {
    let values = [0.1, 1.0 / 3.0, 7.7e5, 1e-30, 5e-324, 1e15, 123_456.789, 2f64.powi(70)];
    for value in values.into_iter().flat_map(|v| [v, -v]) {
        for exponent in [-40, -3, 0, 5, 60] {
            let grid = Grid::power_of_two(exponent).unwrap();
            let centre = Centre::rounding(value, grid).unwrap();
            let exact = centre.exact();
            assert!((exact.to_f64() - centre.near).abs() <= 2f64.powi(-52));
            // whole + fraction − ½ = value/grid, in exact arithmetic.
            let steps = Ratio::from_f64(value).unwrap().scale(-exponent);
            let (half, whole) = (Ratio::new(1u64, 2u64), centre.whole.unsigned_abs());
            let whole = Ratio::new(whole, 1u64);
            if value > 0.0 {
                assert_eq!(whole.add(&exact), steps.add(&half), "{value} {exponent}");
            } else {
                assert_eq!(whole.add(&half), steps.add(&exact), "{value} {exponent}");
            }
        }
    }
}
